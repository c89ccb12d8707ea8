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
	{ "min-share", required_argument, NULL, 'm' },			\
	{ "merge-sites", no_argument, NULL, 'c' },			\
	{ "folded", no_argument, NULL, 'F' },				\
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

#define REPORT_CHAIN_USAGE						\
"      --min-share PERCENT  cct: those of which the subtree has so much of all\n" \
"                      branches, or samples (default: 1; JSON: 0)\n"	\
"      --merge-sites   cct: all calls of a procedure by another are one, wherever\n" \
"                      they stand\n"					\
"      --folded        cct: a line for each chain and how many branches it had, or\n" \
"                      what its samples weigh, for flame graphs\n"

/* Any option that is of cct alone? */
bool report_has_chain_options(const struct report *report);

/*
 * Takes one of these options, or says what is wrong with it or, if that was
 * asked for, @usage. -1: go on; else the status to exit with.
 */
int report_option(struct report *report, int option, char *value,
		  const char *usage, char **argv);

/* What is reported of, as report_loops.c and so on have it. */
struct report_kind {
	const char *things;	/* "loops" */
	/* 0, or a negative errno that one of the files has a sentence for. */
	int (*read)(const struct report *report,
		    struct hwprof_file *const *files, size_t count,
		    void **profile);
	/* By the report's keys; NULL: it has none. The status. */
	int (*sort)(const struct report *report, void *profile);
	int (*print)(const struct report *report, const void *profile);	/* so */
	/* Writes JSON, or what else is asked for; a negative errno. */
	int (*write)(const struct report *report, const void *profile);
	const char *(*warning)(const void *profile, size_t index);
	void (*free)(void *profile);
	/* Of a difference: -ENOMEM; and the columns of a thing, behind those of
	 * shares. An index may be HWPROF_NOTHING, but one of them. */
	int (*diff)(struct hwprof_diff **diff, const void *before,
		    const void *after);
	const struct table_column *columns;
	size_t column_count;
	void (*add)(struct table *table, const void *before, size_t before_index,
		    const void *after, size_t after_index, bool full);
};

extern const struct report_kind report_loops, report_ranges, report_calls,
				report_contexts, report_paths, report_values;

/* Prints what was read, and warnings on stderr. The status. */
int report_print(const struct report *report, const struct report_kind *kind,
		 void *profile);
/* Reads and prints the report's files. The status. */
int report_files(const struct report *report, const struct report_kind *kind);
/* report_diff.c: what has changed from the first to the second. The status. */
int report_diff(const struct report *report, const struct report_kind *kind,
		const void *before, const void *after);

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
/* Two lines, after an empty one: what the run's @units became of. */
void print_totals(const struct hwprof_totals *totals, const char *units);
/* After the last output: the status, if that could be written. */
int check_output(int status);
/* On stderr, each with @name before it, unless that is "". */
void print_warnings(const struct report_kind *kind, const void *profile,
		    const char *name);

#endif /* HWPROF_REPORT_H */
