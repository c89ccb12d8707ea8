// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context_rows.h"
#include "contexts.h"
#include "location.h"

/* --- rows, summed ------------------------------------------------------- */

static int add_row(struct hwprof_profile *profile,
		   const struct collected_context *from)
{
	struct context_rows *rows = profile->rows;
	struct collected_context *to;
	bool is_new;

	to = context_rows_get(&rows, from, &is_new);
	profile->rows = rows;
	if (!to)
		return -ENOMEM;
	if (is_new)
		return 0;
	row_origin_add(&to->origin, &from->origin);
	to->calls += from->calls;
	to->deeper += from->deeper;
	to->branches += from->branches;
	metrics_add(to->metrics, from->metrics);
	return 0;
}

static struct collected_context
context_of_row(const struct hwprof_row_context *row, uint64_t time)
{
	return (struct collected_context){
		.origin = row_origin_of(&row->row, row->basis, time),
		.kind = row->kind,
		.id = row->id,
		.parent = row->parent,
		.target = row->target,
		.callee = row->callee,
		.site = row->site,
		.calls = row->calls,
		.deeper = row->deeper,
		.branches = row->branches,
	};
}

int contexts_add_row(struct hwprof_profile *profile,
		     const struct hwprof_row_context *row, uint64_t time)
{
	const struct collected_context context = context_of_row(row, time);

	profile->facts.rows++;
	return add_row(profile, &context);
}

/*
 * Adds the row's metrics, except those without room for a name. Returns 0 or
 * -ENOMEM.
 */
static int take_metrics(struct hwprof_profile *profile,
			const struct hwprof_row_context *row,
			struct collected_context *context)
{
	uint32_t i;

	for (i = 0; i < row->metric_count; i++) {
		int place = metrics_get(&profile->facts.metrics,
					metric_of_row(profile->file, i));

		if (place == -ENOMEM)
			return place;
		if (place >= 0)
			context->metrics[place] += row->metrics[i];
	}
	return 0;
}

/* Samples have weights already, which differ where distances did. */
static int note_samples(struct hwprof_profile *profile,
			const struct hwprof_row_context *row, uint64_t time)
{
	struct row_origin origin = row_origin_of(&row->row, row->basis, time);

	if (row->basis == HWPROF_BASIS_EXACT)
		return 0;
	facts_date(&profile->facts, &origin, time);
	return stretches_sampled(profile->facts.stretches, origin.stretch,
				 row->weight + row->deeper, row->samples);
}

static int add_context_row(struct hwprof_profile *profile,
			   const struct hwprof_sample *sample)
{
	const struct hwprof_row_context *row = (const void *)sample->row;
	struct collected_context context = context_of_row(row, sample->time);

	if (!row->id || row->kind < HWPROF_CONTEXT_ROOT ||
	    row->kind > HWPROF_CONTEXT_RECURSION)
		return file_damaged(
			profile->file, sample->offset,
			"a context has the id 0x%llx and is of kind %u",
			row->id, row->kind);
	profile->facts.rows++;
	return note_samples(profile, row, sample->time) ?:
	       take_metrics(profile, row, &context) ?:
	       add_row(profile, &context);
}

/*
 * Adds a sample, which is a call, or a row without its raw data. Its caller is
 * unknown.
 */
static int add_sample(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample)
{
	const struct collected_context context = {
		.origin = row_origin_of_sample(sample),
		.kind = HWPROF_CONTEXT_CALL,
		.callee = sample->ip,
		.site = sample->addr,
		.calls = sample->period,
	};

	profile->facts.bare_rows += sample->rows;
	profile->facts.samples++;
	return context.calls ? add_row(profile, &context) : 0;
}

static int take(struct hwprof_profile *profile,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(profile, sample);
	if (sample->row->type == HWPROF_ROW_CONTEXT)
		return add_context_row(profile, sample);
	return 0;
}

