// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "table.h"

enum {
	COLUMNS_FIXED = 6,
	INDENT = 2,		/* characters a level */
};

static const struct table_column columns[] = {
	{ .title = "share", .right = true },
	{ .title = "at least", .right = true },
	{ .title = "at most", .right = true },
	{ .title = "range" },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "process" },
};

static void add_ends(struct table *table, const struct hwprof_range *range)
{
	int indent = INDENT * range->depth;

	if (!range->object)
		table_add(table, "all");
	else if (!range->bits)
		table_add(table, "%*s0x%" PRIx64, indent, "", range->low);
	else
		table_add(table, "%*s0x%" PRIx64 "..0x%" PRIx64, indent, "",
			  range->low, range->high);
}

/* Of one that is in one function, the offsets say it all. */
static void add_functions(struct table *table, const struct hwprof_range *range)
{
	const char *low = range->function, *high = range->last_function;

	if (low && high && !strcmp(low, high) &&
	    range->function_offset == range->last_offset)
		table_add(table, "%s+0x%" PRIx64, low, range->function_offset);
	else if (low && high && !strcmp(low, high))
		table_add(table, "%s+0x%" PRIx64 "..0x%" PRIx64, low,
			  range->function_offset, range->last_offset);
	else if (low && high)
		table_add(table, "%s+0x%" PRIx64 "..%s+0x%" PRIx64, low,
			  range->function_offset, high, range->last_offset);
	else if (low)
		table_add(table, "%s+0x%" PRIx64 "..", low,
			  range->function_offset);
	else if (high)
		table_add(table, "..%s+0x%" PRIx64, high, range->last_offset);
	else
		table_add(table, "-");
}

static void add_range(struct table *table, const struct hwprof_range *range,
		      bool full)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * range->share);
	table_add(table, "%s", grouped(range->least, text));
	table_add(table, "%s", grouped(range->most, text));
	add_ends(table, range);
	table_add(table, "%s", range->object ? shown_path(range->object, full) :
					       "");
	if (range->object)
		add_functions(table, range);
	else
		table_add(table, "%s", "");
	if (table->column_count <= COLUMNS_FIXED)
		return;
	if (range->pid)
		table_add(table, "%u %s", range->pid,
			  range->comm ? range->comm : "?");
	else
		table_add(table, "%s", "");
}

static const char *basis_sentence(enum hwprof_basis basis)
{
	switch (basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every event was seen";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of what was seen";
	case HWPROF_BASIS_TIME:
		return "by CPU time: counts are of what was seen, shares are shares of time";
	}
	return "samples: counts are the samples' periods";
}

static void print_totals(const struct hwprof_totals *totals)
{
	char text[5][GROUPED_SIZE];

	if (!totals->produced)
		return;
	printf("\n");
	if (totals->sources) {
		print_sessions(totals);
		printf("\n");
	}
	printf("%s events = %s delivered + %s lost + %s evicted + %s pending\n",
	       grouped(totals->produced, text[0]),
	       grouped(totals->delivered, text[1]),
	       grouped(totals->lost, text[2]), grouped(totals->evicted, text[3]),
	       grouped(totals->pending, text[4]));
}

static bool any_process(const struct hwprof_ranges *ranges)
{
	size_t i;

	for (i = 0; i < hwprof_ranges_count(ranges); i++)
		if (hwprof_ranges_get(ranges, i)->pid)
			return true;
	return false;
}

static int print_table(const struct report *report,
		       const struct hwprof_ranges *ranges)
{
	const char *name = strcmp(report->file, "-") ? report->file :
			   "standard input";
	size_t count = hwprof_ranges_count(ranges), i;
	const struct hwprof_range *all = hwprof_ranges_get(ranges, 0);
	struct table table = {
		.columns = columns,
		.column_count = COLUMNS_FIXED + any_process(ranges),
	};

	if (!all->least) {
		printf("%s: nothing was counted\n", name);
		return STATUS_OK;
	}
	for (i = 0; i < count; i++)
		add_range(&table, hwprof_ranges_get(ranges, i),
			  report->full_path);
	printf("%s: %zu hot range%s; %s\n\n", name, count - 1,
	       count == 2 ? "" : "s", basis_sentence(all->basis));
	if (!table.failed)
		table_print(&table, terminal_width(), stdout);
	table_free(&table);
	if (table.failed)
		return failed("out of memory");
	print_totals(hwprof_ranges_totals(ranges));
	return STATUS_OK;
}

static int print(const struct report *report,
		 const struct hwprof_ranges *ranges)
{
	const char *sentence;
	int status = STATUS_OK;
	size_t i;

	if (report->json)
		hwprof_ranges_json(ranges, stdout);
	else
		status = print_table(report, ranges);
	status = check_output(status);
	/* JSON has them inside. */
	for (i = 0; !report->json &&
	     (sentence = hwprof_ranges_warning(ranges, i)); i++)
		warning("%s", sentence);
	return status;
}

int report_ranges(const struct report *report)
{
	struct hwprof_ranges *ranges = NULL;
	struct hwprof_file *file;
	int error, status;

	error = hwprof_file_open(&file, report->file);
	if (!error)
		error = hwprof_ranges_read(&ranges, file, report->hot,
					   report->flags);
	if (error)
		status = failed("%s", hwprof_file_error(file));
	else
		status = print(report, ranges);
	hwprof_ranges_free(ranges);
	hwprof_file_close(file);
	return status;
}
