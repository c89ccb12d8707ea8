/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one walk over branches. Loops, calls and paths read their events off it.
 *
 * A frame's execution is cut into segments: from where a jump, call or return
 * leads, over forward jumps, to the next back edge, call, return or gap (or
 * after FLOW_EDGES jumps). Addresses only grow inside a segment. So a region
 * of code is entered at most once in it, and everything static about it, such
 * as which loops it enters, is a function of its branches alone. A segment
 * with the same branches is the same segment: it is looked up once, when it
 * ends, and counted. What follows from the count is worked out later, when
 * all regions are known, and in process context.
 *
 * (Ammons, Ball, Larus, section 2: paths end at back edges and returns. Calls
 * end segments too, so that a frame in flight needs no memory of its branches.)
 */
#ifndef HWPROF_ENGINE_FLOW_H
#define HWPROF_ENGINE_FLOW_H

#include "stream.h"

enum {
	FLOW_EDGES	= 3,	/* forward jumps in a segment; few have more */
	FLOW_DEPTH	= 256,	/* frames kept; a power of two */
	FLOW_WAYS	= 4,
	FLOW_CALL_MAX	= 15,	/* longest instruction */
};

#define FLOW_PRIME	0x9e3779b97f4a7c15ULL

/* One look-up touches one of these, a cache line. */
struct flow_set {
	u64 key[FLOW_WAYS];	/* 0: free */
	u64 count[FLOW_WAYS];
};

struct flow_edge {
	u32 from;		/* offsets from the segment's start */
	u32 to;
};

struct flow_segment {
	u64 start;		/* where its line begins */
	u64 target;		/* where the last branch, a jump, leads; else 0 */
	u32 space;
	u32 end;		/* offset of the last branch from start */
	u8 kind;		/* enum stream_kind of the last branch */
	u8 called;		/* start is where a call led */
	u8 edges;
	u8 reserved[5];
	struct flow_edge edge[FLOW_EDGES];
};

struct flow_table;
typedef void (*flow_evict)(struct flow_table *table,
			   const struct flow_segment *segment, u64 count);

struct flow_table {
	struct flow_set *sets;
	struct flow_segment *segments;	/* FLOW_WAYS for each set */
	u32 set_count;			/* a power of two */
	u32 shift;			/* of a key: its high bits are the set */
	u32 claimed;			/* segments that were not found, so far */
	u64 seed;
	flow_evict evict;		/* a segment must make room */
};

struct flow_frame {
	u64 site;		/* call's address; handler's: where the line was */
	bool handler;		/* opened by a signal */
};

/*
 * A cursor's part of the walk. A frame is named by its depth, which counts on
 * when more than FLOW_DEPTH are open; those below `bottom` are forgotten.
 */
struct flow {
	u64 signature;		/* of the segment in flight */
	u64 start;
	u64 position;		/* where the last branch led; ~0: unknown */
	u32 space;
	u8 called;
	u8 edges;
	u32 depth;		/* frames open */
	u32 bottom;		/* the lowest that is remembered */
	struct flow_edge edge[FLOW_EDGES];
	struct flow_frame frame[FLOW_DEPTH];	/* [i]: of frame i + 1 */
};

/* What a branch that ended a segment did to the frames. */
enum flow_turn {
	FLOW_NONE,
	FLOW_JUMP,	/* stayed in its frame */
	FLOW_ENTER,	/* frame flow.depth was opened */
	FLOW_LEAVE,	/* all frames above flow.depth were closed */
	FLOW_RESTART,	/* so was the lowest: a return to unknown code */
	FLOW_CUT,	/* nothing from before holds any more */
};

size_t flow_table_size(u32 sets);
void flow_table_init(struct flow_table *table, void *memory, u32 sets,
		     u64 seed, flow_evict evict);
void flow_init(struct flow *flow);

/*
 * Any branch. First, does it follow from what is known? False: no, something
 * was not seen, and nothing from before holds any more. Then, what does it do?
 */
bool flow_sync(struct flow *flow, struct flow_table *table,
	       const struct stream_event *event);
