// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "html.h"
#include "profile/kinds.h"
#include "remote.h"
#include "report.h"
#include "report_phases.h"

const char report_usage[] =
"usage: hwprof report [" KIND_NAMES_OR "] [OPTIONS]\n"
"                     [FILE...]\n"
"\n"
"Prints what a recording has of one kind:\n"
"  loops   how often each loop was entered, and how many iterations it made\n"
"  ranges  hot ranges of addresses, as a tree, with bounds of their events\n"
"  calls   how often each site called each function, and the calls of a function\n"
"  cct     calling contexts: functions by the chain of calls that led to them\n"
"  paths   the ways that the program took through its procedures, and how often\n"
"  values  the values that loads gave, and how invariant they were\n"
"  edges   how often each branch was taken, where to, and how often it was passed\n"
"Without a kind, prints all that the recording has.\n"
"\n"
"  FILE                recording of hwprof or perf; -: standard input, if it\n"
"                      was recorded to a pipe (default: " DEFAULT_FILE ")\n"
"                      several files are reported together; also where hwprofd\n"
"                      gives a recording: unix:PATH, http://HOST:PORT, with\n"
"                      parameters as in unix:PATH?seconds=600\n"
"  -i, --input FILE    the same, for one file\n"
"      --from WHERE    the same, of hwprofd\n"
"      --phases        print when the program changed, and each phase's profile\n"
"      --phase-distance N  how much it must change, from 0 to 1 (default: 0.5)\n"
"      --diff          print the changes from the first to the second file\n"
"      --hot PERCENT   ranges: a range is hot from this share of all events on,\n"
"                      without hot ranges inside it (default: 10); paths: from\n"
"                      this share of the metric on (default: 1)\n"
REPORT_CHAIN_USAGE
"      --blocks        paths: print their blocks of code\n"
"      --instructions  paths: without time and cycles, take shares of the\n"
"                      instructions in the code instead of branches; loops:\n"
"                      the same, with paths beside them (-e loops,paths)\n"
"      --contexts      paths: print the calling contexts that ran each, if one\n"
"                      event recorded both (-e paths,cct)\n"
"      --of STREAM     ranges: if the recording has several streams, report ip,\n"
"                      load-value, load-address, store-address, callee,\n"
"                      zero-address, narrow-ip, ip-load-address or\n"
"                      ip-store-address\n"
REPORT_USAGE
REPORT_FILE_USAGE
"\n"
"exit status: 0 done; 1 the file cannot be read or is damaged; 2 wrong usage.\n";

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "from", required_argument, NULL, 'i' },
	{ "diff", no_argument, NULL, 'd' },
	{ "phases", no_argument, NULL, 'P' },
	{ "phase-distance", required_argument, NULL, 'T' },
	{ "contexts", no_argument, NULL, 'C' },
	REPORT_CODE_OPTIONS,
	REPORT_FILE_OPTIONS,
	REPORT_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int parse_min_share(struct report *report, const char *value)
{
	char *end;

	report->min_share = strtod(value, &end) / 100;
	if (end == value || *end ||
	    !(report->min_share >= 0 && report->min_share <= 1))
		return usage_error("--min-share '%s': allowed are percentages from 0 to 100",
				   value);
	return -1;
}

static int parse_hot(struct report *report, const char *value)
{
	char *end;

	report->hot = strtod(value, &end) / 100;
	if (end == value || *end || !(report->hot > 0 && report->hot <= 1))
		return usage_error("--hot '%s': allowed are percentages above 0, up to 100",
				   value);
	return -1;
}

static int parse_of(struct report *report, const char *value)
{
	int of = hwprof_range_of(value);

	if (of < 0)
		return usage_error("--of '%s': ranges are of ip, load-value, load-address, store-address, callee, zero-address, narrow-ip, ip-load-address or ip-store-address",
			value);
	report->of = HWPROF_RANGES_OF_FLAG(of);
	return -1;
}

