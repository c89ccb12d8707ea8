// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"

#define MIN_SHARE	0.01

enum {
	COLUMNS_COUNTS = 4,
	COLUMNS_FIXED = 7,
	COLUMNS_MAX = COLUMNS_FIXED + 2 * HWPROF_METRICS_MAX + 1,
	INDENT_MAX = 40,	/* characters; deeper nodes are not indented
				 * further */
};

static const struct table_column columns[] = {
	{ .title = "share", .right = true },
	{ .title = "branches", .right = true },
	{ .title = "own", .right = true },
	{ .title = "calls", .right = true },
	{ .title = "procedure" },
	{ .title = "called from", .shrinks = true },
	{ .title = "object", .shrinks = true },
	{ .title = "process" },
	{ .title = NULL },
};

/* Columns of sampled stacks, which have no calls. */
static const struct table_column sampled_columns[] = {
	{ .title = "share", .right = true },
	{ .title = "weight", .right = true },
	{ .title = "own", .right = true },
	{ .title = "samples", .right = true },
	{ .title = "procedure" },
	{ .title = "called from", .shrinks = true },
	{ .title = "object", .shrinks = true },
	{ .title = "process" },
	{ .title = NULL },
};

/* Renames two columns in an inverted tree. */
static void name_callers(struct table_column *all, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(all[i].title, "procedure"))
			all[i].title = "called by";
		else if (!strcmp(all[i].title, "called from"))
			all[i].title = "at";
}

/* Inserts columns of metrics behind the counts: with callees, and own. */
static size_t set_columns(struct table_column *all,
			  const struct table_column *some,
			  const struct hwprof_profile *contexts)
{
	size_t count = COLUMNS_COUNTS, i;
	const char *name;

	memcpy(all, some, COLUMNS_COUNTS * sizeof(*all));
	for (i = 0; (name = hwprof_contexts_metric(contexts, i)); i++) {
		all[count++] = (struct table_column){ name, .right = true };
		all[count++] = (struct table_column){ "own", .right = true };
	}
	for (i = COLUMNS_COUNTS; some[i].title; i++)
		all[count++] = some[i];
	return count;
}

static bool is_sampled(const struct hwprof_context *context)
{
	return context->basis > HWPROF_BASIS_EXACT;
}

/*
 * Returns true if the address stands for all code of its object, or of the
 * kernel.
 */
static bool is_all(uint64_t address)
{
	return !address || address == 1ULL << 63;
}

/* Writes the function, or the address if it has no name. */
static void place_text(char *text, size_t size, const char *function,
		       uint64_t offset, uint64_t address)
{
	if (function && offset)
		snprintf(text, size, "%s+0x%" PRIx64, function, offset);
	else if (function)
		snprintf(text, size, "%s", function);
	else if (is_all(address))
		snprintf(text, size, "(no symbols)");
	else
		snprintf(text, size, "0x%" PRIx64, address);
}

static void add_procedure(struct table *table,
			  const struct hwprof_context *context)
{
	unsigned int depth = context->depth;
	int indent = depth < INDENT_MAX ? depth : INDENT_MAX;
	char place[512];

	place_text(place, sizeof(place), context->function,
		   context->function_offset, context->address);
	switch (context->kind) {
	case HWPROF_CONTEXT_ROOT:
		table_add(table, "%*s[%s]", indent, "",
			  context->comm ? context->comm : "?");
		break;
	case HWPROF_CONTEXT_SIGNAL:
		table_add(table, "%*s%s (signal)", indent, "", place);
		break;
	case HWPROF_CONTEXT_RECURSION:
		table_add(table, "%*s%s (recursion)", indent, "", place);
		break;
	default:
		table_add(table, "%*s%s%s", indent, "", place,
			  context->deeper ? " (and deeper)" : "");
	}
}

static void add_site(struct table *table, const struct hwprof_context *context)
{
	char place[512];

	if (!context->site_object) {
		table_add(table, "%s", "");
		return;
	}
	place_text(place, sizeof(place), context->site_function,
		   context->site_offset, context->site);
	table_add(table, "%s", place);
}

