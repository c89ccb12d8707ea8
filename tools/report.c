// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "report.h"
#include "table.h"

const char report_usage[] =
"usage: hwprof report loops|ranges|calls|cct|paths|values [OPTIONS] [FILE...]\n"
"\n"
"loops: which loops a recording has, how often they were entered, and how many\n"
"iterations they made. ranges: which ranges of addresses are hot, as a tree,\n"
"each with the events that it had at least and at most. calls: how often each\n"
"call site called which function, and how often each function was entered. cct:\n"
"the same by the whole chain of calls that led to each, as a tree.\n"
"paths: which ways through its procedures the program took, and how often.\n"
"values: which values loads gave, how invariant they were, how they changed.\n"
"\n"
"  FILE                recording of hwprof or perf; -: standard input, if it\n"
"                      was recorded to a pipe (default: " DEFAULT_FILE ")\n"
"                      loops: of several files, all of them together\n"
"  -i, --input FILE    the same, for one file\n"
"      --diff          loops: what has changed from the first of two files to\n"
"                      the second\n"
"      --hot PERCENT   ranges: hot are those with so much of all events, without\n"
"                      the hot ranges inside them (default: 10)\n"
"      --min-share PERCENT  cct: those of which the subtree has so much of all\n"
"                      branches (default: 1; JSON: 0)\n"
"      --merge-sites   cct: all calls of a procedure by another are one, wherever\n"
"                      they stand\n"
"      --folded        cct: a line for each chain and how many branches it had, for\n"
"                      flame graphs\n"
"      --blocks        paths: spell them out, block by block\n"
"      --of STREAM     ranges: those of ip, load-value, load-address,\n"
"                      store-address, callee, zero-address or narrow-ip, where\n"
"                      the recording has several\n"
REPORT_USAGE
"\n"
"exit status: 0 done; 1 the file cannot be read or is damaged; 2 wrong usage.\n";

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "hot", required_argument, NULL, 'H' },
	{ "diff", no_argument, NULL, 'd' },
	{ "min-share", required_argument, NULL, 'M' },
	{ "merge-sites", no_argument, NULL, 'S' },
	{ "folded", no_argument, NULL, 'F' },
	{ "blocks", no_argument, NULL, 'B' },
	{ "of", required_argument, NULL, 'O' },
	REPORT_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

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
	}
	return option_error(option, usage, argv);
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

/* Those that are not every report's. */
static int parse_of(struct report *report, const char *value)
{
	int of = hwprof_range_of(value);

	if (of < 0)
		return usage_error("--of '%s': ranges are of ip, load-value, load-address, store-address, callee, zero-address or narrow-ip",
				   value);
	report->of = HWPROF_RANGES_OF_FLAG(of);
	return -1;
}

static int parse_option(struct report *report, int option, char *value,
			char **argv)
{
	switch (option) {
	case 'i':
		report->file = value;
		return -1;
	case 'H':
		return parse_hot(report, value);
	case 'O':
		return parse_of(report, value);
	case 'd':
		report->diff = true;
		return -1;
	case 'M':
		return parse_min_share(report, value);
	case 'S':
		report->flags |= HWPROF_MERGE_SITES;
		return -1;
	case 'F':
		report->folded = true;
		return -1;
	case 'B':
		report->blocks = true;
		return -1;
	}
	return report_option(report, option, value, report_usage, argv);
}

static int read_and_print(const struct report *report);

static const struct subject {
	const char *name, *things;
	int (*print)(const struct report *report);
	bool has_sort, has_limit, has_hot, has_of;	/* options of these names */
	bool has_blocks;			/* likewise */
	bool has_files;				/* more than one, --diff */
	bool has_chains;	/* --min-share, --merge-sites, --folded */
} subjects[] = {
	{ "loops", "loops", read_and_print, .has_sort = true, .has_limit = true,
	  .has_files = true },
	{ "ranges", "ranges", report_ranges, .has_hot = true, .has_of = true },
	{ "calls", "calls", report_calls, .has_limit = true },
	{ "values", "values", report_values, .has_limit = true },
	{ "cct", "contexts", report_contexts, .has_chains = true },
	{ "paths", "paths", report_paths, .has_limit = true, .has_blocks = true },
};

