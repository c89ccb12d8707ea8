// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "base/hash.h"

/* --- nodes by what they are --------------------------------------------- */

static uint64_t hash_of(const struct context_node *node)
{
	bool root = node->context.kind == HWPROF_CONTEXT_ROOT;
	const char *comm = root ? node->context.comm : NULL;
	uint64_t hash = hash_mix(node->context.kind, node->parent);

	hash = hash_mix(hash, node->context.address);
	hash = hash_mix(hash, (uintptr_t)node->object);
	hash = hash_mix(hash, node->site);
	hash = hash_mix(hash, (uintptr_t)node->site_object);
	hash = hash_mix(hash, node->context.pid);
	hash = hash_mix(hash, node->file);
	while (comm && *comm)
		hash = hash_mix(hash, (unsigned char)*comm++);
	return hash;
}

/*
 * Roots differ by name. Other nodes get the name of the last process that ran
 * there.
 */
static bool same_root(const struct hwprof_context *x,
		      const struct hwprof_context *y)
{
	if (x->kind != HWPROF_CONTEXT_ROOT || !x->comm || !y->comm)
		return x->kind != HWPROF_CONTEXT_ROOT || x->comm == y->comm;
	return !strcmp(x->comm, y->comm);
}

static bool is_same(const struct context_node *a, const struct context_node *b)
{
	const struct hwprof_context *x = &a->context, *y = &b->context;

	return x->kind == y->kind && a->parent == b->parent &&
	       x->address == y->address && a->object == b->object &&
	       a->site == b->site && a->site_object == b->site_object &&
	       x->pid == y->pid && a->file == b->file && same_root(x, y);
}

static size_t *slot_of(const struct context_tree *tree,
		       const struct context_node *node)
{
	size_t slot = hash_of(node) & (tree->slot_count - 1);

	while (tree->slots[slot] &&
	       !is_same(&tree->nodes[tree->slots[slot] - 1], node))
		slot = (slot + 1) & (tree->slot_count - 1);
	return &tree->slots[slot];
}

