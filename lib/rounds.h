/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Branch stacks, or stacks of calls, that wait until it is known what was mapped when they were
 * taken. perf reads the CPUs' rings in rounds, and marks the end of each. A map
 * that was made before a sample was taken is in the same round as the sample,
 * or in the next one: so two rounds are kept.
 */
#ifndef HWPROF_ROUNDS_H
#define HWPROF_ROUNDS_H

#include "sites.h"

struct round {
	uint8_t *bytes;		/* stacks, each before its branches, if it has
				 * them to itself, or its addresses */
	size_t size, room;
	uint64_t last;		/* time of any record; 0: none */
};

struct rounds {
	struct round older, newer;
};

void rounds_init(struct rounds *rounds);
void rounds_destroy(struct rounds *rounds);

/* A record of @time was read. */
static inline void rounds_note(struct rounds *rounds, uint64_t time)
{
	if (time > rounds->newer.last)
		rounds->newer.last = time;
}

/*
 * Keeps @stack and, unless a repeat has them, its @branches, as branches_read()
 * gives them. False: out of memory.
 */
bool rounds_add(struct rounds *rounds, struct stack *stack,
		struct span branches);

/* @size bytes more of the newer round, a multiple of 8. NULL: out of memory. */
void *rounds_room(struct rounds *rounds, size_t size);

/* Is this more than any round of a recorder? Then it has to end. */
bool rounds_full(const struct rounds *rounds);

/* The older round was taken, and the newer one is over. */
void rounds_turn(struct rounds *rounds);

/* Takes the stack at *@at of the round. False: it has no more. */
bool round_take(const struct round *round, size_t *at, struct stack *stack);

#endif /* HWPROF_ROUNDS_H */
