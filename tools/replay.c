// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "html.h"
#include "replay/replay.h"
#include "report.h"

const char replay_usage[] =
"usage: hwprof replay FILE... [OPTIONS]\n"
"\n"
"Prints the loops in the branch stacks of a recording (perf record -b): how often\n"
"they were entered, and how many iterations they made, as far as the stacks show.\n"
"With -e, prints calls, paths, branches or ranges of code instead; or the calling\n"
"context tree, from stacks of calls (perf record -g).\n"
"\n"
"  FILE                recording of perf; -: standard input, if it was recorded\n"
"                      to a pipe; several files are reported together\n"
"  -o, --output FILE   write the result to FILE instead of reporting it: a\n"
"                      recording of hwprof, for report, script and export\n"
"      --diff          print the changes from the first to the second file\n"
"  -e WHAT             loops; calls: call pairs and methods; paths: those that\n"
"                      lie within a stack; edges: where each branch led;\n"
"                      ranges: hot ranges of their targets; or cct: calling\n"
"                      contexts (default: loops)\n"
"      --event NAME    replay samples of this event alone (default: all; for\n"
"                      stacks of calls, the first event that has them)\n"
"      --span BYTES    longest jump back that makes a loop (default: 1048576)\n"
"      --memory MIB    memory of the engine (default: 64)\n"
"      --hot PERCENT   ranges: a range is hot from this share of all events on,\n"
"                      without hot ranges inside it (default: 10); paths: from\n"
"                      this share of the metric on (default: 1)\n"
"      --of STREAM     ranges: ip, the targets of all branches, or callee, those\n"
"                      of calls (default: ip)\n"
"      --blocks        paths: print their blocks of code\n"
"      --instructions  paths: without time and cycles, take shares of the\n"
"                      instructions in the code instead of branches\n"
REPORT_CHAIN_USAGE
REPORT_USAGE
REPORT_FILE_USAGE
"\n"
"exit status: 0 done; 1 the file cannot be read, is damaged or has no such\n"
"stacks; 2 wrong usage.\n";

struct command_replay {
	struct report report;		/* subject: NULL unless named */
	struct hwprof_replay_options options;
};

