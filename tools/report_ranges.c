// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "table.h"

enum {
	COLUMNS_OF_VALUES = 4,	/* which are nowhere */
	COLUMNS_FIXED = 6,
	COLUMNS_MOST = 7,
	INDENT = 2,		/* characters a level */
};

/* What they are of, in sentences. */
static const struct {
	const char *ranges, *units;
} words[] = {
	[HWPROF_RANGE_IP]	     = { "", "events" },
	[HWPROF_RANGE_LOAD_VALUE]    = { " of values", "loads" },
	[HWPROF_RANGE_LOAD_ADDRESS]  = { " of addresses of loads", "loads" },
	[HWPROF_RANGE_STORE_ADDRESS] = { " of addresses of stores", "stores" },
	[HWPROF_RANGE_CALLEE]	     = { " of callees", "calls" },
	[HWPROF_RANGE_ZERO_ADDRESS]  = { " of addresses of zeros", "loads of 0" },
	[HWPROF_RANGE_NARROW_IP]     = { " of code with narrow operands",
					 "narrow operands" },
};

static const struct table_column columns[COLUMNS_MOST] = {
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

	if (!range->parent)
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

static void add_process(struct table *table, const struct hwprof_range *range)
{
	if (range->pid)
		table_add(table, "%u %s", range->pid,
			  range->comm ? range->comm : "?");
	else
		table_add(table, "%s", "");
}

static void add_location(struct table *table, const struct hwprof_range *range,
		      bool full)
{
	table_add(table, "%s", range->object ? shown_path(range->object, full) :
					       "");
	if (range->object)
		add_functions(table, range);
	else
		table_add(table, "%s", "");
}

static void add_range(struct table *table, const struct hwprof_range *range,
		      bool places, bool processes, bool full)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * range->share);
	table_add(table, "%s", grouped(range->least, text));
	table_add(table, "%s", grouped(range->most, text));
	add_ends(table, range);
	if (places)
		add_location(table, range, full);
	if (processes)
		add_process(table, range);
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

static void print_totals(const struct hwprof_totals *totals, const char *units)
{
	char text[5][GROUPED_SIZE];

	if (!totals->produced)
		return;
	printf("\n");
	if (totals->sources) {
		print_sessions(totals);
		printf("\n");
	}
	printf("%s %s = %s delivered + %s lost + %s evicted + %s pending\n",
	       grouped(totals->produced, text[0]), units,
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
	enum hwprof_range_of of = hwprof_ranges_of(ranges);
	bool places = of != HWPROF_RANGE_LOAD_VALUE;
	bool processes = any_process(ranges);
	struct table_column chosen[COLUMNS_MOST];
	struct table table = {
		.columns = chosen,
		.column_count = places ? COLUMNS_FIXED : COLUMNS_OF_VALUES,
	};

	if (!all->least) {
		printf("%s: nothing was counted\n", name);
		return STATUS_OK;
	}
	memcpy(chosen, columns, sizeof(columns));
	if (processes)
		chosen[table.column_count++] = columns[COLUMNS_FIXED];
	for (i = 0; i < count; i++)
		add_range(&table, hwprof_ranges_get(ranges, i), places,
			  processes, report->full_path);
	printf("%s: %zu hot range%s%s; %s\n\n", name, count - 1,
	       count == 2 ? "" : "s", words[of].ranges,
	       basis_sentence(all->basis));
	if (!table.failed)
		table_print(&table, terminal_width(), stdout);
	table_free(&table);
	if (table.failed)
		return failed("out of memory");
	print_totals(hwprof_ranges_totals(ranges), words[of].units);
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
					   report->flags | report->of);
	if (error)
		status = failed("%s", hwprof_file_error(file));
	else
		status = print(report, ranges);
	hwprof_ranges_free(ranges);
	hwprof_file_close(file);
	return status;
}
