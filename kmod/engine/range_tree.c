// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "range_tree.h"

/* --- memory --------------------------------------------------------------- */

enum {
	ROOT_SHARE	= 16,	/* one of so many blocks holds roots */

	/* Events from one block that the hand passes to the next. */
	PACE_EMPTY	= 64,
	PACE		= 16,
	PACE_FULL	= 8,
};

void range_tree_init(struct range_tree *tree, void *memory, size_t size,
		     u32 epsilon_ppm, bool pairs)
{
	size_t each = sizeof(struct range_block) + sizeof(struct range_told) +
		      RANGE_SIBLINGS * sizeof(u64) / ROOT_SHARE +
		      (pairs ? sizeof(*tree->codes) : 0);
	size_t blocks = min(size / each, (size_t)U32_MAX / RANGE_SIBLINGS);
	u32 roots = 1;

	while (2 * roots <= blocks / ROOT_SHARE)
		roots *= 2;
	tree->root_blocks = roots;
	tree->block_count = blocks;
	tree->blocks = memory;
	tree->told = (struct range_told *)(tree->blocks + blocks);
	tree->owners = (u64 *)(tree->told + blocks);
	tree->codes = pairs ? tree->owners + roots * RANGE_SIBLINGS : NULL;
	tree->epsilon = ((u64)epsilon_ppm << 32) / 1000000;
	range_tree_clear(tree);
}

static void range_block_free(struct range_tree *tree, u32 number)
{
	struct range_block *block = &tree->blocks[number];

	block->root = RANGE_NO_ROOT;
	block->child[0] = tree->free;
	tree->free = number;
	tree->room++;
}

/* Return a free block, or 0 if there is none. */
static u32 range_block_take(struct range_tree *tree)
{
	u32 number = tree->free;

	if (!tree->room)
		return 0;
	tree->room--;
	if (!number)
		return tree->top++;
	tree->free = tree->blocks[number].child[0];
	return number;
}

/* Only roots are cleared. As hints are, too, nothing leads to other blocks. */
void range_tree_clear(struct range_tree *tree)
{
	u32 i;

	memset(tree->blocks, 0, tree->root_blocks * sizeof(*tree->blocks));
	memset(tree->told, 0, tree->root_blocks * sizeof(*tree->told));
	memset(tree->owners, 0, (size_t)tree->root_blocks * RANGE_SIBLINGS *
				sizeof(*tree->owners));
	memset(tree->hint, 0, sizeof(tree->hint));
	memset(tree->near, 0, sizeof(tree->near));
	for (i = 0; i < tree->root_blocks; i++)
		tree->blocks[i].root = RANGE_NO_ROOT;
	tree->top = tree->root_blocks;
	tree->free = 0;
	tree->room = tree->block_count - tree->root_blocks;
	tree->hand = tree->root_blocks;
	tree->passed = 0;
	tree->pace = PACE_EMPTY;
	tree->n = 0;
	tree->n_told = 0;
	tree->raised = 1;
	tree->threshold = 1;
	tree->refused = 0;
}

/* --- merging -------------------------------------------------------------- */

/*
 * The threshold is half of what epsilon allows, because a range can be wrong
 * twice: first in a CPU's table, and then in the profile that the table is
 * merged into.
 */
static u64 range_threshold(const struct range_tree *tree)
{
	/* log2 of 2 * RANGE_LEVELS, or of 4 * RANGE_LEVELS for pairs */
	u32 parts = 1 + 5 + (tree->codes ? 1 : 0);
	u64 share = (unsigned __int128)tree->n * tree->epsilon >> (32 + parts);

	return max(share, tree->raised);
}

/*
 * Return which range of a block contains @key; the caller knows that one does.
 */
static u32 range_place_of(const struct range_tree *tree, u32 number,
			  struct range_key key)
{
	return range_place(tree, number, key, tree->codes);
}

static struct range_key range_block_low(const struct range_tree *tree,
					u32 number)
{
	return (struct range_key) {
		.value = tree->blocks[number].low,
		.code = tree->codes ? tree->codes[number] : 0,
	};
}

/* Return the node that block @number divides. */
static u32 range_parent_of(const struct range_tree *tree, u32 number)
{
	struct range_key low = range_block_low(tree, number);
	u32 node = tree->blocks[number].root;

	for (;;) {
		const struct range_block *at = range_block(tree, node);
		u32 child = at->child[node % RANGE_SIBLINGS];

		if (child == number)
			return node;
		node = child * RANGE_SIBLINGS +
		       range_place_of(tree, child, low);
	}
}

