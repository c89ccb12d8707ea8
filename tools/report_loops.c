// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "profile/profile.h"
#include "report.h"

#define HOT	0.1		/* share of the loops that users look at
				 * first */
#define WANTED	1.5		/* factor up to which their trip counts are
				 * useful */

enum {
	COLUMN_RECENT = 4,
	COLUMN_MIN_MAX = 5,
	COLUMNS_FIXED = 10,
};

static const struct table_column columns[] = {
	{ .title = "share", .right = true },
	{ .title = "entries", .right = true },
	{ .title = "iterations", .right = true },
	{ .title = "trip", .right = true },
	{ .title = "recent", .right = true },
	{ .title = "min..max", .right = true },
	{ .title = "depth", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "source", .shrinks = true },
	{ .title = "process" },
};

/* Spells a trip count. From 100 on, decimals say little. */
static const char *trip_text(double trip, char text[GROUPED_SIZE])
{
	if (isnan(trip))
		return "-";
	if (trip >= 99.95)
		return grouped(llround(trip), text);
	snprintf(text, GROUPED_SIZE, "%.1f", trip);
	return text;
}

static void add_trip(struct table *table, double trip)
{
	char text[GROUPED_SIZE];

	table_add(table, "%s", trip_text(trip, text));
}

static void add_count(struct table *table, uint64_t count, bool known)
{
	char text[GROUPED_SIZE];

	table_add(table, "%s", known ? grouped(count, text) : "-");
}

static void add_place(struct table *table, const struct hwprof_loop *loop,
		      bool full)
{
	table_add(table, "%s", shown_path(loop->object, full));
	add_code(table, loop->function, loop->function_offset, loop->head);
	add_source(table, loop->file, loop->line, full);
}

static void add_executions(struct table *table, const struct hwprof_loop *loop)
{
	char least[GROUPED_SIZE], most[GROUPED_SIZE];

	add_trip(table, loop->trip_recent);
	if (loop->trip_max)
		table_add(table, "%s..%s", grouped(loop->trip_min, least),
			  grouped(loop->trip_max, most));
	else
		table_add(table, "-");
}

static void add_loop(struct table *table, const struct hwprof_loop *loop,
		     bool windows, bool full)
{
	table_add(table, "%.2f%%", 100 * loop->share);
	/* The header says that counts are what windows saw. */
	add_count(table, loop->entries_seen, loop->basis);
	add_count(table, loop->entries_seen + loop->back_edges_seen, true);
	add_trip(table, loop->trip);
	if (windows) {
		add_trip(table, loop->trip_low);
		add_trip(table, loop->trip_high);
	} else {
		add_executions(table, loop);
	}
	table_add(table, "%u", loop->depth);
	add_place(table, loop, full);
	if (table->column_count > COLUMNS_FIXED)
		add_process(table, loop->pid, loop->comm);
}

static const char *basis_sentence(const struct hwprof_loop *loop)
{
	switch (loop->basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every branch was seen";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of what was seen, trip counts are estimates, low to high their 95 % intervals";
	case HWPROF_BASIS_TIME:
		return "windows of CPU time: shares are of time, counts of what was seen, trip counts are estimates, low to high their 95 % intervals";
	}
	return "samples: iterations are back edges, by the samples' periods";
}

/* Returns the loop with the weakest basis, which holds for the whole table. */
static const struct hwprof_loop *weakest(const struct hwprof_profile *loops)
{
	const struct hwprof_loop *found = hwprof_loops_get(loops, 0);
	size_t i;

	for (i = 1; i < hwprof_loops_count(loops); i++)
		if (hwprof_loops_get(loops, i)->basis > found->basis)
			found = hwprof_loops_get(loops, i);
	return found;
}

static bool any_process(const struct hwprof_profile *loops, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (hwprof_loops_get(loops, i)->pid)
			return true;
	return false;
}

/*
 * Returns the factor within which the trip counts of all loops with a share of
 * at least 10 % are known. Returns NaN if one was seen in only one window, and
 * 0 if there are no such loops.
 */
static double precision(const struct hwprof_profile *loops)
{
	double worst = 0;
	size_t i;

	for (i = 0; i < hwprof_loops_count(loops); i++) {
		const struct hwprof_loop *loop = hwprof_loops_get(loops, i);

		if (!(loop->share >= HOT) || loop->basis <= HWPROF_BASIS_EXACT)
			continue;
		if (isnan(loop->trip_low))
			return NAN;
		worst = fmax(worst, fmax(loop->trip_high / loop->trip,
					 loop->trip / loop->trip_low));
	}
	return worst;
}

