// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "cct_tree.h"

enum {
	/* Nodes that cct_free_some() looks at to make room for one. */
	HAND_STEPS	= 8,
	SLOT_SIZE	= 1 + sizeof(u32),	/* a tag and a number */
};

#define CCT_NO_SLOT	U32_MAX
#define CCT_EACH	0x0101010101010101ULL
#define CCT_IN_USE	(0x80 * CCT_EACH)

void cct_tree_init(struct cct_tree *tree, void *memory, size_t size,
		   u32 metrics, u64 seed)
{
	size_t node_size = sizeof(*tree->nodes) + metrics * sizeof(u64);
	size_t slots = CCT_WAYS, nodes;

	/* Twice as many slots would leave too little memory for nodes. */
	while (2 * slots * SLOT_SIZE + slots * node_size <= size &&
	       slots < 1U << 31)
		slots *= 2;
	nodes = (size - slots * SLOT_SIZE) / node_size;
	tree->key = (HASH_PRIME + seed) | 1;
	tree->set_count = slots / CCT_WAYS;
	tree->tags = memory;
	tree->numbers = (u32 *)(tree->tags + tree->set_count);
	tree->nodes = (struct cct_node *)(tree->numbers + slots);
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
	tree->removed++;
}

/* --- where a node's number is ------------------------------------------- */

/*
 * A node is in one of two sets, so that there is room for it even if one set is
 * full.
 */
static u32 cct_first_set(const struct cct_tree *tree, u64 id)
{
	return id >> 32 & (tree->set_count - 1);
}

static u32 cct_second_set(const struct cct_tree *tree, u64 id)
{
	return id * tree->key >> 32 & (tree->set_count - 1);
}

/*
 * The tag of a node's slot: 0x80 and seven bits that nobody can choose. Tags of
 * a set are compared at once, and hardly another node is looked at.
 */
static u64 cct_tag(const struct cct_tree *tree, u64 id)
{
	return 0x80 | id * tree->key >> 57;
}

/* Return 0x80 in place of each tag that is @tag. */
static u64 cct_tags_alike(u64 tags, u64 tag)
{
	u64 differ = tags ^ tag * CCT_EACH;

	return ~(((differ & ~CCT_IN_USE) + ~CCT_IN_USE) | differ) & CCT_IN_USE;
}

static u32 cct_count_used(u64 tags)
{
	return (tags >> 7 & CCT_EACH) * CCT_EACH >> 56;
}

/* Return the first slot of the set whose byte in @bytes is 0x80. */
static u32 cct_slot_at(u32 set, u64 bytes)
{
	return set * CCT_WAYS + __builtin_ctzll(bytes) / 8;
}

static struct cct_node *cct_slot_node(const struct cct_tree *tree, u32 slot)
{
	return &tree->nodes[tree->numbers[slot]];
}

static void cct_use_slot(struct cct_tree *tree, u32 slot, u64 id, u32 number)
{
	tree->tags[slot / CCT_WAYS] |= cct_tag(tree, id) << slot % CCT_WAYS * 8;
	tree->numbers[slot] = number;
}

static void cct_free_slot(struct cct_tree *tree, u32 slot)
{
	tree->tags[slot / CCT_WAYS] &= ~(0xffULL << slot % CCT_WAYS * 8);
}

static __always_inline u32 cct_find_in_set(const struct cct_tree *tree, u64 id,
					   u32 set)
{
	u64 alike = cct_tags_alike(tree->tags[set], cct_tag(tree, id));

	for (; alike; alike &= alike - 1) {
		u32 slot = cct_slot_at(set, alike);

		if (cct_slot_node(tree, slot)->id == id)
			return slot;
	}
	return CCT_NO_SLOT;
}

/* Return the slot of @id, or CCT_NO_SLOT if it has none. */
static __always_inline u32 cct_find_slot(const struct cct_tree *tree, u64 id)
{
	u32 slot = cct_find_in_set(tree, id, cct_first_set(tree, id));

	return slot != CCT_NO_SLOT ? slot :
	       cct_find_in_set(tree, id, cct_second_set(tree, id));
}

static void cct_hint(struct cct_tree *tree, u64 id, u32 number)
{
	tree->hint[id >> 32 & (CCT_HINTS - 1)] = number;
}

struct cct_node *cct_find_slowly(struct cct_tree *tree, u64 id)
{
	u32 slot = cct_find_slot(tree, id);

	if (slot == CCT_NO_SLOT)
		return NULL;
	cct_hint(tree, id, tree->numbers[slot]);
	return cct_slot_node(tree, slot);
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
 * Make room in a full set: remove a node that has told everything. Return false
 * if there is no such node.
 */
static noinline bool cct_free_told(struct cct_tree *tree, u32 set)
{
	u32 slot = set * CCT_WAYS, end = slot + CCT_WAYS;

	for (; slot < end; slot++)
		if (cct_is_told(cct_slot_node(tree, slot))) {
			cct_remove(tree, cct_slot_node(tree, slot));
			return true;
		}
	return false;
}

/*
 * Return a free slot for @id: in the second set only if the first one, which is
 * searched first, is more than half full.
 */
static __always_inline u32 cct_take_slot(struct cct_tree *tree, u64 id)
{
	u32 first = cct_first_set(tree, id);
	u32 second = cct_second_set(tree, id);
	u32 used = cct_count_used(tree->tags[first]);
	u32 set = first;

	if (used > CCT_WAYS / 2 && cct_count_used(tree->tags[second]) < used)
		set = second;
	else if (used == CCT_WAYS && !cct_free_told(tree, first)) {
		set = second;
		if (!cct_free_told(tree, second))
			return CCT_NO_SLOT;
	}
	return cct_slot_at(set, ~tree->tags[set] & CCT_IN_USE);
}

/*
 * The tree is full: remove a node that has told everything, the oldest first.
 */
static noinline void cct_free_some(struct cct_tree *tree)
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

/* Return the number of a node that is not in use, or CCT_NO_NODE. */
static u32 cct_take_number(struct cct_tree *tree)
{
	u32 number = tree->free;

	if (number != CCT_NO_NODE)
		tree->free = tree->nodes[number].parent;
	else if (tree->top < tree->node_count)
		number = tree->top++;
	return number;
}

static __always_inline struct cct_node *cct_make(struct cct_tree *tree, u64 id)
{
	struct cct_node *node;
	u32 slot, number;

	if (tree->used == tree->node_count)
		cct_free_some(tree);
	slot = cct_take_slot(tree, id);
	number = slot != CCT_NO_SLOT ? cct_take_number(tree) : CCT_NO_NODE;
	if (number == CCT_NO_NODE)
		return NULL;
	cct_use_slot(tree, slot, id, number);
	cct_hint(tree, id, number);
	tree->used++;
	node = &tree->nodes[number];
	node->id = id;
	node->calls = 0;
	node->deeper = 0;
	node->branches = 0;
	node->kind = 0;
	if (tree->metric_count)
		memset(cct_metrics(tree, node), 0,
		       tree->metric_count * sizeof(u64));
	return node;
}

struct cct_node *cct_get(struct cct_tree *tree, u64 id)
{
	u32 slot = cct_find_slot(tree, id);

	if (slot == CCT_NO_SLOT)
		return cct_make(tree, id);
	cct_hint(tree, id, tree->numbers[slot]);
	return cct_slot_node(tree, slot);
}
