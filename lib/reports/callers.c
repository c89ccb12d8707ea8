// SPDX-License-Identifier: LGPL-2.1-or-later
/* The inverted calling context tree: functions and their callers. */
#include <errno.h>
#include <stdlib.h>

#include "contexts.h"

struct turning {
	const struct context_tree *tree;
	struct context_tree *turned;
};

static void add_counts(struct hwprof_context *to,
		       const struct hwprof_context *from)
{
	to->calls += from->calls;
	to->deeper += from->deeper;
	to->branches += from->branches;
	to->all_calls += from->all_calls;
	to->all_branches += from->all_branches;
	to->weight += from->weight;
	to->all_weight += from->all_weight;
	to->samples += from->samples;
	metrics_add(to->metrics, from->metrics);
	metrics_add(to->all_metrics, from->all_metrics);
	if (from->basis > to->basis)
		to->basis = from->basis;
}

/*
 * Adds @counts to the node of @node's procedure below @parent, which it calls
 * by the call that entered @called. @called is NULL for a root. Returns the
 * number of the node, or SIZE_MAX if out of memory.
 */
static size_t add_node(struct turning *turning, const struct context_node *node,
		       const struct context_node *called, size_t parent,
		       const struct hwprof_context *counts)
{
	struct context_node wanted = {
		.context = {
			.kind = node->context.kind,
			.address = node->context.address,
			.pid = node->context.pid,
			.comm = node->context.comm,
		},
		.file = node->file,
		.object = node->object,
		.parent = parent,
	};
	size_t at;

	if (called && called->context.kind == HWPROF_CONTEXT_RECURSION)
		wanted.context.kind = HWPROF_CONTEXT_RECURSION;
	if (called) {
		wanted.site_object = called->site_object;
		wanted.site = called->site;
	}
	at = context_tree_get(turning->turned, &wanted);
	if (at != SIZE_MAX)
		add_counts(&turning->turned->nodes[at].context, counts);
	return at;
}

/*
 * Adds @node as a root, and the chain of its callers. Returns the number of the
 * root, or SIZE_MAX if out of memory.
 */
static size_t add_chain(struct turning *turning,
			const struct context_node *node)
{
	const struct hwprof_context *counts = &node->context;
	const struct context_node *called;
	size_t root, at;

	root = at = add_node(turning, node, NULL, SIZE_MAX, counts);
	for (called = node; at != SIZE_MAX && called->parent != SIZE_MAX;
	     called = node) {
		node = &turning->tree->nodes[called->parent];
		at = add_node(turning, node, called, at, counts);
	}
	return at == SIZE_MAX ? SIZE_MAX : root;
}

/* Adds a recursive call of root number @root by the procedure above @edge. */
static int add_recursion(struct turning *turning,
			 const struct context_node *edge, size_t root)
{
	const struct hwprof_context counts = {
		.calls = edge->context.calls,
		.deeper = edge->context.deeper,
		.basis = edge->context.basis,
	};
	size_t at = add_node(turning, &turning->tree->nodes[edge->parent], edge,
			     root, &counts);

	if (at == SIZE_MAX)
		return -ENOMEM;
	turning->turned->nodes[at].target = root;
	add_counts(&turning->turned->nodes[root].context, &counts);
	return 0;
}

static bool is_edge(const struct context_node *node)
{
	return node->context.kind == HWPROF_CONTEXT_RECURSION;
}

int context_tree_turn(const struct context_tree *tree,
		      const struct hwprof_profile *profile,
		      struct context_tree *turned)
{
	struct turning turning = { tree, turned };
	size_t *roots = calloc(tree->count + 1, sizeof(*roots)), i;
	bool enough = roots;

	for (i = 0; i < tree->count && enough; i++)
		roots[i] = SIZE_MAX;
	/* A back edge leads to an earlier node, whose root is known by now. */
	for (i = 0; i < tree->count && enough; i++) {
		const struct context_node *node = &tree->nodes[i];

		if (is_edge(node)) {
			size_t root = node->target == SIZE_MAX ? SIZE_MAX :
				      roots[node->target];

			if (root != SIZE_MAX)
				enough = !add_recursion(&turning, node, root);
		} else if (node->context.kind != HWPROF_CONTEXT_ROOT &&
			   profile_wants(profile, node->context.function)) {
			roots[i] = add_chain(&turning, node);
			enough = roots[i] != SIZE_MAX;
		}
	}
	free(roots);
	return enough ? 0 : -ENOMEM;
}
