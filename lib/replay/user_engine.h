/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An engine of windows or samples in user space. It is fed into a table as
 * small as a CPU's in the module, to stay in the cache. Full tables are merged
 * into a profile, which produces the rows.
 */
#ifndef HWPROF_USER_ENGINE_H
#define HWPROF_USER_ENGINE_H

#include "engine/engine.h"
#include "engine/window.h"

#include <stdlib.h>

struct user_engine {
	const struct engine_ops *ops;
	engine_emit emit;
	void *context;

	void *table, *profile;		/* NULL: none was needed yet */
	size_t table_size;
	struct engine_params params;
	size_t merged;			/* tables since the last rows */
	struct hwprof_row_totals totals;	/* so far */
};

/*
 * @memory is the bytes for everything, at least USER_ENGINE_MEMORY_MIN. Rows go
 * to @emit, also while windows are fed; @emit must accept all. Returns 0 or
 * -ENOMEM.
 */
#define USER_ENGINE_MEMORY_MIN	(1U << 20)

int user_engine_init(struct user_engine *engine, const struct engine_ops *ops,
		     const struct engine_params *params, size_t memory,
		     engine_emit emit, void *context);
void user_engine_destroy(struct user_engine *engine);

/*
 * Merges the table into the profile and empties it, because it is nearly full.
 * Returns 0 or -ENOMEM.
 */
int user_engine_retire(struct user_engine *engine);

/*
 * Produces the rows and completes the totals, after the last window. Returns 0
 * or -ENOMEM.
 */
int user_engine_finish(struct user_engine *engine);

/*
 * Feeds a window. Returns false if the table is nearly full and must be
 * retired.
 */
static inline bool user_engine_feed(struct user_engine *engine,
				    struct window *window)
{
	struct window_counts counts = { 0 };
	bool room = engine->ops->feed_window(engine->table, window,
						 &counts);

	engine->totals.produced += counts.units;
	engine->totals.events += counts.events;
	engine->totals.gaps += counts.gaps;
	return room;
}

/* As in engine_ops; a stack is an event. */
static inline void user_engine_note_stack(struct user_engine *engine,
					  uint64_t weight)
{
	engine->totals.produced += weight;
	engine->totals.events++;
}

static inline bool user_engine_count_stack(struct user_engine *engine,
					   const struct stream_stack *stack)
{
	bool counted = engine->ops->count_stack(engine->table, stack);

	if (counted)
		user_engine_note_stack(engine, stack->weight);
	return counted;
}

/* Feeds a stack. Returns false as user_engine_feed(). */
static inline bool user_engine_feed_stack(struct user_engine *engine,
					  const struct stream_stack *stack)
{
	user_engine_note_stack(engine, stack->weight);
	return engine->ops->feed_stack(engine->table, stack);
}

/*
 * Returns true if the window may be fed in any order with others of this table.
 */
static inline bool user_engine_knows(struct user_engine *engine,
				     struct window *window)
{
	return !engine->ops->knows_window ||
	       engine->ops->knows_window(engine->table, window);
}

/* Counts a window that was fed, and was taken by time at @ip. */
static inline void user_engine_window(struct user_engine *engine, uint64_t ip,
				      uint32_t space)
{
	engine->totals.windows++;
	if (engine->ops->taken)
		engine->ops->taken(engine->table, ip, space);
}

#endif /* HWPROF_USER_ENGINE_H */
