// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "table.h"

/* What of the optional columns there is something to say. */
struct shown {
	bool most;		/* calls were given up */
	bool interval;
	bool process;
	bool full;		/* paths */
	size_t limit;
};

enum { COLUMNS_MAX = 11 };

static const struct table_column
	share_column	= { .title = "share", .right = true },
	low_column	= { .title = "low", .right = true },
	high_column	= { .title = "high", .right = true },
	calls_column	= { .title = "calls", .right = true },
	most_column	= { .title = "at most", .right = true },
	sites_column	= { .title = "sites", .right = true },
	site_column	= { .title = "call site", .shrinks = true },
	method_column	= { .title = "method", .shrinks = true },
	object_column	= { .title = "object", .shrinks = true },
	source_column	= { .title = "source", .shrinks = true },
	process_column	= { .title = "process" };

static void add_code(struct table *table, const struct hwprof_code *code)
{
	if (code->function && code->function_offset)
		table_add(table, "%s+0x%" PRIx64, code->function,
			  code->function_offset);
	else if (code->function)
		table_add(table, "%s", code->function);
	else
		table_add(table, "0x%" PRIx64, code->address);
}

static void add_source(struct table *table, const struct hwprof_code *code,
		       bool full)
{
	if (code->file)
		table_add(table, "%s:%u", shown_path(code->file, full),
			  code->line);
	else
		table_add(table, "-");
}

static void add_bound(struct table *table, double share)
{
	if (isnan(share))
		table_add(table, "-");
	else
		table_add(table, "%.2f%%", 100 * share);
}

static void add_called(struct table *table, const struct hwprof_called *called,
		       const struct shown *shown, bool interval)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * called->share);
	if (interval) {
		add_bound(table, called->share_low);
		add_bound(table, called->share_high);
	}
	table_add(table, "%s", grouped(called->least, text));
	if (shown->most)
		table_add(table, "%s", grouped(called->most, text));
}

static void add_process(struct table *table, const struct hwprof_called *called,
			const struct shown *shown)
{
	if (!shown->process)
		return;
	if (called->pid)
		table_add(table, "%u %s", called->pid,
			  called->comm ? called->comm : "?");
	else
		table_add(table, "%s", "");
}

static void add_pair(struct table *table, const struct hwprof_pair *pair,
		     const struct shown *shown)
{
	add_called(table, &pair->called, shown, shown->interval);
	table_add(table, "%s", shown_path(pair->site.object, shown->full));
	add_code(table, &pair->site);
	add_source(table, &pair->site, shown->full);
	table_add(table, "%s", shown_path(pair->callee.object, shown->full));
	add_code(table, &pair->callee);
	add_process(table, &pair->called, shown);
}

static void add_method(struct table *table, const struct hwprof_method *method,
		       const struct shown *shown)
{
	char text[GROUPED_SIZE];

	add_called(table, &method->called, shown, false);
	table_add(table, "%s", grouped(method->sites, text));
	table_add(table, "%s", shown_path(method->entry.object, shown->full));
	add_code(table, &method->entry);
	add_source(table, &method->entry, shown->full);
	add_process(table, &method->called, shown);
}

static void add_column(struct table *table, struct table_column *columns,
		       const struct table_column *column, bool wanted)
{
	if (wanted)
		columns[table->column_count++] = *column;
	table->columns = columns;
}

