// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>

#include "command.h"
#include "report.h"

/* Optional columns that are needed. */
struct shown {
	bool most;		/* branches were evicted */
	bool interval;
	bool passed;		/* there are straight lines */
	bool predicted;
	bool process;
	bool full;		/* full paths */
};

enum { COLUMNS_MAX = 14 };

static const struct table_column
	share_column	= { .title = "share", .right = true },
	taken_column	= { .title = "taken", .right = true },
	most_column	= { .title = "at most", .right = true },
	passed_column	= { .title = "passed", .right = true },
	bias_column	= { .title = "bias", .right = true },
	low_column	= { .title = "low", .right = true },
	high_column	= { .title = "high", .right = true },
	missed_column	= { .title = "mispredicted", .right = true },
	kind_column	= { .title = "kind" },
	object_column	= { .title = "object", .shrinks = true },
	branch_column	= { .title = "branch", .shrinks = true },
	source_column	= { .title = "source", .shrinks = true },
	target_column	= { .title = "target", .shrinks = true },
	process_column	= { .title = "process" };

static const char *kind_text(const struct hwprof_branch_site *site)
{
	switch (site->kind) {
	case HWPROF_BRANCH_COND:
		return "cond";
	case HWPROF_BRANCH_JUMP:
		return "jump";
	case HWPROF_BRANCH_INDIRECT:
		return "indirect jump";
	case HWPROF_BRANCH_CALL:
		return site->indirect ? "indirect call" : "call";
	case HWPROF_BRANCH_RET:
		return "return";
	default:
		return "-";
	}
}

static void add_part(struct table *table, double part)
{
	if (isnan(part))
		table_add(table, "-");
	else
		table_add(table, "%.2f%%", 100 * part);
}

static void add_target(struct table *table,
		       const struct hwprof_branch_target *target)
{
	const struct hwprof_code *code = &target->code;

	if (code->function && !code->function_offset)
		table_add(table, "%s", code->function);
	else
		add_code(table, code->function, code->function_offset,
			 code->address);
}

/* Adds the most frequent target. */
static void add_first_target(struct table *table,
			     const struct hwprof_branch_site *site)
{
	if (!site->target_count)
		table_add(table, "-");
	else
		add_target(table, &site->targets[0]);
}

static void add_passed(struct table *table,
		       const struct hwprof_branch_site *site,
		       const struct shown *shown)
{
	char text[GROUPED_SIZE];

	if (!shown->passed)
		return;
	if (isnan(site->bias))
		table_add(table, "-");
	else
		table_add(table, "%s", grouped(site->passed, text));
	add_part(table, site->bias);
	if (!shown->interval)
		return;
	add_part(table, site->bias_low);
	add_part(table, site->bias_high);
}

static void add_place(struct table *table,
		      const struct hwprof_branch_site *site, bool full)
{
	table_add(table, "%s", kind_text(site));
	table_add(table, "%s", shown_path(site->code.object, full));
	add_code(table, site->code.function, site->code.function_offset,
		 site->code.address);
	add_source(table, site->code.file, site->code.line, full);
	add_first_target(table, site);
}

static void add_branch(struct table *table,
		       const struct hwprof_branch_site *site,
		       const struct shown *shown)
{
	char text[GROUPED_SIZE];

	add_part(table, site->share);
	table_add(table, "%s", grouped(site->taken, text));
	if (shown->most)
		table_add(table, "%s", grouped(site->most, text));
	add_passed(table, site, shown);
	if (shown->predicted)
		add_part(table, site->predicted && site->led ?
			 (double)site->mispredicted / site->led : NAN);
	add_place(table, site, shown->full);
	if (shown->process)
		add_process(table, site->pid, site->comm);
}

static void add_column(struct table *table, struct table_column *columns,
		       const struct table_column *column, bool wanted)
{
	if (wanted)
		columns[table->column_count++] = *column;
	table->columns = columns;
}

static int print_branches(const struct report *report,
			  const struct hwprof_profile *edges,
			  const struct shown *shown)
{
	bool interval = shown->passed && shown->interval;
	size_t all = hwprof_edges_count(edges), i;
	size_t limit = shown_of(report, all);
	struct table_column columns[COLUMNS_MAX];
	struct table table = { 0 };

	add_column(&table, columns, &share_column, true);
	add_column(&table, columns, &taken_column, true);
	add_column(&table, columns, &most_column, shown->most);
	add_column(&table, columns, &passed_column, shown->passed);
	add_column(&table, columns, &bias_column, shown->passed);
	add_column(&table, columns, &low_column, interval);
	add_column(&table, columns, &high_column, interval);
	add_column(&table, columns, &missed_column, shown->predicted);
	add_column(&table, columns, &kind_column, true);
	add_column(&table, columns, &object_column, true);
	add_column(&table, columns, &branch_column, true);
	add_column(&table, columns, &source_column, true);
	add_column(&table, columns, &target_column, true);
	add_column(&table, columns, &process_column, shown->process);
	for (i = 0; i < limit; i++)
		add_branch(&table, hwprof_edges_get(edges, i), shown);
	return finish_table(&table, all - limit, "--limit");
}

