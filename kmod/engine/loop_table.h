/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The loop engine's table, shared by its files:
 *
 *	loop.c		walks over every branch
 *	loop_window.c	walks over windows
 *	loop_table.c	finds loops, and which of them a segment enters
 *	loop_order.c	keeps loops in order
 *	loop_time.c	has the places where windows were taken
 *	loop_profile.c	merges tables and makes rows
 */
#ifndef HWPROF_ENGINE_LOOP_TABLE_H
#define HWPROF_ENGINE_LOOP_TABLE_H

#include "engine.h"
#include "flow.h"
#include "window.h"
#include "../../uapi/linux/hwprof.h"

enum {
	LOOP_WAYS	= 4,
	LOOPS_MAX	= 1 << 15,	/* most loops of a table */
	/* Most loops that an interrupt looks at in a range of heads. */
	LOOPS_LOOKED_AT	= 256,
	EFFECTS		= 2,		/* per segment on average */
	EFFECTS_MAX	= 255,		/* of one segment */
	/* Changes of regions that are kept; a power of two. */
	CHANGES		= 16,
};

struct loop {
	/*
	 * The first cache line has what the end of an execution needs, except
	 * trips.
	 */
	u64 head;		/* 0: the slot is free */
	u64 tail;
	u32 space;
	u8 fresh;
	/* The loop was evicted before. The entries until then are unknown. */
	u8 rebase;
	u64 heat;		/* iterations; replacement takes the lowest */
	u64 executions;		/* all counts: what is in no row yet */
	u64 trip_min;		/* 0: no execution yet */
	u64 trip_max;
	u64 trip_recent;	/* in 1/256; 0: no execution yet */

	u32 trips[HWPROF_TRIP_BUCKETS];
	u32 tails;		/* how often the region grew, plus 1 */
	u32 tolerance;
	u64 back_edges;
	s64 entries;		/* of segments that were evicted */
	/* Entries of segments in the table: see loop_settle(). */
	s64 settled;
	s64 emitted;		/* part of settled that rows carried */
	u64 unclosed;
	/* Profile: all executions and unclosed ones, ever. */
	u64 runs;
	u64 sum_back_sq;	/* sums over windows, as in the row */
	u64 sum_entry_sq;
	u64 sum_cross;
	u64 reserved[2];	/* makes the first part a cache line */
};

/* The effect of one run of a segment on one loop. */
struct effect {
	u32 loop;		/* its slot in the table */
	u32 counts;		/* as in struct tally */
};

/*
 * A loop's last window, and its effects on the loop. @counts are two counts of
 * 16 bits each, enough for windows of 16,383 branches.
 */
enum {
	TALLY_BACK_EDGE	= 1,
	TALLY_ENTRY	= 1 << 16,
};

struct tally {
	u32 window;
	u32 counts;
	u32 times;		/* how often the window was seen */
};

/* A place where windows were taken that time chose. */
struct place {
	u64 ip;
	u64 windows;		/* in no row yet; 0: the slot is free */
	u32 space;
};

/* All effects of one run of a segment, found when the table had @version. */
struct effects {
	u64 key;		/* of the segment */
	u32 version;
	u32 count;
	struct effect *effect;	/* in table->effect */
};

/* A change: a region that is new, has grown, or is gone. */
struct change {
	u64 head;
	u64 tail;
	u32 space;
	u32 loop;		/* its slot */
};

struct loop_table {
	struct flow_table flow;
	struct engine_params params;
	struct loop *loops;
	/*
	 * One per segment's slot: offset in loops of the loop that the segment
	 * jumps back to, if it is still there.
	 */
	u32 *hints;
	u16 *order;		/* used slots, by space and then head */
	/*
	 * One per slot: the loop before it in order, of the same space; or
	 * ORDER_NONE.
	 */
	u16 *before;
	/*
	 * One per slot: the last loop before it with a greater tail, of the
	 * same space; or ORDER_NONE.
	 */
	u16 *further;
	u32 slots;		/* a power of two */
	u32 loops_size;		/* bytes */
	u32 used;
	u64 longest;		/* greatest tail - head of all loops */
	u64 evicted;		/* back edges that were given up */
	/* Loops have the back edges of segments already. */
	bool is_profile;
	u64 gone;		/* executions of evicted loops */
	bool dropped;		/* a loop was evicted */
	struct engine_listener *listener;	/* or NULL */
	size_t merged;		/* items that loop_merge() has finished */
	/* Loops that evicted segments looked at. */
	u64 looked;
	/*
	 * One per segment's slot. NULL: there are no windows, every branch is
	 * seen. The members below are for windows only.
	 */
	struct effects *effects;
	struct tally *tallies;	/* one per loop's slot */
	struct place *places;	/* as many as slots */
	struct effect *effect;	/* memory of all effects */
	u32 effect_room;
	u32 effect_used;
	struct change *changes;	/* the last CHANGES ones */
	u32 version;		/* grows with every change */
	u32 window;		/* number of the window in flight */
	/* How often that was seen, and its line. */
	u32 times;
	const struct line *window_of;
};

/*
 * Return a loop's first or second set. A loop is put into the emptier of the
 * two, so that a table is nearly full before it has to evict.
 */
static __always_inline struct loop *loop_set(const struct loop_table *table,
					     u64 head, u32 space,
					     unsigned int choice)
{
	u64 hash = (head ^ (u64)space << 40 ^ table->params.seed) * HASH_PRIME;

	if (choice)
		hash = (hash ^ hash >> 32) * HASH_PRIME;
	return &table->loops[hash >> 40 & (table->slots - LOOP_WAYS)];
}

/*
 * Return true if the slot has that loop. A free slot's head is 0, which no loop
 * has.
 */