static int make_room(struct context_tree *tree)
{
	size_t room = tree->room ? 2 * tree->room : 64, i;
	struct context_node *nodes;
	size_t *slots;

	nodes = reallocarray(tree->nodes, room, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	tree->nodes = nodes;
	slots = calloc(2 * room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(tree->slots);
	tree->slots = slots;
	tree->slot_count = 2 * room;
	tree->room = room;
	for (i = 0; i < tree->count; i++)
		*slot_of(tree, &nodes[i]) = i + 1;
	return 0;
}

size_t context_tree_get(struct context_tree *tree,
			const struct context_node *node)
{
	size_t *slot;

	if (tree->count == tree->room && make_room(tree))
		return SIZE_MAX;
	slot = slot_of(tree, node);
	if (!*slot) {
		tree->nodes[tree->count] = *node;
		tree->nodes[tree->count].target = SIZE_MAX;
		*slot = ++tree->count;
	}
	return *slot - 1;
}

void context_tree_free(struct context_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
}

/* --- order -------------------------------------------------------------- */

/* Children have higher numbers than their parent, so go backwards. */
void context_tree_sum(struct context_tree *tree)
{
	size_t i;

	for (i = tree->count; i--;) {
		struct context_node *node = &tree->nodes[i];
		struct hwprof_context *context = &node->context, *up;

		context->all_calls += context->calls + context->deeper;
		context->all_branches += context->branches;
		context->all_weight += context->weight;
		metrics_add(context->all_metrics, context->metrics);
		if (node->parent == SIZE_MAX)
			continue;
		up = &tree->nodes[node->parent].context;
		up->all_calls += context->all_calls;
		up->all_branches += context->all_branches;
		up->all_weight += context->all_weight;
		metrics_add(up->all_metrics, context->all_metrics);
	}
}

static void set_shares(struct context_tree *tree)
{
	uint64_t branches = 0, calls = 0, weight = 0;
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct context_node *node = &tree->nodes[i];

		if (node->parent != SIZE_MAX)
			continue;
		branches += node->context.all_branches;
		calls += node->context.all_calls;
		weight += node->context.all_weight;
	}
	for (i = 0; i < tree->count; i++) {
		struct context_node *node = &tree->nodes[i];
		struct hwprof_context *context = &node->context;

		if (branches)
			context->share = (double)context->all_branches /
					 branches;
		else if (weight)
			context->share = (double)context->all_weight / weight;
		else if (calls)
			context->share = (double)context->all_calls / calls;
		if (node->parent != SIZE_MAX)
			context->depth =
				tree->nodes[node->parent].context.depth + 1;
	}
}

static int compare_objects(const struct object *x, const struct object *y)
{
	if (x == y || !x || !y)
		return !!x - !!y;
	return strcmp(object_name(x), object_name(y));
}

/*
 * Compares siblings: the heaviest first, and by place if they weigh the same.
 */
static int compare_siblings(const void *a, const void *b)
{
	const struct context_node *x = *(void *const *)a,
				  *y = *(void *const *)b;
	int order = compare_u64(x->parent, y->parent);

	if (!order)
		order = compare_u64(y->context.all_branches,
					x->context.all_branches);
	if (!order)
		order = compare_u64(y->context.all_weight,
					x->context.all_weight);
	if (!order)
		order = compare_u64(y->context.all_calls,
					x->context.all_calls);
	if (!order)
		order = compare_u64(x->context.kind, y->context.kind);
	if (!order)
		order = compare_u64(x->context.address,
					y->context.address);
	if (!order)
		order = compare_u64(x->site, y->site);
	if (!order)
		order = compare_objects(x->object, y->object);
	return order ? order : compare_objects(x->site_object, y->site_object);
}

/*
 * Sets @first[number + 1] to the index in @sorted of that node's first child,
 * and @first[0] to that of the first root.
 */
static void find_families(const struct context_tree *tree,
			  struct context_node *const *sorted, size_t *first)
{
	size_t family, i = 0, parent;

	/*
	 * Roots, with parent SIZE_MAX, are last in @sorted and first in @first.
	 */
	for (family = 1; family <= tree->count; family++) {
		first[family] = i;
		while (i < tree->count &&
		       (parent = sorted[i]->parent) != SIZE_MAX &&
		       parent == family - 1)
			i++;
	}
	first[0] = i;
}

static void walk(const struct context_tree *tree,
		 struct context_node *const *sorted, size_t *next,
		 struct hwprof_context **order)
{
	size_t at = SIZE_MAX, count = 0;	/* node whose children follow */

	while (count < tree->count) {
		size_t i = next[at + 1];

		if (i == tree->count || sorted[i]->parent != at) {
			at = tree->nodes[at].parent;
			continue;
		}
		next[at + 1]++;
		order[count++] = &sorted[i]->context;
		at = sorted[i] - tree->nodes;
	}
}

int context_tree_order(struct context_tree *tree,
		       struct hwprof_context ***order)
{
	struct context_node **sorted;
	size_t *next, i;

	set_shares(tree);
	*order = calloc(tree->count + 1, sizeof(**order));
	sorted = calloc(tree->count + 1, sizeof(*sorted));
	next = calloc(tree->count + 1, sizeof(*next));
	if (*order && sorted && next) {
		for (i = 0; i < tree->count; i++)
			sorted[i] = &tree->nodes[i];
		qsort(sorted, tree->count, sizeof(*sorted), compare_siblings);
		find_families(tree, sorted, next);
		walk(tree, sorted, next, *order);
	}
	i = *order && sorted && next;
	free(sorted);
	free(next);
	return i ? 0 : -ENOMEM;
}

/* --- statistics --------------------------------------------------------- */

static bool is_node(const struct context_node *node)
{
	return node->context.kind != HWPROF_CONTEXT_RECURSION;
}

static int compare_procedures(const void *a, const void *b)
{
	const struct context_node *x = *(void *const *)a,
				  *y = *(void *const *)b;
	int order = compare_u64(!is_node(x), !is_node(y));

	if (!order)
		order = object_compare(x->object, y->object);
	if (!order)
		order = compare_u64(x->context.address,
					y->context.address);
	return order ? order : compare_u64(x->context.pid, y->context.pid);
}

static int compare_sites(const void *a, const void *b)
{
	const struct context_node *x = *(void *const *)a,
				  *y = *(void *const *)b;
	int order = compare_u64(x->parent, y->parent);

	if (!order)
		order = object_compare(x->site_object, y->site_object);
	return order ? order : compare_u64(x->site, y->site);
}

static void count_procedures(struct context_node **sorted, size_t count,
			     struct hwprof_context_statistics *statistics)
{
	uint64_t nodes = 0;
	size_t i;

	qsort(sorted, count, sizeof(*sorted), compare_procedures);
	for (i = 0; i < count && is_node(sorted[i]); i++) {
		if (!sorted[i]->object)
			continue;	/* a root without a procedure */
		if (!nodes || compare_procedures(&sorted[i - 1], &sorted[i])) {
			statistics->procedures++;
			nodes = 0;
		}
		nodes++;
		if (nodes > statistics->replication)
			statistics->replication = nodes;
	}
}

static void count_sites(struct context_node **sorted, size_t count,
			struct hwprof_context_statistics *statistics)
{
	size_t i, callees = 0;

	qsort(sorted, count, sizeof(*sorted), compare_sites);
	for (i = 0; i < count; i++) {
		if (!sorted[i]->site_object)
			continue;
		if (!i || compare_sites(&sorted[i - 1], &sorted[i]))
			callees = 0;
		callees++;
		statistics->call_sites += callees == 1;
		statistics->indirect_sites += callees == 2;
	}
}

static void count_shape(const struct context_tree *tree, size_t *children,
			struct hwprof_context_statistics *statistics)
{
	uint64_t sum = 0, called = 0;
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct context_node *node = &tree->nodes[i];

		if (!is_node(node)) {
			statistics->back_edges++;
			continue;
		}
		statistics->nodes++;
		if (node->parent == SIZE_MAX)
			continue;
		children[node->parent]++;
		called++;
	}
	for (i = 0; i < tree->count; i++) {
		unsigned int height = tree->nodes[i].context.depth + 1;

		if (!is_node(&tree->nodes[i]) || children[i])
			continue;
		statistics->leaves++;
		sum += height;
		if (height > statistics->height_max)
			statistics->height_max = height;
	}
	if (statistics->leaves)
		statistics->height = (double)sum / statistics->leaves;
	if (statistics->nodes > statistics->leaves)
		statistics->out_degree = (double)called /
			(statistics->nodes - statistics->leaves);
}

int context_tree_measure(const struct context_tree *tree,
			 struct hwprof_context_statistics *statistics)
{
	struct context_node **sorted = calloc(tree->count + 1, sizeof(*sorted));
	size_t *children = calloc(tree->count + 1, sizeof(*children));
	bool done = sorted && children;
	size_t i;

	if (done) {
		for (i = 0; i < tree->count; i++)
			sorted[i] = &tree->nodes[i];
		count_procedures(sorted, tree->count, statistics);
		count_sites(sorted, tree->count, statistics);
		count_shape(tree, children, statistics);
	}
	free(sorted);
	free(children);
	return done ? 0 : -ENOMEM;
}