static void range_fold(struct range_tree *tree, u32 number, u32 parent, u64 sum)
{
	const struct range_told *told = &tree->told[number];

	*range_own(tree, parent) += sum;
	*range_told(tree, parent) += told->count[0] + told->count[1] +
				     told->count[2] + told->count[3];
	range_block(tree, parent)->child[parent % RANGE_SIBLINGS] = 0;
	range_block_free(tree, number);
}

/*
 * Return the number of events until the hand passes the next block. The less
 * room there is, the sooner.
 */
static u32 range_pace(const struct range_tree *tree)
{
	if (tree->room > tree->block_count / 2)
		return PACE_EMPTY;
	return tree->room ? PACE : PACE_FULL;
}

/*
 * Return a number in 16 bits, rounded down: its highest 10 bits, and how many
 * bits follow them.
 */
static u16 range_brief(u64 number)
{
	u32 follow = number >> 10 ? 54 - __builtin_clzll(number) : 0;

	return number >> follow | follow << 10;
}

static u64 range_brief_value(u16 brief)
{
	return (u64)(brief & 1023) << (brief >> 10);
}

/*
 * Move the hand to the next block, downwards. A chain of splits takes blocks
 * upwards, so that one round of the hand can merge all of the chain.
 */
static const struct range_block *range_next_block(struct range_tree *tree)
{
	if (tree->hand <= tree->root_blocks)
		tree->hand = tree->top;
	tree->hand--;
	tree->passed++;
	return &tree->blocks[tree->hand];
}

/*
 * Merge the next block into its parent, if their counts together stay below the
 * threshold. Otherwise the parent would be split again at once.
 */
void range_pass(struct range_tree *tree)
{
	const struct range_block *block;
	u64 sum;
	u32 parent;

	tree->threshold = range_threshold(tree);
	tree->pace = range_pace(tree);
	block = range_next_block(tree);
	if (block->root == RANGE_NO_ROOT ||
	    block->child[0] | block->child[1] | block->child[2] |
	    block->child[3])
		return;
	sum = block->count[0] + block->count[1] + block->count[2] +
	      block->count[3];
	/* The parent's count has not fallen since; this spares most walks. */
	if (sum + range_brief_value(block->above) >= tree->threshold)
		return;
	parent = range_parent_of(tree, tree->hand);
	if (*range_own(tree, parent) + sum < tree->threshold)
		range_fold(tree, tree->hand, parent, sum);
}

/* --- splitting ------------------------------------------------------------ */

/*
 * Memory is short: refuse a split and raise the threshold. Merges that a higher
 * threshold allows only happen as the hand comes by, so the hand must pass over
 * some blocks before the threshold rises again.
 */
static void range_refuse(struct range_tree *tree)
{
	tree->refused++;
	if (tree->passed < tree->block_count / 16)
		return;
	tree->passed = 0;
	tree->raised = tree->threshold + tree->threshold / 16 + 1;
	tree->threshold = tree->raised;
}

/* Divide @node, a leaf. Return the block of its quarters, or 0 if refused. */
static u32 range_split(struct range_tree *tree, u32 node)
{
	u32 bits = range_bits(tree, node), number = range_block_take(tree);
	struct range_block *block = &tree->blocks[number];
	struct range_key low = range_low(tree, node);

	if (!number) {
		range_refuse(tree);
		return 0;
	}
	memset(block, 0, sizeof(*block));
	memset(&tree->told[number], 0, sizeof(tree->told[number]));
	block->low = low.value;
	if (tree->codes)
		tree->codes[number] = low.code;
	block->shift = bits - RANGE_BRANCH;
	block->above = range_brief(*range_own(tree, node));
	block->root = range_is_root(tree, node) ? node :
		      range_block(tree, node)->root;
	range_block(tree, node)->child[node % RANGE_SIBLINGS] = number;
	return number;
}

/*
 * Count @weight in @node, a leaf, or below it, in a range of at least @bits. A
 * range is split before its count reaches the threshold, and keeps its count.
 * Return the node.
 */
