// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "report.h"

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

static void add_interval(struct table *table, const struct hwprof_range *range,
			 int indent)
{
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
	add_interval(table, range, INDENT * range->depth);
	if (places)
		add_location(table, range, full);
	if (processes)
		add_process(table, range->pid, range->comm);
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

static bool any_process(const struct hwprof_profile *ranges)
{
	size_t i;

	for (i = 0; i < hwprof_ranges_count(ranges); i++)
		if (hwprof_ranges_get(ranges, i)->pid)
			return true;
	return false;
}

static int print_table(const struct report *report,
		       const struct hwprof_profile *ranges)
{
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
	int status;

	print_files(report);
	if (!all->least) {
		printf("nothing was counted\n");
		return STATUS_OK;
	}
	memcpy(chosen, columns, sizeof(columns));
	if (processes)
		chosen[table.column_count++] = columns[COLUMNS_FIXED];
	for (i = 0; i < count; i++)
		add_range(&table, hwprof_ranges_get(ranges, i), places,
			  processes, report->full_path);
	printf("%zu hot range%s%s; %s\n\n", count - 1, count == 2 ? "" : "s", words[of].ranges,
	       basis_sentence(all->basis));
	status = finish_table(&table, 0, NULL);
	if (!status)
		print_totals(hwprof_profile_totals(ranges), words[of].units);
	return status;
}

static const struct table_column changed_columns[] = {
	{ .title = "range" },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
};

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_range *it = after_index == HWPROF_NOTHING ?
		hwprof_ranges_get(before, before_index) :
		hwprof_ranges_get(after, after_index);

	add_interval(table, it, 0);
	add_location(table, it, full);
}

const struct report_kind report_ranges = {
	.kind = HWPROF_KIND_RANGES,
	.things = "ranges",
	.print = print_table,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
};