/* --- rows in their places ----------------------------------------------- */

static struct collected_context *find_row(const struct hwprof_profile *profile,
					  uint32_t session, uint64_t id)
{
	return context_rows_find(profile->rows, session, id);
}

/* Describes the root of a process: everything that it runs is below it. */
static void set_root(const struct hwprof_profile *profile,
		     const struct collected_context *row,
		     struct context_node *node)
{
	const struct row_origin *origin = &row->origin;

	*node = (struct context_node){
		.context.kind = HWPROF_CONTEXT_ROOT,
		.context.comm =
			profile_comm(profile, origin->pid, origin->last),
		.parent = SIZE_MAX,
	};
	if (profile->flags & HWPROF_PER_PROCESS) {
		node->context.pid = origin->pid & ~PROCESS_GUEST;
		node->file = profile->file_count + 1;
	}
}

/* Returns true for a node of a sampled call stack. */
static bool is_sampled(const struct collected_context *row)
{
	return row->id && row->origin.basis > HWPROF_BASIS_EXACT;
}

/* Returns true where nothing is known to be mapped. */
static bool is_unknown(const struct object *object)
{
	return object && !strcmp(object_name(object), "[unknown]");
}

/*
 * Describes the row as a node of the tree, below the node @parent of its
 * caller.
 */
static int describe(const struct hwprof_profile *profile,
		    const struct collected_context *row, size_t parent,
		    struct context_node *node)
{
	struct location location;

	if (row->kind == HWPROF_CONTEXT_ROOT) {
		set_root(profile, row, node);
		return 0;
	}
	if (location_find(&location, profile, &row->origin, row->callee))
		return -ENOMEM;
	/*
	 * A sample's callee is any address of the procedure. Addresses about
	 * which the file knows nothing are one procedure.
	 */
	if (is_sampled(row) && row->origin.pid & PROCESS_GUEST)
		location.address = 0;
	if (is_sampled(row) &&
	    (object_is_file(location.object) ||
	     object_has_names(location.object)) &&
	    !object_procedure(location.object, location.address,
			      &location.address))
		location.address = 0;
	*node = (struct context_node) {
		.context.kind = row->kind,
		.context.address = location.address,
		.context.pid = location.pid,
		.file = location.file,
		.object = location.object,
		.parent = parent,
	};
	if (!row->site || profile->flags & HWPROF_MERGE_SITES)
		return 0;
	if (location_find(&location, profile, &row->origin, row->site))
		return -ENOMEM;
	node->site_object = location.object;
	node->site = location.address;
	return 0;
}

static size_t root_of(struct hwprof_contexts *contexts,
		      const struct collected_context *row)
{
	struct context_node root;

	set_root(&contexts->profile, row, &root);
	return context_tree_get(&contexts->tree, &root);
}

/*
 * Adds metrics at their index in the profile of all files; see place_metrics().
 */
static void add_metrics(const struct hwprof_contexts *contexts,
			struct hwprof_context *context,
			const struct collected_context *row)
{
	size_t i;

	for (i = 0; i < contexts->profile.facts.metrics.count; i++)
		if (contexts->places[i] >= 0)
			context->metrics[contexts->places[i]] +=
				row->metrics[i];
}

static void add_to_node(const struct hwprof_contexts *contexts,
			struct context_node *node,
			const struct collected_context *row)
{
	const struct hwprof_profile *profile = &contexts->profile;
	struct hwprof_context *context = &node->context;
	const struct row_origin *origin = &row->origin;

	if (origin->basis > HWPROF_BASIS_EXACT) {
		context->weight += row->calls + row->deeper;
		context->samples += row->branches;
	} else {
		context->calls += row->calls;
		context->deeper += row->deeper;
		context->branches += row->branches;
	}
	add_metrics(contexts, context, row);
	if (origin->basis > context->basis)
		context->basis = origin->basis;
	if (origin->last < node->last)
		return;
	node->last = origin->last;
	/* A root is identified by its name, which must not change. */
	if (context->kind != HWPROF_CONTEXT_ROOT)
		context->comm = profile_comm(profile, context->pid, node->last);
}

