// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "report.h"

enum {
	COLUMNS_MOST = 10,
	INDENT = 2,		/* characters per level */
};

/* Names of the streams and their units, in sentences. */
static const struct {
	const char *ranges, *units;
} words[] = {
	[HWPROF_RANGE_IP] = {"", "events"},
	[HWPROF_RANGE_LOAD_VALUE] = {" of values", "loads"},
	[HWPROF_RANGE_LOAD_ADDRESS] = {" of addresses of loads", "loads"},
	[HWPROF_RANGE_STORE_ADDRESS] = {" of addresses of stores", "stores"},
	[HWPROF_RANGE_CALLEE] = {" of callees", "calls"},
	[HWPROF_RANGE_ZERO_ADDRESS] = {" of addresses of zeros", "loads of 0"},
	[HWPROF_RANGE_NARROW_IP] = {" of code with narrow operands",
				    "narrow operands"},
	[HWPROF_RANGE_IP_LOAD_ADDRESS] = {" of code by addresses of loads",
					  "loads"},
	[HWPROF_RANGE_IP_STORE_ADDRESS] = {" of code by addresses of stores",
					   "stores"},
};

static const struct table_column count_columns[] = {
	{ .title = "share", .right = true },
	{ .title = "at least", .right = true },
	{ .title = "at most", .right = true },
};

static const struct table_column code_columns[] = {
	{ .title = "code" },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
};

static const struct table_column range_columns[] = {
	{ .title = "range" },
	{ .title = "object", .shrinks = true },	/* values have no object */
	{ .title = "function", .shrinks = true },
};

static const struct table_column process_column = { .title = "process" };

/* Which columns to print. */
struct shape {
	bool pairs, places, processes, full_path;
};

static size_t choose_columns(const struct shape *shape,
			     struct table_column chosen[COLUMNS_MOST])
{
	size_t count = 3;

	memcpy(chosen, count_columns, sizeof(count_columns));
	if (shape->pairs) {
		memcpy(&chosen[count], code_columns, sizeof(code_columns));
		count += 3;
	}
	memcpy(&chosen[count], range_columns, sizeof(range_columns));
	count += shape->places ? 3 : 1;
	if (shape->processes)
		chosen[count++] = process_column;
	return count;
}

/* Returns the range itself, without its code. */
static struct hwprof_span span_of(const struct hwprof_range *range)
{
	return (struct hwprof_span) {
		.object = range->object, .low = range->low, .high = range->high,
		.bits = range->bits, .function = range->function,
		.function_offset = range->function_offset,
		.last_function = range->last_function,
		.last_offset = range->last_offset,
	};
}

static void add_interval(struct table *table, const struct hwprof_span *span,
			 int indent)
{
	if (span->bits == 64)
		table_add(table, "%*sall", indent, "");
	else if (!span->bits)
		table_add(table, "%*s0x%" PRIx64, indent, "", span->low);
	else
		table_add(table, "%*s0x%" PRIx64 "..0x%" PRIx64, indent, "",
			  span->low, span->high);
}

/* Adds the functions. In one function, offsets are enough. */
static void add_functions(struct table *table, const struct hwprof_span *span)
{
	const char *low = span->function, *high = span->last_function;

	if (low && high && !strcmp(low, high) &&
	    span->function_offset == span->last_offset)
		table_add(table, "%s+0x%" PRIx64, low, span->function_offset);
	else if (low && high && !strcmp(low, high))
		table_add(table, "%s+0x%" PRIx64 "..0x%" PRIx64, low,
			  span->function_offset, span->last_offset);
	else if (low && high)
		table_add(table, "%s+0x%" PRIx64 "..%s+0x%" PRIx64, low,
			  span->function_offset, high, span->last_offset);
	else if (low)
		table_add(table, "%s+0x%" PRIx64 "..", low,
			  span->function_offset);
	else if (high)
		table_add(table, "..%s+0x%" PRIx64, high, span->last_offset);
	else
		table_add(table, "-");
}

static void add_location(struct table *table, const struct hwprof_span *span,
			 bool full)
{
	table_add(table, "%s", span->object ? shown_path(span->object, full) :
					      "");
	if (span->object)
		add_functions(table, span);
	else
		table_add(table, "%s", "");
}

/* Adds the intervals, without their counts. */
static void add_spans(struct table *table, const struct hwprof_range *range,
		      const struct shape *shape, int indent)
{
	const struct hwprof_span span = span_of(range);

	if (shape->pairs) {
		add_interval(table, &range->code, indent);
		add_location(table, &range->code, shape->full_path);
	}
	add_interval(table, &span, shape->pairs ? 0 : indent);
	if (shape->places)
		add_location(table, &span, shape->full_path);
}

static void add_range(struct table *table, const struct hwprof_range *range,
		      const struct shape *shape)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * range->share);
	table_add(table, "%s", grouped(range->least, text));
	table_add(table, "%s", grouped(range->most, text));
	add_spans(table, range, shape, INDENT * range->depth);
	if (shape->processes)
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
	const struct shape shape = {
		.pairs = hwprof_range_of_pairs(of),
		.places = of != HWPROF_RANGE_LOAD_VALUE,
		.processes = any_process(ranges),
		.full_path = report->full_path,
	};
	struct table_column chosen[COLUMNS_MOST];
	struct table table = { .columns = chosen };
	int status;

	print_files(report);
	if (!all->least) {
		printf("nothing was counted\n");
		return STATUS_OK;
	}
	table.column_count = choose_columns(&shape, chosen);
	for (i = 0; i < count; i++)
		add_range(&table, hwprof_ranges_get(ranges, i), &shape);
	printf("%zu hot range%s%s; %s\n\n", count - 1, count == 2 ? "" : "s",
	       words[of].ranges, basis_sentence(all->basis));
	status = finish_table(&table, 0, NULL);
	if (!status)
		print_totals(ranges, words[of].units);
	return status;
}

/* --- differences ---------------------------------------------------------- */

static const struct table_column box_columns[] = {
	{ .title = "code" },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "range" },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
};

static const struct hwprof_range *
range_of_change(const struct hwprof_profile *before, size_t before_index,
		const struct hwprof_profile *after, size_t after_index)
{
	return after_index == HWPROF_NOTHING ?
	       hwprof_ranges_get(before, before_index) :
	       hwprof_ranges_get(after, after_index);
}

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct shape shape = { .places = true, .full_path = full };

	add_spans(table, range_of_change(before, before_index, after,
					 after_index), &shape, 0);
}

static void add_changed_box(struct table *table,
			    const struct hwprof_profile *before,
			    size_t before_index,
			    const struct hwprof_profile *after,
			    size_t after_index, bool full)
{
	const struct shape shape = {
		.pairs = true, .places = true, .full_path = full,
	};

	add_spans(table, range_of_change(before, before_index, after,
					 after_index), &shape, 0);
}

static const struct report_kind boxes = {
	.kind = HWPROF_KIND_RANGES,
	.things = "boxes",
	.columns = box_columns,
	.column_count = sizeof(box_columns) / sizeof(box_columns[0]),
	.add = add_changed_box,
};

const struct report_kind report_ranges = {
	.kind = HWPROF_KIND_RANGES,
	.things = "ranges",
	.options = REPORT_TREE | REPORT_RANGES,
	.print = print_table,
	.columns = range_columns,
	.column_count = sizeof(range_columns) / sizeof(range_columns[0]),
	.add = add_changed,
	.boxes = &boxes,
};
