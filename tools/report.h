/* SPDX-License-Identifier: GPL-2.0-only */
/* What is reported, and how it is printed, whatever it was made from. */
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
	const char *subject;	/* what of: loops, ranges, calls, cct, paths, values, edges */
	double hot;		/* part of all that makes a range so; 0: the
				 * default */
	double min_share;	/* of all, that a context has to have; below 0:
				 * the default */
	bool folded;
	const char *function;	/* only what is of it; NULL: all */
	bool callers;		/* and of contexts, who called it */
	unsigned int of;	/* HWPROF_RANGES_OF_FLAG(); 0: what there is */
	const char *sort;
	uint64_t limit;		/* 0: all */
	bool json, full_path;
	bool blocks;		/* paths are spelled out */
	bool contexts;		/* and who ran them */
	unsigned int flags;	/* enum hwprof_flags */
	const char *symfs, *debuginfo;	/* as struct hwprof_options has them */
	/* Stacks are replayed; NULL: rows are read. */
	const struct hwprof_replay_options *replay;
};

/* The options of struct report, but for its file. */
#define REPORT_OPTIONS							\
	{ "sort", required_argument, NULL, 's' },			\
	{ "limit", required_argument, NULL, 'n' },			\
	{ "per-process", no_argument, NULL, 'p' },			\
	{ "full-path", no_argument, NULL, 'f' },			\
	{ "json", no_argument, NULL, 'j' },				\
	{ "min-share", required_argument, NULL, 'm' },			\
	{ "merge-sites", no_argument, NULL, 'c' },			\
	{ "folded", no_argument, NULL, 'F' },				\
	{ "function", required_argument, NULL, 'N' },			\
	{ "callers-of", required_argument, NULL, 'K' },			\
	{ "symfs", required_argument, NULL, 'y' },			\
	{ "debuginfo", required_argument, NULL, 'D' },			\
	{ "debuginfod", no_argument, NULL, 'U' },			\
	{ "help", no_argument, NULL, 'h' }

/* Of paths and of ranges. */
#define REPORT_CODE_OPTIONS						\
	{ "blocks", no_argument, NULL, 'B' },				\
	{ "hot", required_argument, NULL, 'H' },			\
	{ "of", required_argument, NULL, 'O' }

#define REPORT_LETTERS	"s:n:h"

#define REPORT_USAGE							\
"  -s, --sort KEYS     order, separated by commas, of: " HWPROF_LOOPS_SORT_KEYS "\n" \
"                      (default: share)\n"				\
"  -n, --limit N       no more than N of them (default: all)\n"		\
"      --function NAME loops, paths, loads and branches of the function, calls by\n" \
"                      and of it; NAME may be a pattern, as of the shell\n" \
"      --per-process   each process apart\n"			\
"      --full-path     objects and files of source with their directories\n" \
"      --json          as JSON: see hwprof-report(1)\n"		\
"      --symfs DIR     look for objects under DIR: files of another machine\n" \
"      --debuginfo DIR look for symbols and sources in DIR, by build id\n" \
"      --debuginfod    and ask the servers in $DEBUGINFOD_URLS for them\n" \
"  -h, --help\n"

#define REPORT_CHAIN_USAGE						\
"      --min-share PERCENT  cct: those of which the subtree has so much of all\n" \
"                      branches, or samples (default: 1; JSON: 0)\n"	\
"      --merge-sites   cct: all calls of a procedure by another are one, wherever\n" \
"                      they stand\n"					\
"      --folded        cct: a line for each chain and how many branches it had, or\n" \
"                      what its samples weigh, for flame graphs\n"	\
"      --callers-of NAME  cct: who called the function, upwards from it; NAME\n" \
"                      may be a pattern, as of the shell\n"

/* Do the options of struct report go with @kind? -1: they do; else the status to
 * exit with, and it was said why. */
int report_check(const struct report *report, int kind);

/* The same of what has changed between two files. */
int report_check_diff(const struct report *report, int kind);

/*
 * Takes one of these options, or says what is wrong with it or, if that was
 * asked for, @usage. -1: go on; else the status to exit with.
 */
int report_option(struct report *report, int option, char *value,
		  const char *usage, char **argv);

/* What is reported of, as report_loops.c and so on have it. */
struct report_kind {
	enum hwprof_kind kind;
	const char *things;	/* "loops" */
	/* A table of it, and what became of its units. The status. */
	int (*print)(const struct report *report,
		     const struct hwprof_profile *profile);
	/* Of a difference: the columns of a thing, behind those of shares. An
	 * index may be HWPROF_NOTHING, but one of them. */
	const struct table_column *columns;
	size_t column_count;
	void (*add)(struct table *table, const struct hwprof_profile *before,
		    size_t before_index, const struct hwprof_profile *after,
		    size_t after_index, bool full);
	/* Of hwprof_diff_procedures(), the same; NULL: there are none. */
	const struct report_kind *procedures;
	/* Of a difference of ranges of pairs, the same; NULL: there are none. */
	const struct report_kind *boxes;
	/* Where two cannot be compared; NULL: they always can. */
	void (*warn_of_diff)(const struct hwprof_profile *before,
			     const struct hwprof_profile *after);
};

extern const struct report_kind report_loops, report_ranges, report_calls,
				report_contexts, report_paths, report_values,
				report_edges;
const struct report_kind *report_kind_of(enum hwprof_kind kind);

/* Prints what was read, and warnings on stderr. The status. */
int report_print(const struct report *report, const struct report_kind *kind,
		 struct hwprof_profile *profile);
/* Reads and prints the report's files. The status. */
int report_files(const struct report *report, const struct report_kind *kind);
/* report_diff.c: what has changed from the first to the second. The status. */
int report_diff(const struct report *report, const struct report_kind *kind,
		const struct hwprof_profile *before,
		const struct hwprof_profile *after);

/* --- report_print.c: what is printed alike -------------------------------- */

/* Of an object or file of source: without its directory, unless @full. */
const char *shown_path(const char *path, bool full);
void add_code(struct table *table, const char *function, uint64_t offset,
	      uint64_t address);
void add_source(struct table *table, const char *file, unsigned int line,
		bool full);
void add_process(struct table *table, uint32_t pid, const char *comm);

/* How many of @count are to be shown. */
size_t shown_of(const struct report *report, size_t count);
/*
 * Prints and frees the table; then, how many rows it does not have, and which
 * @option shows them. The status.
 */
int finish_table(struct table *table, size_t left_out, const char *option);

void print_files(const struct report *report);		/* "FILE: " */
/* Two lines, after an empty one: what the run's @units became of, or the sum over
 * all kinds of a session with several. */
void print_totals(const struct hwprof_totals *totals, const char *units);
/* After the last output: the status, if that could be written. */
int check_output(int status);
/* On stderr, each with @name before it, unless that is "". */
void print_warnings(const struct hwprof_profile *profile, const char *name);

#endif /* HWPROF_REPORT_H */