/*
 * Returns the node of @called's procedure if it is on the chain already; else
 * SIZE_MAX. The kernel does not know all procedures, and may have made a second
 * node for one.
 */
static size_t find_on_chain(const struct hwprof_contexts *contexts,
			    const struct context_node *called)
{
	size_t at = called->parent;

	for (; at != SIZE_MAX; at = contexts->tree.nodes[at].parent) {
		const struct context_node *node = &contexts->tree.nodes[at];

		if (node->context.kind == HWPROF_CONTEXT_CALL &&
		    node->context.address == called->context.address &&
		    node->object == called->object &&
		    node->context.pid == called->context.pid &&
		    node->file == called->file)
			return at;
	}
	return SIZE_MAX;
}

/*
 * Returns the number of the node that the row's counts belong to; SIZE_MAX if
 * out of memory.
 */
static size_t get_node(struct hwprof_contexts *contexts,
		       const struct collected_context *row,
		       struct context_node *wanted)
{
	size_t ancestor = SIZE_MAX, node;

	if (is_sampled(row) && row->kind == HWPROF_CONTEXT_CALL)
		ancestor = find_on_chain(contexts, wanted);
	if (ancestor != SIZE_MAX)
		wanted->context.kind = HWPROF_CONTEXT_RECURSION;
	node = context_tree_get(&contexts->tree, wanted);
	if (ancestor == SIZE_MAX || node == SIZE_MAX)
		return node;
	contexts->tree.nodes[node].context.basis = row->origin.basis;
	contexts->tree.nodes[node].target = ancestor;
	return ancestor;
}

static int place_row(struct hwprof_contexts *contexts,
		     struct collected_context *row)
{
	bool called = row->kind == HWPROF_CONTEXT_CALL ||
		      row->kind == HWPROF_CONTEXT_RECURSION;
	bool cut = row->up && row->up->nowhere;
	struct context_node wanted;
	size_t parent = SIZE_MAX;

	if (called && !cut && row->up && row->up->node) {
		parent = row->up->node - 1;
	} else if (called) {
		parent = root_of(contexts, row);
		if (parent == SIZE_MAX)
			return -ENOMEM;
		if (row->id && !cut)
			contexts->orphans += row->calls;
	}
	if (describe(&contexts->profile, row, parent, &wanted))
		return -ENOMEM;
	/*
	 * Nobody called from there: unwinding followed a wrong frame pointer.
	 */
	row->nowhere = is_sampled(row) && called && is_unknown(wanted.object);
	if (row->nowhere && !row->calls && !row->deeper)
		return 0;
	if (cut) {
		wanted.site_object = NULL;
		wanted.site = 0;
	}
	row->node = get_node(contexts, row, &wanted) + 1;
	if (!row->node)
		return -ENOMEM;
	add_to_node(contexts, &contexts->tree.nodes[row->node - 1], row);
	contexts->profile.found += row->calls + row->deeper;
	return 0;
}

/*
 * Places a row after its callers. In a damaged file a context may be its own
 * caller. @chain has @room entries.
 */
static int place_chain(struct hwprof_contexts *contexts,
		       struct collected_context *row,
		       struct collected_context **chain, size_t room)
{
	size_t count = 0;
	int error = 0;

	for (; row && !row->node; row = row->up) {
		if (count == room)
			return file_fail(
				contexts->profile.file, -EBADMSG,
				"is damaged: a context is called by itself");
		chain[count++] = row;
	}
	while (count && !error)
		error = place_row(contexts, chain[--count]);
	return error;
}