/* Returns how much more to record: intervals shrink with the square root. */
static double times_more(double factor)
{
	double reach = isnan(factor) ? 4 : log(factor) / log(WANTED);

	return reach * reach;
}

static void print_precision(const struct hwprof_profile *loops)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(loops);
	double factor = precision(loops), more = times_more(factor);
	double budget = totals->budget_permille / 10. * more;
	char text[GROUPED_SIZE];

	if (!factor || factor <= WANTED)
		return;
	if (isnan(factor))
		printf("a loop with a tenth of all or more was entered in one window only: its trip count is a guess");
	else
		printf("trip counts of loops with a tenth of all or more are known to a factor of %.2g",
		       factor);
	printf("; for %g, record %s times as long", WANTED,
	       rounded(more, text));
	if (loops->replayed)
		printf(", or with more samples a second (perf record -F)");
	else if (budget > 0 && budget <= 100)
		printf(", or with --budget %s%%", rounded(budget, text));
	printf(loops->replayed ? "\n" : ", or each branch (-e loops,step)\n");
}

static int print_table(const struct report *report,
		       const struct hwprof_profile *loops)
{
	size_t count = hwprof_loops_count(loops), i;
	size_t shown = shown_of(report, count);
	struct table_column chosen[sizeof(columns) / sizeof(columns[0])];
	struct table table = { .columns = chosen };
	const struct hwprof_loop *base;
	char text[GROUPED_SIZE];
	bool windows;
	int status;

	print_files(report);
	if (!count) {
		printf("no loop was seen\n");
		print_totals(loops, "back edges");
		return STATUS_OK;
	}
	base = weakest(loops);
	memcpy(chosen, columns, sizeof(columns));
	/* Windows show no whole executions, but intervals of trip counts. */
	windows = base->basis > HWPROF_BASIS_EXACT;
	if (windows) {
		chosen[COLUMN_RECENT].title = "low";
		chosen[COLUMN_MIN_MAX].title = "high";
	}
	table.column_count = COLUMNS_FIXED + any_process(loops, shown);
	for (i = 0; i < shown; i++)
		add_loop(&table, hwprof_loops_get(loops, i), windows,
			 report->full_path);
	printf("%s loop%s; %s%s\n\n", grouped(count, text),
	       count == 1 ? "" : "s", basis_sentence(base),
	       strcmp(base->share_of, "instructions") ? "" :
	       "; shares are of instructions, as the code has them");
	status = finish_table(&table, count - shown, "--limit");
	if (status)
		return status;
	print_totals(loops, "back edges");
	print_precision(loops);
	return STATUS_OK;
}

/* Warns if shares are of different things, which cannot be compared. */
static void warn_of_shares(const struct hwprof_profile *before,
			   const struct hwprof_profile *after)
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

static const struct table_column changed_columns[] = {
	{ .title = "trip before", .right = true },
	{ .title = "trip after", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "function", .shrinks = true },
	{ .title = "source", .shrinks = true },
};

/* Adds the trip count, with its interval if windows were seen. */
static void add_trip_of(struct table *table, const struct hwprof_profile *loops,
			size_t index)
{
	const struct hwprof_loop *loop = index == HWPROF_NOTHING ? NULL :
					 hwprof_loops_get(loops, index);
	char trip[GROUPED_SIZE], low[GROUPED_SIZE], high[GROUPED_SIZE];

	if (loop && loop->trip_high > loop->trip_low)
		table_add(table, "%s (%s..%s)", trip_text(loop->trip, trip),
			  trip_text(loop->trip_low, low),
			  trip_text(loop->trip_high, high));
	else
		add_trip(table, loop ? loop->trip : NAN);
}

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_loop *it = after_index == HWPROF_NOTHING ?
		hwprof_loops_get(before, before_index) :
		hwprof_loops_get(after, after_index);

	add_trip_of(table, before, before_index);
	add_trip_of(table, after, after_index);
	add_place(table, it, full);
}

const struct report_kind report_loops = {
	.kind = HWPROF_KIND_LOOPS,
	.things = "loops",
	.options = REPORT_SORTS | REPORT_SPAN | REPORT_INSTRUCTIONS,
	.print = print_table,
	.warn_of_diff = warn_of_shares,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
};
