/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The loop engine's table, among its parts: loop_table.c finds loops and what
 * enters them, loop_order.c has them in order, loop.c walks over every branch,
 * loop_window.c over windows, loop_time.c knows where windows were taken, and
 * loop_profile.c merges tables and makes rows.
 */
#ifndef HWPROF_ENGINE_LOOP_TABLE_H
#define HWPROF_ENGINE_LOOP_TABLE_H

#include "engine.h"
#include "flow.h"
#include "window.h"
#include "../../uapi/linux/hwprof.h"

enum {
	LOOP_WAYS	= 4,
	LOOPS_MAX	= 1 << 15,	/* in a table */
	LOOPS_LOOKED_AT	= 256,		/* in an interrupt, of a range of heads */
	EFFECTS		= 2,		/* remembered, of a segment on average ... */
	EFFECTS_MAX	= 255,		/* ... and of one */
	CHANGES		= 16,		/* of regions, remembered; a power of two */
};

struct loop {
	/* A cache line: what an execution's end needs, but for its trips. */
	u64 head;		/* 0: the slot is free */
	u64 tail;
	u32 space;
	u8 fresh;
	u8 rebase;		/* was evicted before: old entries are not known */
	u64 heat;		/* iterations: what replacement goes by */
	u64 executions;		/* in no row yet, like all counts here */
	u64 trip_min;		/* 0: no execution yet */
	u64 trip_max;
	u64 trip_recent;	/* in 1/256; 0: no execution yet */

	u32 trips[HWPROF_TRIP_BUCKETS];
	u32 tails;		/* how often the region grew, and one */
	u32 tolerance;
	u64 back_edges;
	s64 entries;		/* of segments that were evicted */
	s64 settled;		/* of segments in the table: loop_settle() */
	s64 emitted;		/* of settled, those that rows carried */
	u64 unclosed;
	u64 runs;		/* executions and unclosed, ever; of a profile */
	u64 cycles;
	u64 sum_back_sq;	/* over windows, as in the row */
	u64 sum_entry_sq;
	u64 sum_cross;
	u64 reserved;		/* so that the first part is a cache line */
};

/* What one run of a segment does to a loop. */
struct effect {
	u32 loop;		/* its slot in the table */
	u32 counts;		/* as in struct tally: TALLY_* */
};

/*
 * What a loop's last window was, and did to it: two counts of 16 bits in one,
 * enough for windows of 16,383 branches.
 */
enum {
	TALLY_BACK_EDGE	= 1,
	TALLY_ENTRY	= 1 << 16,
};

struct tally {
	u32 window;
	u32 counts;
	u32 times;		/* that there was such a window */
};

/* Where windows that time chose were taken. */
struct place {
	u64 ip;
	u64 windows;		/* in no row yet; 0: the slot is free */
	u32 space;
};

/* All that one run does, as found when the table had this version. */
struct effects {
	u64 key;		/* of the segment */
	u32 version;
	u32 count;
	struct effect *effect;	/* in table->effect */
};

/* A region that is new, or has grown. */
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
	u32 *hints;		/* offset in loops of the one that the segment
				 * in a slot jumps back to, if still there */
	u16 *order;		/* slots in use by space, then head. By slot: */
	u16 *before;		/* the one before it, */
	u16 *further;		/* and the last such one with a greater tail;
				 * both of its space, or ORDER_NONE */
	u32 slots;		/* a power of two */
	u32 loops_size;		/* bytes */
	u32 used;
	u64 longest;		/* greatest tail - head */
	u64 evicted;		/* back edges */
	bool is_profile;	/* its segments' back edges are in loops already */
	u64 gone;		/* executions of loops that were evicted */
	bool dropped;		/* a loop was evicted */
	size_t merged;		/* items that merge() took already */
	u64 looked;		/* at loops, for segments that were evicted */
	struct effects *effects;	/* one for each segment's slot; NULL:
				 * every branch is seen, there are no windows */
	struct tally *tallies;	/* one for each loop's slot */
	struct place *places;	/* as many as loops; only for windows */
	struct effect *effect;	/* where effects are, one behind the other */
	u32 effect_room;
	u32 effect_used;
	struct change *changes;	/* the last ones; also for windows only */
	u32 version;		/* how many there were */
	u32 window;		/* number of the one in flight, ... */
	u32 times;		/* ... how often it was seen, and whose it is */
	const struct line *window_of;
};