#define SUBJECTS	"loops, ranges, calls, cct, paths, values"

static const struct subject *find_subject(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		if (!strcmp(subjects[i].name, name))
			return &subjects[i];
	return NULL;
}

/* Does what was asked for go with the subject? */
static int check_subject(const struct report *report)
{
	const struct subject *subject = find_subject(report->subject);

	if (!subject)
		return usage_error("unknown report '%s'; there are: " SUBJECTS,
				   report->subject);
	if (report->sort && !subject->has_sort)
		return usage_error("--sort and its keys are of loops, not of %s",
				   subject->things);
	if (report->limit && !subject->has_limit)
		return usage_error("%s are a tree, which --limit would cut",
				   subject->things);
	if (report->hot && !subject->has_hot)
		return usage_error("--hot is of ranges");
	if ((report->diff || report->file_count > 1) && !subject->has_files)
		return usage_error("%s are reported of one file; several, and --diff, are of loops",
				   subject->things);
	if (report->diff && report->file_count != 2)
		return usage_error("--diff needs two files: before, after");
	if (report->diff && report->sort)
		return usage_error("--diff has its own order, without --sort");
	if (!subject->has_chains &&
	    (report->min_share >= 0 || report->folded ||
	     report->flags & HWPROF_MERGE_SITES))
		return usage_error("--min-share, --merge-sites and --folded are of cct");
	if (report->folded && (report->json || report->min_share >= 0))
		return usage_error("--folded writes all there is, and no JSON");
	if (report->blocks && !subject->has_blocks)
		return usage_error("--blocks is of paths");
	if (report->of && !subject->has_of)
		return usage_error("--of is of ranges");
	return -1;
}

/* The files behind the subject; none: the one of -i. */
static int take_files(struct report *report, char **files, size_t count)
{
	size_t i, pipes = 0;

	report->files = &report->file;
	report->file_count = 1;
	if (!count) {
		if (!report->file)
			report->file = DEFAULT_FILE;
		return check_subject(report);
	}
	if (report->file)
		return usage_error("'%s' and -i '%s': give all files without -i",
				   files[0], report->file);
	for (i = 0; i < count; i++)
		pipes += !strcmp(files[i], "-");
	if (pipes > 1)
		return usage_error("standard input can be read once: one '-' is allowed");
	report->file = files[0];
	report->files = (const char *const *)files;
	report->file_count = count;
	return check_subject(report);
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
	if (optind == argc)
		return usage_error("report on what? There are: " SUBJECTS);
	report->subject = argv[optind];
	return take_files(report, argv + optind + 1, argc - optind - 1);
}

enum {
	COLUMN_RECENT = 4,
	COLUMN_MIN_MAX = 5,
	COLUMNS_FIXED = 10,
};

static const struct table_column columns[] = {
	{ .title = "share", .right = true },
	{ .title = "entries", .right = true },
	{ .title = "iterations", .right = true },
	{ .title = "trip", .right = true },
	{ .title = "recent", .right = true },
	{ .title = "min..max", .right = true },
	{ .title = "depth", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "source", .shrinks = true },
	{ .title = "process" },
};

/* Trip counts: whole from 100 on, where decimals say little. */
void add_trip(struct table *table, double trip)
{
	char text[GROUPED_SIZE];

	if (isnan(trip))
		table_add(table, "-");
	else if (trip < 99.95)
		table_add(table, "%.1f", trip);
	else
		table_add(table, "%s", grouped(llround(trip), text));
}

static void add_count(struct table *table, uint64_t count, bool known)
{
	char text[GROUPED_SIZE];

	table_add(table, "%s", known ? grouped(count, text) : "-");
}

