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

struct range_node {
	uint64_t low;
	uint32_t bits;		/* log2 of the size */
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
int range_set_add(struct range_set *set, uint64_t low, uint32_t bits,
		  uint64_t count);
/* Those are hot whose `rest` is @hot or more. -ENOMEM. */
int range_set_build(struct range_set *set, double hot);
void range_set_free(struct range_set *set);

static inline uint64_t range_last(const struct range_node *node)
{
	return node->bits == 64 ? UINT64_MAX :
	       node->low + ((1ULL << node->bits) - 1);
}

#endif /* HWPROF_RANGE_HOT_H */
