/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Straight code between two loop iterations or calls, as the loop engine counts
 * it. walk.h has the frames.
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
 *
 * Every branch of a profiled program comes through here: some 50 instructions,
 * where a hash table of branches takes 20 to do less. (Slower still: a look-up
 * for each line between two branches, or one path for all kinds of branches.)
 */
#ifndef HWPROF_ENGINE_FLOW_H
#define HWPROF_ENGINE_FLOW_H

#include "walk.h"

enum {
	FLOW_EDGES	= 2,	/* forward jumps in a segment */
	FLOW_WAYS	= 4,
};

/* FLOW_WAYS of them, a cache line, are a set: its segments can be in two. */
struct flow_slot {
	u64 key;		/* 0: free; else odd */
	u64 count;
};

struct flow_edge {
	u64 from;
	u64 to;
};

/* A cache line. */
struct flow_segment {
	u64 start;		/* where its line begins */
	u64 end;		/* address of the last branch */
	u64 target;		/* where that leads, if it is a jump; else 0 */
	u32 space;
	u8 called;		/* start is where a call led */
	u8 call;		/* target is where a call leads */
	u8 edges;
	u8 reserved;
	struct flow_edge edge[FLOW_EDGES];
};

struct flow_table;
typedef void (*flow_evict)(struct flow_table *table,
			   const struct flow_segment *segment, u64 count);

struct flow_table {
	struct flow_slot *slots;
	struct flow_segment *segments;	/* one for each slot */
	u32 slot_count;			/* a power of two */
	u64 mask;			/* of a slot's offset in bytes */
	u32 claimed;			/* segments that were not found, so far */
	u64 seed;
	flow_evict evict;		/* a segment must make room */
};

/* What a segment is besides its addresses, so that one store writes it. */
enum flow_shape {
	FLOW_EDGE	= 1,		/* times the forward jumps so far */
	FLOW_EDGE_MASK	= 0xff,
	FLOW_CALLED	= 1 << 8,	/* it starts where a call led */
};

/*
 * A frame that waits. If its segment had no jumps, the call is stepped
 * over, and the segment goes on when the call returns; else another begins.
 */
struct flow_frame {
	u64 start;		/* of the segment that goes on */
	u32 shape;
};

/* A cursor's part. */
struct flow {
	u64 signature;		/* of the segment in flight */
	u64 start;
	u64 salt;		/* of space and table's seed */
	u32 shape;		/* enum flow_shape */
	struct flow_edge edge[FLOW_EDGES];
	struct walk walk;
	struct flow_frame frame[WALK_DEPTH];	/* those that wait */
};

/* What a branch that ended a segment did to the frames. */
enum flow_turn {
	FLOW_NONE,
	FLOW_JUMP,	/* stayed in its frame */
	FLOW_ENTER,	/* frame walk.depth was opened */
	FLOW_LEAVE,	/* all frames above walk.depth were closed */
	FLOW_RESTART,	/* so was the lowest: a return to unknown code */
	FLOW_CUT,	/* nothing from before holds any more */
};

size_t flow_table_size(u32 slots);
void flow_table_init(struct flow_table *table, void *memory, u32 slots,
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

static inline struct flow_segment *flow_segment(const struct flow_table *table,
						const struct flow_slot *slot)
{
	return &table->segments[slot - table->slots];
}

/* NULL: the segment is not there. */
struct flow_slot *flow_table_find(const struct flow_table *table, u64 key);

/* Adds @count to a segment, which is new or known, and says where it is. */
struct flow_slot *flow_table_add(struct flow_table *table, u64 key,
				 const struct flow_segment *segment, u64 count);

/* The table took so many new segments that it pays to retire it: false. */
static inline bool flow_has_table_room(const struct flow_table *table)
{
	return table->claimed <= table->slot_count / 2;
}

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
	return segment->target && !segment->call &&
	       segment->target <= segment->end &&
	       segment->end - segment->target <= span;
}

/* --- the common cases, inline ------------------------------------------ */

/*
 * Both halves of a product, so that every bit of either address changes any
 * bit of the signature: two segments with one key would be counted as one. A
 * sum and not xor, for xor takes the complement of a start and its branch, at
 * the other end of the space, for the same.
 */
static __always_inline u64 flow_mix(u64 signature, u64 from, u64 to)
{
	return hash_product(signature + from, to ^ HASH_PRIME);
}

/* A forward jump may only lengthen the segment. */
static __always_inline bool flow_forward(struct flow *flow, u64 from, u64 to)
{
	unsigned int i = flow->shape & FLOW_EDGE_MASK;

	if (unlikely(i == FLOW_EDGES))
		return false;
	flow->signature = flow_mix(flow->signature, from, to);
	flow->edge[i].from = from;
	flow->edge[i].to = to;
	flow->shape += FLOW_EDGE;
	flow->walk.position = to;
	return true;
}

/* A segment begins at @start, of which all before @position has run. */
static __always_inline void flow_begin(struct flow *flow, u64 start,
				       u64 position, u32 shape)
{
	flow->start = start;
	flow->walk.position = position;
	flow->signature = (start ^ flow->salt ^ (u64)shape << 48) * HASH_PRIME;
	flow->shape = shape;
}

static __always_inline u64 flow_key(const struct flow *flow, u64 end,
				    u64 target)
{
	return flow_mix(flow->signature, end, target) | 1;
}

/* The slot that a segment is in, unless it is taken by one that runs more. */
static __always_inline struct flow_slot *
flow_home(const struct flow_table *table, u64 key)
{
	return (void *)table->slots + (key & table->mask);
}

/*
 * The segment in flight ends at @end, inclusive, with a jump to @target or 0.
 * NULL: that takes longer, and nothing was done.
 */
static __always_inline struct flow_slot *
flow_end_known(const struct flow *flow, const struct flow_table *table,
	       u64 end, u64 target)
{
	u64 key = flow_key(flow, end, target);
	struct flow_slot *slot = flow_home(table, key);

	if (unlikely(slot->key != key))
		return NULL;
	slot->count++;
	return slot;
}

void flow_end(const struct flow *flow, struct flow_table *table, u64 end,
	      u64 target);

static __always_inline struct flow_frame *flow_frame(struct flow *flow,
						     u32 depth)
{
	return &flow->frame[walk_index(depth)];
}

/* The frame waits; then the segment with @start goes on. */
static __always_inline void flow_push(struct flow *flow, u64 site, u8 kind,
				      u64 start, u32 shape)
{
	struct flow_frame *frame = flow_frame(flow, flow->walk.depth);

	frame->start = start;
	frame->shape = shape;
	walk_push(&flow->walk, site, kind);
}

/* The running frame returned, to @to: the line of the one below goes on. */
static __always_inline void flow_go_on(struct flow *flow, u64 to)
{
	const struct flow_frame *frame = flow_frame(flow, flow->walk.depth);

	flow_begin(flow, frame->start, to, frame->shape);
}

/* Up to where a frame that waits has run. */
static inline u64 flow_waits_at(struct flow *flow, u32 depth)
{
	u32 i = walk_index(depth);

	return flow->walk.kind[i] == WALK_CALL ? flow->walk.site[i] :
						 flow->frame[i].start;
}

#endif /* HWPROF_ENGINE_FLOW_H */
