// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "contexts.h"

/* --- rows, summed ------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_context *x = a, *y = b;
	int order = compare_u64(x->session, y->session);

	if (!order)
		order = compare_u64(x->id, y->id);
	if (order || x->id)
		return order;
	/* Samples have no id. */
	order = compare_u64(x->pid, y->pid);
	if (!order)
		order = compare_u64(x->callee, y->callee);
	return order ? order : compare_u64(x->site, y->site);
}

static int add_row(struct hwprof_contexts *contexts, struct hwprof_file *file,
		   const struct collected_context *from)
{
	struct collected_context **found, *row;

	found = tfind(from, &contexts->rows, compare_rows);
	if (found) {
		row = *found;
		row->calls += from->calls;
		row->deeper += from->deeper;
		row->branches += from->branches;
		if (from->first < row->first)
			row->first = from->first;
		if (from->last > row->last)
			row->last = from->last;
		if (from->basis > row->basis)
			row->basis = from->basis;
		return 0;
	}
	row = malloc(sizeof(*row));
	if (!row)
		return file_fail(file, -ENOMEM, "out of memory");
	*row = *from;
	if (!tsearch(row, &contexts->rows, compare_rows)) {
		free(row);
		return file_fail(file, -ENOMEM, "out of memory");
	}
	contexts->row_count++;
	return 0;
}

static int add_context_row(struct hwprof_contexts *contexts,
			   struct hwprof_file *file,
			   const struct hwprof_sample *sample)
{
	const struct hwprof_row_context *row = (const void *)sample->row;
	struct collected_context context = {
		.session = row->row.session,
		.space = row->row.space,
		.pid = row->row.pid,
		.kind = row->kind,
		.basis = row->basis,
		.id = row->id,
		.parent = row->parent,
		.target = row->target,
		.callee = row->callee,
		.site = row->site,
		.calls = row->calls,
		.deeper = row->deeper,
		.branches = row->branches,
		.first = sample->time,
		.last = sample->time,
	};

	if (!row->id || row->kind < HWPROF_CONTEXT_ROOT ||
	    row->kind > HWPROF_CONTEXT_RECURSION)
		return file_damaged(file, sample->offset,
				    "a context has the id 0x%llx and is of kind %u",
				    row->id, row->kind);
	if (!context.basis || context.basis > HWPROF_BASIS_TIME)
		context.basis = HWPROF_BASIS_TIME;
	contexts->collected.rows++;
	return add_row(contexts, file, &context);
}

/* A call; or a row without its raw data, of which the caller is not known. */
static int add_sample(struct hwprof_contexts *contexts, struct hwprof_file *file,
		      const struct hwprof_sample *sample)
{
	const struct collected_context context = {
		.pid = sample->pid,
		.kind = HWPROF_CONTEXT_CALL,
		.callee = sample->ip,
		.site = sample->addr,
		.calls = sample->period,
		.first = sample->time,
		.last = sample->time,
	};

	contexts->collected.bare_rows += sample->rows;
	contexts->collected.samples++;
	return context.calls ? add_row(contexts, file, &context) : 0;
}

static int take(void *context, struct hwprof_file *file,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(context, file, sample);
	if (sample->row->type == HWPROF_ROW_CONTEXT)
		return add_context_row(context, file, sample);
	return 0;
}

/* --- rows in their places ----------------------------------------------- */

static struct collected_context *find_row(const struct hwprof_contexts *contexts,
					  uint32_t session, uint64_t id)
{
	const struct collected_context key = { .session = session, .id = id };
	struct collected_context **found;

	found = id ? tfind(&key, &contexts->rows, compare_rows) : NULL;
	return found ? *found : NULL;
}

static int set_place(struct hwprof_contexts *contexts,
		     const struct hwprof_file *file,
		     const struct collected_context *row, uint64_t address,
		     struct place *place)
{
	return place_find(place, contexts->objects,
			  contexts->collected.processes, file, row->pid,
			  row->first, row->last, address);
}

/* Who runs: the root of all that its process does. */
static void set_root(struct hwprof_contexts *contexts,
		     const struct collected_context *row,
		     struct context_node *node)
{
	*node = (struct context_node) {
		.context = {
			.kind = HWPROF_CONTEXT_ROOT,
			.comm = processes_comm(contexts->collected.processes,
					       row->pid, row->last),
		},
		.parent = SIZE_MAX,
	};
	if (contexts->flags & HWPROF_PER_PROCESS)
		node->context.pid = row->pid;
}

/* What the row is in the tree, whose node @parent its caller is. */
static int describe(struct hwprof_contexts *contexts,
		    const struct hwprof_file *file,
		    const struct collected_context *row, size_t parent,
		    struct context_node *node)
{
	struct place place;