/* Adds a count, which back edges do not have. */
static void add_count(struct table *table, bool node, uint64_t count)
{
	char text[GROUPED_SIZE];

	table_add(table, "%s", node ? grouped(count, text) : "");
}

static void add_metrics(struct table *table,
			const struct hwprof_profile *contexts,
			const struct hwprof_context *context, bool node)
{
	size_t i;

	for (i = 0; hwprof_contexts_metric(contexts, i); i++) {
		add_count(table, node, context->all_metrics[i]);
		add_count(table, node, context->metrics[i]);
	}
}

static void add_context(struct table *table,
			const struct hwprof_profile *contexts,
			const struct hwprof_context *context,
			const struct report *report, bool processes)
{
	bool node = context->kind != HWPROF_CONTEXT_RECURSION;
	bool sampled = is_sampled(context);
	char text[GROUPED_SIZE];

	if (node)
		table_add(table, "%.2f%%", 100 * context->share);
	else
		table_add(table, "%s", "");
	add_count(table, node, sampled ? context->all_weight :
					 context->all_branches);
	add_count(table, node, sampled ? context->weight : context->branches);
	if (sampled)
		add_count(table, node, context->samples);
	else
		table_add(table, "%s",
			  grouped(context->calls + context->deeper, text));
	add_metrics(table, contexts, context, node);
	add_procedure(table, context);
	add_site(table, context);
	table_add(table, "%s", context->object ?
			       shown_path(context->object, report->full_path) :
			       "");
	if (processes)
		add_process(table, context->pid, context->comm);
}

/*
 * Prints the number of functions that are roots, and how often they were
 * called.
 */
static void print_turned(const struct hwprof_profile *contexts)
{
	uint64_t calls = 0;
	size_t i, count = 0;
	char text[GROUPED_SIZE];

	for (i = 0; i < hwprof_contexts_count(contexts); i++) {
		const struct hwprof_context *context =
			hwprof_contexts_get(contexts, i);

		if (context->parent)
			continue;
		count++;
		calls += context->calls;
	}
	printf("\n%zu function%s", count, count == 1 ? "" : "s");
	if (calls)
		printf(", %s calls", grouped(calls, text));
	printf("; shares are of %s, with what %s called\n",
	       count == 1 ? "it" : "them", count == 1 ? "it" : "they");
}

static void print_statistics(const struct hwprof_context_statistics *statistics)
{
	char text[6][GROUPED_SIZE];

	printf("\n%s nodes of %s procedures, %s back edges, %s of one procedure at most\n",
	       grouped(statistics->nodes, text[0]),
	       grouped(statistics->procedures, text[1]),
	       grouped(statistics->back_edges, text[2]),
	       grouped(statistics->replication, text[3]));
	printf("height %.1f on average, %u at most; %.1f children of a node that has any\n",
	       statistics->height, statistics->height_max,
	       statistics->out_degree);
	if (statistics->call_sites)
		printf("%s call sites, %s of them with more than one callee\n",
		       grouped(statistics->call_sites, text[4]),
		       grouped(statistics->indirect_sites, text[5]));
}

static bool any_process(const struct hwprof_profile *contexts)
{
	size_t i;

	for (i = 0; i < hwprof_contexts_count(contexts); i++)
		if (hwprof_contexts_get(contexts, i)->pid)
			return true;
	return false;
}

/*
 * Returns true for a call inside code without symbols, which is one procedure
 * per object. Such a call is no recursion.
 */
static bool is_inside(const struct hwprof_context *context)
{
	return context->kind == HWPROF_CONTEXT_RECURSION &&
	       !context->function && is_all(context->address);
}

