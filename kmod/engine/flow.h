/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one walk over branches. Loops, calls and paths read their events off it.
 *
 * A frame's execution is cut into segments: from where a jump or call leads,
 * over calls and forward jumps, to the next back edge, return or gap (or after
 * FLOW_EDGES jumps). Addresses only grow inside a segment. So a region of code
 * is entered at most once in it, and everything static about it, such as which
 * loops it enters, is a function of its branches alone. A segment with the
 * same branches is the same segment: it is looked up once, when it ends, and
 * counted. What follows from the count is worked out later, when all regions
 * are known, and in process context.
 *
 * (Ammons, Ball, Larus, section 2: paths end at back edges and returns. A call
 * behind a jump ends a segment too, so that a frame that waits for its call to
 * return needs no memory of its jumps.)
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
	u64 from;
	u64 to;
};

struct flow_segment {
	u64 start;		/* where its line begins */
	u64 end;		/* address of the last branch */
	u64 target;		/* where that leads, if it is a jump; else 0 */
	u32 space;
	u8 called;		/* start is where a call led */
	u8 edges;
	u16 reserved;
	struct flow_edge edge[FLOW_EDGES];
};

struct flow_table;
typedef void (*flow_evict)(struct flow_table *table,
			   const struct flow_segment *segment, u64 count);

struct flow_table {
	struct flow_set *sets;
	struct flow_segment *segments;	/* FLOW_WAYS for each set */
	u32 set_count;			/* a power of two */
	u32 mask;			/* set_count - 1 */
	u32 claimed;			/* segments that were not found, so far */
	u64 seed;
	flow_evict evict;		/* a segment must make room */
};

/*
 * A frame that made a call. Its segment is open still if it had no jumps: the
 * call is stepped over, and it goes on when the call returns.
 */
struct flow_frame {
	u64 site;		/* call's address; handler's: where the line was */
	u64 start;		/* of the open segment; ~0: there is none */
	bool called;		/* the segment's */
	bool handler;		/* what it was left for is a signal handler */
};

/*
 * A cursor's part of the walk. A frame is named by its depth, which counts on
 * when more than FLOW_DEPTH are open; those below `bottom` are forgotten.
 */
struct flow {
	u64 position;		/* where the last branch led; ~0: unknown */
	u64 signature;		/* of the segment in flight */
	u64 start;
	u64 salt;		/* of space and table's seed */
	u32 space;
	u8 called;
	u8 edges;
	u32 depth;		/* frames open */
	u32 bottom;		/* the lowest that is remembered */
	struct flow_edge edge[FLOW_EDGES];
	struct flow_frame frame[FLOW_DEPTH];	/* [i]: frame i, below i + 1 */
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
	return segment->target && segment->target <= segment->end &&
	       segment->end - segment->target <= span;
}

/* --- the common cases, inline ------------------------------------------ */

/* Is the branch where the line in flight can lead? */
static __always_inline bool flow_follows(const struct flow *flow,
					 const struct stream_event *event)
{
	return event->from >= flow->position && event->space == flow->space;
}

static __always_inline u64 flow_mix(u64 signature, u64 from, u64 to)
{
	return (signature ^ from ^ (to << 32 | to >> 32)) * FLOW_PRIME;
}

/* A forward jump may only lengthen the segment. */
static __always_inline bool flow_forward(struct flow *flow, u64 from, u64 to)
{
	unsigned int i = flow->edges;

	if (unlikely(i == FLOW_EDGES))
		return false;
	flow->signature = flow_mix(flow->signature, from, to);
	flow->edge[i].from = from;
	flow->edge[i].to = to;
	flow->edges = i + 1;
	flow->position = to;
	return true;
}

/* A segment begins at @start, of which all before @position has run. */
static __always_inline void flow_begin(struct flow *flow, u64 start,
				       u64 position, bool called)
{
	flow->start = start;
	flow->position = position;
	flow->signature = (start ^ flow->salt ^ (u64)called << 63) * FLOW_PRIME;
	flow->called = called;
	flow->edges = 0;
}

static __always_inline struct flow_set *
flow_key_set(const struct flow_table *table, u64 key)
{
	return &table->sets[key >> 32 & table->mask];
}

/* The way that a new segment takes if it is free. */
static __always_inline unsigned int flow_key_way(u64 key)
{
	return key >> 62;
}

/*
 * The segment in flight ends at @end, inclusive, with a jump to @target or 0.
 * False: that takes longer, and nothing was done.
 */
static __always_inline bool flow_end_known(const struct flow *flow,
					   struct flow_table *table, u64 end,
					   u64 target)
{
	u64 key = flow_mix(flow->signature, end, target) | 1;
	struct flow_set *set = flow_key_set(table, key);
	unsigned int way = flow_key_way(key);

	if (unlikely(set->key[way] != key))
		return false;
	set->count[way]++;
	return true;
}

void flow_end(const struct flow *flow, struct flow_table *table, u64 end,
	      u64 target);

static __always_inline struct flow_frame *flow_frame(struct flow *flow,
						     u32 depth)
{
	return &flow->frame[depth & (FLOW_DEPTH - 1)];
}

/* A call at @site opens a frame; the segment before it is over or left open. */
static __always_inline void flow_push(struct flow *flow, u64 site, bool open)
{
	struct flow_frame *frame = flow_frame(flow, flow->depth++);

	frame->site = site;
	frame->start = open ? flow->start : ~0ULL;
	frame->called = flow->called;
	frame->handler = false;
}

/* Is there room for another frame without forgetting one? */
static __always_inline bool flow_has_room(const struct flow *flow)
{
	return flow->depth - flow->bottom != FLOW_DEPTH;
}

/* Does a return to @to match the innermost frame? */
static __always_inline bool flow_returns(const struct flow *flow, u64 to)
{
	const struct flow_frame *frame =
		&flow->frame[(flow->depth - 1) & (FLOW_DEPTH - 1)];

	return to - frame->site - 1 < FLOW_CALL_MAX && !frame->handler &&
	       flow->depth != flow->bottom;
}

/* The innermost frame returns, to @to: the line before its call goes on. */
static __always_inline void flow_leave(struct flow *flow, u64 to)
{
	const struct flow_frame *frame = flow_frame(flow, --flow->depth);

	if (frame->start == ~0ULL)
		flow_begin(flow, to - 1, to, false);
	else
		flow_begin(flow, frame->start, to, frame->called);
}

#endif /* HWPROF_ENGINE_FLOW_H */