static __always_inline bool loop_is(const struct loop *loop, u64 head,
				    u32 space)
{
	return loop->head == head && loop->space == space;
}

static __always_inline struct loop *loop_find(const struct loop_table *table,
					      u64 head, u32 space)
{
	unsigned int choice, way;

	for (choice = 0; choice < 2; choice++) {
		struct loop *loop = loop_set(table, head, space, choice);

		for (way = 0; way < LOOP_WAYS; way++, loop++)
			if (loop_is(loop, head, space))
				return loop;
	}
	return NULL;
}

struct loop *loop_get(struct loop_table *table, u64 head, u64 tail, u32 space);

/* loop_order.c. A slot number that is none. */
#define ORDER_NONE	0xffff

void order_insert(struct loop_table *table, const struct loop *loop);
void order_remove(struct loop_table *table, const struct loop *loop);
void order_grow(struct loop_table *table, const struct loop *loop);
void order_link(struct loop_table *table);

/**
 * order_last() - Find the last loop at or before an address
 * @table: the table.
 * @head: the address.
 * @space: address space.
 *
 * Return: slot of the last loop of @space with a head up to @head, or
 *	ORDER_NONE.
 */
u16 order_last(const struct loop_table *table, u64 head, u32 space);

void loop_set_tail(struct loop_table *table, struct loop *loop, u64 tail);
void loop_freshen(struct loop_table *table, struct loop *loop);

/**
 * loop_tolerate() - Add to a loop's tolerance
 * @loop: the loop.
 * @executions: how many executions may have been split, or are missing.
 */
void loop_tolerate(struct loop *loop, u64 executions);

/**
 * loop_clear() - Free a loop's slot and give its back edges up
 * @table: the table.
 * @loop: the loop, which the caller takes out of table->order.
 */
void loop_clear(struct loop_table *table, struct loop *loop);

/* Invalidate all effects. */
void loop_forget_effects(struct loop_table *table);

/**
 * loop_count_back_edges() - Count the back edges that a segment took
 * @table: the table.
 * @segment: the segment.
 * @count: how often it ran.
 *
 * Return: the loop that it jumps back to; NULL if it does not end with a back
 *	edge.
 */
struct loop *loop_count_back_edges(struct loop_table *table,
				   const struct flow_segment *segment,
				   u64 count);

void loop_segment_evicted(struct flow_table *flow,
			  const struct flow_segment *segment, u64 count);

/*
 * A search for the loops that a segment enters. Their heads are on one of the
 * segment's lines. If a jump leads into the middle of a loop, its head is below
 * the jump's target, by no more than the length of the longest loop, and the
 * loop reaches the target. These ranges of heads are searched downwards, so
 * that the innermost loops are found even if the search is cut short.
 */
enum { RANGES = FLOW_EDGES + 2 };

struct range {
	u64 low, high;		/* limits of heads */
	u64 least;		/* least tail */
};

struct entered {
	const struct flow_segment *segment;
	u16 at;			/* slot of the next candidate, or ORDER_NONE */
	u32 most, left;		/* candidates to look at: per range, now */
	u32 looked;		/* candidates of the earlier ranges */
	u8 ranges, range;
	struct range heads[RANGES];
	unsigned int entries;	/* that one run of the segment makes */
};

/**
 * entered_begin() - Begin to search for loops that a segment enters
 * @table: the table.
 * @segment: the segment.
 * @most: most loops to look at in each range.
 *
 * Return: the search.
 */
struct entered entered_begin(const struct loop_table *table,
			     const struct flow_segment *segment, u32 most);

/**
 * entered_next() - Find the next loop that the segment enters
 * @table: the table.
 * @entered: the search; @entered->entries is set to the entries of one run.
 *
 * Return: the loop; NULL at the end.
 */
struct loop *entered_next(const struct loop_table *table,
			  struct entered *entered);

/* loop_window.c. A cursor's line in flight. */
struct line {
	u64 start;		/* ~0: not known */
	u64 position;		/* code before this address has run */
	u64 salt;		/* hash of the space and the table's seed */
	u32 space;
};

/*
 * The line before the first event. Were start and salt both 0, a branch at ~0
 * would have the signature ~0, and flow_mix() would give all of them the same
 * key.
 */
#define LINE_UNKNOWN	((struct line){ .start = ~0ULL, .position = ~0ULL })

size_t window_table_size(u32 loops, u32 segments);
void window_table_init(struct loop_table *table, void *memory);
void window_close(struct loop_table *table, struct loop *loop);
bool line_feed(struct loop_table *table, struct line *line,
	       const struct stream_event *event);
bool loop_knows_window(void *table, struct window *window);

/* loop_time.c */
void loop_window_taken(void *table, u64 ip, u32 space);

static inline size_t places_count(const struct loop_table *table)
{
	return table->places ? table->slots : 0;
}

void place_merge(struct loop_table *profile, struct place *from);
bool places_rows(struct loop_table *table, u32 space, size_t *at, size_t limit,
		 engine_emit emit, void *context);
void places_forget(struct loop_table *table, u32 space);

/* loop_profile.c: members of engine_ops. */
size_t loop_merge(void *profile, void *table, size_t limit);
bool loop_settle(void *profile, u32 space, size_t *at, size_t limit);
bool loop_rows(void *profile, u32 space, size_t *at, size_t limit,
	       engine_emit emit, void *context);
bool loop_forget(void *profile, u32 space, size_t *at, size_t limit);
u64 loop_pending(const void *table);
u32 loop_filled(const void *table);
u64 loop_evicted(const void *table);

#endif /* HWPROF_ENGINE_LOOP_TABLE_H */
