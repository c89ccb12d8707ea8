/* SPDX-License-Identifier: GPL-2.0-only */
/* Loops and calls as they are printed, whatever they were made from. */
#ifndef HWPROF_REPORT_H
#define HWPROF_REPORT_H

#include <getopt.h>

#include "hwprof.h"
#include "table.h"

struct report {
	const char *file;	/* the first, ... */
	const char *const *files;	/* ... and all */
	size_t file_count;
	bool diff;		/* what has changed from the first to the second */
	const char *subject;	/* what of: loops, ranges, calls, cct, paths, values */
	double hot;		/* part of all that makes a range so; 0: the
				 * default */
	double min_share;	/* of all, that a context has to have; below 0:
				 * the default */
	bool folded;
	unsigned int of;	/* HWPROF_RANGES_OF_FLAG(); 0: what there is */
	const char *sort;
	uint64_t limit;		/* 0: all */
	bool json, full_path;
	bool blocks;		/* paths are spelled out */
	unsigned int flags;	/* enum hwprof_loops_flags */
};

/* The options of struct report, but for its file. */
#define REPORT_OPTIONS							\
	{ "sort", required_argument, NULL, 's' },			\
	{ "limit", required_argument, NULL, 'n' },			\
	{ "per-process", no_argument, NULL, 'p' },			\
	{ "full-path", no_argument, NULL, 'f' },			\
	{ "json", no_argument, NULL, 'j' },				\
	{ "help", no_argument, NULL, 'h' }

#define REPORT_LETTERS	"s:n:h"

#define REPORT_USAGE							\
"  -s, --sort KEYS     order, separated by commas, of: " HWPROF_LOOPS_SORT_KEYS "\n" \
"                      (default: share)\n"				\
"  -n, --limit N       no more than N of them (default: all)\n"		\
"      --per-process   each process apart\n"			\
"      --full-path     objects and files of source with their directories\n" \
"      --json          as JSON: see hwprof-report(1)\n"		\
"  -h, --help\n"

/*
 * Takes one of these options, or says what is wrong with it or, if that was
 * asked for, @usage. -1: go on; else the status to exit with.
 */
int report_option(struct report *report, int option, char *value,
		  const char *usage, char **argv);

/* report_ranges.c, _calls.c, _paths.c: read and print these. The status. */
int report_ranges(const struct report *report);
int report_calls(const struct report *report);
/* report_contexts.c: the same of calling contexts. */
int report_contexts(const struct report *report);
/* report_values.c: the same of values of loads. */
int report_values(const struct report *report);
int report_paths(const struct report *report);

/* What is printed alike. */
const char *shown_path(const char *path, bool full);
size_t terminal_width(void);	/* 0: as wide as it gets */
/* "1 session from step", in a line. */
void print_sessions(const struct hwprof_totals *totals);
/* After the last output: the status, if that could be written. */
int check_output(int status);

/* A loop's cells. */
void add_trip(struct table *table, double trip);	/* one */
void add_place(struct table *table, const struct hwprof_loop *loop,
	       bool full);				/* three */

/* report_diff.c: prints what has changed from the first file. The status. */
int report_diff(const struct report *report, const struct hwprof_loops *before,
		const struct hwprof_loops *after);

/* On stderr, each with @name before it, unless that is "". */
void print_warnings(const struct hwprof_loops *loops, const char *name);

/* Sorts and prints @loops, and its warnings on stderr. The status. */
int report_print(const struct report *report, struct hwprof_loops *loops);

/* Prints @calls, and its warnings on stderr. The status. */
int report_print_calls(const struct report *report,
		       const struct hwprof_calls *calls);

#endif /* HWPROF_REPORT_H */
