/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The regions of a trace: the final [head, tail] of every loop, and the regions
 * that contain an address.
 */
#ifndef TESTS_ORACLE_REGION_H
#define TESTS_ORACLE_REGION_H

#include "oracle.h"

/* Addresses from `start` up to the next cell lie in the same regions. */
struct cell {
	uint32_t space;
	uint64_t start;
	size_t count;		/* regions that cover it ... */
	size_t *loops;		/* ... by index */
};

struct regions {
	struct { struct oracle_loop *items; size_t count, room; } loops;
	struct { struct cell *items; size_t count, room; } cells;
};

/* Adds a back edge, in any order. regions_finish() sorts and joins them. */
void regions_add(struct regions *regions, uint32_t space, uint64_t head,
		 uint64_t from);
void regions_finish(struct regions *regions);
void regions_free(struct regions *regions);

/*
 * Returns the index of the first loop of @space whose head is at or above
 * @address.
 */
size_t regions_from(const struct regions *regions, uint32_t space,
		    uint64_t address);

/*
 * Returns the cell of @address, or NULL if it lies before all regions of
 * @space.
 */
const struct cell *regions_cell(const struct regions *regions, uint32_t space,
				uint64_t address);

static inline bool region_has(const struct oracle_loop *loop, uint64_t address)
{
	return loop->head <= address && address <= loop->tail;
}

#endif /* TESTS_ORACLE_REGION_H */
