// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Segments and their table. See flow.h. */
#include "flow.h"

/* --- the table of segments ------------------------------------------------ */

static void flow_fill(struct flow_segment *segment, const struct flow *flow,
		      u64 end, u64 target)
{
	segment->start = flow->start;
	segment->end = end;
	segment->target = target;
	segment->space = flow->walk.space;
	segment->called = !!(flow->shape & FLOW_CALLED);
	segment->call = 0;
	segment->edges = flow->shape & FLOW_EDGE_MASK;
	segment->reserved = 0;
	memcpy(segment->edge, flow->edge, sizeof(segment->edge));
}

/*
 * Return a segment's first set, that of its home, or the second one, which it
 * goes to if the first is full.
 */
static struct flow_slot *flow_set_of(const struct flow_table *table, u64 key,
				     unsigned int choice)
{
	size_t slot = flow_home(table, choice ? key >> 32 : key) - table->slots;

	return &table->slots[slot & ~(size_t)(FLOW_WAYS - 1)];
}

/*
 * Move a segment that runs often to its home slot, which look-ups try first.
 * Return the slot where it is then.
 */
static struct flow_slot *flow_prefer(struct flow_table *table,
				     struct flow_slot *slot)
{
	struct flow_slot *home = flow_home(table, slot->key);

	if (slot == home || slot->count < 2 * home->count ||
	    (slot - table->slots) / FLOW_WAYS !=
	    (home - table->slots) / FLOW_WAYS)
		return slot;
	swap_values(*slot, *home);
	swap_values(table->segments[slot - table->slots],
		    table->segments[home - table->slots]);
	return home;
}

struct flow_slot *flow_table_find(const struct flow_table *table, u64 key)
{
	unsigned int choice, way;

	for (choice = 0; choice < 2; choice++) {
		struct flow_slot *slot = flow_set_of(table, key, choice);

		for (way = 0; way < FLOW_WAYS; way++, slot++)
			if (slot->key == key)
				return slot;
	}
	return NULL;
}

static struct flow_slot *flow_count_known(struct flow_table *table, u64 key,
					  u64 count)
{
	struct flow_slot *slot = flow_table_find(table, key);

	if (!slot)
		return NULL;
	slot->count += count;
	return flow_prefer(table, slot);
}

static struct flow_slot *flow_free_slot(struct flow_slot *set)
{
	unsigned int way;

	for (way = 0; way < FLOW_WAYS; way++)
		if (!set[way].key)
			return &set[way];
	return NULL;
}

/*
 * Move a segment to its other set, if that has room. Return true if its slot is
 * free now.
 */
static bool flow_move(const struct flow_table *table, struct flow_slot *slot)
{
	unsigned int choice;

	for (choice = 0; choice < 2; choice++) {
		struct flow_slot *other =
			flow_free_slot(flow_set_of(table, slot->key, choice));

		if (!other)
			continue;
		*other = *slot;
		*flow_segment(table, other) = *flow_segment(table, slot);
		slot->key = 0;
		return true;
	}
	return false;
}

/*
 * Choose a slot for a new segment: its home if that is free, or else a free
 * slot of its sets, or else one that becomes free by a move, or else the one
 * whose segment ran least. A table is nearly full before it has to evict.
 */
static struct flow_slot *flow_choose(const struct flow_table *table, u64 key)
{
	struct flow_slot *least = flow_home(table, key), *slot;
	unsigned int i;

	if (!least->key)
		return least;
	for (i = 0; i < 2; i++) {
		slot = flow_free_slot(flow_set_of(table, key, i));
		if (slot)
			return slot;
	}
	for (i = 0; i < 2 * FLOW_WAYS; i++) {
		slot = flow_set_of(table, key, i / FLOW_WAYS) + i % FLOW_WAYS;
		if (flow_move(table, slot))
			return slot;
		if (slot->count < least->count)
			least = slot;
	}
	return least;
}

static struct flow_slot *flow_claim(struct flow_table *table, u64 key,
				    u64 count)
{
	struct flow_slot *slot = flow_choose(table, key);

	table->claimed++;
	if (slot->key)
		table->evict(table, flow_segment(table, slot), slot->count);
	slot->key = key;
	slot->count = count;
	return slot;
}

struct flow_slot *flow_table_add(struct flow_table *table, u64 key,
				 const struct flow_segment *segment, u64 count)
{
	struct flow_slot *slot = flow_count_known(table, key, count);

	if (!slot) {
		slot = flow_claim(table, key, count);
		*flow_segment(table, slot) = *segment;
	}
	return slot;
}

