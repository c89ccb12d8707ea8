/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Segments: straight code between two loop iterations or calls, as the loop
 * engine counts it. walk.h has the frames.
 *
 * A frame's execution is cut into segments. A segment begins where a jump or a
 * call leads. It goes on over calls and forward jumps, up to the next back
 * edge, return or gap, or up to the jump behind FLOW_EDGES others. Addresses
 * only grow within a segment, so that it enters a region of code at most once.
 * All static facts, such as which loops it enters, are functions of its
 * branches. Segments with the same branches are one segment, which is looked up
 * and counted once, when it ends. Process context works out later what follows
 * from the count, when all regions are known.
 *
 * Ammons, Ball and Larus, section 2, end paths at back edges and returns. Here
 * a call behind a jump ends a segment, too, so that a waiting frame needs no
 * memory of its jumps.
 *
 * Every branch of a profiled program comes through here, at some 50
 * instructions each. A hash table of branches takes 20 and does less. Two other
 * designs were slower: a look-up for each line between two branches, and one
 * code path for all kinds of branches.
 */
#ifndef HWPROF_ENGINE_FLOW_H
#define HWPROF_ENGINE_FLOW_H

#include "walk.h"

enum {
	FLOW_EDGES	= 2,	/* most forward jumps in a segment */
	FLOW_WAYS	= 4,
};

/* FLOW_WAYS slots, a cache line, are a set. A segment belongs to two sets. */
struct flow_slot {
	u64 key;		/* 0: free; else odd */
	u64 count;
};

struct flow_edge {
	u64 from;
	u64 to;
};

/* One cache line. */
struct flow_segment {
	u64 start;		/* where its line begins */
	u64 end;		/* address of the branch that ends it */
	/* Target of that branch, if it is a jump or a call; else 0. */
	u64 target;
	u32 space;
	u8 called;		/* start is where a call led */
	u8 call;		/* the branch at end is a call */
	u8 edges;
	u8 reserved;
	struct flow_edge edge[FLOW_EDGES];
};

struct flow_table;
typedef void (*flow_evict)(struct flow_table *table,
			   const struct flow_segment *segment, u64 count);

struct flow_table {
	struct flow_slot *slots;
	struct flow_segment *segments;	/* one per slot */
	u32 slot_count;			/* a power of two */
	u64 mask;			/* of a slot's offset, in bytes */
	u32 claimed;			/* how many segments were new, so far */
	u64 seed;
	/* Called for a segment that makes room. */
	flow_evict evict;
};

/*
 * The shape of a segment: everything but its addresses, in one word, so that
 * one store writes it.
 */
enum flow_shape {
	/* Multiplied by the number of forward jumps so far. */
	FLOW_EDGE	= 1,
	FLOW_EDGE_MASK	= 0xff,
	FLOW_CALLED	= 1 << 8,	/* a call led to its start */
};

/*
 * A frame that waits. If its segment had no jumps, the call is stepped over,
 * and the segment goes on when the call returns. Otherwise another segment
 * begins then.
 */
struct flow_frame {
	u64 start;		/* of the segment that goes on */
	u32 shape;
};

/* The flow's part of a cursor. */
struct flow {
	u64 signature;		/* of the segment in flight */
	u64 start;
	u64 salt;		/* hash of the space and the table's seed */
	u32 shape;		/* enum flow_shape */
	struct flow_edge edge[FLOW_EDGES];
	struct walk walk;
	struct flow_frame frame[WALK_DEPTH];	/* the frames that wait */
};

/* Effects on the frames of a branch that ended a segment. */
enum flow_turn {
	FLOW_NONE,
	FLOW_JUMP,	/* it stayed in its frame */
	FLOW_ENTER,	/* it opened frame walk.depth */
	FLOW_LEAVE,	/* it closed all frames above walk.depth */
	/* It returned to unknown code, and so closed all frames. */
	FLOW_RESTART,
	/* Something was not seen; all frames were dropped. */
	FLOW_CUT,
};

size_t flow_table_size(u32 slots);
void flow_table_init(struct flow_table *table, void *memory, u32 slots,
		     u64 seed, flow_evict evict);
void flow_init(struct flow *flow);

/**
 * flow_sync() - Check that a branch follows from the branches before it
 * @flow: the cursor's part.
 * @table: the table.
 * @event: any branch.
 *
 * Return: false if something was not seen. All frames were dropped then, and
 *	the walk begins anew at the branch.
 */
