// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "table.h"

#define SHOWN	0.05	/* of executions: another value that is worth it */

enum {
	COLUMNS_FIXED = 10,
	OTHERS = 3,		/* values besides the first, at most */
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
	table_add(table, "%s", shown_path(load->object, full));
	if (load->function)
		table_add(table, "%s+0x%" PRIx64, load->function,
			  load->function_offset);
	else
		table_add(table, "0x%" PRIx64, load->address);
	if (load->file)
		table_add(table, "%s:%u", shown_path(load->file, full),
			  load->line);
	else
		table_add(table, "-");
	if (table->column_count > COLUMNS_FIXED)
		table_add(table, "%u %s", load->pid,
			  load->comm ? load->comm : "?");
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

static void print_totals(const struct hwprof_totals *totals,
			 double completeness)
{
	char text[5][GROUPED_SIZE];

	if (!isnan(completeness))
		printf("\ncomplete to %.1f %%: so much of the loads' executions is of those above\n",
		       100 * completeness);
	if (!totals->produced)
		return;
	printf("%s events, %s gaps, ", grouped(totals->events, text[0]),
	       grouped(totals->gaps, text[1]));
	print_sessions(totals);
	printf("\n%s loads = %s delivered + %s lost + %s evicted + %s pending\n",
	       grouped(totals->produced, text[0]),
	       grouped(totals->delivered, text[1]),
	       grouped(totals->lost, text[2]), grouped(totals->evicted, text[3]),
	       grouped(totals->pending, text[4]));
}

/* What holds for the whole table. */
static enum hwprof_basis weakest(const struct hwprof_values *values)
{
	enum hwprof_basis basis = hwprof_values_get(values, 0)->basis;
	size_t i;

	for (i = 1; i < hwprof_values_count(values); i++)
		if (hwprof_values_get(values, i)->basis > basis)
			basis = hwprof_values_get(values, i)->basis;
	return basis;
}

static bool any_process(const struct hwprof_values *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (hwprof_values_get(values, i)->pid)
			return true;
	return false;
}

static int print_table(const struct report *report,
		       const struct hwprof_values *values)
{
	const char *name = strcmp(report->file, "-") ? report->file :
			   "standard input";
	size_t count = hwprof_values_count(values), shown = count, i;
	struct table table = { .columns = columns };
	char text[GROUPED_SIZE];

	if (!count) {
		printf("%s: no load was seen\n", name);
		return STATUS_OK;
	}
	if (report->limit && report->limit < count)
		shown = report->limit;
	table.column_count = COLUMNS_FIXED + any_process(values, shown);
	for (i = 0; i < shown; i++)
		add_load(&table, hwprof_values_get(values, i),
			 report->full_path);
	printf("%s: %s load%s; %s\n\n", name, grouped(count, text),
	       count == 1 ? "" : "s", basis_sentence(weakest(values)));
	if (!table.failed)
		table_print(&table, terminal_width(), stdout);
	table_free(&table);
	if (table.failed)
		return failed("out of memory");
	if (shown < count)
		printf("... and %s more: see --limit\n",
		       grouped(count - shown, text));
	print_totals(hwprof_values_totals(values),
		     hwprof_values_completeness(values));
	return STATUS_OK;
}

static int print(const struct report *report,
		 const struct hwprof_values *values)
{
	const char *sentence;
	int status = STATUS_OK;
	size_t i;

	if (report->json)
		hwprof_values_json(values, report->limit, stdout);
	else
		status = print_table(report, values);
	status = check_output(status);
	/* JSON has them inside. */
	for (i = 0; !report->json &&
	     (sentence = hwprof_values_warning(values, i)); i++)
		warning("%s", sentence);
	return status;
}

int report_values(const struct report *report)
{
	struct hwprof_values *values = NULL;
	struct hwprof_file *file;
	int error, status;

	error = hwprof_file_open(&file, report->file);
	if (!error)
		error = hwprof_values_read(&values, file, report->flags);
	if (error)
		status = failed("%s", hwprof_file_error(file));
	else
		status = print(report, values);
	hwprof_values_free(values);
	hwprof_file_close(file);
	return status;
}
