// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"

enum {
	PATH_FIXED = 9,
	PROCEDURE_FIXED = 7,
	CONTEXTS_SHOWN = 8,		/* per path */
};

static const struct table_column path_columns[] = {
	{ .title = "share", .right = true },
	{ .title = "heat" },
	{ .title = "times", .right = true },
	{ .title = "jumps", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "procedure", .shrinks = true },
	{ .title = "from", .shrinks = true },
	{ .title = "to", .shrinks = true },
	{ .title = "source", .shrinks = true },
	{ .title = "process" },
};

static const struct table_column procedure_columns[] = {
	{ .title = "share", .right = true },
	{ .title = "heat" },
	{ .title = "times", .right = true },
	{ .title = "paths", .right = true },
	{ .title = "possible", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "procedure", .shrinks = true },
	{ .title = "process" },
};

static const char *shown_heat(enum hwprof_heat heat)
{
	return heat == HWPROF_COLD ? "-" : hwprof_heat_name(heat);
}

/* Adds the start. A path with a tail call begins in another procedure. */
static void add_start(struct table *table, const struct hwprof_path *path)
{
	const char *function = path->start_function;
	const char *how = path->called ? "entry" : "back edge";

	if (!function)
		table_add(table, "%s 0x%" PRIx64, how, path->start);
	else if (path->procedure->function &&
		 !strcmp(function, path->procedure->function))
		table_add(table, "%s +0x%" PRIx64, how, path->start_offset);
	else
		table_add(table, "%s %s+0x%" PRIx64, how, function,
			  path->start_offset);
}

static void add_end(struct table *table, const struct hwprof_path *path)
{
	const char *how = path->returns ? "return" : "back edge";

	if (path->procedure->function)
		table_add(table, "%s +0x%" PRIx64, how, path->end_offset);
	else
		table_add(table, "%s 0x%" PRIx64, how, path->end);
}

static void add_lines(struct table *table, const struct hwprof_path *path,
		      bool full)
{
	const char *file = path->start_file, *last = path->end_file;

	if (file && last && !strcmp(file, last))
		table_add(table, "%s:%u..%u", shown_path(file, full),
			  path->start_line, path->end_line);
	else if (file && last)
		table_add(table, "%s:%u..%s:%u", shown_path(file, full),
			  path->start_line, shown_path(last, full),
			  path->end_line);
	else if (file)
		table_add(table, "%s:%u..", shown_path(file, full),
			  path->start_line);
	else if (last)
		table_add(table, "..%s:%u", shown_path(last, full),
			  path->end_line);
	else
		table_add(table, "-");
}

static void add_procedure_name(struct table *table,
			       const struct hwprof_procedure *procedure,
			       bool full)
{
	table_add(table, "%s", shown_path(procedure->object, full));
	table_add(table, "%s", procedure->function ? procedure->function : "-");
}

static void add_way(struct table *table, const struct hwprof_path *path,
		    bool full)
{
	table_add(table, "%" PRIu32, path->length);
	add_procedure_name(table, path->procedure, full);
	add_start(table, path);
	add_end(table, path);
	add_lines(table, path, full);
}

static void add_path(struct table *table, const struct hwprof_path *path,
		     bool full)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * path->share);
	table_add(table, "%s", shown_heat(path->heat));
	table_add(table, "%s", grouped(path->count, text));
	add_way(table, path, full);
	if (table->column_count > PATH_FIXED)
		add_process(table, path->procedure->pid, path->procedure->comm);
}

static void add_procedure(struct table *table,
			  const struct hwprof_procedure *procedure, bool full)
{
	char text[GROUPED_SIZE];

	table_add(table, "%.2f%%", 100 * procedure->share);
	table_add(table, "%s", shown_heat(procedure->heat));
	table_add(table, "%s", grouped(procedure->count, text));
	table_add(table, "%s", grouped(procedure->paths, text));
	table_add(table, "%s%s", procedure->unnumbered ? "-" :
				 grouped(procedure->possible, text),
		  procedure->seen ? " seen" : "");
	add_procedure_name(table, procedure, full);
	if (table->column_count > PROCEDURE_FIXED)
		add_process(table, procedure->pid, procedure->comm);
}