const char *shown_path(const char *path, bool full)
{
	/* Not of //anon */
	const char *slash = full || *path == '[' || path[1] == '/' ? NULL :
			    strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void add_place(struct table *table, const struct hwprof_loop *loop, bool full)
{
	table_add(table, "%s", shown_path(loop->object, full));
	if (loop->function)
		table_add(table, "%s+0x%" PRIx64, loop->function,
			  loop->function_offset);
	else
		table_add(table, "0x%" PRIx64, loop->head);
	if (loop->file)
		table_add(table, "%s:%u", shown_path(loop->file, full),
			  loop->line);
	else
		table_add(table, "-");
}

static void add_executions(struct table *table, const struct hwprof_loop *loop)
{
	char least[GROUPED_SIZE], most[GROUPED_SIZE];

	add_trip(table, loop->trip_recent);
	if (loop->trip_max)
		table_add(table, "%s..%s", grouped(loop->trip_min, least),
			  grouped(loop->trip_max, most));
	else
		table_add(table, "-");
}

static void add_loop(struct table *table, const struct hwprof_loop *loop,
		     bool windows, bool full)
{
	table_add(table, "%.2f%%", 100 * loop->share);
	/* What windows saw stands for what there was; the header says so. */
	add_count(table, loop->entries_seen, loop->basis);
	add_count(table, loop->entries_seen + loop->back_edges_seen, true);
	add_trip(table, loop->trip);
	if (windows) {
		add_trip(table, loop->trip_low);
		add_trip(table, loop->trip_high);
	} else {
		add_executions(table, loop);
	}
	table_add(table, "%u", loop->depth);
	add_place(table, loop, full);
	if (table->column_count > COLUMNS_FIXED)
		table_add(table, "%u %s", loop->pid,
			  loop->comm ? loop->comm : "?");
}

static const char *basis_sentence(const struct hwprof_loop *loop)
{
	switch (loop->basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every branch was seen";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of what was seen, trip counts are estimates, low to high their 95 % intervals";
	case HWPROF_BASIS_TIME:
		return "windows of CPU time: shares are of time, counts of what was seen, trip counts are estimates, low to high their 95 % intervals";
	}
	return "samples: iterations are back edges, by the samples' periods";
}

size_t terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 0;
	return size.ws_col;
}

void print_sessions(const struct hwprof_totals *totals)
{
	const char *between = " from ";
	char text[GROUPED_SIZE];
	unsigned int source;

	printf("%s session%s", grouped(totals->sessions, text),
	       totals->sessions == 1 ? "" : "s");
	for (source = 0; source < 32; source++) {
		if (!(totals->sources >> source & 1))
			continue;
		printf("%s%s", between, hwprof_source_name(source));
		between = ", ";
	}
}

static void print_totals(const struct hwprof_totals *totals)
{
	char text[5][GROUPED_SIZE];

	if (totals->samples && !totals->rows)
		return;
	printf("\n%s events, %s gaps, ", grouped(totals->events, text[0]),
	       grouped(totals->gaps, text[1]));
	print_sessions(totals);
	if (totals->windows)
		printf(", %s windows", grouped(totals->windows, text[3]));
	printf("\n");
	printf("%s back edges = %s delivered + %s lost + %s evicted + %s pending\n",
	       grouped(totals->produced, text[0]),
	       grouped(totals->delivered, text[1]),
	       grouped(totals->lost, text[2]), grouped(totals->evicted, text[3]),
	       grouped(totals->pending, text[4]));
}

/* The weakest basis of all: what holds for the whole table. */
static const struct hwprof_loop *weakest(const struct hwprof_loops *loops)
{
	const struct hwprof_loop *found = hwprof_loops_get(loops, 0);
	size_t i;

	for (i = 1; i < hwprof_loops_count(loops); i++)
		if (hwprof_loops_get(loops, i)->basis > found->basis)
			found = hwprof_loops_get(loops, i);
	return found;
}

static bool any_process(const struct hwprof_loops *loops, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (hwprof_loops_get(loops, i)->pid)
			return true;
	return false;
}

static void print_files(const struct report *report)
{
	if (report->file_count > 1)
		printf("%zu recordings: ", report->file_count);
	else
		printf("%s: ", strcmp(report->file, "-") ? report->file :
							   "standard input");
}