bool flow_sync(struct flow *flow, struct flow_table *table,
	       const struct stream_event *event);
enum flow_turn flow_turn(struct flow *flow, struct flow_table *table,
			 const struct stream_event *event);

/**
 * flow_arrive() - Let the walk be where an arrival comes from
 * @flow: the cursor's part.
 * @table: the table.
 * @event: an arrival. It becomes the branch that it is, which is to be fed
 *	then. A jump becomes a forward jump from outside of all regions.
 */
void flow_arrive(struct flow *flow, struct flow_table *table,
		 struct stream_event *event);

static inline struct flow_segment *flow_segment(const struct flow_table *table,
						const struct flow_slot *slot)
{
	return &table->segments[slot - table->slots];
}

/**
 * flow_table_find() - Look a segment up
 * @table: the table.
 * @key: its key.
 *
 * Return: its slot, or NULL if the table does not have it.
 */
struct flow_slot *flow_table_find(const struct flow_table *table, u64 key);

/**
 * flow_table_add() - Count a segment
 * @table: the table.
 * @key: its key.
 * @segment: the segment, which the table may have or not.
 * @count: how often it ran.
 *
 * Return: the segment's slot.
 */
struct flow_slot *flow_table_add(struct flow_table *table, u64 key,
				 const struct flow_segment *segment, u64 count);

/*
 * Return false once the table has taken so many new segments that it pays to
 * retire it.
 */
static inline bool flow_has_table_room(const struct flow_table *table)
{
	return table->claimed <= table->slot_count / 2;
}

/**
 * flow_entries() - Count the entries that one run of a segment makes
 * @segment: the segment.
 * @head: first instruction of a region.
 * @tail: last branch of the region.
 *
 * Return: 0, 1, or 2: within the segment, and again by its last jump.
 */
unsigned int flow_entries(const struct flow_segment *segment, u64 head,
			  u64 tail);

/* Return true if the segment ends with a back edge. */
static inline bool flow_is_back_edge(const struct flow_segment *segment,
				     u64 span)
{
	return segment->target && !segment->call &&
	       segment->target <= segment->end &&
	       segment->end - segment->target <= span;
}

/* --- the common cases, inline ------------------------------------------ */

/*
 * Return a signature with one more branch. Every bit of either address can
 * change every bit of it, because two segments with one key would be counted as
 * one. The first operation is a sum: with xor, a start and a branch that are
 * complements of each other at opposite ends of the address space would cancel.
 */
static __always_inline u64 flow_mix(u64 signature, u64 from, u64 to)
{
	return hash_product(signature + from, to ^ HASH_PRIME);
}

/*
 * Add a forward jump to the segment in flight. Return false if the segment is
 * full.
 */
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

/* Begin a segment at @start whose code before @position has run. */
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

/*
 * Return the slot where a segment is, unless a segment that runs more often is
 * there.
 */
static __always_inline struct flow_slot *
flow_home(const struct flow_table *table, u64 key)
{
	return (void *)table->slots + (key & table->mask);
}

/*
 * End the segment in flight at @end, inclusive, with a jump to @target, or 0.
 * Return its slot. Return NULL, having done nothing, if that needs the slow
 * path.
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

/*
 * Let the running frame wait. When it goes on, so does the segment that began
 * at @start.
 */
static __always_inline void flow_push(struct flow *flow, u64 site, u8 kind,
				      u64 start, u32 shape)
{
	struct flow_frame *frame = flow_frame(flow, flow->walk.depth);

	frame->start = start;
	frame->shape = shape;
	walk_push(&flow->walk, site, kind);
}

/*
 * The running frame returned to @to: go on with the segment of the frame below.
 */
static __always_inline void flow_go_on(struct flow *flow, u64 to)
{
	const struct flow_frame *frame = flow_frame(flow, flow->walk.depth);

	flow_begin(flow, frame->start, to, frame->shape);
}

/* Return the address up to which a waiting frame has run. */
static inline u64 flow_waits_at(struct flow *flow, u32 depth)
{
	u32 i = walk_index(depth);

	return flow->walk.kind[i] == WALK_CALL ? flow->walk.site[i] :
						 flow->frame[i].start;
}

#endif /* HWPROF_ENGINE_FLOW_H */