/* --- blocks --------------------------------------------------------------- */

static void print_source(const struct hwprof_block *block, bool full)
{
	if (block->file)
		printf("  %s:%u", shown_path(block->file, full), block->line);
	if (block->file && block->last_file &&
	    !strcmp(block->file, block->last_file) &&
	    block->line != block->last_line)
		printf("..%u", block->last_line);
}

/*
 * Prints how a block ends. The next line begins at the target of a taken jump.
 */
static void print_branch(const struct hwprof_block *block)
{
	if (block->undecoded) {
		printf("  (%s)", block->undecoded);
		return;
	}
	printf("  %" PRIu32 " instruction%s", block->instructions,
	       block->instructions == 1 ? "" : "s");
	if (block->branch)
		printf(", %s", clean(block->branch));
	if (block->conditional)
		printf(block->taken ? " taken" : " not taken");
	if (block->callee)
		printf(" %s", clean(block->callee));
}

static void print_block(const struct hwprof_block *block, bool full)
{
	printf("    0x%" PRIx64 "..0x%" PRIx64, block->first, block->last);
	if (block->function)
		printf("  %s+0x%" PRIx64, clean(block->function),
		       block->offset);
	print_source(block, full);
	print_branch(block);
	printf("\n");
}

static void print_heading(const struct report *report,
			  const struct hwprof_path *path)
{
	const struct hwprof_procedure *procedure = path->procedure;
	char text[GROUPED_SIZE];

	printf("\n%.2f%%  %s time%s  %s of %s, from %s to %s; ",
	       100 * path->share, grouped(path->count, text),
	       path->count == 1 ? "" : "s",
	       procedure->function ? clean(procedure->function) : "code",
	       shown_path(procedure->object, report->full_path),
	       path->called ? "its entry" : "a back edge",
	       path->returns ? "its return" : "a back edge");
	if (path->unnumbered)
		printf("no number: %s\n", path->unnumbered);
	else
		printf("number %" PRIu64 " of %s%s\n", path->number,
		       grouped(procedure->possible, text),
		       procedure->seen ? " over targets that were seen" : "");
}

static void print_blocks(const struct report *report,
			 const struct hwprof_profile *paths, size_t index)
{
	const struct hwprof_path *path = hwprof_paths_get(paths, index);
	struct hwprof_block block;
	uint32_t i;

	for (i = 0; i < path->blocks; i++) {
		hwprof_paths_block(paths, index, i, &block);
		print_block(&block, report->full_path);
	}
	if (path->spelled < path->length)
		printf("    ... and %" PRIu32 " jumps to 0x%" PRIx64 "\n",
		       path->length - path->spelled, path->end);
}

/* --- contexts ------------------------------------------------------------- */

/* Prints a chain as "main > parse > next_token". */
static void print_chain(const struct hwprof_context *context)
{
	char *chain = hwprof_context_chain(context), *rest = chain, *name;
	const char *between = "";

	while (chain && (name = strsep(&rest, ";"))) {
		printf("%s%s", between, clean(name));
		between = " > ";
	}
	printf(chain ? "\n" : "(out of memory)\n");
	free(chain);
}

static void print_part(uint64_t count, uint64_t all)
{
	char text[2][GROUPED_SIZE];

	printf("    %6.2f%%  %*s  ", all ? 100. * count / all : 0,
	       (int)strlen(grouped(all, text[0])), grouped(count, text[1]));
}

/* Prints the contexts that ran the path, and the share of unknown ones. */
static void print_contexts(const struct hwprof_profile *paths, size_t index)
{
	size_t count = hwprof_paths_contexts(paths, index), i;
	uint64_t all = hwprof_paths_get(paths, index)->count;
	uint64_t unknown = all, others = 0;
	struct hwprof_path_context of;

	for (i = 0; i < count; i++) {
		hwprof_paths_context(paths, index, i, &of);
		unknown -= of.count;
		if (i >= CONTEXTS_SHOWN) {
			others += of.count;
			continue;
		}
		print_part(of.count, all);
		print_chain(of.context);
	}
	if (count > CONTEXTS_SHOWN) {
		print_part(others, all);
		printf("in %zu more\n", count - CONTEXTS_SHOWN);
	}
	if (unknown) {
		print_part(unknown, all);
		printf("in contexts that are not known\n");
	}
}

