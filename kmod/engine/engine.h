/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * engine_ops: the only coupling between what becomes of events and the rest.
 *
 * An engine has two kinds of memory, both given to it (design: two tiers, as
 * in the co-processor paper):
 *
 *   a table	what was learnt. Written by one CPU at a time; merged into a
 *		profile, which is a table too, only larger, in process context.
 *   a cursor	where one task is just now. Belongs to its task; outlives
 *		tables, and may meet a different table at every event.
 *
 * feed() runs in NMI: no locks, no allocation, no floats, bounded work. The
 * others run in process context or where nobody feeds the same table.
 */
#ifndef HWPROF_ENGINE_ENGINE_H
#define HWPROF_ENGINE_ENGINE_H

#include "stream.h"
#include "../config/registry.h"
#include "../../uapi/linux/hwprof.h"

struct window;

struct window_counts {
	u64 events;
	u64 units;
	u64 gaps;
};

struct engine_params {
	u64 span;	/* longest back edge in bytes */
	u32 basis;	/* enum hwprof_basis of all rows */
	u64 seed;	/* keys the hashes, so that users cannot choose collisions */
	u32 epsilon_ppm;	/* largest error of a range; 0: the default */
	u32 range_of;	/* enum hwprof_range_of */
	u32 metrics;	/* of sampled stacks: up to HWPROF_METRICS_MAX */
	u32 parts;	/* of a joint engine: 1 << enum joint_part, each */
};

/*
 * Receives one row. @row begins with struct hwprof_row, of which the engine
 * fills type, size and space. @ip, @addr: the thing's place and other end;
 * @period: the increase of the unit. False: refused; the engine keeps what
 * the row said and offers it again another time.
 */
typedef bool (*engine_emit)(void *context, const void *row, u64 ip, u64 addr,
			    u64 period);

/* A sample: one event that stands for `period` units, and its row. */
struct engine_sample {
	u64 ip;		/* where the thing is */
	u64 addr;	/* its other end */
	union {
		struct hwprof_row row;
		struct hwprof_row_loop loop;
		struct hwprof_row_range range;
		struct hwprof_row_box box;
		struct hwprof_row_call call;
		struct hwprof_row_edge edge;
		struct hwprof_row_context context;
		struct hwprof_row_path path;
		struct hwprof_row_value value;
		struct {
			struct hwprof_row_branches row;
			struct hwprof_branch branch;
		} branch;
	};
};

struct engine_ops {
	const char *name;	/* as in HWPROF_FIELDS */

	/*
	 * The engine does not summarise. Its tables are emitted by the CPU that
	 * fills them, as soon as they are full, their task leaves or its
	 * address space changes; what is refused then is given up by forget().
	 * There is no profile and no merge().
	 */
	bool immediate;

	size_t cursor_size;	/* bytes */

	/* Bytes of the smallest table that is of use. */
	size_t table_min;

	/*
	 * Makes an empty table of @size bytes (8-aligned) that are 0. What is
	 * not needed yet is not touched, and may have no memory behind it.
	 */
	void (*table_init)(void *table, size_t size,
			   const struct engine_params *params);

	/*
	 * Makes @cursor that of a thread of which nothing was seen yet; @tid
	 * is its number in the opener's pid namespace.
	 */
	void (*cursor_init)(void *cursor, u32 tid);

	/* How many units (back edges, branches, ...) the event is. */
	unsigned int (*unit)(const struct engine_params *params,
			     const struct stream_event *event);

	/*
	 * One event of the cursor's task; samples have no @cursor. False: the
	 * table is crowded, and wants to be retired (immediate: emitted) now.
	 */
	bool (*feed)(void *table, void *cursor,
		     const struct stream_event *event);

	/*
	 * All of a window, before and behind which nothing was seen; adds to
	 * @counts. For tables whose basis is not exact. May be NULL.
	 */
	bool (*feed_window)(void *table, struct window *window,
			    struct window_counts *counts);

	/*
	 * Would feeding the window, walked to its end here, change nothing but
	 * counts? Others that were fed since the table was merged may then be
	 * fed again before it or behind it. May be NULL, where each thing is
	 * counted by itself: then no window depends on others.
	 */
	bool (*knows_window)(void *table, struct window *window);

	/*
	 * A window that was chosen by time was fed; it was taken at @ip, where
	 * the time goes to. May be NULL.
	 */
	void (*taken)(void *table, u64 ip, u32 space);

	/*
	 * A sampled stack, for tables whose basis is not exact: counts it, if
	 * one like it was there before. False: it is to be fed. Both may be
	 * NULL.
	 */
	bool (*count_stack)(void *table, const struct stream_stack *stack);

	/* Any stack, with its procedures; as feed(). */
	bool (*feed_stack)(void *table, const struct stream_stack *stack);

	/*
	 * Takes up to @limit items out of @table into @profile, of those that
	 * are more work than others fewer, and returns how many; fewer than
	 * @limit: the table is empty and as after table_init(). The limit lets a
	 * caller bound how long it holds a lock.
	 */
	size_t (*merge)(void *profile, void *table, size_t limit);

	/*
	 * Works out what rows() is to say of @space or, where that is 0, of
	 * every address space: from *@at on, which is 0 at first, and no more
	 * than some @limit looks at things. False: there is more to do, for
	 * which nothing may come in between. May be NULL.
	 */
	bool (*settle)(void *profile, u32 space, size_t *at, size_t limit);

	/*
	 * Emits a row for each thing of @space (0: of all) that grew since its
	 * last row, from the *@at'th thing on. False: the row of thing *@at was
	 * refused.
	 */
	bool (*rows)(void *profile, u32 space, size_t *at, engine_emit emit,
		     void *context);

	/* The row of a sample that stands for @period units, by one event. */
	void (*sample)(const struct engine_params *params,
		       const struct stream_event *event, u64 period,
		       struct engine_sample *sample);

	/* Address space @space is gone and its rows were delivered. */
	void (*forget)(void *profile, u32 space);

	/* Units given up so far for want of memory, in a table or a profile. */
	u64 (*evicted)(const void *table);

	/* Units that are in the table or profile and in no row yet. */
	u64 (*pending)(const void *table);
};

/* All of it, however long that takes. */
static inline void engine_settle(const struct engine_ops *engine, void *profile,
				 u32 space)
{
	size_t at = 0;

	if (engine->settle)
		engine->settle(profile, space, &at, ~0UL);
}

#define X(name, engine, caps)	extern const struct engine_ops engine##_engine;
HWPROF_ENGINES(X)
#undef X

/* The same, as HWPROF_ENGINES has them. */
extern const struct engine_ops *const engines[ENGINE_COUNT];

extern const struct engine_ops joint_engine;	/* several of them */

#endif /* HWPROF_ENGINE_ENGINE_H */
