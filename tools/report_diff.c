// SPDX-License-Identifier: GPL-2.0-only
/* Prints the changes from one recording to another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"

/* Columns of all differences, and two optional ones. */
enum {
	COLUMN_INTERVAL = 3,
	COLUMN_MATCH,
	COLUMNS,
};

static const struct table_column columns[COLUMNS] = {
	{ .title = "before", .right = true },
	{ .title = "after", .right = true },
	{ .title = "change", .right = true },
	[COLUMN_INTERVAL] = { .title = "95 %", .right = true },
	[COLUMN_MATCH] = { .title = "match" },
};

/* The optional columns of the table. */
struct shown {
	bool intervals, matches;
};

/* Leaves out intervals without width, and matches by address. */
static struct shown columns_of(const struct hwprof_diff *diff)
{
	struct shown shown = { false, false };
	size_t i;

	for (i = 0; i < hwprof_diff_count(diff); i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		shown.intervals |= change->share_high > change->share_low;
		shown.matches |= change->match > HWPROF_MATCH_ADDRESS;
	}
	return shown;
}

static size_t set_columns(struct table_column *all, struct shown shown,
			  const struct report_kind *kind)
{
	size_t count = 0, i;

	for (i = 0; i < COLUMNS; i++)
		if ((i != COLUMN_INTERVAL || shown.intervals) &&
		    (i != COLUMN_MATCH || shown.matches))
			all[count++] = columns[i];
	memcpy(all + count, kind->columns, kind->column_count * sizeof(*all));
	return count + kind->column_count;
}

static void add_share(struct table *table, double share, size_t index)
{
	if (index == HWPROF_NOTHING)
		table_add(table, "-");
	else
		table_add(table, "%.2f%%", 100 * share);
}

static void add_change(struct table *table, const struct hwprof_change *change,
		       struct shown shown)
{
	const char *match = hwprof_match_name(change->match);

	add_share(table, change->share_before, change->before);
	add_share(table, change->share_after, change->after);
	table_add(table, "%+.2f", 100 * change->share);
	if (shown.intervals && isnan(change->share_low))
		table_add(table, "-");
	else if (shown.intervals)
		table_add(table, "%+.2f..%+.2f", 100 * change->share_low,
			  100 * change->share_high);
	if (shown.matches)
		table_add(table, "%s", match ? match : "-");
}

static int print_table(const struct report *report,
		       const struct report_kind *kind,
		       const struct hwprof_diff *diff,
		       const struct hwprof_profile *before,
		       const struct hwprof_profile *after)
{
	size_t count = hwprof_diff_count(diff), i;
	size_t limit = shown_of(report, count);
	struct shown shown = columns_of(diff);
	struct table_column *all;
	struct table table = { .columns = NULL };
	int status;

	all = calloc(COLUMNS + kind->column_count, sizeof(*all));
	if (!all)
		return failed("out of memory");
	table.columns = all;
	table.column_count = set_columns(all, shown, kind);
	for (i = 0; i < limit; i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		add_change(&table, change, shown);
		kind->add(&table, before, change->before, after, change->after,
			  report->full_path);
	}
	status = finish_table(&table, count - limit, "--limit");
	free(all);
	return status;
}

static int print_tables(const struct report *report,
			const struct report_kind *kind,
			const struct hwprof_diff *diff,
			const struct hwprof_profile *before,
			const struct hwprof_profile *after)
{
	const struct hwprof_diff *procedures = hwprof_diff_procedures(diff);
	char text[GROUPED_SIZE];
	int status;

	printf("from %s to %s: %s %s; changes in points of the share\n\n",
	       clean(report->files[0]), clean(report->files[1]),
	       grouped(hwprof_diff_count(diff), text), kind->things);
	status = print_table(report, kind, diff, before, after);
	if (status || !procedures)
		return status;
	printf("\n");
	return print_table(report, kind->procedures, procedures, before, after);
}

int report_diff(const struct report *report, const struct report_kind *kind,
		const struct hwprof_profile *before,
		const struct hwprof_profile *after)
{
	struct hwprof_diff *diff;
	int status = STATUS_OK;

	if (kind->boxes && hwprof_range_of_pairs(hwprof_ranges_of(after)))
		kind = kind->boxes;
	if (kind->warn_of_diff)
		kind->warn_of_diff(before, after);
	if (hwprof_profile_diff(&diff, before, after))
		return failed("out of memory");
	if (report->json)
		hwprof_diff_json(diff, report->limit, stdout);
	else
		status = print_tables(report, kind, diff, before, after);
	hwprof_diff_free(diff);
	status = check_output(status);
	print_warnings(before, report->files[0]);
	print_warnings(after, report->files[1]);
	return status;
}