int report_option(struct report *report, int option, char *value,
		  const char *usage, char **argv)
{
	switch (option) {
	case 's':
		report->sort = value;
		return -1;
	case 'n':
		if (!parse_count(value, 1, SIZE_MAX / 2, &report->limit))
			return usage_error("--limit '%s': allowed are numbers from 1",
				value);
		return -1;
	case 'p':
		report->flags |= HWPROF_PER_PROCESS;
		return -1;
	case 'f':
		report->full_path = true;
		return -1;
	case 'j':
		report->json = true;
		return -1;
	case 'm':
		return parse_min_share(report, value);
	case 'c':
		report->flags |= HWPROF_MERGE_SITES;
		return -1;
	case 'F':
		report->folded = true;
		return -1;
	case 'K':
	case 'N':
		if (report->function)
			return usage_error("--function and --callers-of: give one of them, once");
		report->function = value;
		report->callers = option == 'K';
		return -1;
	case 'y':
		report->symfs = value;
		return -1;
	case 'D':
		report->debuginfo = value;
		return -1;
	case 'U':
		return -1;	/* main() has handled it */
	case 'H':
		return parse_hot(report, value);
	case 'O':
		return parse_of(report, value);
	case 'B':
		report->blocks = true;
		return -1;
	case 'W':
		report->html = value;
		return -1;
	case 'X':
		report->no_source = true;
		return -1;
	case 'I':
		report->flags |= HWPROF_BY_INSTRUCTIONS;
		return -1;
	}
	return option_error(option, usage, argv);
}

static int parse_phase_distance(struct report *report, const char *value)
{
	char *end;

	report->phase_distance = strtod(value, &end);
	if (end == value || *end ||
	    !(report->phase_distance > 0 && report->phase_distance < 1))
		return usage_error("--phase-distance '%s': allowed are numbers between 0 and 1",
				   value);
	return -1;
}

/* Handles the options that only this command has. */
static int parse_option(struct report *report, int option, char *value,
			char **argv)
{
	switch (option) {
	case 'i':
		report->file = value;
		return -1;
	case 'd':
		report->diff = true;
		return -1;
	case 'C':
		report->contexts = true;
		return -1;
	case 'P':
		report->phases = true;
		return -1;
	case 'T':
		return parse_phase_distance(report, value);
	}
	return report_option(report, option, value, report_usage, argv);
}

static bool has_chain_options(const struct report *report)
{
	return report->min_share >= 0 || report->folded || report->callers ||
	       report->flags & HWPROF_MERGE_SITES;
}

static int check_function(const struct report *report, int kind)
{
	if (!report->function || report->callers)
		return -1;
	if (report_kind_of(kind)->options & REPORT_CHAINS)
		return usage_error(
			"--function is of loops, calls, paths, values and "
			"edges; of cct there is --callers-of");
	if (report_kind_of(kind)->options & REPORT_RANGES)
		return usage_error("--function is of loops, calls, paths, "
				   "values and edges: ranges are of addresses");
	return -1;
}

#define SUBJECTS	KIND_NAMES

/* Checks the options of pages. */
static int check_html(const struct report *report)
{
	size_t i;

	if (!report->html && report->no_source)
		return usage_error("--no-source is of pages: give --html, too");
	if (!report->html)
		return -1;
	if (report->json || report->folded || report->blocks ||
	    report->contexts)
		return usage_error("--html writes a page of all there is, without --json, --folded, --blocks and --contexts");
	for (i = 0; i < report->file_count && !report->subject; i++)
		if (!strcmp(report->files[i], "-"))
			return usage_error("--html reads its files several times, and standard input can be read once: name one subject");
	return -1;
}

int report_check(const struct report *report, int kind)
{
	unsigned int has = report_kind_of(kind)->options;
	int status = check_html(report);

	if (status >= 0)
		return status;
	if (report->sort && !(has & REPORT_SORTS))
		return usage_error("--sort and its keys are of loops, not of %s",
			report_kind_of(kind)->things);
	if (report->limit && has & REPORT_TREE && !report->diff)
		return usage_error("%s are a tree, which --limit would cut",
				   report_kind_of(kind)->things);
	if (report->hot && !(has & (REPORT_RANGES | REPORT_PATHS)))
		return usage_error("--hot is of ranges and paths");
	if (report->flags & HWPROF_BY_INSTRUCTIONS &&
	    !(has & REPORT_INSTRUCTIONS))
		return usage_error("--instructions is of loops and paths");
	if (report->of && !(has & REPORT_RANGES))
		return usage_error("--of is of ranges");
	if (report->blocks && !(has & REPORT_PATHS))
		return usage_error("--blocks is of paths");
	if (!(has & REPORT_CHAINS) && has_chain_options(report))
		return usage_error("--min-share, --merge-sites, --folded and --callers-of are of cct");
	if (report->folded && (report->json || report->min_share >= 0 ||
			       report->callers))
		return usage_error("--folded writes all there is, and no JSON");
	return check_function(report, kind);
}

int report_check_diff(const struct report *report, int kind)
{
	if (report->file_count != 2)
		return usage_error("--diff needs two files: before, after");
	if (report->sort)
		return usage_error("--diff has its own order, without --sort");
	if (report->folded || report->blocks || report->contexts ||
	    report->callers || report->min_share >= 0)
		return usage_error("--diff says what has changed, without --folded, --blocks, --contexts, --callers-of and --min-share");
	return report_check(report, kind);
}