	if (row->kind == HWPROF_CONTEXT_ROOT) {
		set_root(contexts, row, node);
		return 0;
	}
	if (set_place(contexts, file, row, row->callee, &place))
		return -ENOMEM;
	*node = (struct context_node) {
		.context.kind = row->kind,
		.context.address = place.address,
		.context.pid = contexts->flags & HWPROF_PER_PROCESS ?
			       row->pid : place.pid,
		.object = place.object,
		.parent = parent,
	};
	if (!row->site || contexts->flags & HWPROF_MERGE_SITES)
		return 0;
	if (set_place(contexts, file, row, row->site, &place))
		return -ENOMEM;
	node->site_object = place.object;
	node->site = place.address;
	return 0;
}

static size_t root_of(struct hwprof_contexts *contexts,
		      const struct collected_context *row)
{
	struct context_node root;

	set_root(contexts, row, &root);
	return context_tree_get(&contexts->tree, &root);
}

static int place_row(struct hwprof_contexts *contexts,
		     const struct hwprof_file *file,
		     struct collected_context *row)
{
	bool called = row->kind == HWPROF_CONTEXT_CALL ||
		      row->kind == HWPROF_CONTEXT_RECURSION;
	struct context_node wanted, *node;
	size_t parent = SIZE_MAX;

	if (called && row->up && row->up->node) {
		parent = row->up->node - 1;
	} else if (called) {
		parent = root_of(contexts, row);
		if (parent == SIZE_MAX)
			return -ENOMEM;
		if (row->id)
			contexts->orphans += row->calls;
	}
	if (describe(contexts, file, row, parent, &wanted))
		return -ENOMEM;
	row->node = context_tree_get(&contexts->tree, &wanted) + 1;
	if (!row->node)
		return -ENOMEM;
	node = &contexts->tree.nodes[row->node - 1];
	node->context.calls += row->calls;
	node->context.deeper += row->deeper;
	node->context.branches += row->branches;
	if (row->basis > node->context.basis)
		node->context.basis = row->basis;
	if (row->last > node->last)
		node->last = row->last;
	return 0;
}

struct placing {
	struct hwprof_contexts *contexts;
	struct collected_context **rows;
	size_t count;
};

static void list_row(const void *node, VISIT visit, void *context)
{
	struct collected_context *row = *(void *const *)node;
	struct placing *placing = context;

	if (visit != postorder && visit != leaf)
		return;
	/* Samples beside rows say nothing more. */
	if (row->id || !placing->contexts->collected.rows)
		placing->rows[placing->count++] = row;
}

/*
 * Those who called come first. A file may say that a context is its own caller:
 * then nobody is.
 */
static int place_chain(struct hwprof_contexts *contexts,
		       struct hwprof_file *file,
		       struct collected_context *row,
		       struct collected_context **chain)
{
	size_t count = 0;

	for (; row && !row->node; row = row->up) {
		if (count > contexts->row_count)
			return file_fail(file, -EBADMSG,
					 "is damaged: a context is called by itself");
		chain[count++] = row;
	}
	while (count)
		if (place_row(contexts, file, chain[--count]))
			return file_fail(file, -ENOMEM,
					 "out of memory");
	return 0;
}

static void link_rows(struct placing *placing)
{
	size_t i;

	for (i = 0; i < placing->count; i++) {
		struct collected_context *row = placing->rows[i];

		row->up = find_row(placing->contexts, row->session,
				   row->parent);
		/* It was a back edge where not all of the chain was known. */
		if (row->up && row->up->kind == HWPROF_CONTEXT_RECURSION)
			row->up = find_row(placing->contexts, row->session,
					   row->up->target);
	}
}

static void set_targets(struct placing *placing)
{
	struct hwprof_contexts *contexts = placing->contexts;
	size_t i;

	for (i = 0; i < placing->count; i++) {
		const struct collected_context *row = placing->rows[i], *to;

		to = find_row(contexts, row->session, row->target);
		if (row->kind == HWPROF_CONTEXT_RECURSION && to)
			contexts->tree.nodes[row->node - 1].target =
				to->node - 1;
	}
}

static int place_all(struct hwprof_contexts *contexts, struct hwprof_file *file)
{
	struct placing placing = { .contexts = contexts };
	struct collected_context **chain;
	int error = 0;
	size_t i;

	placing.rows = calloc(contexts->row_count + 1, sizeof(*placing.rows));
	chain = calloc(contexts->row_count + 1, sizeof(*chain));
	if (!placing.rows || !chain) {
		error = file_fail(file, -ENOMEM, "out of memory");
		goto out;
	}
	twalk_r(contexts->rows, list_row, &placing);
	link_rows(&placing);
	for (i = 0; i < placing.count && !error; i++)
		error = place_chain(contexts, file, placing.rows[i], chain);
	if (!error)
		set_targets(&placing);
out:
	free(placing.rows);
	free(chain);
	return error;
}

/* --- as the user sees them ---------------------------------------------- */

