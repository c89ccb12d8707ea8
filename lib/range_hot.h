/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ranges of one stream of values, from what rows say of each, and which of
 * them are hot (Mysore et al.: Profiling over Adaptive Ranges, section 5.1).
 */
#ifndef HWPROF_RANGE_HOT_H
#define HWPROF_RANGE_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value; or a pair, as range_box.h has it. */
typedef unsigned __int128 range_number;

struct range_node {
	range_number low;
	uint32_t bits;		/* log2 of the size, to 64; of pairs, to 128 */
	uint64_t own;		/* counted in it and in no smaller range */
	uint64_t count;		/* in it: at least, ... */
	uint64_t around;	/* ... and at most so many more */
	uint64_t rest;		/* of `count`, what no hot range inside it has */
	bool hot;		/* `rest` is much */
	size_t parent;		/* in the array; RANGE_NONE */
};

#define RANGE_NONE	SIZE_MAX

/* First filled, then built: then nodes are in order, parents before children. */
struct range_set {
	struct range_node *nodes;
	size_t count, room;
};

/* -ENOMEM. */
int range_set_add(struct range_set *set, range_number low, uint32_t bits,
		  uint64_t count);
/* Those are hot whose `rest` is @hot or more. -ENOMEM. */
int range_set_build(struct range_set *set, double hot);
void range_set_free(struct range_set *set);

/* What numbers in a range of 2^@bits differ by, at most. */
static inline range_number range_extent(uint32_t bits)
{
	return bits == 128 ? ~(range_number)0 : ((range_number)1 << bits) - 1;
}

static inline range_number range_last(const struct range_node *node)
{
	return node->low + range_extent(node->bits);
}

#endif /* HWPROF_RANGE_HOT_H */
