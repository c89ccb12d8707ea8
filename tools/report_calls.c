// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "report.h"

/* Optional columns that are needed. */
struct shown {
	bool most;		/* calls were evicted */
	bool interval;
	bool process;
	bool full;		/* full paths */
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

static void add_method_name(struct table *table, const struct hwprof_code *code)
{
	if (code->function && !code->function_offset)
		table_add(table, "%s", code->function);
	else
		add_code(table, code->function, code->function_offset,
			 code->address);
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

static void add_ends(struct table *table, const struct hwprof_pair *pair,
		     bool full)
{
	table_add(table, "%s", shown_path(pair->site.object, full));
	add_code(table, pair->site.function, pair->site.function_offset,
		 pair->site.address);
	add_source(table, pair->site.file, pair->site.line, full);
	table_add(table, "%s", shown_path(pair->callee.object, full));
	add_method_name(table, &pair->callee);
}

static void add_pair(struct table *table, const struct hwprof_pair *pair,
		     const struct shown *shown)
{
	add_called(table, &pair->called, shown, shown->interval);
	add_ends(table, pair, shown->full);
	if (shown->process)
		add_process(table, pair->called.pid, pair->called.comm);
}

static void add_entry(struct table *table, const struct hwprof_method *method,
		      bool full)
{
	table_add(table, "%s", shown_path(method->entry.object, full));
	add_method_name(table, &method->entry);
	add_source(table, method->entry.file, method->entry.line, full);
}

static void add_method(struct table *table, const struct hwprof_method *method,
		       const struct shown *shown)
{
	char text[GROUPED_SIZE];

	add_called(table, &method->called, shown, false);
	table_add(table, "%s", grouped(method->sites, text));
	add_entry(table, method, shown->full);
	if (shown->process)
		add_process(table, method->called.pid, method->called.comm);
}

static void add_column(struct table *table, struct table_column *columns,
		       const struct table_column *column, bool wanted)
{
	if (wanted)
		columns[table->column_count++] = *column;
	table->columns = columns;
}

static int print_pairs(const struct report *report,
		       const struct hwprof_profile *calls,
		       const struct shown *shown)
{
	size_t all = hwprof_calls_pair_count(calls), i;
	size_t limit = shown_of(report, all);
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
	return finish_table(&table, all - limit, "--limit");
}

static int print_methods(const struct report *report,
			 const struct hwprof_profile *calls,
			 const struct shown *shown)
{
	size_t all = hwprof_calls_method_count(calls), i;
	size_t limit = shown_of(report, all);
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
	return finish_table(&table, all - limit, "--limit");
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

/* Finds the weakest basis, and which columns pairs need. */
static enum hwprof_basis look(const struct hwprof_profile *calls,
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
	for (i = 0; i < hwprof_calls_method_count(calls); i++) {
		const struct hwprof_called *called =
			&hwprof_calls_method(calls, i)->called;

		shown->most |= called->most != called->least;
	}
	shown->interval = weakest > HWPROF_BASIS_EXACT;
	return weakest;
}

static int print_tables(const struct report *report,
			const struct hwprof_profile *calls)
{
	size_t pairs = hwprof_calls_pair_count(calls);
	size_t methods = hwprof_calls_method_count(calls);
	struct shown shown = { .full = report->full_path };
	char text[2][GROUPED_SIZE];
	enum hwprof_basis basis = look(calls, &shown);
	int status;

	print_files(report);
	if (!pairs) {
		printf("no call was seen\n");
		print_totals(calls, "calls");
		return STATUS_OK;
	}
	printf("%s call pair%s of %s method%s; %s\n\n",
	       grouped(pairs, text[0]), pairs == 1 ? "" : "s",
	       grouped(methods, text[1]), methods == 1 ? "" : "s",
	       basis_sentence(basis));
	status = print_pairs(report, calls, &shown);
	if (status)
		return status;
	printf("\n");
	status = print_methods(report, calls, &shown);
	if (!status)
		print_totals(calls, "calls");
	return status;
}

static const struct table_column changed_columns[] = {
	{ .title = "object", .shrinks = true },
	{ .title = "call site", .shrinks = true },
	{ .title = "source", .shrinks = true },
	{ .title = "object", .shrinks = true },
	{ .title = "method", .shrinks = true },
};

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_pair *it = after_index == HWPROF_NOTHING ?
		hwprof_calls_pair(before, before_index) :
		hwprof_calls_pair(after, after_index);

	add_ends(table, it, full);
}

static const struct table_column changed_method_columns[] = {
	{ .title = "object", .shrinks = true },
	{ .title = "method", .shrinks = true },
	{ .title = "source", .shrinks = true },
};

static void add_changed_method(struct table *table,
			       const struct hwprof_profile *before,
			       size_t before_index,
			       const struct hwprof_profile *after,
			       size_t after_index, bool full)
{
	const struct hwprof_method *it = after_index == HWPROF_NOTHING ?
		hwprof_calls_method(before, before_index) :
		hwprof_calls_method(after, after_index);

	add_entry(table, it, full);
}

static const struct report_kind methods = {
	.columns = changed_method_columns,
	.column_count = sizeof(changed_method_columns) /
			sizeof(changed_method_columns[0]),
	.add = add_changed_method,
};

const struct report_kind report_calls = {
	.kind = HWPROF_KIND_CALLS,
	.things = "call pairs",
	.print = print_tables,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
	.procedures = &methods,
};
