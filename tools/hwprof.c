// SPDX-License-Identifier: GPL-2.0-only
/* hwprof: profiles programs with the kernel module of the same name. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hwprof.h"

static const char usage[] =
"usage: hwprof COMMAND [OPTIONS]\n"
"\n"
"  record   run a program, or watch one, and write its loops, calls, contexts,\n"
"           paths, edges, values or ranges to a file\n"
"  report   say what a file has\n"
"  replay   say what loops or calls the stacks of 'perf record -b' show, or what\n"
"           contexts those of 'perf record -g' do\n"
"  top      show now and then what a program, or all that runs, does\n"
"  stat     say how much of it there was\n"
"  script   print each row of a file\n"
"  export   write a file for compilers and for other tools\n"
"  pgo      record a program's branches, and write profiles for compilers\n"
"  bpf      call a BPF program for each branch, load or store of a program\n"
"  ctl      list sessions that run, and change their parameters\n"
"  doctor   say what this machine can do, and what it lacks\n"
"  help     explain a command: hwprof help record\n"
"\n"
"  --help, --version\n"
"\n"
"exit status: 0 done; 1 it failed (a file, a permission, the module, ...);\n"
"2 wrong usage; record, top and stat pass on that of the command.\n";

static const struct command {
	const char *name;
	char *title;		/* for getopt's messages; and the default
				 * file */
	int (*run)(int argc, char **argv);
	const char *usage;
} commands[] = {
	{ "record", "hwprof record", command_record, record_usage },
	{ "report", "hwprof report", command_report, report_usage },
	{ "replay", "hwprof replay", command_replay, replay_usage },
	{ "top", "hwprof top", command_top, top_usage },
	{ "stat", "hwprof stat", command_stat, stat_usage },
	{ "script", "hwprof script", command_script, script_usage },
	{ "export", "hwprof export", command_export, export_usage },
	{ "pgo", "hwprof pgo", command_pgo, pgo_usage },
	{ "bpf", "hwprof bpf", command_bpf, bpf_usage },
	{ "ctl", "hwprof ctl", command_ctl, ctl_usage },
	{ "doctor", "hwprof doctor", command_doctor, doctor_usage },
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int print(const char *text)
{
	fputs(text, stdout);
	return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
}

static int unknown(const char *name)
{
	return usage_error("unknown command '%s'; commands are: record, report, replay, top, stat, script, export, pgo, bpf, ctl, doctor, help",
			   name);
}

static int help(const char *name)
{
	const struct command *command;

	if (!name)
		return print(usage);
	command = find_command(name);
	return command ? print(command->usage) : unknown(name);
}

/*
 * elfutils asks servers for symbols if this variable is set. Unset it without
 * --debuginfod.
 */
static void refuse_debuginfod(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "--debuginfod"))
			return;
	unsetenv("DEBUGINFOD_URLS");
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		fputs(usage, stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argv[2]);
	if (!strcmp(argv[1], "--version"))
		return print("hwprof " HWPROF_VERSION "\n");
	command = find_command(argv[1]);
	if (!command)
		return unknown(argv[1]);
	refuse_debuginfod(argv);
	argv[1] = command->title;
	return command->run(argc - 1, argv + 1);
}
