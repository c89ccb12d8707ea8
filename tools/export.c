// SPDX-License-Identifier: GPL-2.0-only
/* hwprof export: profiles in the formats of other programs. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "export_files.h"
#include "hwprof.h"
#include "remote.h"
#include "report.h"

const char export_usage[] =
"usage: hwprof export [loops|calls|cct|paths|values|edges|ranges]\n"
"                     [FILE...]\n"
"                     --format FORMAT [OPTIONS]\n"
"\n"
"Writes a recording in the format of another program. A recording of perf with\n"
"stacks (perf record -b, or -g) is replayed, as by hwprof replay.\n"
"\n"
"  FILE                recording of hwprof or perf; -: standard input (default:\n"
"                      " DEFAULT_FILE "); several files are exported together;\n"
"                      also where hwprofd gives a recording: unix:PATH,\n"
"                      http://HOST:PORT, as in unix:PATH?seconds=600\n"
"      --from WHERE    the same, of hwprofd\n"
"  -f, --format FORMAT for compilers, from edges, one file for each program and\n"
"                      library that ran, named by its build id:\n"
"                      bolt             perf2bolt -pa, llvm-bolt -pa\n"
"                      fdata            llvm-bolt --data\n"
"                      autofdo-text     create_llvm_prof --profiler=text\n"
"                      llvm-profgen     llvm-profgen --unsymbolized-profile\n"
"                      llvm-perfscript  llvm-profgen --perfscript\n"

"                      for people, one file, from contexts (cct), edges, paths,\n"
"                      loops, calls or values: the kind that is named, or the\n"
"                      first of these that the recording has:\n"
"                      pprof            go tool pprof: all values and labels\n"
"                      folded           flamegraph.pl: a line for each stack\n"
"                      speedscope       speedscope.app\n"
"                      firefox          profiler.firefox.com\n"
"                      callgrind        KCachegrind, callgrind_annotate\n"
"                      otlp             OpenTelemetry: a request for collectors\n"
"                      json             as hwprof report --json\n"
"  -o, --output OUT    folder for the files (default: the current one); or the\n"
"                      file, where one object was chosen or the format has one;\n"
"                      -: standard output\n"
"      --binary FILE   only this program or library: the build that ran, which\n"
"                      need not be where it was recorded\n"
"      --build-id ID   only the object with this build id, or its beginning\n"
"      --format-version VERSION  autofdo-text: of AutoFDO, 0.19 (and older) or\n"
"                      0.20 (and newer) (default: 0.19); otlp: of the protocol,\n"
"                      1.10 (and newer) or 1.9 (default: 1.10)\n"
"      --symfs DIR     look for objects under DIR: files of another machine\n"
"      --debuginfo DIR look for symbols and sources in DIR, by build id\n"
"      --debuginfod    and ask the servers in $DEBUGINFOD_URLS for them\n"
"  -h, --help\n"
"\n"
"exit status: 0 done; 1 a file cannot be read or written, has nothing for the\n"
"format, or is of another build; 2 wrong usage.\n";

struct command_export {
	const char *subject;		/* NULL: what the format takes */
	const char *const *files;
	size_t file_count;
	const char *from;		/* of hwprofd; NULL: not given */
	const struct hwprof_format *format;
	const char *output;		/* NULL: not given */
	struct hwprof_export_options options;
	struct hwprof_options profile;
};

