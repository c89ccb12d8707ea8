/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * engine_ops: what the rest of the module and the library know of an engine.
 * An engine is what events become: loops, paths, calls, ...
 *
 * An engine has two kinds of memory. It allocates neither.
 *
 *	table	What was learnt. One CPU at a time writes it. In process
 *		context, it is merged into a profile, which is a larger table.
 *	cursor	Where one task is just now. It belongs to the task and outlives
 *		tables, so that it may meet another table at every event.
 *
 * feed() runs in NMI: no locks, no allocation, no floating point, bounded work.
 * The other functions run in process context, or where nobody feeds the table.
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
	u64 seed;	/* keys the hashes, against collisions by choice */
	u32 epsilon_ppm;	/* largest error of a range; 0: the default */
	u32 range_of;	/* enum hwprof_range_of */
	u32 metrics;	/* of sampled stacks: 0 to HWPROF_METRICS_MAX */
	/* Parts of a multi engine: 1 << enum multi_part each. */
	u32 parts;
};

/**
 * typedef engine_emit - Receive one row
 * @context: the caller's.
 * @row: the row, which begins with struct hwprof_row. The engine fills its
 *	type, size and space.
 * @ip: the place of the thing.
 * @addr: its other end.
 * @period: the increase of the unit.
 *
 * Return: false if the row is refused. The engine keeps what the row says, and
 *	offers it again another time.
 */
typedef bool (*engine_emit)(void *context, const void *row, u64 ip, u64 addr,
			    u64 period);

/* A sample: one event that stands for several units, and its row. */
struct engine_sample {
	u64 ip;		/* place of the thing */
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

/**
 * struct engine_listener - Who wants to know of ends of executions
 * @loop_exit: An execution of the loop [@head, @tail] is over, which was seen
 *	from its entry to its exit and had @trips iterations. It is called by
 *	feed().
 */
struct engine_listener {
	void (*loop_exit)(struct engine_listener *listener, u64 head, u64 tail,
			  u64 trips);
};

/* A path that ends: the fields of struct hwprof_program_path_end. */
struct engine_path {
	u64 start;
	u64 end;
	u64 target;
	u64 length;
	u64 signature;
};

/**
 * struct engine_ops - What an engine does
 */
struct engine_ops {
	/** @name: as in HWPROF_FIELDS. */
	const char *name;

	/**
	 * @immediate: The engine does not summarise. Its tables are emitted by
	 *	the CPU that fills them, when they are full, their task
	 *	leaves or its address space changes. Rows that are refused
	 *	then are given up by forget(). There is no profile and no
	 *	merge().
	 */
	bool immediate;

	/** @cursor_size: bytes of a cursor. */
	size_t cursor_size;

	/** @table_min: bytes of the smallest table that is of use. */
	size_t table_min;

	/**
	 * @table_init: Make an empty table of @size bytes, which are 8-aligned
	 *	and 0. Memory that is not needed yet is not touched, and may
	 *	not be there.
	 */
	void (*table_init)(void *table, size_t size,
			   const struct engine_params *params);

	/**
	 * @cursor_init: Make @cursor that of a thread of which nothing was seen
	 *	yet. @tid is its number in the opener's pid namespace.
	 */
	void (*cursor_init)(void *cursor, u32 tid);

	/**
	 * @unit: Return how many units (back edges, branches, ...) the event
	 *	is.
	 */
	unsigned int (*unit)(const struct engine_params *params,
			     const struct stream_event *event);

	/**
	 * @feed: Learn from one event of the cursor's task. Samples have no
	 *	@cursor. Return false if the table is crowded and should be
	 *	retired now (immediate: emitted).
	 */
	bool (*feed)(void *table, void *cursor,
		     const struct stream_event *event);

	/**
	 * @path_end: Return true if feeding @event in @space would end a path
	 *	that was seen from its beginning, and describe it in @path. May
	 *	be NULL without ENGINE_PATHS.
	 */
	bool (*path_end)(const void *cursor, const struct stream_event *event,
			 u32 space, struct engine_path *path);

	/**
	 * @listen: Tell @listener of ends of executions that @table sees from
	 *	now on. Nobody feeds the table yet. May be NULL without
	 *	ENGINE_EXITS.
	 */
	void (*listen)(void *table, struct engine_listener *listener);

