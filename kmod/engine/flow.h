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
	FLOW_EDGES	= 8,	/* forward jumps in a segment */
	FLOW_DEPTH	= 256,	/* frames kept; a power of two */
	FLOW_WAYS	= 4,
	FLOW_CALL_MAX	= 15,	/* longest instruction */
};

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
	u64 start;		/* the line's first address; see flow.resumed */
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
	u32 set_mask;
	u64 seed;
	flow_evict evict;		/* a segment must make room */
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
	u8 edges;
	u8 called;
	struct flow_edge edge[FLOW_EDGES];

	u32 depth;		/* frames open */
	u32 bottom;		/* the lowest that is remembered */
	u64 site[FLOW_DEPTH];	/* frame's call site; handler's: where the line was */
	u64 handler[FLOW_DEPTH / 64];	/* bit: opened by a signal */
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
 * A branch that flow_forward() refused. First, does it follow from what is
 * known? False: no, something was not seen, and nothing from before holds any
 * more. Then, what does it do?
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

#define FLOW_PRIME	0x9e3779b97f4a7c15ULL

static __always_inline u64 flow_mix(u64 signature, u64 from, u64 to)
{
	return (signature ^ from ^ (to << 32 | to >> 32)) * FLOW_PRIME;
}

/* The common case: a forward jump that only lengthens the segment. */
static __always_inline bool flow_forward(struct flow *flow,
					 const struct stream_event *event)
{
	u64 from = event->from, to = event->to;

	if (event->kind > STREAM_INDIRECT || to <= from ||
	    from < flow->position || (to - flow->start) >> 32 ||
	    flow->edges == FLOW_EDGES || event->space != flow->space)
		return false;

	flow->signature = flow_mix(flow->signature, from, to);
	flow->edge[flow->edges].from = from - flow->start;
	flow->edge[flow->edges].to = to - flow->start;
	flow->edges++;
	flow->position = to;
	return true;
}

#endif /* HWPROF_ENGINE_FLOW_H */
