// SPDX-License-Identifier: GPL-2.0-only
/* What has changed from one recording to another. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"

enum { COLUMNS = 3 };		/* that all differences have */

static const struct table_column columns[COLUMNS] = {
	{ .title = "before", .right = true },
	{ .title = "after", .right = true },
	{ .title = "change", .right = true },
};

static void add_share(struct table *table, double share, size_t index)
{
	if (index == HWPROF_NOTHING)
		table_add(table, "-");
	else
		table_add(table, "%.2f%%", 100 * share);
}

static int print_table(const struct report *report,
		       const struct report_kind *kind,
		       const struct hwprof_diff *diff,
		       const struct hwprof_profile *before,
		       const struct hwprof_profile *after)
{
	size_t count = hwprof_diff_count(diff), i;
	size_t shown = shown_of(report, count);
	struct table_column *all;
	struct table table = {
		.column_count = COLUMNS + kind->column_count,
	};
	int status;

	all = calloc(table.column_count, sizeof(*all));
	if (!all)
		return failed("out of memory");
	memcpy(all, columns, sizeof(columns));
	memcpy(all + COLUMNS, kind->columns, kind->column_count * sizeof(*all));
	table.columns = all;
	for (i = 0; i < shown; i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		add_share(&table, change->share_before, change->before);
		add_share(&table, change->share_after, change->after);
		table_add(&table, "%+.2f", 100 * change->share);
		kind->add(&table, before, change->before, after, change->after,
			  report->full_path);
	}
	status = finish_table(&table, count - shown, "--limit");
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
