/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builds the tree of ranges of one stream from its rows, and finds the hot ones
 * (Mysore et al.: Profiling over Adaptive Ranges, section 5.1).
 */
#ifndef HWPROF_RANGE_HOT_H
#define HWPROF_RANGE_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value, or a pair as in range_box.h. */
typedef unsigned __int128 range_number;

struct range_node {
	range_number low;
	uint32_t bits;		/* log2 of the size, up to 64, for pairs 128 */
	uint64_t own;		/* events in it, and in no smaller range */
	uint64_t count;		/* lower bound of its events */
	uint64_t around;	/* upper bound - lower bound */
	uint64_t rest;		/* part of `count` that no hot range inside
				 * has */
	bool hot;		/* `rest` reaches the threshold */
	size_t parent;		/* in the array; RANGE_NONE */
};

#define RANGE_NONE	SIZE_MAX

/* Nodes are added, and then built: sorted, with parents before children. */
struct range_set {
	struct range_node *nodes;
	size_t count, room;
};

/* Returns 0 or -ENOMEM. */
int range_set_add(struct range_set *set, range_number low, uint32_t bits,
		  uint64_t count);
/*
 * Builds the set. Nodes whose `rest` is at least @hot are hot. Returns 0 or
 * -ENOMEM.
 */
int range_set_build(struct range_set *set, double hot);
void range_set_free(struct range_set *set);

/* Returns the greatest difference of two numbers in a range of 2^@bits. */
static inline range_number range_extent(uint32_t bits)
{
	return bits == 128 ? ~(range_number)0 : ((range_number)1 << bits) - 1;
}

static inline range_number range_last(const struct range_node *node)
{
	return node->low + range_extent(node->bits);
}

#endif /* HWPROF_RANGE_HOT_H */