static void name(struct hwprof_contexts *contexts, struct context_node *node)
{
	struct hwprof_context *context = &node->context;

	if (node->parent != SIZE_MAX)
		context->parent = &contexts->tree.nodes[node->parent].context;
	if (node->target != SIZE_MAX)
		context->target = &contexts->tree.nodes[node->target].context;
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
	if (context->pid && !context->comm)
		context->comm = processes_comm(contexts->collected.processes,
					       context->pid, node->last);
}

/* --- all of it ---------------------------------------------------------- */

static int compare_objects(const void *a, const void *b)
{
	return compare_u64((uintptr_t)*(void *const *)a,
			   (uintptr_t)*(void *const *)b);
}

/* Each object's once, however many contexts are in it. */
static int warn_of_objects(struct hwprof_contexts *contexts)
{
	size_t count = contexts->tree.count, i;
	struct object **all = calloc(count + 1, sizeof(*all));
	int error = 0;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		all[i] = contexts->tree.nodes[i].object;
	qsort(all, count, sizeof(*all), compare_objects);
	for (i = 0; i < count; i++)
		if (all[i] && (!i || all[i] != all[i - 1]) &&
		    object_warning(all[i]))
			error |= warnings_add(&contexts->warnings, "%s",
					      object_warning(all[i]));
	free(all);
	return error;
}

static int warn(struct hwprof_contexts *contexts)
{
	const struct hwprof_totals *totals = &contexts->totals;
	struct warnings *warnings = &contexts->warnings;
	uint64_t found = 0;
	int error = 0;
	size_t i;

	for (i = 0; i < contexts->tree.count; i++)
		found += contexts->tree.nodes[i].context.calls +
			 contexts->tree.nodes[i].context.deeper;
	if (contexts->collected.bare_rows)
		error |= warnings_add(warnings, "%" PRIu64 " rows have no raw data: of their contexts only the last call is known; record with 'perf record -R'",
				      contexts->collected.bare_rows);
	else if (totals->samples && totals->rows)
		error |= warnings_add(warnings, "the file has rows and %" PRIu64 " samples of calls: the samples are left out",
				      totals->samples);
	if (contexts->orphans)
		error |= warnings_add(warnings, "%" PRIu64 " calls are of contexts whose callers are not in the file: they are shown below what ran",
				      contexts->orphans);
	error |= collected_warn(&contexts->collected, totals, found, "calls",
				warnings);
	return error | warn_of_objects(contexts);
}

static int make(struct hwprof_contexts *contexts, struct hwprof_file *file)
{
	size_t i;
	int error;

	contexts->objects = objects_new(contexts->flags & HWPROF_NO_OBJECTS);
	if (!contexts->objects)
		return file_fail(file, -ENOMEM, "out of memory");
	error = collect_samples(&contexts->collected, file, "cct", take,
				contexts);
	if (!error) {
		collected_totals(&contexts->collected, file,
				 &contexts->totals);
		error = place_all(contexts, file);
	}
	if (error)
		return error;
	for (i = 0; i < contexts->tree.count; i++)
		name(contexts, &contexts->tree.nodes[i]);
	if (context_tree_order(&contexts->tree, &contexts->order) ||
	    context_tree_measure(&contexts->tree, &contexts->statistics) ||
	    warn(contexts))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

int hwprof_contexts_read(struct hwprof_contexts **result,
			 struct hwprof_file *file, unsigned int flags)
{
	struct hwprof_contexts *contexts = calloc(1, sizeof(*contexts));
	int error;

	*result = NULL;
	if (!contexts)
		return file_fail(file, -ENOMEM, "out of memory");
	contexts->flags = flags;
	error = make(contexts, file);
	if (error) {
		hwprof_contexts_free(contexts);
		return error;
	}
	*result = contexts;
	return 0;
}

void hwprof_contexts_free(struct hwprof_contexts *contexts)
{
	if (!contexts)
		return;
	context_tree_free(&contexts->tree);
	free(contexts->order);
	tdestroy(contexts->rows, free);
	warnings_free(&contexts->warnings);
	collected_free(&contexts->collected);
	objects_free(contexts->objects);
	free(contexts);
}

size_t hwprof_contexts_count(const struct hwprof_contexts *contexts)
{
	return contexts->tree.count;
}

const struct hwprof_context *
hwprof_contexts_get(const struct hwprof_contexts *contexts, size_t index)
{
	return contexts->order[index];
}

bool hwprof_context_is_shown(const struct hwprof_context *context, double least)
{
	if (context->kind == HWPROF_CONTEXT_RECURSION && context->parent)
		context = context->parent;
	return context->share >= least;
}

const struct hwprof_context_statistics *
hwprof_contexts_statistics(const struct hwprof_contexts *contexts)
{
	return &contexts->statistics;
}

const struct hwprof_totals *
hwprof_contexts_totals(const struct hwprof_contexts *contexts)
{
	return &contexts->totals;
}

const char *hwprof_contexts_warning(const struct hwprof_contexts *contexts,
				    size_t index)
{
	return warnings_get(&contexts->warnings, index);
}