static u32 range_grow(struct range_tree *tree, u32 node, struct range_key key,
		      u32 bits, u64 weight)
{
	while (*range_own(tree, node) + weight >= tree->threshold &&
	       range_bits(tree, node) > bits) {
		u32 child = range_split(tree, node);

		if (!child)
			break;
		node = child * RANGE_SIBLINGS +
		       range_place_of(tree, child, key);
	}
	*range_own(tree, node) += weight;
	return node;
}

/* --- roots ---------------------------------------------------------------- */

u32 range_root_find(const struct range_tree *tree, u32 space)
{
	u32 node = (space & (tree->root_blocks - 1)) * RANGE_SIBLINGS, i;

	for (i = 0; i < RANGE_SIBLINGS; i++)
		if (tree->owners[node + i] == (u64)space + 1)
			return node + i;
	return RANGE_NO_ROOT;
}

u32 range_root(struct range_tree *tree, u32 space)
{
	u32 node = (space & (tree->root_blocks - 1)) * RANGE_SIBLINGS, i;
	u32 found = range_root_find(tree, space);

	for (i = 0; found == RANGE_NO_ROOT && i < RANGE_SIBLINGS; i++)
		if (!tree->owners[node + i]) {
			found = node + i;
			tree->owners[found] = (u64)space + 1;
		}
	return found;
}

static u64 range_take_untold(struct range_tree *tree, u32 node)
{
	u64 *own = range_own(tree, node), *told = range_told(tree, node);
	u64 untold = *own - *told;

	tree->n -= *own;
	tree->n_told -= *told;
	*own = 0;
	*told = 0;
	return untold;
}

u64 range_root_drop(struct range_tree *tree, u32 root)
{
	u64 untold = range_take_untold(tree, root);
	u32 number, i;

	for (number = tree->root_blocks; number < tree->top; number++) {
		if (tree->blocks[number].root != root)
			continue;
		for (i = 0; i < RANGE_SIBLINGS; i++)
			untold +=
				range_take_untold(tree, number *
						  RANGE_SIBLINGS + i);
		range_block_free(tree, number);
	}
	range_block(tree, root)->child[root % RANGE_SIBLINGS] = 0;
	tree->owners[root] = 0;
	tree->threshold = range_threshold(tree);
	return untold;
}

/* --- counting ------------------------------------------------------------- */

/* Return the leaf of @key, and update the hint for its region. */
static __always_inline u32 range_find(struct range_tree *tree, u32 root,
				      struct range_key key, bool pairs)
{
	u32 near_bits = pairs ? RANGE_NEAR_PAIR_BITS : RANGE_NEAR_BITS;
	u32 code_bits = pairs ? range_code_bits(near_bits) : 0;
	u64 region = (key.value >> (near_bits - code_bits)) +
		     (key.code >> code_bits << 32);
	u16 *near = &tree->near[range_hash(region + root, RANGE_NEARS)];
	u32 number = *near, next;
	u64 at = range_place(tree, number, key, pairs);

	if (tree->blocks[number].root != root || at >= RANGE_SIBLINGS) {
		number = range_block(tree, root)->child[root % RANGE_SIBLINGS];
		if (!number)
			return root;
		at = range_place(tree, number, key, pairs);
	}
	for (;; number = next) {
		const struct range_block *block = &tree->blocks[number];

		if (block->shift >= near_bits - RANGE_BRANCH)
			*near = number;
		next = block->child[at];
		if (!next)
			break;
		at = range_place(tree, next, key, pairs);
	}
	return number * RANGE_SIBLINGS + at;
}

void range_count_slowly(struct range_tree *tree, u32 root, struct range_key key,
			u64 weight, u16 *hint)
{
	u32 node = tree->codes ? range_find(tree, root, key, true) :
				 range_find(tree, root, key, false);

	node = range_grow(tree, node, key, 0, weight);
	*hint = node / RANGE_SIBLINGS;
	if (unlikely(!--tree->pace))
		range_pass(tree);
}

void range_count_range(struct range_tree *tree, u32 root, struct range_key low,
		       u32 bits, u64 weight)
{
	u32 node = root;

	tree->n += weight;
	tree->threshold = range_threshold(tree);
	while (range_bits(tree, node) > bits) {
		u32 child = range_block(tree, node)->child[node %
							   RANGE_SIBLINGS];

		if (!child)
			break;
		node = child * RANGE_SIBLINGS +
		       range_place_of(tree, child, low);
	}
	range_grow(tree, node, low, bits, weight);
	range_pass(tree);
}
