/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
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
 *
 * Of pairs (section 5.5), an instruction and an address that it accesses, a range
 * is a box: of code by addresses. Dividing it in four takes a bit of each, so that
 * all else is as it is for single values. But boxes are not square: programs work
 * with more memory than code, so that beside 2^n bytes of code are 2^n pages (the
 * paper's example has 16 KB of code by 256 KB). Where there is no more code to
 * divide, which is below an instruction by a page, and no more addresses, which is
 * above 2^52 bytes by all of them, two bits of the other are taken.
 */
#ifndef HWPROF_ENGINE_RANGE_TREE_H
#define HWPROF_ENGINE_RANGE_TREE_H

#include "types.h"

enum {
	RANGE_BITS	= 64,
	RANGE_BRANCH	= 2,	/* bits that a level takes: four siblings */
	RANGE_SIBLINGS	= 1 << RANGE_BRANCH,
	RANGE_LEVELS	= RANGE_BITS / RANGE_BRANCH,	/* twice that of pairs */
	RANGE_SKEW	= 12,	/* log2 of the addresses beside a byte of code */

	RANGE_HINTS	= 4096,	/* of values; a power of two */
	RANGE_NEAR_BITS	= 8,	/* log2 of the size of a region, */
	RANGE_NEAR_PAIR_BITS = 24,	/* the same of pairs, */
	RANGE_NEARS	= 1024,	/* and hints of these, likewise */
};

/* What is counted. */
struct range_key {
	u64 value;		/* of pairs: the address */
	u64 code;		/* of pairs: the instruction; else 0 */
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
	u16 shift;		/* log2 of a range's size: values, or pairs */
	u16 above;		/* what the range around them was counted when it was
				 * divided, rounded down: brief() */
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
	u64 *codes;		/* of pairs: blocks' lowest code; else NULL */
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
	/*
	 * Numbers of blocks. One that does not fit is that of another block,
	 * which is looked at like any hint before it is believed.
	 */
	u16 hint[RANGE_HINTS];
	u16 near[RANGE_NEARS];
};

/* @memory: @size bytes, 64 blocks or more, for all that @tree points to. */
void range_tree_init(struct range_tree *tree, void *memory, size_t size,
		     u32 epsilon_ppm, bool pairs);
/* As it was then. */
void range_tree_clear(struct range_tree *tree);

/* The root of @space, made if need be; RANGE_NO_ROOT: there is no room. */
u32 range_root(struct range_tree *tree, u32 space);
/* The same, if there is one. */
u32 range_root_find(const struct range_tree *tree, u32 space);

/* Counts @weight of which no more is known than its range of 2^@bits. */
void range_count_range(struct range_tree *tree, u32 root, struct range_key low,
		       u32 bits, u64 weight);

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

/* --- boxes ------------------------------------------------------------------- */

/* Of the 2^@bits pairs of a box: log2 of the bytes of code. */
static inline u32 range_code_bits(u32 bits)
{
	u32 half = bits / 2;

	if (half > RANGE_BITS - RANGE_SKEW / 2)
		return bits - RANGE_BITS;
	return half > RANGE_SKEW / 2 ? half - RANGE_SKEW / 2 : 0;
}

/* How a block divides: into four of 2^code_bits by 2^value_bits. */
struct range_sides {
	u32 code_bits, value_bits;
	u32 code_branch, value_branch;	/* bits that it takes; two together */
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
 * Which range of block @number has @key inside; RANGE_SIBLINGS or more: none.
 * @pairs is what range_tree_init() was told.
 */
static __always_inline u64 range_place(const struct range_tree *tree, u32 number,
				       struct range_key key, bool pairs)
{
	const struct range_block *block = &tree->blocks[number];
	u64 value = block->low ^ key.value;

	if (!pairs)
		return value >> block->shift;
	return range_place_pair((struct range_key) {
		.value = value, .code = tree->codes[number] ^ key.code,
	}, block->shift);
}

/* --- nodes ------------------------------------------------------------------- */

/* log2 of how many values, or pairs, are in it. */
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

/* The lowest of each. */
static inline struct range_key range_low(const struct range_tree *tree, u32 node)
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
void range_count_slowly(struct range_tree *tree, u32 root, struct range_key key,
			u64 weight, u16 *hint);

/* The clock's hand moves on. */
void range_pass(struct range_tree *tree);

static __always_inline u32 range_hash(u64 key, u32 count)
{
	return (u32)(key * HASH_PRIME >> 32) & (count - 1);
}

/* Counts an event in the tree of @root; @pairs as range_place() has it. */
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
		/* No branch: which one it is cannot be foreseen. */
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
