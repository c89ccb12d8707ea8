// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "report.h"

const char replay_usage[] =
"usage: hwprof replay FILE [OPTIONS]\n"
"\n"
"Says which loops the branch stacks of a recording show (perf record -b): how\n"
"often they were entered, and how many iterations they made, as far as the\n"
"stacks saw them. Or which calls.\n"
"\n"
"  FILE                recording of perf; -: standard input, if it was recorded\n"
"                      to a pipe\n"
"  -e, --event WHAT    loops, or calls: call pairs and methods (default: loops)\n"
"      --span BYTES    longest jump back that makes a loop (default: 1048576)\n"
"      --memory MIB    memory of the engine (default: 64)\n"
REPORT_USAGE
"\n"
"exit status: 0 done; 1 the file cannot be read, is damaged or has no branch\n"
"stacks; 2 wrong usage.\n";

struct command_replay {
	struct report report;
	struct hwprof_replay_options options;
};

static const struct option options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "span", required_argument, NULL, 'S' },
	{ "memory", required_argument, NULL, 'M' },
	REPORT_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static bool is_of_calls(const struct command_replay *command)
{
	return !strcmp(command->report.subject, "calls");
}

static int set_option(struct command_replay *command, int option, char *value,
		      char **argv)
{
	switch (option) {
	case 'e':
		if (strcmp(value, "loops") && strcmp(value, "calls"))
			return usage_error("-e '%s': loops and calls can be replayed",
					   value);
		command->report.subject = value;
		return -1;
	case 'S':
		if (!parse_count(value, 1, UINT32_MAX, &command->options.span))
			return usage_error("--span '%s': allowed are numbers from 1 to %u",
					   value, UINT32_MAX);
		return -1;
	case 'M':
		if (!parse_count(value, 1, 4095, &command->options.memory_mib))
			return usage_error("--memory '%s': allowed are numbers from 1 to 4095",
					   value);
		return -1;
	}
	return report_option(&command->report, option, value, replay_usage,
			     argv);
}

static int parse(struct command_replay *command, int argc, char **argv)
{
	int option, status = -1;

	while (status < 0 && (option = getopt_long(argc, argv,
						   "e:" REPORT_LETTERS,
						   options, NULL)) >= 0)
		status = set_option(command, option, optarg, argv);
	if (status >= 0)
		return status;
	if (optind == argc)
		return usage_error("replay which file? Give one of 'perf record -b'");
	command->report.file = argv[optind];
	if (optind + 1 < argc)
		return usage_error("unexpected '%s'; one file is replayed",
				   argv[optind + 1]);
	if (is_of_calls(command) &&
	    (command->report.sort || command->options.span))
		return usage_error("--sort and --span are of loops");
	return -1;
}

static void print_progress(void *context, uint64_t done, uint64_t size)
{
	if (size)
		fprintf(stderr, "\r%3u %%", (unsigned int)(100 * done / size));
	else
		fprintf(stderr, "\r%u MiB", (unsigned int)(done >> 20));
}

static void end_progress(const struct command_replay *command)
{
	if (command->options.progress)
		fputs("\r\033[K", stderr);
}

/* The status, or a negative errno and a sentence in the file's handle. */
static int replay_file(struct command_replay *command, struct hwprof_file *file)
{
	const struct hwprof_options options = {
		.flags = command->report.flags,
	};
	int kind = hwprof_kind_of(command->report.subject);
	struct hwprof_profile *profile;
	int status = hwprof_profile_replay(&profile, kind, file, &options,
					   &command->options);

	end_progress(command);
	if (!status)
		status = report_print(&command->report, report_kind_of(kind),
				      profile);
	hwprof_profile_free(profile);
	return status;
}

static int replay_and_print(struct command_replay *command)
{
	struct hwprof_file *file;
	int status;

	if (isatty(STDERR_FILENO))
		command->options.progress = print_progress;
	status = hwprof_file_open(&file, command->report.file);
	if (!status)
		status = replay_file(command, file);
	if (status < 0)
		status = failed("%s", hwprof_file_error(file));
	hwprof_file_close(file);
	return status;
}

int command_replay(int argc, char **argv)
{
	struct command_replay command = { .report.subject = "loops" };
	int status = parse(&command, argc, argv);

	return status < 0 ? replay_and_print(&command) : status;
}