enum flow_turn flow_turn(struct flow *flow, struct flow_table *table,
			 const struct stream_event *event);

/* Adds @count to a segment, which is new or known. */
void flow_table_add(struct flow_table *table, u64 key,
		    const struct flow_segment *segment, u64 count);

/*
 * How often the segment enters the region [head, tail]: 0, 1, or 2 (in its
 * middle, and again by its last jump).
 */
unsigned int flow_entries(const struct flow_segment *segment, u64 head,
			  u64 tail);

/* Does the segment end with a back edge? */
static inline bool flow_is_back_edge(const struct flow_segment *segment,
				     u64 span)
{
	u64 last = segment->start + segment->end;

	return segment->kind == STREAM_JUMP && segment->target <= last &&
	       last - segment->target <= span;
}

/* --- the common cases, inline ------------------------------------------ */

/* Is the branch where the line in flight can lead? */
static __always_inline bool flow_follows(const struct flow *flow,
					 const struct stream_event *event)
{
	return event->space == flow->space && event->from >= flow->position &&
	       !((event->from - flow->start) >> 32);
}

/* A forward jump may only lengthen the segment. */
static __always_inline bool flow_forward(struct flow *flow, u64 from, u64 to)
{
	unsigned int i = flow->edges;

	if (i == FLOW_EDGES || (to - flow->start) >> 32)
		return false;
	flow->signature = (flow->signature ^ from ^ (to << 32 | to >> 32)) *
			  FLOW_PRIME;
	flow->edge[i].from = from - flow->start;
	flow->edge[i].to = to - flow->start;
	flow->edges = i + 1;
	flow->position = to;
	return true;
}

static __always_inline void flow_begin(struct flow *flow, u64 start,
				       bool called)
{
	flow->start = start;
	flow->position = start;
	flow->signature = (start << 1 | called) * FLOW_PRIME;
	flow->called = called;
	flow->edges = 0;
}

static __always_inline u64 flow_key(const struct flow *flow,
				    const struct flow_table *table, u64 end,
				    u64 target, unsigned int kind)
{
	u64 salt = (u64)flow->space << 8 ^ (u64)kind << 60 ^ table->seed;

	return ((flow->signature ^ end ^ (target << 32 | target >> 32) ^ salt) *
		FLOW_PRIME) | 1;
}

static __always_inline struct flow_set *
flow_key_set(const struct flow_table *table, u64 key)
{
	return &table->sets[key >> table->shift];
}

/* The way that a new segment takes if it is free. */
static __always_inline unsigned int flow_key_way(u64 key)
{
	return key >> 24 & (FLOW_WAYS - 1);
}

void flow_end_slow(struct flow *flow, struct flow_table *table, u64 key,
		   u64 end, u64 target, unsigned int kind);

/* The segment in flight ends at @end, inclusive. */
static __always_inline void flow_end(struct flow *flow,
				     struct flow_table *table, u64 end,
				     u64 target, unsigned int kind)
{
	u64 key = flow_key(flow, table, end, target, kind);
	struct flow_set *set = flow_key_set(table, key);
	unsigned int way = flow_key_way(key);

	if (likely(set->key[way] == key))
		set->count[way]++;
	else
		flow_end_slow(flow, table, key, end, target, kind);
}

static __always_inline void flow_push(struct flow *flow, u64 site,
				      bool handler)
{
	struct flow_frame *frame =
		&flow->frame[flow->depth++ & (FLOW_DEPTH - 1)];

	frame->site = site;
	frame->handler = handler;
	if (unlikely(flow->depth - flow->bottom > FLOW_DEPTH))
		flow->bottom++;
}

/* Does a return to @to match the innermost frame? */
static __always_inline bool flow_returns(const struct flow *flow, u64 to)
{
	const struct flow_frame *frame =
		&flow->frame[(flow->depth - 1) & (FLOW_DEPTH - 1)];

	return flow->depth != flow->bottom && !frame->handler &&
	       to - frame->site - 1 < FLOW_CALL_MAX;
}

#endif /* HWPROF_ENGINE_FLOW_H */