/* Checks the options against the subject, which is @kind. */
static int check_subject(const struct report *report, int kind)
{
	if (report->diff)
		return report_check_diff(report, kind);
	if (report->contexts &&
	    !(report_kind_of(kind)->options & REPORT_PATHS))
		return usage_error("--contexts is of paths");
	return report_check(report, kind);
}

/* Takes the files behind the subject; without any, the one of -i. */
static int take_files(struct report *report, char **files, size_t count)
{
	size_t i, pipes = 0;

	report->files = &report->file;
	report->file_count = 1;
	if (!count) {
		if (!report->file)
			report->file = DEFAULT_FILE;
		return -1;
	}
	if (report->file)
		return usage_error("'%s' and -i '%s': give all files without -i", files[0],
			report->file);
	for (i = 0; i < count; i++)
		pipes += !strcmp(files[i], "-");
	if (pipes > 1)
		return usage_error("standard input can be read once: one '-' is allowed");
	report->file = files[0];
	report->files = (const char *const *)files;
	report->file_count = count;
	return -1;
}

/*
 * Takes the subject and the files. A first argument that is no subject may be a
 * file.
 */
static int take_arguments(struct report *report, char **arguments, size_t count)
{
	if (count && hwprof_kind_of(arguments[0]) >= 0) {
		report->subject = *arguments++;
		count--;
	} else if (count && strcmp(arguments[0], "-") &&
		   !remote_is_named(arguments[0]) &&
		   access(arguments[0], F_OK)) {
		return usage_error("unknown report '%s', and no such file; there are: " SUBJECTS,
				   arguments[0]);
	}
	return take_files(report, arguments, count);
}

static int parse(struct report *report, int argc, char **argv)
{
	int option, status = -1;

	while (status < 0 && (option = getopt_long(argc, argv,
						   "i:" REPORT_LETTERS,
						   options, NULL)) >= 0)
		status = parse_option(report, option, optarg, argv);
	if (status >= 0)
		return status;
	return take_arguments(report, argv + optind, argc - optind);
}

/* Adds the kinds of one file to *@kinds. Returns -1, or the exit status. */
static int kinds_of(struct hwprof_file *file, unsigned int *kinds)
{
	unsigned int found;
	int error = hwprof_file_kinds(file, &found);

	if (error == -ESPIPE)
		return usage_error("%s; say what to report on: " SUBJECTS,
				   hwprof_file_error(file));
	if (error)
		return failed("%s", hwprof_file_error(file));
	*kinds |= found;
	return -1;
}

/* Finds the kinds of profiles that the files' events name: bits 1 << kind. */
static int find_kinds(const struct report *report, unsigned int *kinds)
{
	size_t i;

	*kinds = 0;
	for (i = 0; i < report->file_count; i++) {
		struct hwprof_file *file;
		int error = remote_file_open(&file, report->files[i]);

		int status = error ? failed("%s", hwprof_file_error(file)) :
				     kinds_of(file, kinds);

		hwprof_file_close(file);
		if (status >= 0)
			return status;
	}
	return -1;
}

/* Checks the options against all @kinds. */
static int check_kinds(const struct report *report, unsigned int kinds)
{
	int kind, status = report_check_phases(report, kinds);

	if (status >= 0)
		return status;
	if (report->json && !report->html && kinds & (kinds - 1))
		return usage_error("--json writes one profile, and the recording has several: say which one, as in 'hwprof report %s --json'",
				   hwprof_kind_name(__builtin_ctz(kinds)));
	for (kind = 0; kind < HWPROF_KINDS && status < 0; kind++)
		if (kinds >> kind & 1)
			status = check_subject(report, kind);
	return status;
}

/* Prints one report after the other. */
static int report_kinds(const struct report *report, unsigned int kinds)
{
	int kind, status = STATUS_OK;

	for (kind = 0; kind < HWPROF_KINDS && !status; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		status = report_files(report, report_kind_of(kind));
		if (!status && kinds >> kind > 1)
			putchar('\n');
	}
	return status;
}

int command_report(int argc, char **argv)
{
	struct report report = { .min_share = -1 };
	unsigned int kinds;
	int status = parse(&report, argc, argv);

	if (status < 0 && report.subject)
		kinds = 1U << hwprof_kind_of(report.subject);
	else if (status < 0)
		status = find_kinds(&report, &kinds);
	if (status < 0)
		status = check_kinds(&report, kinds);
	if (status >= 0)
		return status;
	if (report.phases)
		return report_phases(&report,
				     report_kind_of(__builtin_ctz(kinds)));
	return report.html ? report_html(&report, kinds, false) :
			     report_kinds(&report, kinds);
}