static const struct option options[] = {
	{ "event", required_argument, NULL, 'E' },
	{ "output", required_argument, NULL, 'o' },
	{ "diff", no_argument, NULL, 'd' },
	{ "span", required_argument, NULL, 'S' },
	{ "memory", required_argument, NULL, 'M' },
	REPORT_CODE_OPTIONS,
	REPORT_FILE_OPTIONS,
	REPORT_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

#define SUBJECTS \
	"loops, calls, paths, edges, ranges and cct can be replayed"

static int set_subject(struct command_replay *command, const char *value)
{
	int kind = hwprof_kind_of(value);

	command->report.subject = value;
	if (kind >= 0 && !replay_makes(kind))
		return usage_error("-e %s: stacks have no values of loads; "
				   SUBJECTS, value);
	if (kind < 0)
		return usage_error("-e '%s': " SUBJECTS, value);
	return -1;
}

static int set_option(struct command_replay *command, int option, char *value,
		      char **argv)
{
	switch (option) {
	case 'e':
		return set_subject(command, value);
	case 'E':
		/* -E used to be another name of -e. */
		if (hwprof_kind_of(value) >= 0)
			return set_subject(command, value);
		command->options.event = value;
		return -1;
	case 'o':
		command->options.output = value;
		return -1;
	case 'd':
		command->report.diff = true;
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

/* Returns bits 1 << kind of what is replayed. A page has all that there is. */
static unsigned int kinds_of(const struct command_replay *command)
{
	unsigned int kinds = 0;
	int kind;

	if (command->report.subject)
		return 1U << hwprof_kind_of(command->report.subject);
	if (!command->report.html)
		return 1U << HWPROF_KIND_LOOPS;
	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (replay_makes(kind))
			kinds |= 1U << kind;
	return kinds;
}

/*
 * Checks the options against -o, which prints no report. Whoever reports on the
 * file chooses what to print.
 */
static int check_output_options(const struct command_replay *command)
{
	const struct report *report = &command->report;

	if (report->file_count > 1)
		return usage_error("-o writes one recording: replay each file alone, and give all that were written to 'hwprof report'");
	if (report->diff || report->sort || report->limit || report->json ||
	    report->html || report->full_path || report->flags || report->hot ||
	    report->min_share >= 0 || report->folded || report->function ||
	    report->blocks)
		return usage_error("-o writes all there is: give the options of the report to 'hwprof report'");
	return -1;
}

/* Checks the options against a kind that is replayed. */
static int check_kind(const struct command_replay *command, int kind)
{
	const struct report *report = &command->report;

	if (command->options.span &&
	    !(report_kind_of(kind)->options & REPORT_SPAN))
		return usage_error("--span is of loops");
	if (command->options.output) {
		int status = check_output_options(command);

		if (status >= 0)
			return status;
	}
	if (report->diff)
		return report_check_diff(report, kind);
	return report_check(report, kind);
}

static int check_options(const struct command_replay *command)
{
	const struct report *report = &command->report;
	unsigned int kinds = kinds_of(command);
	int kind, status = -1;
	size_t i, pipes = 0;

	for (i = 0; i < report->file_count; i++)
		pipes += !strcmp(report->files[i], "-");
	if (pipes > 1)
		return usage_error("standard input can be read once: one '-' is allowed");
	for (kind = 0; kind < HWPROF_KINDS && status < 0; kind++)
		if (kinds >> kind & 1)
			status = check_kind(command, kind);
	return status;
}

static int parse(struct command_replay *command, int argc, char **argv)
{
	int option, status = -1;

	while (status < 0 && (option = getopt_long(argc, argv,
						   "e:o:" REPORT_LETTERS,
						   options, NULL)) >= 0)
		status = set_option(command, option, optarg, argv);
	if (status >= 0)
		return status;
	if (optind == argc)
		return usage_error("replay which file? Give one of 'perf record -b', or -g");
	command->report.file = argv[optind];
	command->report.files = (const char *const *)argv + optind;
	command->report.file_count = argc - optind;
	return check_options(command);
}

static void print_progress(void *context, uint64_t done, uint64_t size)
{
	if (size)
		fprintf(stderr, "\r%3u %%", (unsigned int)(100 * done / size));
	else
		fprintf(stderr, "\r%u MiB", (unsigned int)(done >> 20));
}

/* Tells what was written, as 'hwprof record' does. */
static int tell_output(const struct command_replay *command,
		       const struct hwprof_profile *profile)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);
	const char *path = command->options.output;
	char rows[GROUPED_SIZE];
	struct stat status;

	print_warnings(profile, "");
	if (stat(path, &status))
		return failed("%s: %s", path, strerror(errno));
	fprintf(stderr, "hwprof: %s row%s of %s, %.2f MB written to %s\n",
		grouped(totals->rows, rows), totals->rows == 1 ? "" : "s",
		hwprof_kind_name(hwprof_profile_kind(profile)),
		status.st_size / 1e6, path);
	return STATUS_OK;
}

/* Writes the one kind of @kinds. */
static int replay_and_write(const struct command_replay *command,
			    unsigned int kinds)
{
	const struct report *report = &command->report;
	struct hwprof_profile *profile = NULL;
	int kind = __builtin_ctz(kinds);
	int status = report_read(report, report_kind_of(kind), 0, 1,
				 &profile, NULL);

	if (!status)
		status = tell_output(command, profile);
	hwprof_profile_free(profile);
	return status;
}

static int replay_and_print(struct command_replay *command)
{
	unsigned int kinds = kinds_of(command);

	if (isatty(STDERR_FILENO))
		command->options.progress = print_progress;
	command->report.replay = &command->options;
	if (command->options.output)
		return replay_and_write(command, kinds);
	if (command->report.html)
		return report_html(&command->report, kinds,
				   !command->report.subject);
	return report_files(&command->report,
			    report_kind_of(__builtin_ctz(kinds)));
}

int command_replay(int argc, char **argv)
{
	struct command_replay command = {
		.report = { .min_share = -1 },
	};
	int status = parse(&command, argc, argv);

	return status < 0 ? replay_and_print(&command) : status;
}
