/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports, whatever they are made from: options and printing. */
#ifndef HWPROF_REPORT_H
#define HWPROF_REPORT_H

#include <getopt.h>

#include "hwprof.h"
#include "profile/kinds.h"
#include "table.h"

struct report {
	const char *file;	/* the first file */
	const char *const *files;	/* all files */
	size_t file_count;
	bool phases;		/* print the profile of each phase */
	double phase_distance;	/* between phases; 0: the default */
	bool diff;		/* compare the first and the second file */
	const char *subject;	/* loops, ranges, calls, cct, paths, values or
				 * edges */
	double hot;		/* least share of a hot range; 0: the default */
	double min_share;	/* least share of a context; below 0: the
				 * default */
	bool folded;
	const char *function;	/* pattern of wanted functions; NULL: all */
	bool callers;		/* contexts: their callers */
	unsigned int of;	/* HWPROF_RANGES_OF_FLAG(); 0: what the files
				 * have */
	const char *sort;
	uint64_t limit;		/* 0: all */
	bool json, full_path;
	const char *html;	/* page to write; NULL: none */
	bool no_source;		/* leave text of source out of the page */
	bool blocks;		/* print the blocks of paths */
	bool contexts;		/* print the contexts of paths */
	unsigned int flags;	/* enum hwprof_flags */
	const char *symfs, *debuginfo;	/* as in struct hwprof_options */
	/* How to replay stacks; NULL: read rows. */
	const struct hwprof_replay_options *replay;
};

/* Options of struct report, except its file. */
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

/* Options of paths and ranges. */
#define REPORT_CODE_OPTIONS						\
	{ "blocks", no_argument, NULL, 'B' },				\
	{ "hot", required_argument, NULL, 'H' },			\
	{ "instructions", no_argument, NULL, 'I' },			\
	{ "of", required_argument, NULL, 'O' }

/* Options of commands that read files. */
#define REPORT_FILE_OPTIONS						\
	{ "html", required_argument, NULL, 'W' },			\
	{ "no-source", no_argument, NULL, 'X' }

#define REPORT_LETTERS	"s:n:h"

#define REPORT_USAGE							\
"  -s, --sort KEYS     order, separated by commas, of: " " \
"HWPROF_LOOPS_SORT_KEYS "\n" \
"                      (default: share)\n"				\
"  -n, --limit N       print at most N (default: all)\n"			\
"      --function NAME loops, paths, loads and branches of the function, " \
"calls by\n" \
"                      and of it; NAME may be a pattern like the shell's\n" \
"      --per-process   list each process separately\n"			\
"      --full-path     objects and files of source with their directories\n" \
"      --json          as JSON: see hwprof-report(1)\n"		\
"      --symfs DIR     look for objects under DIR: files of another machine\n" \
"      --debuginfo DIR look for symbols and sources in DIR, by build id\n" \
"      --debuginfod    and ask the servers in $DEBUGINFOD_URLS for them\n" \
"  -h, --help\n"

#define REPORT_FILE_USAGE						\
"      --html OUT      write a page for browsers, with pictures; it needs no " \
"network.\n" \
"                      -: to standard output\n"			\
"      --no-source     and leave out the text of lines of source\n"

#define REPORT_CHAIN_USAGE						\
"      --min-share PERCENT  cct: those whose subtree has at least this share " \
"of\n" \
"                      all branches, or samples (default: 1; JSON: 0)\n" \
"      --merge-sites   cct: merge all calls of a procedure by another\n" \
"      --folded        cct: a line for each chain with its branches, or " \
"its\n" \
"                      samples' weight, for flame graphs\n"		\
"      --callers-of NAME  cct: the callers of the function, upwards; NAME " \
"may be\n" \
"                      a pattern like the shell's\n"

/*
 * Checks the options against @kind. Returns -1, or the exit status after a
 * message.
 */
int report_check(const struct report *report, int kind);

/* Does the same for a comparison of two files. */
int report_check_diff(const struct report *report, int kind);

/*
 * Handles one of these options. Prints what is wrong with it, or @usage if
 * requested. Returns -1 to continue, or the exit status.
 */
