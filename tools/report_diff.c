// SPDX-License-Identifier: GPL-2.0-only
/* What has changed from one recording's loops to another's. */
#include <math.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "table.h"

static const struct table_column columns[] = {
	{ .title = "before", .right = true },
	{ .title = "after", .right = true },
	{ .title = "change", .right = true },
	{ .title = "trip before", .right = true },
	{ .title = "trip after", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "source", .shrinks = true },
};

static void add_share(struct table *table, const struct hwprof_loop *loop)
{
	if (loop)
		table_add(table, "%.2f%%", 100 * loop->share);
	else
		table_add(table, "-");
}

static void add_change(struct table *table,
		       const struct hwprof_loops_change *change, bool full)
{
	add_share(table, change->before);
	add_share(table, change->after);
	table_add(table, "%+.2f", 100 * change->share);
	add_trip(table, change->before ? change->before->trip : NAN);
	add_trip(table, change->after ? change->after->trip : NAN);
	add_place(table, change->after ? change->after : change->before, full);
}

static int print_table(const struct report *report,
		       const struct hwprof_loops_diff *diff)
{
	struct table table = {
		.columns = columns,
		.column_count = sizeof(columns) / sizeof(columns[0]),
	};
	size_t count = hwprof_loops_diff_count(diff), shown = count, i;
	char text[GROUPED_SIZE];

	if (report->limit && report->limit < count)
		shown = report->limit;
	for (i = 0; i < shown; i++)
		add_change(&table, hwprof_loops_diff_get(diff, i),
			   report->full_path);
	printf("from %s to %s: %s loop%s; changes in points of the share\n\n",
	       report->files[0], report->files[1], grouped(count, text),
	       count == 1 ? "" : "s");
	if (!table.failed)
		table_print(&table, terminal_width(), stdout);
	table_free(&table);
	if (table.failed)
		return failed("out of memory");
	if (shown < count)
		printf("... and %s more: see --limit\n",
		       grouped(count - shown, text));
	return STATUS_OK;
}

/* Shares of different things cannot be compared. */
static void warn_of_shares(const struct hwprof_loops *before,
			   const struct hwprof_loops *after)
{
	const char *a, *b;

	if (!hwprof_loops_count(before) || !hwprof_loops_count(after))
		return;
	a = hwprof_loops_get(before, 0)->share_of;
	b = hwprof_loops_get(after, 0)->share_of;
	if (strcmp(a, b))
		warning("shares are of %s before and of %s after: their changes say little",
			a, b);
}

int report_diff(const struct report *report, const struct hwprof_loops *before,
		const struct hwprof_loops *after)
{
	struct hwprof_loops_diff *diff;
	int status = STATUS_OK;

	if (hwprof_loops_diff(&diff, before, after))
		return failed("out of memory");
	warn_of_shares(before, after);
	if (report->json)
		hwprof_loops_diff_json(diff, report->limit, stdout);
	else
		status = print_table(report, diff);
	hwprof_loops_diff_free(diff);
	status = check_output(status);
	print_warnings(before, report->files[0]);
	print_warnings(after, report->files[1]);
	return status;
}