/* Frees the table, too. */
static int print_rows(struct table *table, size_t all, size_t limit)
{
	char text[GROUPED_SIZE];

	if (!table->failed)
		table_print(table, terminal_width(), stdout);
	table_free(table);
	if (table->failed)
		return failed("out of memory");
	if (limit < all)
		printf("... and %s more: see --limit\n",
		       grouped(all - limit, text));
	return STATUS_OK;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int print_pairs(const struct hwprof_calls *calls,
		       const struct shown *shown)
{
	size_t all = hwprof_calls_pair_count(calls), i;
	size_t limit = least_of(all, shown->limit);
	struct table_column columns[COLUMNS_MAX];
	struct table table = { 0 };

	add_column(&table, columns, &share_column, true);
	add_column(&table, columns, &low_column, shown->interval);
	add_column(&table, columns, &high_column, shown->interval);
	add_column(&table, columns, &calls_column, true);
	add_column(&table, columns, &most_column, shown->most);
	add_column(&table, columns, &object_column, true);
	add_column(&table, columns, &site_column, true);
	add_column(&table, columns, &source_column, true);
	add_column(&table, columns, &object_column, true);
	add_column(&table, columns, &method_column, true);
	add_column(&table, columns, &process_column, shown->process);
	for (i = 0; i < limit; i++)
		add_pair(&table, hwprof_calls_pair(calls, i), shown);
	return print_rows(&table, all, limit);
}

static int print_methods(const struct hwprof_calls *calls,
			 const struct shown *shown)
{
	size_t all = hwprof_calls_method_count(calls), i;
	size_t limit = least_of(all, shown->limit);
	struct table_column columns[COLUMNS_MAX];
	struct table table = { 0 };

	add_column(&table, columns, &share_column, true);
	add_column(&table, columns, &calls_column, true);
	add_column(&table, columns, &most_column, shown->most);
	add_column(&table, columns, &sites_column, true);
	add_column(&table, columns, &object_column, true);
	add_column(&table, columns, &method_column, true);
	add_column(&table, columns, &source_column, true);
	add_column(&table, columns, &process_column, shown->process);
	for (i = 0; i < limit; i++)
		add_method(&table, hwprof_calls_method(calls, i), shown);
	return print_rows(&table, all, limit);
}

static const char *basis_sentence(enum hwprof_basis basis)
{
	switch (basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every call was seen";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of what was seen, low to high the 95 % intervals of shares";
	case HWPROF_BASIS_TIME:
		return "windows of CPU time: counts are of what was seen, low to high the 95 % intervals of shares";
	}
	return "samples: counts are the samples' periods";
}

/* What holds for all pairs, and which columns they need. */
static enum hwprof_basis look(const struct hwprof_calls *calls,
			      struct shown *shown)
{
	enum hwprof_basis weakest = 0;
	size_t i;

	for (i = 0; i < hwprof_calls_pair_count(calls); i++) {
		const struct hwprof_called *called =
			&hwprof_calls_pair(calls, i)->called;

		if (called->basis > weakest)
			weakest = called->basis;
		shown->most |= called->most != called->least;
		shown->process |= called->pid;
	}
	shown->interval = weakest > HWPROF_BASIS_EXACT;
	return weakest;
}

static void print_totals(const struct hwprof_totals *totals)
{
	char text[5][GROUPED_SIZE];

	if (!totals->produced)
		return;
	printf("\n%s events, %s gaps, ", grouped(totals->events, text[0]),
	       grouped(totals->gaps, text[1]));
	print_sessions(totals);
	if (totals->windows)
		printf(", %s windows", grouped(totals->windows, text[3]));
	printf("\n%s calls = %s delivered + %s lost + %s evicted + %s pending\n",
	       grouped(totals->produced, text[0]),
	       grouped(totals->delivered, text[1]),
	       grouped(totals->lost, text[2]), grouped(totals->evicted, text[3]),
	       grouped(totals->pending, text[4]));
}

static int print_tables(const struct report *report,
			const struct hwprof_calls *calls)
{
	const char *name = strcmp(report->file, "-") ? report->file :
			   "standard input";
	size_t pairs = hwprof_calls_pair_count(calls);
	size_t methods = hwprof_calls_method_count(calls);
	struct shown shown = {
		.full = report->full_path,
		.limit = report->limit ? report->limit : SIZE_MAX,
	};
	char text[2][GROUPED_SIZE];
	enum hwprof_basis basis = look(calls, &shown);
	int status;

	if (!pairs) {
		printf("%s: no call was seen\n", name);
		print_totals(hwprof_calls_totals(calls));
		return STATUS_OK;
	}
	printf("%s: %s call pair%s of %s method%s; %s\n\n", name,
	       grouped(pairs, text[0]), pairs == 1 ? "" : "s",
	       grouped(methods, text[1]), methods == 1 ? "" : "s",
	       basis_sentence(basis));
	status = print_pairs(calls, &shown);
	if (status)
		return status;
	printf("\n");
	status = print_methods(calls, &shown);
	if (!status)
		print_totals(hwprof_calls_totals(calls));
	return status;
}

int report_print_calls(const struct report *report,
		       const struct hwprof_calls *calls)
{
	const char *sentence;
	int status = STATUS_OK;
	size_t i;

	if (report->json)
		hwprof_calls_json(calls, report->limit, stdout);
	else
		status = print_tables(report, calls);
	status = check_output(status);
	/* JSON has them inside. */
	for (i = 0; !report->json &&
	     (sentence = hwprof_calls_warning(calls, i)); i++)
		warning("%s", sentence);
	return status;
}

int report_calls(const struct report *report)
{
	struct hwprof_calls *calls = NULL;
	struct hwprof_file *file;
	int error, status;

	error = hwprof_file_open(&file, report->file);
	if (!error)
		error = hwprof_calls_read(&calls, file, report->flags);
	if (error)
		status = failed("%s", hwprof_file_error(file));
	else
		status = report_print_calls(report, calls);
	hwprof_calls_free(calls);
	hwprof_file_close(file);
	return status;
}