int report_option(struct report *report, int option, char *value,
		  const char *usage, char **argv);

/* The options that a kind has beside those of all. */
enum report_options {
	REPORT_SORTS	= 1 << 0,	/* --sort */
	REPORT_TREE	= 1 << 1,	/* a tree, which --limit would cut */
	REPORT_RANGES	= 1 << 2,	/* --hot, --of */
	REPORT_PATHS	= 1 << 3,	/* --blocks, --contexts */
	REPORT_CHAINS	= 1 << 4,	/* --callers-of and others of chains */
	REPORT_SPAN	= 1 << 5,	/* --span of replays */
	REPORT_INSTRUCTIONS = 1 << 6,	/* --instructions */
};

/* A kind of report, as in report_loops.c and so on. */
struct report_kind {
	enum hwprof_kind kind;
	const char *things;	/* "loops" */
	unsigned int options;	/* enum report_options */
	/*
	 * Prints a table, and the totals of its units. Returns the exit status.
	 */
	int (*print)(const struct report *report,
		     const struct hwprof_profile *profile);
	/*
	 * Differences: the columns of a thing behind those of shares. At most
	 * one of the two indices is HWPROF_NOTHING.
	 */
	const struct table_column *columns;
	size_t column_count;
	void (*add)(struct table *table, const struct hwprof_profile *before,
		    size_t before_index, const struct hwprof_profile *after,
		    size_t after_index, bool full);
	/* The same for hwprof_diff_procedures(); NULL: none. */
	const struct report_kind *procedures;
	/* The same for ranges of pairs; NULL: none. */
	const struct report_kind *boxes;
	/* Warns if two profiles cannot be compared; NULL: they always can. */
	void (*warn_of_diff)(const struct hwprof_profile *before,
			     const struct hwprof_profile *after);
};

#define KIND(constant, field, stem, rows)				\
	extern const struct report_kind report_##stem;
HWPROF_KIND_TABLE(KIND)
#undef KIND
const struct report_kind *report_kind_of(enum hwprof_kind kind);

/* Prints a profile, and warnings on stderr. Returns the exit status. */
int report_print(const struct report *report, const struct report_kind *kind,
		 struct hwprof_profile *profile);
/*
 * Reads @count of the report's files, from @first on. Returns the exit status.
 * With @nothing, files that lack the kind are no failure: they set *@nothing.
 */
int report_read(const struct report *report, const struct report_kind *kind,
		size_t first, size_t count, struct hwprof_profile **profile,
		bool *nothing);
/* Reads and prints the report's files. Returns the exit status. */
int report_files(const struct report *report, const struct report_kind *kind);
/*
 * Prints the changes from the first to the second. Returns the exit status; in
 * report_diff.c.
 */
int report_diff(const struct report *report, const struct report_kind *kind,
		const struct hwprof_profile *before,
		const struct hwprof_profile *after);

/* --- report_print.c: printing that reports share -------------------------- */

/*
 * Returns the path of an object or source file, without its directory unless
 * @full.
 */
const char *shown_path(const char *path, bool full);
void add_code(struct table *table, const char *function, uint64_t offset,
	      uint64_t address);
void add_source(struct table *table, const char *file, unsigned int line,
		bool full);
void add_process(struct table *table, uint32_t pid, const char *comm);

/* Returns how many of @count to print. */
size_t shown_of(const struct report *report, size_t count);
/*
 * Prints and frees the table. Then prints how many rows were left out, and
 * which @option shows them. Returns the exit status.
 */
int finish_table(struct table *table, size_t left_out, const char *option);

void print_files(const struct report *report);		/* "FILE: " */
/*
 * Prints an empty line and the totals of the run's @units, or their sum over
 * all kinds of a session with several.
 */
void print_totals(const struct hwprof_profile *profile, const char *units);
/* Checks that the output could be written. Returns the exit status. */
int check_output(int status);
/* Prints warnings on stderr, each with @name before it unless that is "". */
void print_warnings(const struct hwprof_profile *profile, const char *name);

#endif /* HWPROF_REPORT_H */