/* Adds contexts to the table. Returns how many were left out. */
static size_t add_contexts(struct table *table, const struct report *report,
			   const struct hwprof_profile *contexts,
			   bool processes)
{
	double least = report->min_share < 0 ? MIN_SHARE : report->min_share;
	size_t hidden = 0, i;

	for (i = 0; i < hwprof_contexts_count(contexts); i++) {
		const struct hwprof_context *context =
			hwprof_contexts_get(contexts, i);

		if (is_inside(context))
			continue;
		if (hwprof_context_is_shown(context, least))
			add_context(table, contexts, context, report,
				    processes);
		else
			hidden++;
	}
	return hidden;
}

static bool any_sampled(const struct hwprof_profile *contexts)
{
	size_t i;

	for (i = 0; i < hwprof_contexts_count(contexts); i++)
		if (is_sampled(hwprof_contexts_get(contexts, i)))
			return true;
	return false;
}

/* Returns how the tree's counts arose. */
static const char *knowledge(const struct hwprof_profile *contexts,
			     bool sampled)
{
	if (sampled)
		return "sampled: where the samples found the program, as far as their stacks tell";
	if (!hwprof_profile_totals(contexts)->rows)
		return "samples: calls are the samples' periods, of their callers one is known";
	return "exact: every call was seen";
}

/* Writes the event whose samples these are, if there is one. */
static const char *of_event(const struct hwprof_profile *contexts,
			    char text[128])
{
	const char *name = hwprof_profile_event(contexts);

	snprintf(text, 128, "%s%s", name ? " of " : "",
		 name ? clean(name) : "");
	return text;
}

static int print_table(const struct report *report,
		       const struct hwprof_profile *contexts)
{
	const struct hwprof_context_statistics *statistics =
		hwprof_contexts_statistics(contexts);
	bool sampled = any_sampled(contexts);
	bool processes = any_process(contexts);
	struct table_column all[COLUMNS_MAX];
	size_t count = set_columns(all, sampled ? sampled_columns : columns,
				   contexts);
	struct table table = {
		.columns = all, .column_count = count - !processes,
	};
	const char *units = sampled ? "of samples' weight" : "calls";
	char text[GROUPED_SIZE], event[128];
	size_t hidden;
	int status;

	if (report->callers)
		name_callers(all, count);
	print_files(report);
	if (!hwprof_contexts_count(contexts)) {
		if (report->callers) {
			printf("no call of it was seen\n");
			return STATUS_OK;
		}
		printf("no call was seen\n");
		print_totals(contexts, units);
		return STATUS_OK;
	}
	hidden = add_contexts(&table, report, contexts, processes);
	printf("%s %s%s; %s\n\n", grouped(statistics->nodes, text),
	       report->callers ? "contexts of callers" : "contexts",
	       of_event(contexts, event), knowledge(contexts, sampled));
	status = finish_table(&table, hidden, "--min-share");
	if (status)
		return status;
	if (report->callers)
		print_turned(contexts);
	else
		print_statistics(statistics);
	print_totals(contexts, units);
	return STATUS_OK;
}

static const struct table_column changed_columns[] = {
	{ .title = "object", .shrinks = true },
	{ .title = "called from", .shrinks = true },
	{ .title = "chain", .shrinks = true },
};

static void add_changed(struct table *table,
			const struct hwprof_profile *before,
			size_t before_index,
			const struct hwprof_profile *after,
			size_t after_index, bool full)
{
	const struct hwprof_context *it = after_index == HWPROF_NOTHING ?
		hwprof_contexts_get(before, before_index) :
		hwprof_contexts_get(after, after_index);
	char *chain = hwprof_context_chain(it);

	table_add(table, "%s", it->object ? shown_path(it->object, full) : "");
	add_site(table, it);
	table_add(table, "%s", chain ? chain : "?");
	free(chain);
}

const struct report_kind report_contexts = {
	.kind = HWPROF_KIND_CCT,
	.things = "contexts",
	.options = REPORT_TREE | REPORT_CHAINS,
	.print = print_table,
	.columns = changed_columns,
	.column_count = sizeof(changed_columns) / sizeof(changed_columns[0]),
	.add = add_changed,
};