void flow_end(const struct flow *flow, struct flow_table *table, u64 end,
	      u64 target)
{
	u64 key = flow_key(flow, end, target);

	if (!flow_count_known(table, key, 1))
		flow_fill(flow_segment(table, flow_claim(table, key, 1)), flow,
			  end, target);
}

size_t flow_table_size(u32 slots)
{
	return slots * (sizeof(struct flow_slot) + sizeof(struct flow_segment));
}

void flow_table_init(struct flow_table *table, void *memory, u32 slots,
		     u64 seed, flow_evict evict)
{
	table->slots = memory;
	table->segments = (struct flow_segment *)(table->slots + slots);
	table->slot_count = slots;
	table->mask = (slots - 1) * sizeof(*table->slots);
	table->claimed = 0;
	table->seed = seed;
	table->evict = evict;
}

/* --- frames --------------------------------------------------------------- */

/*
 * The call of frame @depth will not be seen to return, so its open segment ends
 * with the call.
 */
static void flow_end_waiting(struct flow *flow, struct flow_table *table,
			     u32 depth)
{
	const struct flow_frame *frame = flow_frame(flow, depth);
	u64 site = flow->walk.site[walk_index(depth)];

	if (frame->start == site && !frame->shape)
		return;		/* the segment is the call alone */
	if (flow->walk.kind[walk_index(depth)] == WALK_HANDLER)
		return;
	flow_begin(flow, frame->start, site, frame->shape);
	flow_end(flow, table, site, 0);
}

/*
 * Drop the frames from @from - 1 down to @to. The running frame's segment has
 * ended.
 */
static void flow_drop_frames(struct flow *flow, struct flow_table *table,
			     u32 from, u32 to)
{
	while (from != to)
		flow_end_waiting(flow, table, --from);
}

/*
 * Forget the lowest frame to make room. The segment in flight stays as it is.
 */
static void flow_forget(struct flow *flow, struct flow_table *table)
{
	u64 start = flow->start, position = flow->walk.position;
	u64 signature = flow->signature;
	u32 shape = flow->shape;

	flow_end_waiting(flow, table, flow->walk.bottom++);
	flow->start = start;
	flow->walk.position = position;
	flow->signature = signature;
	flow->shape = shape;
}

/* Forget all frames and begin at @to; 0: at an unknown address. */
static void flow_restart(struct flow *flow, struct flow_table *table, u64 to,
			 u32 space)
{
	flow_drop_frames(flow, table, flow->walk.depth, flow->walk.bottom);
	to = to ? to : WALK_NOWHERE;
	walk_restart(&flow->walk, to, space);
	flow->salt = table->seed ^ space * HASH_PRIME;
	flow_begin(flow, to, to, 0);
}

void flow_init(struct flow *flow)
{
	memset(flow, 0, sizeof(*flow));
	walk_init(&flow->walk);
	flow_begin(flow, WALK_NOWHERE, WALK_NOWHERE, 0);
}

static enum flow_turn flow_leave(struct flow *flow, struct flow_table *table,
				 u64 to)
{
	struct walk *walk = &flow->walk;
	u32 depth = walk->depth, bottom = walk->bottom;

	switch (walk_return(walk, to)) {
	case WALK_BACK:
		flow_drop_frames(flow, table, depth, walk->depth + 1);
		flow_go_on(flow, to);
		return FLOW_LEAVE;
	case WALK_RESTORER:
		flow_drop_frames(flow, table, depth, walk->depth);
		flow_begin(flow, to, to, 0);
		return FLOW_LEAVE;
	case WALK_LOST:
		break;
	}
	/* A frame below the bottom was forgotten; it may be the one. */
	flow_restart(flow, table, to, walk->space);
	flow_begin(flow, to - 1, to, 0);	/* directly behind a call that
						 * was not seen */
	return bottom ? FLOW_CUT : FLOW_RESTART;
}

static enum flow_turn flow_leave_handler(struct flow *flow,
					 struct flow_table *table, u64 to)
{
	struct walk *walk = &flow->walk;
	u32 depth = walk->depth;

	if (walk_sigreturn(walk, to) == WALK_LOST) {
		flow_restart(flow, table, to, walk->space);
		return FLOW_CUT;
	}
	flow_drop_frames(flow, table, depth, walk->depth);
	flow_begin(flow, flow_frame(flow, walk->depth)->start, to, 0);
	return FLOW_LEAVE;
}

/* --- the walk ------------------------------------------------------------- */

/*
 * Return true if the line has run up to its position, false if a branch only
 * just led there.
 */
static bool flow_fell(const struct flow *flow)
{
	return !(flow->shape & FLOW_EDGE_MASK) &&
	       flow->start < flow->walk.position;
}

/*
 * End the segment in flight where something interrupts it. It is known to have
 * run up to the last branch and to have reached that branch's target.
 */
