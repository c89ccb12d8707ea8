/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Range-adaptive profiling: counters for ranges of 64-bit values, fine where
 * much is counted and coarse elsewhere. See Mysore, Agrawal, Neuber, Sherwood,
 * Shrivastava, Suri: Formulating and Implementing Profiling over Adaptive
 * Ranges, section 2. The branching factor and the multi-bit trie are those of
 * its sections 3.1 and 3.2.
 *
 * An event is counted in the smallest range around it. A range is divided into
 * four before it reaches the split threshold, epsilon * n / log4(R). The events
 * of a range are known but for those that were counted in the ranges around it,
 * which are at most epsilon * n. Ranges that fall behind as n grows are merged
 * into the range around them.
 *
 * Beyond the paper:
 *
 * - Memory is fixed. If it is short, a split is refused, and the threshold
 *   grows by a sixteenth. The error grows with it, as the bounds tell.
 * - Ranges are merged one block at a time, as a clock's hand passes over them.
 *   A batch of merges (section 3.1) would make an NMI last as long as a walk
 *   over the tree.
 * - An address belongs to an address space. Each space has a tree of its own.
 *   They share the memory, n and the threshold, so that precision goes to what
 *   is hot of all that runs.
 * - The place where a value was counted last is tried first. (Stage 0 of the
 *   paper, the buffer of section 3.3.1, misses too often in software.) It is
 *   only a hint: counts are the same whatever hints there are.
 *
 * Pairs of an instruction and an address that it accesses (section 5.5): a
 * range is a box of code by addresses. Dividing it in four takes one bit of
 * each; everything else is as for single values. Boxes are not square. Programs
 * work with more memory than code, so 2^n bytes of code go with 2^n pages of
 * addresses (the paper's example is 16 KB of code by 256 KB). Below one byte of
 * code by a page, there is no more code to divide, and above 2^52 bytes of code
 * by all addresses, there are no more addresses. There, two bits of the other
 * are taken.
 */
#ifndef HWPROF_ENGINE_RANGE_TREE_H
#define HWPROF_ENGINE_RANGE_TREE_H

#include "types.h"

enum {
	RANGE_BITS	= 64,
	RANGE_BRANCH	= 2,	/* bits per level: four siblings */
	RANGE_SIBLINGS	= 1 << RANGE_BRANCH,
	/* for pairs, twice as many */
	RANGE_LEVELS	= RANGE_BITS / RANGE_BRANCH,
	/* log2 of the addresses that go with a byte of code. */
	RANGE_SKEW	= 12,

	RANGE_HINTS	= 4096,	/* for values; a power of two */
	RANGE_NEAR_BITS	= 8,	/* log2 of the size of a region of values */
	/* log2 of the size of a region of pairs. */
	RANGE_NEAR_PAIR_BITS = 24,
	RANGE_NEARS	= 1024,	/* hints for regions; a power of two */
};

/* A thing that is counted: a value, or a pair. */
struct range_key {
	u64 value;		/* pair: the address */
	u64 code;		/* pair: the instruction; value: 0 */
};

/* range_block.root of a block that is free or holds roots; no root found. */
#define RANGE_NO_ROOT	U32_MAX

/*
 * A block: four ranges side by side, a cache line. The number of a node is the
 * number of its block times RANGE_SIBLINGS, plus its place in the block.
 *
 * The first blocks hold roots. A root is the range of all values in an address
 * space. A free block has the number of the next free one in child[0].
 */
struct range_block {
	u64 count[RANGE_SIBLINGS];	/* counts of the ranges themselves */
	/* Block with a range's quarters; 0: none. */
	u32 child[RANGE_SIBLINGS];
	u64 low;		/* lowest value of the first range */
	u32 root;		/* node of the tree's root */
	u16 shift;		/* log2 of a range's size, in values or pairs */
	/*
	 * Count of the range around them when it was divided, rounded down: see
	 * range_brief().
	 */
	u16 above;
};

/* The part of a block's counts that rows have told. */
struct range_told {
	u64 count[RANGE_SIBLINGS];
};

struct range_tree {
	struct range_block *blocks;
	struct range_told *told;
	u64 *owners;		/* one per root: address space + 1; 0: free */
	/* Pairs: lowest code of each block; else NULL. */
	u64 *codes;
	u32 root_blocks;	/* blocks that hold roots; a power of two */
	u32 block_count;	/* all blocks */
	/* First block that was never used. */
	u32 top;
	u32 free;		/* first block of the free list; 0: none */
	u32 room;		/* free blocks, with those never used */
	u32 hand;		/* block that the hand passed last */
	/* Blocks that the hand has passed since the threshold was raised. */
	u32 passed;
	/* Events until the hand passes the next block. */
	u32 pace;
	u64 n;			/* weight counted, of trees that exist */
	u64 n_told;		/* part of n that rows have told */
	u64 epsilon;		/* in 2^-32 */
	/* The threshold is no lower: see range_refuse(). */
	u64 raised;
	u64 threshold;
	u64 refused;		/* splits that were refused */
	/*
	 * Numbers of blocks. A number that does not fit in 16 bits becomes that
	 * of another block. That is safe, as every hint is checked.
	 */
	u16 hint[RANGE_HINTS];
	u16 near[RANGE_NEARS];
};

/**
 * range_tree_init() - Make an empty tree
 * @tree: the tree.
 * @memory: memory for all that the tree points to.
 * @size: bytes of it: enough for 64 blocks.
 * @epsilon_ppm: largest error of a range, in millionths of all that is counted.
 * @pairs: whether pairs are counted.
 */
void range_tree_init(struct range_tree *tree, void *memory, size_t size,
		     u32 epsilon_ppm, bool pairs);
/**
 * range_tree_clear() - Make the tree empty again
 * @tree: the tree.
 *
 * The cost depends on the number of roots, not of blocks.
 */
void range_tree_clear(struct range_tree *tree);

/**
 * range_root() - Find or make the root of an address space
 * @tree: the tree.
 * @space: the address space.
 *
 * Return: the root's node, or RANGE_NO_ROOT if there is no room.
 */
u32 range_root(struct range_tree *tree, u32 space);
/**
 * range_root_find() - Find the root of an address space
 * @tree: the tree.
 * @space: the address space.
 *
 * Return: the root's node, or RANGE_NO_ROOT.
 */
u32 range_root_find(const struct range_tree *tree, u32 space);

/**
 * range_count_range() - Count weight of which only a range is known
 * @tree: the tree.
 * @root: root of its address space.
 * @low: lowest value or pair of the range.
 * @bits: log2 of the range's size.
 * @weight: the weight.
 */
void range_count_range(struct range_tree *tree, u32 root, struct range_key low,
		       u32 bits, u64 weight);

/**
 * range_root_drop() - Drop the tree of an address space
 * @tree: the tree.
 * @root: its root.
 *
 * Return: the part of its weight that rows have not told.
 */
u64 range_root_drop(struct range_tree *tree, u32 root);

/* Return the number behind that of the last node in use. */
static inline u32 range_node_count(const struct range_tree *tree)
{
	return tree->top * RANGE_SIBLINGS;
}

static inline struct range_block *range_block(const struct range_tree *tree,
					      u32 node)
{
	return &tree->blocks[node / RANGE_SIBLINGS];
}

static inline bool range_is_root(const struct range_tree *tree, u32 node)
{
	return node < tree->root_blocks * RANGE_SIBLINGS;
}

static inline bool range_is_used(const struct range_tree *tree, u32 node)
{
	return range_is_root(tree, node) ? tree->owners[node] :
	       range_block(tree, node)->root != RANGE_NO_ROOT;
}

/* --- boxes ---------------------------------------------------------------- */

/* Return log2 of the bytes of code of a box with 2^@bits pairs. */
static inline u32 range_code_bits(u32 bits)
{
	u32 half = bits / 2;

	if (half > RANGE_BITS - RANGE_SKEW / 2)
		return bits - RANGE_BITS;
	return half > RANGE_SKEW / 2 ? half - RANGE_SKEW / 2 : 0;
}

/* How a block divides: into four boxes of 2^code_bits by 2^value_bits. */
struct range_sides {
	u32 code_bits, value_bits;
	u32 code_branch, value_branch;	/* bits taken of each; 2 together */
};

static __always_inline struct range_sides range_sides(u32 shift)
{
	struct range_sides sides = { .code_bits = range_code_bits(shift) };

	sides.value_bits = shift - sides.code_bits;
	sides.code_branch = range_code_bits(shift + RANGE_BRANCH) -
			    sides.code_bits;
	sides.value_branch = RANGE_BRANCH - sides.code_branch;
	return sides;
}

static __always_inline u64 range_place_pair(struct range_key differ, u32 shift)
{
	struct range_sides sides = range_sides(shift);
	u64 code = differ.code >> sides.code_bits;
	u64 value = sides.value_bits < RANGE_BITS ?
		    differ.value >> sides.value_bits : 0;

	if (code >> sides.code_branch | value >> sides.value_branch)
		return RANGE_SIBLINGS;
	return code << sides.value_branch | value;
}

/*
 * Return which range of block @number contains @key; RANGE_SIBLINGS or more if
 * none does. @pairs is what range_tree_init() was told; a constant makes this
 * faster.
 */
static __always_inline u64 range_place(const struct range_tree *tree,
				       u32 number, struct range_key key,
				       bool pairs)
{
	const struct range_block *block = &tree->blocks[number];
	u64 value = block->low ^ key.value;

	if (!pairs)
		return value >> block->shift;
	return range_place_pair((struct range_key) {
		.value = value, .code = tree->codes[number] ^ key.code,
	}, block->shift);
}

/* --- nodes ---------------------------------------------------------------- */

/* Return log2 of the number of values or pairs in a node. */
static inline u32 range_bits(const struct range_tree *tree, u32 node)
{
	return !range_is_root(tree, node) ? range_block(tree, node)->shift :
	       tree->codes ? 2 * RANGE_BITS : RANGE_BITS;
}

static inline struct range_key range_low_pair(const struct range_tree *tree,
					      u32 node)
{
	const struct range_block *block = range_block(tree, node);
	struct range_sides sides = range_sides(block->shift);
	u64 at = node % RANGE_SIBLINGS;
	u64 value = at & ((1U << sides.value_branch) - 1);

	return (struct range_key) {
		.value = block->low + (!value ? 0 : value << sides.value_bits),
		.code = tree->codes[node / RANGE_SIBLINGS] +
			(at >> sides.value_branch << sides.code_bits),
	};
}

/* Return the lowest value or pair of a node. */
static inline struct range_key range_low(const struct range_tree *tree,
					 u32 node)
{
	const struct range_block *block = range_block(tree, node);

	if (range_is_root(tree, node))
		return (struct range_key) { 0 };
	if (tree->codes)
		return range_low_pair(tree, node);
	return (struct range_key) {
		.value = block->low +
			 ((u64)(node % RANGE_SIBLINGS) << block->shift),
	};
}

/* Return the address space of a node that is in use. */
static inline u32 range_space(const struct range_tree *tree, u32 node)
{
	u32 root = range_is_root(tree, node) ? node :
		   range_block(tree, node)->root;

	return tree->owners[root] - 1;
}

static inline u64 *range_own(const struct range_tree *tree, u32 node)
{
	return &range_block(tree, node)->count[node % RANGE_SIBLINGS];
}

static inline u64 *range_told(const struct range_tree *tree, u32 node)
{
	return &tree->told[node / RANGE_SIBLINGS].count[node % RANGE_SIBLINGS];
}

/* --- counting ------------------------------------------------------------- */

/**
 * range_count_slowly() - Count an event whose hint does not lead to its range
 * @tree: the tree.
 * @root: root of the event's address space.
 * @key: the value or pair.
 * @weight: its weight.
 * @hint: the hint, which is updated.
 */
void range_count_slowly(struct range_tree *tree, u32 root, struct range_key key,
			u64 weight, u16 *hint);

/**
 * range_pass() - Let the clock's hand pass over the next block
 * @tree: the tree.
 */
void range_pass(struct range_tree *tree);

static __always_inline u32 range_hash(u64 key, u32 count)
{
	return (u32)(key * HASH_PRIME >> 32) & (count - 1);
}

/* Count an event in the tree of @root. @pairs is as in range_place(). */
static __always_inline void range_count_key(struct range_tree *tree, u32 root,
					    struct range_key key, u64 weight,
					    bool pairs)
{
	u16 *hint = &tree->hint[range_hash(key.value + (key.code << 32) + root,
					   RANGE_HINTS)];
	struct range_block *block = &tree->blocks[*hint];

	tree->n += weight;
	if (likely(block->root == root)) {
		u64 at = range_place(tree, *hint, key, pairs);
		/*
		 * Ranges of one value have no limit. There is no branch here,
		 * because it could not be predicted.
		 */
		u64 limit = tree->threshold | -(u64)!block->shift;

		if (likely(at < RANGE_SIBLINGS && !block->child[at] &&
			   block->count[at] + weight < limit)) {
			block->count[at] += weight;
			if (unlikely(!--tree->pace))
				range_pass(tree);
			return;
		}
	}
	range_count_slowly(tree, root, key, weight, hint);
}

static __always_inline void range_count(struct range_tree *tree, u32 root,
					u64 value, u64 weight)
{
	range_count_key(tree, root, (struct range_key) { .value = value },
			weight, false);
}

static __always_inline void range_count_pair(struct range_tree *tree, u32 root,
					     u64 code, u64 value, u64 weight)
{
	range_count_key(tree, root,
			(struct range_key) { .value = value, .code = code },
			weight, true);
}

#endif /* HWPROF_ENGINE_RANGE_TREE_H */
