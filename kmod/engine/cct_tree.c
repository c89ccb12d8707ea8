// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "cct_tree.h"

enum {
	/* Nodes that cct_free_some() looks at to make room for one. */
	HAND_STEPS	= 8,
};

void cct_tree_init(struct cct_tree *tree, void *memory, size_t size,
		   u32 metrics)
{
	size_t node_size = sizeof(*tree->nodes) + metrics * sizeof(u64);
	size_t slots = CCT_WAYS, nodes;

	/* Twice as many slots would leave too little memory for nodes. */
	while (2 * slots * sizeof(*tree->slots) + slots * node_size <= size &&
	       slots < 1U << 31)
		slots *= 2;
	nodes = (size - slots * sizeof(*tree->slots)) / node_size;
	tree->slots = memory;
	tree->slot_count = slots;
	tree->nodes = (struct cct_node *)(tree->slots + slots);
	tree->node_count = min(nodes, slots / CCT_WAYS * (CCT_WAYS - 1));
	tree->metrics = (u64 *)(tree->nodes + tree->node_count);
	tree->metric_count = metrics;
	tree->pending = 0;
	tree->evicted = 0;
	tree->removed = 0;
	cct_tree_restart(tree);
}

void cct_tree_restart(struct cct_tree *tree)
{
	tree->top = 0;
	tree->free = CCT_NO_NODE;
	tree->used = 0;
	tree->hand = 0;
	tree->missed = 0;
	tree->removed++;
}

/* --- where a node's number is ------------------------------------------- */

/*
 * A node is in one of two sets, so that there is room for it even if one set is
 * full. Free slots of a set are behind those in use, so that a search ends at
 * the first free one.
 */
static u64 *cct_tree_set_of(const struct cct_tree *tree, u64 id,
			    unsigned int which)
{
	u32 hash = (which ? id * HASH_PRIME : id) >> 32;

	return &tree->slots[hash & (tree->slot_count - CCT_WAYS)];
}

static u64 cct_slot_value(u64 id, u32 number)
{
	return id << 32 | (number + 1);
}

static struct cct_node *cct_slot_node(const struct cct_tree *tree, u64 slot)
{
	return &tree->nodes[(u32)slot - 1];
}

/*
 * Return the slot of @id, or NULL if it has none. A node is often made then:
 * note how many slots of its sets are in use. Half an id is odd, so that no
 * free slot matches.
 */
static u64 *cct_find_slot(struct cct_tree *tree, u64 id)
{
	unsigned int which, way;

	tree->missed = 0;
	for (which = 0; which < 2; which++) {
		u64 *slot = cct_tree_set_of(tree, id, which);

		for (way = 0; way < CCT_WAYS && *slot; way++, slot++)
			if (*slot >> 32 == (u32)id &&
			    cct_slot_node(tree, *slot)->id == id)
				return slot;
		tree->missed_used[which] = way;
	}
	tree->missed = id;
	return NULL;
}

/* Return how many slots of the set are in use. */
static unsigned int cct_count_used(const u64 *set)
{
	unsigned int way = 0;

	while (way < CCT_WAYS && set[way])
		way++;
	return way;
}

/* Free a slot. The last slot of its set that is in use takes its place. */
static void cct_free_slot(struct cct_tree *tree, u64 *slot)
{
	u64 *set = tree->slots + ((slot - tree->slots) & -CCT_WAYS);
	u64 *last = set + cct_count_used(set) - 1;

	*slot = *last;
	*last = 0;
	tree->missed = 0;
}

static void cct_hint(struct cct_tree *tree, const struct cct_node *node)
{
	tree->hint[node->id >> 32 & (CCT_HINTS - 1)] = cct_number(tree, node);
}

struct cct_node *cct_find_slowly(struct cct_tree *tree, u64 id)
{
	const u64 *slot = cct_find_slot(tree, id);

	if (!slot)
		return NULL;
	cct_hint(tree, cct_slot_node(tree, *slot));
	return cct_slot_node(tree, *slot);
}

/* --- nodes -------------------------------------------------------------- */

void cct_remove(struct cct_tree *tree, struct cct_node *node)
{
	u32 number = cct_number(tree, node);

	cct_free_slot(tree, cct_find_slot(tree, node->id));
	tree->pending -= node->calls + node->deeper;
	tree->used--;
	tree->removed++;
	node->id = 0;
	if (number == tree->top - 1) {
		tree->top--;
		return;
	}
	node->parent = tree->free;
	tree->free = number;
}

/*
 * Make room in a full set: free the slot of a node that has told everything.
 * The node goes. Return NULL if there is no such node.
 */
static u64 *cct_free_told(struct cct_tree *tree, u64 *set)
{
	unsigned int way;

	for (way = 0; way < CCT_WAYS; way++)
		if (cct_is_told(cct_slot_node(tree, set[way]))) {
			cct_remove(tree, cct_slot_node(tree, set[way]));
			return set + CCT_WAYS - 1;
		}
	return NULL;
}

/*
 * Return a free slot for @id: in the second set only if the first one, which is
 * searched first, is more than half full.
 */
static u64 *cct_tree_take_slot(struct cct_tree *tree, u64 id)
{
	u64 *first = cct_tree_set_of(tree, id, 0);
	u64 *second = cct_tree_set_of(tree, id, 1);
	unsigned int used, others;
	u64 *free;

	if (tree->missed != id)
		cct_find_slot(tree, id);
	used = tree->missed_used[0];
	others = tree->missed_used[1];
	if (used <= CCT_WAYS / 2)
		return first + used;
	if (others < used)
		return second + others;
	if (used < CCT_WAYS)
		return first + used;
	free = cct_free_told(tree, first);
	return free ? free : cct_free_told(tree, second);
}

/*
 * The tree is full: remove a node that has told everything, the oldest first.
 */
static void cct_free_some(struct cct_tree *tree)
{
	unsigned int step;

	for (step = 0; step < HAND_STEPS; step++) {
		struct cct_node *node = &tree->nodes[tree->hand];

		tree->hand = tree->hand + 1 < tree->top ? tree->hand + 1 : 0;
		if (cct_is_told(node)) {
			cct_remove(tree, node);
			return;
		}
	}
}

static struct cct_node *cct_take_node(struct cct_tree *tree)
{
	u32 number = tree->free;

	if (number != CCT_NO_NODE) {
		tree->free = tree->nodes[number].parent;
		return &tree->nodes[number];
	}
	if (tree->top == tree->node_count)
		return NULL;
	return &tree->nodes[tree->top++];
}

struct cct_node *cct_make(struct cct_tree *tree, const struct cct_node *like)
{
	struct cct_node *node;
	u64 *slot;

	if (tree->used == tree->node_count)
		cct_free_some(tree);
	slot = cct_tree_take_slot(tree, like->id);
	node = slot ? cct_take_node(tree) : NULL;
	if (!node)
		return NULL;
	*node = *like;
	if (tree->metric_count)
		memset(cct_metrics(tree, node), 0,
		       tree->metric_count * sizeof(u64));
	*slot = cct_slot_value(like->id, cct_number(tree, node));
	tree->missed = 0;
	cct_hint(tree, node);
	tree->used++;
	return node;
}
