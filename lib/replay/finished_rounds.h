/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks of branches or calls that wait until the maps of their time are known.
 * perf reads the CPUs' rings in rounds, and marks the end of each. A map that
 * was made before a sample is in the same round as the sample, or in the next
 * one. Two rounds are therefore kept.
 */
#ifndef HWPROF_FINISHED_ROUNDS_H
#define HWPROF_FINISHED_ROUNDS_H

#include "sites.h"

struct round {
	uint8_t *bytes;		/* stacks, each followed by its branches (unless
				 * a repeat has them) or addresses */
	size_t size, room;
	uint64_t last;		/* latest time of any record; 0: none */
};

struct finished_rounds {
	struct round older, newer;
};

void rounds_init(struct finished_rounds *rounds);
void rounds_destroy(struct finished_rounds *rounds);

/* Notes that a record of @time was read. */
static inline void rounds_note(struct finished_rounds *rounds, uint64_t time)
{
	if (time > rounds->newer.last)
		rounds->newer.last = time;
}

/*
 * Keeps @stack and, unless a repeat has them, its @branches as branches_read()
 * returns them. Returns false if out of memory.
 */
bool rounds_add(struct finished_rounds *rounds, struct stack *stack,
		struct byte_reader branches);

/*
 * Returns @size further bytes of the round; @size is a multiple of 8. Returns
 * NULL if out of memory.
 */
void *round_room(struct round *round, size_t size);

/* Returns @size further bytes of the newer round, as round_room(). */
static inline void *rounds_room(struct finished_rounds *rounds, size_t size)
{
	return round_room(&rounds->newer, size);
}

/* Returns true if the round is larger than any recorder's, and must end. */
bool rounds_full(const struct finished_rounds *rounds);

/* Makes the newer round the older one, which must have been taken. */
void rounds_swap(struct finished_rounds *rounds);

/* Takes the stack at *@at of the round. Returns false at the end. */
bool round_take(const struct round *round, size_t *at, struct stack *stack);

#endif /* HWPROF_FINISHED_ROUNDS_H */
