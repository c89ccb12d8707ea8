/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An engine of windows or samples in user space. It is fed into a table as
 * small as a CPU's in the module, to stay in the cache. Full tables are merged
 * into a profile, which produces the rows.
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
	bool begun;			/* the profile has been initialised */
	size_t merged;			/* tables since the last rows */
	struct hwprof_row_totals totals;	/* so far */
};

/*
 * @memory is the bytes for everything, at least SUMMARY_MEMORY_MIN. Rows go to
 * @emit, also while windows are fed; @emit must accept all. Returns 0 or
 * -ENOMEM.
 */
#define SUMMARY_MEMORY_MIN	(1U << 20)

int summary_init(struct summary *summary, const struct engine_ops *engine,
		 const struct engine_params *params, size_t memory,
		 engine_emit emit, void *context);
void summary_destroy(struct summary *summary);

/*
 * Merges the table into the profile and empties it, because it is nearly full.
 */
void summary_retire(struct summary *summary);

/* Produces the rows and completes the totals, after the last window. */
void summary_finish(struct summary *summary);

/*
 * Feeds a window. Returns false if the table is nearly full and must be
 * retired.
 */
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

/* As in engine_ops; a stack is an event. */
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

/* Feeds a stack. Returns false as summary_feed(). */
static inline bool summary_feed_stack(struct summary *summary,
				      const struct stream_stack *stack)
{
	summary_note_stack(summary, stack->weight);
	return summary->engine->feed_stack(summary->table, stack);
}

/*
 * Returns true if the window may be fed in any order with others of this table.
 */
static inline bool summary_knows(struct summary *summary, struct window *window)
{
	return !summary->engine->knows_window ||
	       summary->engine->knows_window(summary->table, window);
}

/* Counts a window that was fed, and was taken by time at @ip. */
static inline void summary_window(struct summary *summary, uint64_t ip,
				  uint32_t space)
{
	summary->totals.windows++;
	if (summary->engine->taken)
		summary->engine->taken(summary->table, ip, space);
}

#endif /* HWPROF_SUMMARY_H */