static bool any_context(const struct hwprof_profile *paths)
{
	size_t i;

	for (i = 0; i < hwprof_paths_count(paths); i++)
		if (hwprof_paths_contexts(paths, i))
			return true;
	return false;
}

/* Prints the requested details of each path, below the table. */
static void print_each(const struct report *report,
		       const struct hwprof_profile *paths)
{
	size_t shown = shown_of(report, hwprof_paths_count(paths)), i;
	bool contexts = report->contexts && any_context(paths);

	if (report->contexts && !contexts)
		printf("\nin which contexts they ran is not known: record both in one event (-e paths,cct)\n");
	for (i = 0; (report->blocks || contexts) && i < shown; i++) {
		print_heading(report, hwprof_paths_get(paths, i));
		if (report->blocks)
			print_blocks(report, paths, i);
		if (contexts)
			print_contexts(paths, i);
	}
}

/* --- sums ----------------------------------------------------------------- */

static const char *basis_sentence(enum hwprof_basis basis)
{
	switch (basis) {
	case HWPROF_BASIS_EXACT:
		return "exact: every branch was seen";
	case HWPROF_BASIS_BRANCHES:
		return "windows of branches: counts are of paths that were seen whole";
	case HWPROF_BASIS_TIME:
		return "windows of CPU time: counts are of paths that were seen whole";
	}
	return "samples";
}

static void print_sums(const char *what, const struct hwprof_heat_sum *sums,
		       const char *metric)
{
	static const enum hwprof_heat order[] = {
		HWPROF_DENSE, HWPROF_SPARSE, HWPROF_HOT, HWPROF_COLD,
	};
	char text[GROUPED_SIZE];
	size_t i;

	for (i = 0; i < HWPROF_HEATS; i++) {
		const struct hwprof_heat_sum *sum = &sums[order[i]];

		if (!sum->number)
			continue;
		printf("%s %s %s%s: %.1f %% of %s", grouped(sum->number, text),
		       hwprof_heat_name(order[i]), what,
		       sum->number == 1 ? "" : "s", 100 * sum->share, metric);
		if (strcmp(metric, "branches"))
			printf(", %.1f %% of branches",
			       100 * sum->branch_share);
		if (!strcmp(what, "procedure"))
			printf(", %.1f paths each",
			       (double)sum->paths / sum->number);
		printf("\n");
	}
}

static void print_coverage(const struct hwprof_paths_summary *summary)
{
	const char *verb = strcmp(summary->metric, "time") ? "are" : "is";
	char text[GROUPED_SIZE];

	printf("\n");
	if (!summary->half)
		return;
	printf("50 %% of %s %s on %s path%s", summary->metric, verb,
	       grouped(summary->half, text), summary->half == 1 ? "" : "s");
	if (summary->most)
		printf(", 90 %% on %s", grouped(summary->most, text));
	printf("\n");
}

/* Prints the share of windows on paths that were not seen whole. */
static void print_unplaced(const struct hwprof_profile *paths)
{
	const struct hwprof_paths_summary *summary =
		hwprof_paths_summary(paths);
	uint64_t windows = hwprof_profile_totals(paths)->windows;
	char text[GROUPED_SIZE];

	if (summary->windows > 0)
		printf("%.1f %% of time, of %s windows, is on paths that were not seen whole\n",
		       100 * (1 - summary->windows / windows),
		       grouped(windows, text));
}

static void print_summary(const struct hwprof_profile *paths)
{
	const struct hwprof_paths_summary *summary =
		hwprof_paths_summary(paths);
	char text[2][GROUPED_SIZE];

	print_coverage(summary);
	print_sums("path", summary->paths, summary->metric);
	print_sums("procedure", summary->procedures, summary->metric);
	print_unplaced(paths);
	if (summary->unseen)
		printf("%s of %s paths are not in these: how they began was not seen, or has been forgotten\n",
		       grouped(summary->unseen, text[0]),
		       grouped(summary->unseen + summary->count, text[1]));
}

/* --- tables --------------------------------------------------------------- */

