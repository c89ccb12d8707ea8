/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Range-adaptive profiling: counters for ranges of 64-bit values, fine where
 * much is counted and coarse elsewhere (Mysore, Agrawal, Neuber, Sherwood,
 * Shrivastava, Suri: Formulating and Implementing Profiling over Adaptive
 * Ranges, section 2; the branching factor and the multi-bit trie are those of
 * its sections 3.1 and 3.2).
 *
 * An event is counted in the smallest range that contains it. A range that
 * would reach the split threshold, epsilon * n / log4(R), is divided into four
 * before. So what its ancestors were counted, which is all that a range can be
 * wrong by, is at most epsilon * n. Ranges that fell behind as n grew are
 * merged into the one around them.
 *
 * Beyond the paper:
 *
 * - Memory is fixed. Where it is short, a split is refused, and the threshold
 *   grows by a sixteenth: so does the error, which bounds tell.
 * - Merges come one by one, as a clock's hand passes over the ranges. A batch
 *   of them (section 3.1) would stop an NMI for as long as a walk takes.
 * - An address belongs to an address space. Each has a tree of its own; they
 *   share the memory, n and so the threshold, so that precision goes to what
 *   is hot of all that runs.
 * - Where a value was counted last is tried first (the buffer of section 3.3.1,
 *   stage 0, misses too often in software). It is no more than a hint, so that counts
 *   are the same with any hints and with none.
 */
#ifndef HWPROF_ENGINE_RANGE_TREE_H
#define HWPROF_ENGINE_RANGE_TREE_H

#include "types.h"

enum {
	RANGE_BITS	= 64,
	RANGE_BRANCH	= 2,	/* bits that a level takes: four siblings */
	RANGE_SIBLINGS	= 1 << RANGE_BRANCH,
	RANGE_LEVELS	= RANGE_BITS / RANGE_BRANCH,

	RANGE_HINTS	= 1024,	/* of values; a power of two */
	RANGE_NEAR_BITS	= 8,	/* log2 of the size of a region, */
	RANGE_NEARS	= 256,	/* and hints of these, likewise */
};

#define RANGE_NO_ROOT	U32_MAX	/* of a block that is free, or of roots */

/*
 * Four ranges side by side: a cache line. A node is named by its block's
 * number, times four, plus its place in it.
 *
 * The first blocks have roots: the range of all values in an address space.
 */
struct range_block {
	u64 count[RANGE_SIBLINGS];	/* what the range itself was counted */
	u32 child[RANGE_SIBLINGS];	/* block of its quarters; 0: none */
	u64 low;		/* lowest value of the first one */
	u32 root;		/* node of the tree's root */
	u16 shift;		/* log2 of a range's size */
	u16 reserved;
	/* A block that is free: child[0] is the next one. */
};

/* Weight that rows have told of, of each of a block's ranges. */
struct range_told {
	u64 count[RANGE_SIBLINGS];
};

struct range_tree {
	struct range_block *blocks;
	struct range_told *told;
	u64 *owners;		/* of each root: address space + 1; 0: free */
	u32 root_blocks;	/* a power of two */
	u32 block_count;	/* with those of roots */
	u32 top;		/* those from here on were never used, and */
	u32 free;		/* a list of others that are free; 0: none */
	u32 room;		/* how many are free, in all */
	u32 hand;		/* block that was passed last */
	u32 passed;		/* blocks, since the threshold was raised */
	u32 pace;		/* events until the next is passed */
	u64 n;			/* weight counted, of trees that are there, */
	u64 n_told;		/* and of that, what rows told of */
	u64 epsilon;		/* in 2^-32 */
	u64 raised;		/* the threshold is no lower; see range_refuse() */
	u64 threshold;
	u64 refused;		/* splits */
	u32 hint[RANGE_HINTS];	/* blocks */
	u32 near[RANGE_NEARS];
};

/* @memory: @size bytes, 64 blocks or more, for all that @tree points to. */
void range_tree_init(struct range_tree *tree, void *memory, size_t size,
		     u32 epsilon_ppm);
/* As it was then. */
void range_tree_clear(struct range_tree *tree);

/* The root of @space, made if need be; RANGE_NO_ROOT: there is no room. */
u32 range_root(struct range_tree *tree, u32 space);
/* The same, if there is one. */
u32 range_root_find(const struct range_tree *tree, u32 space);

/* Counts @weight of which no more is known than its range. */
void range_count_range(struct range_tree *tree, u32 root, u64 low, u32 bits,
		       u64 weight);

/* Takes the tree of @root away; the weight of which no row told. */
u64 range_root_drop(struct range_tree *tree, u32 root);

/* Nodes from here on are not in use. */
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

static inline u32 range_bits(const struct range_tree *tree, u32 node)
{
	return range_is_root(tree, node) ? RANGE_BITS :
					   range_block(tree, node)->shift;
}

static inline u64 range_low(const struct range_tree *tree, u32 node)
{
	const struct range_block *block = range_block(tree, node);

	return range_is_root(tree, node) ? 0 :
	       block->low + ((u64)(node % RANGE_SIBLINGS) << block->shift);
}

/* The address space of a node that is in use. */
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

/* --- counting ---------------------------------------------------------------- */

/* range_count(), where the hint or the range is not what it was. */
void range_count_slowly(struct range_tree *tree, u32 root, u64 value,
			u64 weight, u32 *hint);

/* The clock's hand moves on. */
void range_pass(struct range_tree *tree);

static __always_inline u32 range_hash(u64 key, u32 count)
{
	return (u32)(key * HASH_PRIME >> 32) & (count - 1);
}

/* Are there ranges of the tree in @block that contain @value? */
static __always_inline bool range_contains(const struct range_block *block,
					   u32 root, u64 value)
{
	return block->root == root &&
	       (block->low ^ value) >> block->shift < RANGE_SIBLINGS;
}

/* Counts an event in the tree of @root. */
static __always_inline void range_count(struct range_tree *tree, u32 root,
					u64 value, u64 weight)
{
	u32 *hint = &tree->hint[range_hash(value + root, RANGE_HINTS)];
	struct range_block *block = &tree->blocks[*hint];

	tree->n += weight;
	if (likely(range_contains(block, root, value))) {
		u32 at = (block->low ^ value) >> block->shift;

		if (likely(!block->child[at] &&
			   (!block->shift ||
			    block->count[at] + weight < tree->threshold))) {
			block->count[at] += weight;
			if (unlikely(!--tree->pace))
				range_pass(tree);
			return;
		}
	}
	range_count_slowly(tree, root, value, weight, hint);
}

#endif /* HWPROF_ENGINE_RANGE_TREE_H */