static void link_rows(const struct hwprof_profile *profile,
		      struct collected_context **rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct collected_context *row = rows[i];
		uint32_t session = row->origin.session;

		row->node = 0;
		row->up = find_row(profile, session, row->parent);
		/* The kernel made a back edge, not knowing the whole chain. */
		if (row->up && row->up->kind == HWPROF_CONTEXT_RECURSION)
			row->up = find_row(profile, session, row->up->target);
	}
}

static void set_targets(struct hwprof_contexts *contexts,
			struct collected_context **rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct collected_context *row = rows[i], *to;

		if (row->kind != HWPROF_CONTEXT_RECURSION || !row->node)
			continue;
		to = find_row(&contexts->profile, row->origin.session,
			      row->target);
		if (to && to->node)
			contexts->tree.nodes[row->node - 1].target =
				to->node - 1;
	}
}

size_t contexts_node(const struct hwprof_profile *profile, uint32_t session,
		     uint64_t id)
{
	const struct collected_context *row = find_row(profile, session, id);

	/* After a recursive call the ancestor runs. */
	if (row && row->kind == HWPROF_CONTEXT_RECURSION)
		row = find_row(profile, session, row->target);
	return row && row->node ? row->node - 1 : SIZE_MAX;
}

/*
 * Finds the index of each of the file's metrics among those of all files.
 * Returns 0 or -ENOMEM.
 */