/*
 * A loop is in one of two sets, where it was put into the emptier one; so that
 * a table is nearly full before it has to evict.
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

/* A free slot's head is 0, which is no loop's. */
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

/* loop_order.c: no slot */
#define ORDER_NONE	0xffff

void order_insert(struct loop_table *table, const struct loop *loop);
void order_remove(struct loop_table *table, const struct loop *loop);
void order_grow(struct loop_table *table, const struct loop *loop);
void order_link(struct loop_table *table);

/* The slot of the last loop of @space with a head up to @head, or ORDER_NONE. */
u16 order_last(const struct loop_table *table, u64 head, u32 space);

void loop_set_tail(struct loop_table *table, struct loop *loop, u64 tail);
void loop_freshen(struct loop_table *table, struct loop *loop);

/* So many executions may have been split, or are missing. */
void loop_tolerate(struct loop *loop, u64 executions);

/* Gives the loop's back edges up and frees its slot, not its place in order. */
void loop_clear(struct loop_table *table, struct loop *loop);

/* What effects there are must be found again. */
void forget_effects(struct loop_table *table);

/* Back edges that @count runs of the segment took, for its loop; or NULL. */
struct loop *count_back_edges(struct loop_table *table,
			      const struct flow_segment *segment, u64 count);

void segment_evicted(struct flow_table *flow,
		     const struct flow_segment *segment, u64 count);

/*
 * The loops that a segment enters have their heads on one of its lines or, if a
 * jump leads into their middle, at most as far below its target as the longest
 * loop is long, and reach it. These ranges are gone through downwards, so that
 * the innermost are found also where not all are looked at.
 */
enum { RANGES = FLOW_EDGES + 2 };

struct range {
	u64 low, high;		/* of heads */
	u64 least;		/* of tails */
};

struct entered {
	const struct flow_segment *segment;
	u16 at;			/* slot of the next one, or ORDER_NONE */
	u32 most, left;		/* loops to look at in a range */
	u32 looked;		/* at so many in those before it */
	u8 ranges, range;
	struct range heads[RANGES];
	unsigned int entries;	/* that one run makes */
};

/* At most @most loops are looked at in each range. */
struct entered entered_begin(const struct loop_table *table,
			     const struct flow_segment *segment, u32 most);

/* One loop after the other, and entered->entries. NULL: that was all. */
struct loop *entered_next(const struct loop_table *table,
			  struct entered *entered);

/* loop_window.c. Of a cursor: the line in flight. */
struct line {
	u64 start;		/* ~0: unknown */
	u64 position;		/* what came before it has run */
	u64 salt;		/* of space and the table's seed */
	u32 space;
};

/*
 * Before the first event. Without a start, and without salt, the signature of a
 * branch at ~0 would be ~0, and that times anything gives one key: see flow_mix().
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
bool places_rows(struct loop_table *table, u32 space, size_t *at,
		 engine_emit emit, void *context);
void places_forget(struct loop_table *table, u32 space);

/* loop_profile.c: of engine_ops */
size_t loop_merge(void *profile, void *table, size_t limit);
bool loop_settle(void *profile, u32 space, size_t *at, size_t limit);
bool loop_rows(void *profile, u32 space, size_t *at, engine_emit emit,
	       void *context);
void loop_forget(void *profile, u32 space);
u64 loop_pending(const void *table);
u64 loop_evicted(const void *table);

#endif /* HWPROF_ENGINE_LOOP_TABLE_H */
