/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An engine of windows or samples in user space: a table that is fed, as small as a
 * CPU's in the module, so that it stays in the cache; and a profile that it is
 * merged into, and that gives the rows.
 */
#ifndef HWPROF_SUMMARY_H
#define HWPROF_SUMMARY_H

#include "engine/engine.h"
#include "engine/window.h"

#include <stdlib.h>

struct summary {
	const struct engine_ops *engine;
	engine_emit emit;
	void *context;

	void *table, *profile;
	size_t table_size;
	struct engine_params params;
	bool begun;			/* the profile is */
	size_t merged;			/* tables since the last rows */
	struct hwprof_row_totals totals;	/* so far */
};

/*
 * @memory: bytes for all of it, SUMMARY_MEMORY_MIN or more. Rows go to @emit,
 * which refuses none, also while windows are fed. -ENOMEM.
 */
#define SUMMARY_MEMORY_MIN	(1U << 20)

int summary_init(struct summary *summary, const struct engine_ops *engine,
		 const struct engine_params *params, size_t memory,
		 engine_emit emit, void *context);
void summary_destroy(struct summary *summary);

/* The table's turn is over: more than it can hold was seen. */
void summary_retire(struct summary *summary);

/* No window comes any more: gives the rows, and completes the totals. */
void summary_finish(struct summary *summary);

/* False: there is little room left, and it is to be retired. */
static inline bool summary_feed(struct summary *summary, struct window *window)
{
	struct window_counts counts = { 0 };
	bool room = summary->engine->feed_window(summary->table, window,
						 &counts);

	summary->totals.produced += counts.units;
	summary->totals.events += counts.events;
	summary->totals.gaps += counts.gaps;
	return room;
}

/* As engine_ops has them; a stack is an event. */
static inline void summary_note_stack(struct summary *summary, uint64_t weight)
{
	summary->totals.produced += weight;
	summary->totals.events++;
}

static inline bool summary_count_stack(struct summary *summary,
				       const struct stream_stack *stack)
{
	bool counted = summary->engine->count_stack(summary->table, stack);

	if (counted)
		summary_note_stack(summary, stack->weight);
	return counted;
}

/* False: as summary_feed(). */
static inline bool summary_feed_stack(struct summary *summary,
				      const struct stream_stack *stack)
{
	summary_note_stack(summary, stack->weight);
	return summary->engine->feed_stack(summary->table, stack);
}

/* Does it not matter which is fed first, the window or others of this turn? */
static inline bool summary_knows(struct summary *summary, struct window *window)
{
	return !summary->engine->knows_window ||
	       summary->engine->knows_window(summary->table, window);
}

/* A window was fed, which was taken at @ip, by time. */
static inline void summary_window(struct summary *summary, uint64_t ip,
				  uint32_t space)
{
	summary->totals.windows++;
	if (summary->engine->taken)
		summary->engine->taken(summary->table, ip, space);
}

#endif /* HWPROF_SUMMARY_H */
