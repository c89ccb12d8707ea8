/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offline oracle: exact loops of a full branch trace, by the plainest code
 * possible. It knows docs/definitions.md and struct stream_event, and shares
 * nothing else with the engines that are compared with it. It keeps the whole
 * trace and first finds all regions. Then it walks every thread with an
 * unlimited stack.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/stream.h"

#define ORACLE_BUCKETS	24

struct oracle_loop {
	uint32_t space;
	uint64_t head;
	uint64_t tail;
	uint64_t back_edges;
	uint64_t entries;
	uint64_t executions;	/* whole, with a back edge or more */
	uint64_t singles;	/* whole, without a back edge */
	uint64_t unclosed;	/* with a back edge; beginning or end unseen */
	uint64_t partial;	/* of these and of `open`: no entry seen */
	uint64_t cut;		/* without a back edge, cut by a gap */
	uint64_t open;		/* still running where the trace ends */
	uint64_t trip_min;	/* of `executions`; 0: none */
	uint64_t trip_max;
	uint64_t trips[ORACLE_BUCKETS];
	uint64_t parent;	/* head of the parent's region */
	bool has_parent;
};

struct oracle;

struct oracle *oracle_new(uint64_t span);
void oracle_free(struct oracle *oracle);

/* Appends @event to the trace of @thread. */
void oracle_add(struct oracle *oracle, uint32_t thread,
		const struct stream_event *event);

/* Computes the loops of the whole trace, sorted by space and head. */
void oracle_run(struct oracle *oracle);

size_t oracle_loops(const struct oracle *oracle,
		    const struct oracle_loop **loops);

/* Depth of the deepest thread: frames, and loops that took a back edge. */
struct oracle_depth {
	size_t frames;
	size_t loops;
};

struct oracle_depth oracle_depth(const struct oracle *oracle);

/* Returns the loop, or NULL if no back edge in @space goes to @head. */
const struct oracle_loop *oracle_find(const struct oracle *oracle,
				      uint32_t space, uint64_t head);

#endif /* TESTS_ORACLE_H */