	/**
	 * @feed_window: Learn from a window; code before and behind it ran
	 *	unseen. Add to @counts. For tables whose basis is not exact.
	 *	May be NULL. Return as feed().
	 */
	bool (*feed_window)(void *table, struct window *window,
			    struct window_counts *counts);

	/**
	 * @knows_window: Walk the window to its end. Return true if feeding it
	 *	here would change nothing that the effect of other windows
	 *	depends on. Windows that were fed since the table was merged
	 *	may then be fed again before or behind it. May be NULL if each
	 *	thing is counted by itself, so that no window depends on
	 *	others.
	 */
	bool (*knows_window)(void *table, struct window *window);

	/**
	 * @taken: A window that time chose was fed. It was taken at @ip, where
	 *	the time goes. May be NULL.
	 */
	void (*taken)(void *table, u64 ip, u32 space);

	/**
	 * @count_stack: Count a sampled stack, if one like it was there before.
	 *	Return false if not; then it must be fed. For tables whose
	 *	basis is not exact. May be NULL, with feed_stack().
	 */
	bool (*count_stack)(void *table, const struct stream_stack *stack);

	/**
	 * @feed_stack: Learn from any stack, with its procedures. Return as
	 *	feed().
	 */
	bool (*feed_stack)(void *table, const struct stream_stack *stack);

	/**
	 * @merge: Move up to @limit items from @table to @profile, or fewer if
	 *	they are more work. Return how many. If that is less than
	 *	@limit, the table is empty and as after table_init(). The
	 *	limit bounds how long a caller holds a lock.
	 */
	size_t (*merge)(void *profile, void *table, size_t limit);

	/**
	 * @settle: Work out what rows() will say of @space, or of every address
	 *	space if that is 0. Begin at *@at, which is 0 at first, and
	 *	look at about @limit things. Return false if there is more to
	 *	do; nothing may come in between. May be NULL.
	 */
	bool (*settle)(void *profile, u32 space, size_t *at, size_t limit);

	/**
	 * @rows: Emit a row for each thing of @space (0: of all) that grew
	 *	since its last row, from the *@at'th thing on. Look at about
	 *	@limit things. Return false if there is more to do, or if the
	 *	row of thing *@at was refused.
	 */
	bool (*rows)(void *profile, u32 space, size_t *at, size_t limit,
		     engine_emit emit, void *context);

	/**
	 * @sample: Make the row of a sample that stands for @period units, by
	 *	one event.
	 */
	void (*sample)(const struct engine_params *params,
		       const struct stream_event *event, u64 period,
		       struct engine_sample *sample);

	/**
	 * @forget: Address space @space is gone, and its rows were delivered.
	 *	Begin at *@at, which is 0 at first, and look at about @limit
	 *	things. Return false if there is more to do. Things of other
	 *	spaces may come and go in between.
	 */
	bool (*forget)(void *profile, u32 space, size_t *at, size_t limit);

	/**
	 * @evicted: Return the units given up so far for want of memory, in a
	 *	table or a profile.
	 */
	u64 (*evicted)(const void *table);

	/**
	 * @pending: Return the units that are in the table or profile, and in
	 *	no row yet.
	 */
	u64 (*pending)(const void *table);

	/**
	 * @filled: Return how full a table is that has not evicted anything,
	 *	in parts of ENGINE_FULL. NULL: it is not known.
	 */
	u32 (*filled)(const void *table);
};

enum { ENGINE_FULL = 1024 };

/* Settle everything, however long that takes. */
static inline void engine_settle(const struct engine_ops *engine, void *profile,
				 u32 space)
{
	size_t at = 0;

	if (engine->settle)
		engine->settle(profile, space, &at, ~0UL);
}

/* Forget a space in one go, however long that takes. */
static inline void engine_forget(const struct engine_ops *engine, void *profile,
				 u32 space)
{
	size_t at = 0;

	engine->forget(profile, space, &at, ~0UL);
}

#define X(name, engine, caps)	extern const struct engine_ops engine##_engine;
HWPROF_ENGINES(X)
#undef X

/* The same, as HWPROF_ENGINES has them. */
extern const struct engine_ops *const engines[ENGINE_COUNT];

extern const struct engine_ops multi_engine;	/* several of them */

#endif /* HWPROF_ENGINE_ENGINE_H */