static void flow_end_open(struct flow *flow, struct flow_table *table)
{
	u64 position = flow->walk.position;

	if (flow_fell(flow))
		flow_end(flow, table, position - 1, 0);
	else if (flow->shape)
		flow_end(flow, table, position, 0);
}

static enum flow_turn flow_cut(struct flow *flow, struct flow_table *table,
			       u64 to)
{
	flow_end_open(flow, table);
	flow_restart(flow, table, to, flow->walk.space);
	return FLOW_CUT;
}

bool flow_sync(struct flow *flow, struct flow_table *table,
	       const struct stream_event *event)
{
	if (likely(walk_may_follow(&flow->walk, event)))
		return true;

	flow_end_open(flow, table);
	flow_restart(flow, table, event->kind > STREAM_SIGNAL ? 0 : event->from,
		     event->space);
	return false;
}

/* An address below all code. */
#define FLOW_OUTSIDE	1

void flow_arrive(struct flow *flow, struct flow_table *table,
		 struct stream_event *event)
{
	event->kind = event->width;
	if (stream_is_jump(event->kind))
		event->from = FLOW_OUTSIDE;
	if (event->space != flow->walk.space)
		return;		/* flow_sync() begins anew */
	flow_end_open(flow, table);
	flow_begin(flow, event->from, event->from, 0);
}

static enum flow_turn flow_enter(struct flow *flow, struct flow_table *table,
				 u64 site, u64 to)
{
	if (unlikely(!walk_has_room(&flow->walk)))
		flow_forget(flow, table);
	if (flow->shape & FLOW_EDGE_MASK) {
		flow_end(flow, table, site, 0);
		flow_push(flow, site, WALK_CALL, site, 0);
	} else {
		flow_push(flow, site, WALK_CALL, flow->start, flow->shape);
	}
	flow_begin(flow, to, to, FLOW_CALLED);
	return FLOW_ENTER;
}

static enum flow_turn flow_signal(struct flow *flow, struct flow_table *table,
				  const struct stream_event *event)
{
	u64 next = event->from;
	bool ran = next > flow->walk.position || flow_fell(flow);

	if (ran)
		flow_end(flow, table, next - 1, 0);
	else
		flow_end_open(flow, table);
	if (unlikely(!walk_has_room(&flow->walk)))
		flow_forget(flow, table);
	flow_push(flow, next, WALK_HANDLER, next - ran, 0);
	flow_begin(flow, event->to, event->to, FLOW_CALLED);
	return FLOW_ENTER;
}

enum flow_turn flow_turn(struct flow *flow, struct flow_table *table,
			 const struct stream_event *event)
{
	u64 from = event->from, to = event->to;

	switch (event->kind) {
	case STREAM_COND:
	case STREAM_JUMP:
	case STREAM_INDIRECT:
		if (to > from && flow_forward(flow, from, to))
			return FLOW_NONE;
		flow_end(flow, table, from, to);
		flow_begin(flow, to, to, 0);
		return FLOW_JUMP;
	case STREAM_CALL:
		return flow_enter(flow, table, from, to);
	case STREAM_RET:
		flow_end(flow, table, from, 0);
		return flow_leave(flow, table, to);
	case STREAM_SYSCALL:
		if (walk_steps_over(event))
			return FLOW_NONE;	/* an instruction of its line */
		flow_end(flow, table, from, 0);
		flow_restart(flow, table, to, flow->walk.space);
		return FLOW_CUT;
	case STREAM_SIGNAL:
		return flow_signal(flow, table, event);
	case STREAM_SIGRETURN:
		flow_end_open(flow, table);
		return flow_leave_handler(flow, table, to);
	case STREAM_GAP:
		return flow_cut(flow, table, to);
	default:
		return FLOW_NONE;
	}
}

/* --- what follows from a segment ------------------------------------------ */

/*
 * Return true if the segment executes an address of the region on a straight
 * line.
 */
static bool flow_visits(const struct flow_segment *segment, u64 head, u64 tail)
{
	u64 line = segment->start;
	unsigned int i;

	for (i = 0; i < segment->edges; i++) {
		if (segment->edge[i].from >= head)
			return line <= tail;
		line = segment->edge[i].to;
	}
	return segment->end >= head && line <= tail;
}

unsigned int flow_entries(const struct flow_segment *segment, u64 head,
			  u64 tail)
{
	unsigned int entries;

	if (segment->start < head)
		entries = flow_visits(segment, head, tail);
	else
		entries = segment->called && segment->start == head;

	if (segment->call)
		return entries + (segment->target == head);
	if (segment->target >= head && segment->target <= tail &&
	    !(segment->end >= head && segment->end <= tail))
		entries++;
	return entries;
}