static int place_metrics(struct hwprof_contexts *contexts)
{
	const struct metrics *metrics = &contexts->profile.facts.metrics;
	size_t i;

	contexts->metrics.crowded |= metrics->crowded;
	for (i = 0; i < metrics->count; i++) {
		contexts->places[i] = metrics_get(&contexts->metrics,
						  metrics->names[i]);
		if (contexts->places[i] == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static void **list(const struct hwprof_profile *profile, size_t *count)
{
	return context_rows_list(profile->rows, count);
}

static void free_rows(void *rows)
{
	context_rows_free(rows);
}

static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_contexts *contexts = (struct hwprof_contexts *)profile;
	struct collected_context **all = (struct collected_context **)rows;
	struct collected_context **chain = calloc(count + 1, sizeof(*chain));
	int error = chain ? 0 : -ENOMEM;
	size_t i;

	if (chain) {
		link_rows(profile, all, count);
		error = place_metrics(contexts);
	}
	for (i = 0; i < count && !error; i++)
		error = place_chain(contexts, all[i], chain, count);
	if (!error)
		set_targets(contexts, all, count);
	free(chain);
	return error;
}

/* --- as the user sees them ---------------------------------------------- */

static void name(struct context_tree *tree, struct context_node *node)
{
	struct hwprof_context *context = &node->context;

	if (node->parent != SIZE_MAX)
		context->parent = &tree->nodes[node->parent].context;
	if (node->target != SIZE_MAX)
		context->target = &tree->nodes[node->target].context;
	if (node->object) {
		context->object = object_name(node->object);
		context->build_id = object_build_id(node->object);
		context->function = object_symbol(node->object,
						  context->address,
						  &context->function_offset);
	}
	if (node->site_object) {
		context->site_object = object_name(node->site_object);
		context->site = node->site;
		context->site_function = object_symbol(node->site_object,
						       node->site,
						       &context->site_offset);
	}
}

/* --- all of it ---------------------------------------------------------- */

static int warn(struct hwprof_profile *profile,
		const struct hwprof_totals *totals)
{
	struct hwprof_contexts *contexts = (struct hwprof_contexts *)profile;
	struct warnings *warnings = &profile->warnings;
	uint64_t orphans = contexts->orphans;
	int error = 0;

	contexts->orphans = 0;
	if (contexts->metrics.crowded)
		error |=
			warnings_add(warnings,
				     "more than %d metrics of different names: others than the first ones are left out",
				     HWPROF_METRICS_MAX);
	contexts->metrics.crowded = false;
	if (totals->unmeasured)
		error |= warnings_add(
			warnings,
			"%" PRIu64
			" samples have no metrics: a counter of their group was not there, or did not count",
			totals->unmeasured);
	if (orphans)
		error |= warnings_add(
			warnings,
			"%" PRIu64
			" calls are of contexts whose callers are not in the file: they are shown below what ran",
			orphans);
	return error;
}

static void name_all(struct context_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		name(tree, &tree->nodes[i]);
}

/* Replaces the tree by its inversion. */
static int turn(struct hwprof_contexts *contexts)
{
	struct context_tree turned = { .nodes = NULL };
	int error = context_tree_turn(&contexts->tree, &contexts->profile,
				      &turned);

	context_tree_free(&contexts->tree);
	contexts->tree = turned;
	name_all(&contexts->tree);
	return error;
}

/*
 * Returns how many samples of equal weights would be as sure as those in the
 * tree. With samples n of weight w in each stretch, it is the square of their
 * sum by the sum of w² n.
 */
static double equal_samples(const struct hwprof_contexts *contexts)
{
	const struct hwprof_profile *profile = &contexts->profile;
	double samples = 0, weight = 0;
	size_t i;

	for (i = 0; i < contexts->tree.count; i++) {
		samples += contexts->tree.nodes[i].context.samples;
		weight += contexts->tree.nodes[i].context.weight;
	}
	return profile->distances.sessions && profile->spread > 0 ?
	       fmin(samples, weight * weight / profile->spread) : samples;
}

static int finish(struct hwprof_profile *profile)
{
	struct hwprof_contexts *contexts = (struct hwprof_contexts *)profile;

	name_all(&contexts->tree);
	context_tree_sum(&contexts->tree);
	if (!profile->function)
		contexts->samples = equal_samples(contexts);
	if (profile->function && turn(contexts))
		return -ENOMEM;
	if (context_tree_order(&contexts->tree, &contexts->order))
		return -ENOMEM;
	return context_tree_measure(&contexts->tree, &contexts->statistics);
}

static void destroy(struct hwprof_profile *profile)
{
	struct hwprof_contexts *contexts = (struct hwprof_contexts *)profile;

	context_tree_free(&contexts->tree);
	metrics_free(&contexts->metrics);
	free(contexts->order);
}

const struct profile_kind contexts_kind = {
	.size = sizeof(struct hwprof_contexts),
	.kind = HWPROF_KIND_CCT,
	.about = "cct",
	.units = "calls",
	.things = "calls",
	.lacking = "of their contexts only the last call is known",
	.take = take,
	.list = list,
	.free_rows = free_rows,
	.place = place_all,
	.finish = finish,
	.count = hwprof_contexts_count,
	.destroy = destroy,
	.warn = warn,
};

size_t hwprof_contexts_count(const struct hwprof_profile *profile)
{
	const struct hwprof_contexts *contexts = (const void *)profile;

	return profile->kind == &contexts_kind ? contexts->tree.count : 0;
}

bool hwprof_contexts_turned(const struct hwprof_profile *profile)
{
	return profile->kind == &contexts_kind && profile->function;
}

const struct hwprof_context *
hwprof_contexts_get(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_contexts *contexts = (const void *)profile;

	return contexts->order[index];
}

bool hwprof_context_is_shown(const struct hwprof_context *context, double least)
{
	if (context->kind == HWPROF_CONTEXT_RECURSION && context->parent)
		context = context->parent;
	return context->share >= least;
}

const struct hwprof_context_statistics *
hwprof_contexts_statistics(const struct hwprof_profile *profile)
{
	const struct hwprof_contexts *contexts = (const void *)profile;

	return &contexts->statistics;
}

const char *hwprof_contexts_metric(const struct hwprof_profile *profile,
				   size_t index)
{
	const struct hwprof_contexts *contexts = (const void *)profile;

	return profile->kind == &contexts_kind &&
	       index < contexts->metrics.count ?
	       contexts->metrics.names[index] : NULL;
}
