// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "range_hot.h"
#include "base/array.h"

static struct range_node *add(struct range_set *set)
{
	struct range_node *nodes = array_grow(set->nodes, &set->room,
					      set->count + 1, sizeof(*nodes));

	if (!nodes)
		return NULL;
	set->nodes = nodes;
	return &set->nodes[set->count++];
}

int range_set_add(struct range_set *set, range_number low, uint32_t bits,
		  uint64_t count)
{
	struct range_node *node = add(set);

	if (!node)
		return -ENOMEM;
	*node = (struct range_node) {
		.low = low, .bits = bits, .own = count, .parent = RANGE_NONE,
	};
	return 0;
}

void range_set_free(struct range_set *set)
{
	free(set->nodes);
}

/* Sorts a range before those inside it. */
static int compare(const void *a, const void *b)
{
	const struct range_node *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->bits < y->bits) - (x->bits > y->bits);
}

/* Sorts, and merges entries of the same range. */
static void sum_up(struct range_set *set)
{
	size_t kept = 0, i;

	qsort(set->nodes, set->count, sizeof(*set->nodes), compare);
	for (i = 0; i < set->count; i++) {
		struct range_node *node = &set->nodes[i];

		if (kept && !compare(&set->nodes[kept - 1], node))
			set->nodes[kept - 1].own += node->own;
		else
			set->nodes[kept++] = *node;
	}
	set->count = kept;
}

static bool contains(const struct range_node *outer,
		     const struct range_node *inner)
{
	return inner->bits <= outer->bits &&
	       inner->low - outer->low <= range_last(outer) - outer->low;
}

/* Returns log2 of the size of the smallest range that contains both. */
static uint32_t bits_around(const struct range_node *a,
			    const struct range_node *b)
{
	uint32_t bits = a->bits > b->bits ? a->bits : b->bits;

	while ((a->low ^ b->low) & ~range_extent(bits))
		bits += 2;
	return bits;
}

/*
 * Adds the ranges around neighbours. They may have no events of their own, but
 * their content may be hot together.
 */
static int add_branchings(struct range_set *set)
{
	size_t count = set->count, i;

	for (i = 1; i < count; i++) {
		uint32_t bits = bits_around(&set->nodes[i - 1], &set->nodes[i]);

		if (range_set_add(set, set->nodes[i].low & ~range_extent(bits),
				  bits, 0))
			return -ENOMEM;
	}
	sum_up(set);
	return 0;
}

static void find_parents(struct range_set *set)
{
	size_t i, parent;

	for (i = 0; i < set->count; i++) {
		struct range_node *node = &set->nodes[i];

		for (parent = i ? i - 1 : RANGE_NONE; parent != RANGE_NONE &&
		     !contains(&set->nodes[parent], node);)
			parent = set->nodes[parent].parent;
		node->parent = parent;
		node->count = node->rest = node->own;
		node->around = parent == RANGE_NONE ? 0 :
			       set->nodes[parent].around +
			       set->nodes[parent].own;
	}
}

int range_set_build(struct range_set *set, double hot)
{
	size_t i;

	sum_up(set);
	if (add_branchings(set))
		return -ENOMEM;
	find_parents(set);
	for (i = set->count; i--;) {
		struct range_node *node = &set->nodes[i];
		struct range_node *parent;

		node->hot = node->rest && node->rest >= hot;
		if (node->parent == RANGE_NONE)
			continue;
		parent = &set->nodes[node->parent];
		parent->count += node->count;
		if (!node->hot)
			parent->rest += node->rest;
	}
	return 0;
}
