// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "report.h"

#define SHOWN	0.05	/* share of executions that makes another value worth
			 * printing */

enum {
	COLUMNS_FIXED = 10,
	OTHERS = 3,		/* most values besides the first */
};

static const struct table_column columns[] = {
	{ .title = "share", .right = true },
	{ .title = "executions", .right = true },
	{ .title = "invariance", .right = true },
	{ .title = "low..high", .right = true },
	{ .title = "value", .right = true },
	{ .title = "others", .shrinks = true },
	{ .title = "class" },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "source", .shrinks = true },
	{ .title = "process" },
};

static void add_first(struct table *table, const struct hwprof_load *load)
{
	const struct hwprof_load_value *first = load->values;

	if (!load->value_count) {
		table_add(table, "-");
		table_add(table, "-");
		table_add(table, "-");
		return;
	}
	table_add(table, "%.1f%%", 100 * first->invariance);
	if (load->basis)
		table_add(table, "%.1f..%.1f%%", 100 * first->low,
			  100 * first->high);
	else
		table_add(table, "-");
	table_add(table, "0x%" PRIx64, first->value);
}

static void add_others(struct table *table, const struct hwprof_load *load)
{
	char text[OTHERS * 40] = "-";
	size_t used = 0, i;

	for (i = 1; i < load->value_count && i <= OTHERS; i++) {
		const struct hwprof_load_value *value = &load->values[i];

		if (value->invariance < SHOWN)
			break;
		used += snprintf(text + used, sizeof(text) - used,
				 "%s0x%" PRIx64 " %.1f%%", used ? ", " : "",
				 value->value, 100 * value->invariance);
	}
	table_add(table, "%s", text);
}

static void add_place(struct table *table, const struct hwprof_load *load,
		      bool full)
{
	table_add(table, "%s", shown_path(load->object, full));
	add_code(table, load->function, load->function_offset, load->address);
	add_source(table, load->file, load->line, full);
}

static void add_load(struct table *table, const struct hwprof_load *load,
		     bool full)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * load->share);
	table_add(table, "%s", grouped(load->executions, text));
	add_first(table, load);
	add_others(table, load);
	if (load->kind == HWPROF_VALUE_STRIDE)
		table_add(table, "stride %" PRId64, load->stride);
	else
		table_add(table, "%s", hwprof_value_class_name(load->kind));
	add_place(table, load, full);
	if (table->column_count > COLUMNS_FIXED)
		add_process(table, load->pid, load->comm);
}

static const char *basis_sentence(enum hwprof_basis basis)
{
	switch (basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every load was seen, and invariance is from low to high";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of what was seen, low to high are 95 % intervals";
	case HWPROF_BASIS_TIME:
		return "windows of CPU time: counts are of what was seen, low to high are 95 % intervals";
	}
	return "samples: executions are the samples' periods";
}

static void print_completeness(double completeness)
{
	if (!isnan(completeness))
		printf("\ncomplete to %.1f %%: so much of the loads' executions is of those above\n",
		       100 * completeness);
}

/* Returns the weakest basis, which holds for the whole table. */
static enum hwprof_basis weakest(const struct hwprof_profile *values)
{
	enum hwprof_basis basis = hwprof_values_get(values, 0)->basis;
	size_t i;

	for (i = 1; i < hwprof_values_count(values); i++)
		if (hwprof_values_get(values, i)->basis > basis)
			basis = hwprof_values_get(values, i)->basis;
	return basis;
}

static bool any_process(const struct hwprof_profile *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (hwprof_values_get(values, i)->pid)
			return true;
	return false;
}

static int print_table(const struct report *report,
		       const struct hwprof_profile *values)
{
	size_t count = hwprof_values_count(values), i;
	size_t shown = shown_of(report, count);
	struct table table = { .columns = columns };
	char text[GROUPED_SIZE];
	int status;

	print_files(report);
	if (!count) {
		printf("no load was seen\n");
		return STATUS_OK;
	}
	table.column_count = COLUMNS_FIXED + any_process(values, shown);
	for (i = 0; i < shown; i++)
		add_load(&table, hwprof_values_get(values, i),
			 report->full_path);
	printf("%s load%s; %s\n\n", grouped(count, text),
	       count == 1 ? "" : "s", basis_sentence(weakest(values)));
	status = finish_table(&table, count - shown, "--limit");
	if (status)
		return status;
	print_completeness(hwprof_values_completeness(values));
	print_totals(values, "loads");
	return STATUS_OK;
}

static const struct table_column changed_columns[] = {
	{ .title = "value before", .right = true },
	{ .title = "value after", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "source", .shrinks = true },
};

/* Adds the most frequent value, and its share. */
static void add_value(struct table *table, const void *values, size_t index)
{
	const struct hwprof_load *load = index == HWPROF_NOTHING ? NULL :
					 hwprof_values_get(values, index);

	if (load && load->value_count)
		table_add(table, "0x%" PRIx64 " %.1f%%", load->values[0].value,
			  100 * load->values[0].invariance);
	else
		table_add(table, "-");
}

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_load *it = after_index == HWPROF_NOTHING ?
		hwprof_values_get(before, before_index) :
		hwprof_values_get(after, after_index);

	add_value(table, before, before_index);
	add_value(table, after, after_index);
	add_place(table, it, full);
}

const struct report_kind report_values = {
	.kind = HWPROF_KIND_VALUES,
	.things = "loads",
	.print = print_table,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
};