static int print_paths(const struct report *report,
		       const struct hwprof_profile *paths, bool processes)
{
	size_t count = hwprof_paths_count(paths);
	size_t shown = shown_of(report, count), i;
	struct table table = {
		.columns = path_columns,
		.column_count = PATH_FIXED + processes,
	};

	for (i = 0; i < shown; i++)
		add_path(&table, hwprof_paths_get(paths, i), report->full_path);
	return finish_table(&table, count - shown, "--limit");
}

static int print_procedures(const struct report *report,
			    const struct hwprof_profile *paths, bool processes)
{
	size_t count = hwprof_paths_procedures(paths);
	size_t shown = shown_of(report, count), i;
	struct table table = {
		.columns = procedure_columns,
		.column_count = PROCEDURE_FIXED + processes,
	};

	for (i = 0; i < shown; i++)
		add_procedure(&table, hwprof_paths_procedure(paths, i),
			      report->full_path);
	printf("\n");
	return finish_table(&table, count - shown, "--limit");
}

static bool any_process(const struct hwprof_profile *paths)
{
	size_t i;

	for (i = 0; i < hwprof_paths_procedures(paths); i++)
		if (hwprof_paths_procedure(paths, i)->pid)
			return true;
	return false;
}

/* Returns the weakest basis, which holds for the whole table. */
static enum hwprof_basis basis_of(const struct hwprof_profile *paths)
{
	enum hwprof_basis basis = HWPROF_BASIS_EXACT;
	size_t i;

	for (i = 0; i < hwprof_paths_count(paths); i++)
		if (hwprof_paths_get(paths, i)->basis > basis)
			basis = hwprof_paths_get(paths, i)->basis;
	return basis;
}

static int print_tables(const struct report *report,
			const struct hwprof_profile *paths)
{
	size_t count = hwprof_paths_count(paths);
	size_t procedures = hwprof_paths_procedures(paths);
	bool processes = any_process(paths);
	char text[2][GROUPED_SIZE];
	int status = STATUS_OK;

	print_files(report);
	if (!count) {
		printf("no path was seen whole\n");
		print_totals(paths, "paths");
		return STATUS_OK;
	}
	printf("%s path%s of %s procedure%s; %s\n\n",
	       grouped(count, text[0]), count == 1 ? "" : "s",
	       grouped(procedures, text[1]), procedures == 1 ? "" : "s",
	       basis_sentence(basis_of(paths)));
	status = print_paths(report, paths, processes);
	print_each(report, paths);
	if (status == STATUS_OK)
		status = print_procedures(report, paths, processes);
	if (status != STATUS_OK)
		return status;
	print_summary(paths);
	print_totals(paths, "paths");
	return STATUS_OK;
}

static const struct table_column changed_columns[] = {
	{ .title = "jumps", .right = true },
	{ .title = "object", .shrinks = true },
	{ .title = "procedure", .shrinks = true },
	{ .title = "from", .shrinks = true },
	{ .title = "to", .shrinks = true },
	{ .title = "source", .shrinks = true },
};

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_path *it = after_index == HWPROF_NOTHING ?
		hwprof_paths_get(before, before_index) :
		hwprof_paths_get(after, after_index);

	add_way(table, it, full);
}

static const struct table_column changed_procedure_columns[] = {
	{ .title = "object", .shrinks = true },
	{ .title = "procedure", .shrinks = true },
};

static void add_changed_procedure(struct table *table,
				  const struct hwprof_profile *before,
				  size_t before_index,
				  const struct hwprof_profile *after,
				  size_t after_index, bool full)
{
	const struct hwprof_procedure *it = after_index == HWPROF_NOTHING ?
		hwprof_paths_procedure(before, before_index) :
		hwprof_paths_procedure(after, after_index);

	add_procedure_name(table, it, full);
}

static const struct report_kind procedures = {
	.columns = changed_procedure_columns,
	.column_count = sizeof(changed_procedure_columns) /
			sizeof(changed_procedure_columns[0]),
	.add = add_changed_procedure,
};

const struct report_kind report_paths = {
	.kind = HWPROF_KIND_PATHS,
	.things = "paths",
	.options = REPORT_PATHS | REPORT_INSTRUCTIONS,
	.print = print_tables,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
	.procedures = &procedures,
};