static const struct option options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "output", required_argument, NULL, 'o' },
	{ "from", required_argument, NULL, 'R' },
	{ "binary", required_argument, NULL, 'b' },
	{ "build-id", required_argument, NULL, 'i' },
	{ "format-version", required_argument, NULL, 'v' },
	{ "symfs", required_argument, NULL, 'y' },
	{ "debuginfo", required_argument, NULL, 'D' },
	{ "debuginfod", no_argument, NULL, 'U' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* --- options ------------------------------------------------------------- */

static int wrong_format(const char *name)
{
	char *all = export_list_formats(false);
	int status = name ? usage_error("--format '%s': allowed are: %s", name,
					all ? all : "see --help") :
			    usage_error("which format? Give --format, with one of: %s",
					all ? all : "see --help");

	free(all);
	return status;
}

static int set_option(struct command_export *command, int option, char *value,
		      char **argv)
{
	switch (option) {
	case 'f':
		command->format = hwprof_format_of(value);
		return command->format ? -1 : wrong_format(value);
	case 'o':
		command->output = value;
		return -1;
	case 'R':
		command->from = value;
		return -1;
	case 'b':
		command->options.binary = value;
		return -1;
	case 'i':
		command->options.build_id = value;
		return -1;
	case 'v':
		command->options.version = value;
		return -1;
	case 'y':
		command->profile.symfs = value;
		return -1;
	case 'D':
		command->profile.debuginfo = value;
		return -1;
	case 'U':
		return -1;	/* main() has seen it */
	}
	return option_error(option, export_usage, argv);
}

static int check_subject(const struct command_export *command)
{
	int kind = command->subject ? hwprof_kind_of(command->subject) : -1;

	if (kind < 0 || command->format->kinds >> kind & 1)
		return -1;
	return usage_error("%s cannot have %s", command->format->name,
			   command->subject);
}

static int take_files(struct command_export *command, char **files,
		      size_t count)
{
	static const char *const default_file = DEFAULT_FILE;
	size_t pipes = 0, i;

	for (i = 0; i < count; i++)
		pipes += !strcmp(files[i], "-");
	if (pipes > 1)
		return usage_error("standard input can be read once: one '-' is allowed");
	if (command->from && count)
		return usage_error("'%s' and --from '%s': give all of them without --from",
				   files[0], command->from);
	command->files = count ? (const char *const *)files :
			 command->from ? &command->from : &default_file;
	command->file_count = count ? count : 1;
	return check_subject(command);
}

static int parse(struct command_export *command, int argc, char **argv)
{
	int option, status = -1;

	while (status < 0 && (option = getopt_long(argc, argv, "f:o:h", options,
						   NULL)) >= 0)
		status = set_option(command, option, optarg, argv);
	if (status >= 0)
		return status;
	if (!command->format)
		return wrong_format(NULL);
	if (optind < argc && hwprof_kind_of(argv[optind]) >= 0)
		command->subject = argv[optind++];
	return take_files(command, argv + optind, argc - optind);
}

/* --- reading ------------------------------------------------------------- */

/* Says what to record, if the files have nothing for the format. */
static int nothing_for(const struct command_export *command)
{
	if (command->format->per_object)
		return failed("%s: no edges, which %s is made of: record with 'hwprof record -e edges', or 'perf record -b'",
			      command->files[0], command->format->name);
	return failed("%s: nothing that %s can have: record with 'hwprof record -e cct' or another of its kinds (see hwprof export --help), or 'perf record -g'",
		      command->files[0], command->format->name);
}

/* The kind to export of those that the files have; -1: none. */
static int choose_kind(const struct command_export *command, unsigned int kinds)
{
	static const int order[] = {
		HWPROF_KIND_CCT, HWPROF_KIND_EDGES, HWPROF_KIND_PATHS,
		HWPROF_KIND_LOOPS, HWPROF_KIND_CALLS, HWPROF_KIND_VALUES,
		HWPROF_KIND_RANGES,
	};
	size_t i;

	if (command->subject)
		return hwprof_kind_of(command->subject);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (kinds & command->format->kinds & 1U << order[i])
			return order[i];
	return -1;
}

/*
 * Files without an event of hwprof are perf's, and are replayed: a kind by the
 * subject; else edges or, where the format has none, contexts.
 */
static int make_profile(const struct command_export *command,
			struct hwprof_file *const *files,
			struct hwprof_profile **profile)
{
	const struct hwprof_replay_options replay = { 0 };
	unsigned int kinds = 0, all = 0;
	size_t replayed = 0, i;
	int kind, error;

	for (i = 0; i < command->file_count; i++) {
		error = hwprof_file_kinds(files[i], &kinds);
		replayed += error == -ENOENT;
		all |= error ? 0 : kinds;
		if (error == -ESPIPE)
			all |= command->format->kinds;
	}
	if (replayed && replayed < command->file_count)
		return failed("recordings of hwprof and of perf do not go together: export each alone");
	if (replayed)
		all = 1U << HWPROF_KIND_EDGES | 1U << HWPROF_KIND_CCT;
	kind = choose_kind(command, all);
	if (kind < 0)
		return nothing_for(command);
	error = replayed ? hwprof_profile_replay_all(profile, kind, files,
						     command->file_count,
						     &command->profile,
						     &replay) :
			   hwprof_profile_read(profile, kind, files,
					       command->file_count,
					       &command->profile);
	if (!error)
		return STATUS_OK;
	for (i = 0; i < command->file_count; i++)
		if (*hwprof_file_error(files[i]))
			failed("%s", hwprof_file_error(files[i]));
	return error == -ENOENT ? nothing_for(command) : STATUS_FAILED;
}

static int read_files(const struct command_export *command,
		      struct hwprof_profile **profile)
{
	struct hwprof_file **files = calloc(command->file_count,
					    sizeof(*files));
	size_t opened = 0, i;
	int error = 0, status;

	if (!files)
		return failed("out of memory");
	while (opened < command->file_count && !error) {
		error = remote_file_open(&files[opened],
					 command->files[opened]);
		opened++;
	}
	status = error ? failed("%s", hwprof_file_error(files[opened - 1])) :
			 make_profile(command, files, profile);
	for (i = 0; i < opened; i++)
		hwprof_file_close(files[i]);
	free(files);
	return status;
}

/* --- writing ------------------------------------------------------------- */

static int write_all(const struct command_export *command,
		     struct hwprof_export *export)
{
	const char *output = command->output ? command->output : ".";
	bool one = !hwprof_export_part(export, 1);
	int status = STATUS_OK;
	size_t i;

	if (!strcmp(output, "-") && one)
		return export_write_to(export, 0, stdout, "standard output");
	if (one && !is_folder(output))
		return export_write_file(export, 0, output);
	if (!is_folder(output))
		return failed("%s: it is no folder, and the recording has several objects: make it, or choose one with --binary or --build-id",
			      output);
	for (i = 0; !status && hwprof_export_part(export, i); i++)
		status = export_write_in_folder(export, i, output);
	return status;
}

static int export_profile(const struct command_export *command,
			  const struct hwprof_profile *profile)
{
	struct hwprof_export *export;
	int status;

	print_warnings(profile, "");
	status = export_open(&export, profile, command->format,
			     &command->options, "");
	if (!status)
		status = write_all(command, export);
	hwprof_export_close(export);
	return status;
}

int command_export(int argc, char **argv)
{
	struct command_export command = { .files = NULL };
	struct hwprof_profile *profile = NULL;
	int status = parse(&command, argc, argv);

	if (status >= 0)
		return status;
	status = read_files(&command, &profile);
	if (!status)
		status = export_profile(&command, profile);
	hwprof_profile_free(profile);
	return status;
}