static int print_table(const struct report *report,
		       const struct hwprof_loops *loops)
{
	size_t count = hwprof_loops_count(loops), shown = count, i;
	struct table_column chosen[sizeof(columns) / sizeof(columns[0])];
	struct table table = { .columns = chosen };
	const struct hwprof_loop *base;
	bool windows;
	char text[GROUPED_SIZE];

	print_files(report);
	if (!count) {
		printf("no loop was seen\n");
		print_totals(hwprof_loops_totals(loops));
		return STATUS_OK;
	}
	if (report->limit && report->limit < count)
		shown = report->limit;
	base = weakest(loops);
	memcpy(chosen, columns, sizeof(columns));
	/* They show no execution whole, but how sure their trip counts are. */
	windows = base->basis > HWPROF_BASIS_EXACT;
	if (windows) {
		chosen[COLUMN_RECENT].title = "low";
		chosen[COLUMN_MIN_MAX].title = "high";
	}
	table.column_count = COLUMNS_FIXED + any_process(loops, shown);
	for (i = 0; i < shown; i++)
		add_loop(&table, hwprof_loops_get(loops, i), windows,
			 report->full_path);
	printf("%s loop%s; %s\n\n", grouped(count, text),
	       count == 1 ? "" : "s", basis_sentence(base));
	if (!table.failed)
		table_print(&table, terminal_width(), stdout);
	table_free(&table);
	if (table.failed)
		return failed("out of memory");
	if (shown < count)
		printf("... and %s more: see --limit\n",
		       grouped(count - shown, text));
	print_totals(hwprof_loops_totals(loops));
	return STATUS_OK;
}

/* A reader that went away (head, less) is no error. */
int check_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return STATUS_OK;
	return failed("cannot write: %s", strerror(errno));
}

void print_warnings(const struct hwprof_loops *loops, const char *name)
{
	const char *sentence;
	size_t i;

	for (i = 0; (sentence = hwprof_loops_warning(loops, i)); i++)
		warning("%s%s%s", name, *name ? ": " : "", sentence);
}

int report_print(const struct report *report, struct hwprof_loops *loops)
{
	int status = STATUS_OK;

	if (hwprof_loops_sort(loops, report->sort ? report->sort : "share"))
		return usage_error("%s", hwprof_loops_error(loops));
	if (report->json)
		hwprof_loops_json(loops, report->limit, stdout);
	else
		status = print_table(report, loops);
	status = check_output(status);
	/* JSON has them inside. */
	if (!report->json)
		print_warnings(loops, "");
	return status;
}

/* The loops of @count files from the @first on. */
static int read_files(const struct report *report, size_t first, size_t count,
		      struct hwprof_loops **loops)
{
	struct hwprof_file **files = calloc(count, sizeof(*files));
	size_t opened = 0, i;
	int error = 0;

	if (!files)
		return failed("out of memory");
	while (opened < count && !error) {
		error = hwprof_file_open(&files[opened],
					 report->files[first + opened]);
		opened++;
	}
	if (!error)
		error = hwprof_loops_read(loops, files, count, report->flags);
	for (i = 0; i < opened; i++) {
		if (error && *hwprof_file_error(files[i]))
			failed("%s", hwprof_file_error(files[i]));
		hwprof_file_close(files[i]);
	}
	free(files);
	return error ? STATUS_FAILED : STATUS_OK;
}

static int read_and_print(const struct report *report)
{
	size_t count = report->diff ? 1 : report->file_count;
	struct hwprof_loops *loops = NULL, *after = NULL;
	int status = read_files(report, 0, count, &loops);

	if (!status && report->diff)
		status = read_files(report, 1, 1, &after);
	if (!status)
		status = report->diff ? report_diff(report, loops, after) :
					report_print(report, loops);
	hwprof_loops_free(after);
	hwprof_loops_free(loops);
	return status;
}

int command_report(int argc, char **argv)
{
	struct report report = { .min_share = -1 };
	int status = parse(&report, argc, argv);

	if (status >= 0)
		return status;
	return find_subject(report.subject)->print(&report);
}