/* --- indirect branches --------------------------------------------------- */

/*
 * Returns true if several targets are possible. Returns are excluded: they lead
 * to their callers.
 */
static bool has_targets(const struct hwprof_branch_site *site)
{
	return site->target_count && site->kind != HWPROF_BRANCH_RET &&
	       (site->target_count > 1 || site->indirect);
}

static void add_targets(struct table *table,
			const struct hwprof_branch_site *site, bool full)
{
	char text[GROUPED_SIZE];
	size_t i;

	for (i = 0; i < site->target_count; i++) {
		const struct hwprof_branch_target *target = &site->targets[i];

		add_part(table, target->share);
		table_add(table, "%s", grouped(target->count, text));
		table_add(table, "%s", kind_text(site));
		table_add(table, "%s", shown_path(site->code.object, full));
		add_code(table, site->code.function,
			 site->code.function_offset, site->code.address);
		add_target(table, target);
		add_source(table, target->code.file, target->code.line, full);
	}
}

static int print_targets(const struct report *report,
			 const struct hwprof_profile *edges)
{
	size_t limit = shown_of(report, hwprof_edges_count(edges)), i;
	const struct table_column columns[] = {
		share_column, taken_column, kind_column, object_column,
		branch_column, target_column, source_column,
	};
	struct table table = {
		.columns = columns,
		.column_count = sizeof(columns) / sizeof(columns[0]),
	};

	for (i = 0; i < limit; i++) {
		const struct hwprof_branch_site *site =
			hwprof_edges_get(edges, i);

		if (has_targets(site))
			add_targets(&table, site, report->full_path);
	}
	if (!table.cell_count)
		return STATUS_OK;
	printf("\nindirect jumps and calls, and where they led:\n\n");
	return finish_table(&table, 0, "--limit");
}

/* --- all of it ----------------------------------------------------------- */

static const char *basis_sentence(enum hwprof_basis basis)
{
	switch (basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every branch was seen";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of what was seen, low "
		       "to high the 95 % intervals of the bias";
	case HWPROF_BASIS_TIME:
		return "windows of CPU time: counts are of what was seen, low "
		       "to high the 95 % intervals of the bias";
	}
	return "samples: counts are the samples' periods, and lines are "
	       "not known";
}

/* Finds the weakest basis, and which columns branches need. */
static enum hwprof_basis look(const struct hwprof_profile *edges,
			      struct shown *shown)
{
	enum hwprof_basis weakest = 0;
	size_t i;

	for (i = 0; i < hwprof_edges_count(edges); i++) {
		const struct hwprof_branch_site *site =
			hwprof_edges_get(edges, i);

		if (site->basis > weakest)
			weakest = site->basis;
		shown->most |= site->most != site->taken;
		shown->passed |= !isnan(site->bias);
		shown->predicted |= site->predicted;
		shown->process |= site->pid;
	}
	shown->interval = weakest > HWPROF_BASIS_EXACT;
	return weakest;
}

static int print_tables(const struct report *report,
			const struct hwprof_profile *edges)
{
	struct shown shown = { .full = report->full_path };
	size_t count = hwprof_edges_count(edges);
	enum hwprof_basis basis = look(edges, &shown);
	char text[GROUPED_SIZE];
	int status;

	print_files(report);
	if (!count) {
		printf("no branch was seen\n");
		print_totals(edges, "taken branches");
		return STATUS_OK;
	}
	printf("%s branch%s; %s\n\n", grouped(count, text),
	       count == 1 ? "" : "es", basis_sentence(basis));
	status = print_branches(report, edges, &shown);
	if (!status)
		status = print_targets(report, edges);
	if (!status)
		print_totals(edges, "taken branches");
	return status;
}

static const struct table_column changed_columns[] = {
	{ .title = "kind" },
	{ .title = "object", .shrinks = true },
	{ .title = "branch", .shrinks = true },
	{ .title = "source", .shrinks = true },
	{ .title = "target", .shrinks = true },
};

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_branch_site *it = after_index == HWPROF_NOTHING ?
		hwprof_edges_get(before, before_index) :
		hwprof_edges_get(after, after_index);

	add_place(table, it, full);
}

const struct report_kind report_edges = {
	.kind = HWPROF_KIND_EDGES,
	.things = "branches",
	.print = print_tables,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
};
