// SPDX-License-Identifier: GPL-2.0-only
/* The one walk over branches: see flow.h. */
#include "flow.h"

/* Nothing is known of what runs now; @to is where it is, if that is known. */
static void restart(struct flow *flow, u64 to)
{
	flow->depth = 0;
	flow->bottom = 0;
	flow_begin(flow, to ? to : ~0ULL, false);
}

void flow_init(struct flow *flow)
{
	memset(flow, 0, sizeof(*flow));
	restart(flow, 0);
}

/* --- the table of segments ------------------------------------------------ */

static void fill(struct flow_segment *segment, const struct flow *flow,
		 u64 end, u64 target, unsigned int kind)
{
	segment->start = flow->start;
	segment->target = target;
	segment->space = flow->space;
	segment->end = end - flow->start;
	segment->kind = kind;
	segment->called = flow->called;
	segment->edges = flow->edges;
	memset(segment->reserved, 0, sizeof(segment->reserved));
	memcpy(segment->edge, flow->edge, sizeof(segment->edge));
}

static bool count_known(struct flow_table *table, u64 key, u64 count)
{
	struct flow_set *set = flow_key_set(table, key);
	unsigned int way;

	for (way = 0; way < FLOW_WAYS; way++) {
		if (set->key[way] == key) {
			set->count[way] += count;
			return true;
		}
	}
	return false;
}

/* A free way, the key's own if it is; or else the one that ran least. */
static unsigned int choose_way(const struct flow_set *set, u64 key)
{
	unsigned int way = flow_key_way(key), least = way;

	if (!set->key[way])
		return way;
	for (way = 0; way < FLOW_WAYS; way++) {
		if (!set->key[way])
			return way;
		if (set->count[way] < set->count[least])
			least = way;
	}
	return least;
}

static struct flow_segment *claim(struct flow_table *table, u64 key, u64 count)
{
	struct flow_set *set = flow_key_set(table, key);
	unsigned int way = choose_way(set, key);
	struct flow_segment *segment =
		&table->segments[(set - table->sets) * FLOW_WAYS + way];

	table->claimed++;
	if (set->key[way])
		table->evict(table, segment, set->count[way]);
	set->key[way] = key;
	set->count[way] = count;
	return segment;
}

void flow_table_add(struct flow_table *table, u64 key,
		    const struct flow_segment *segment, u64 count)
{
	if (!count_known(table, key, count))
		*claim(table, key, count) = *segment;
}

void flow_end_slow(struct flow *flow, struct flow_table *table, u64 key,
		   u64 end, u64 target, unsigned int kind)
{
	if (!count_known(table, key, 1))
		fill(claim(table, key, 1), flow, end, target, kind);
}

size_t flow_table_size(u32 sets)
{
	return sets * (sizeof(struct flow_set) +
		       FLOW_WAYS * sizeof(struct flow_segment));
}

void flow_table_init(struct flow_table *table, void *memory, u32 sets,
		     u64 seed, flow_evict evict)
{
	u32 bits = 1;		/* a shift by 64 is none */

	while (1U << bits < sets)
		bits++;
	table->sets = memory;
	table->segments = (struct flow_segment *)(table->sets + sets);
	table->set_count = sets;
	table->shift = 64 - bits;
	table->claimed = 0;
	table->seed = seed;
	table->evict = evict;
	memset(table->sets, 0, sets * sizeof(*table->sets));
}

/* --- frames ------------------------------------------------------------------ */

static const struct flow_frame *frame_at(const struct flow *flow, u32 frame)
{
	return &flow->frame[(frame - 1) & (FLOW_DEPTH - 1)];
}

/*
 * A return leads behind the call that opened the frame. Frames above that one
 * were left without a return (longjmp, tail calls, exceptions). A handler
 * returns to code that no call led to, its restorer, and stays in its frame.
 */
static enum flow_turn leave(struct flow *flow, u64 to)
{
	u32 depth, handler = 0;
	bool in_handler = false;

	for (depth = flow->depth; depth != flow->bottom; depth--) {
		const struct flow_frame *frame = frame_at(flow, depth);

		if (frame->handler) {
			if (!in_handler)
				handler = depth;
			in_handler = true;
		} else if (to - frame->site - 1 < FLOW_CALL_MAX) {
			flow->depth = depth - 1;
			/* The call was stepped over: the line goes on. */
			flow_begin(flow, to - 1, false);
			return FLOW_LEAVE;
		}
	}
	if (in_handler) {
		flow->depth = handler;
		flow_begin(flow, to, false);
		return FLOW_LEAVE;
	}
	if (flow->bottom) {	/* the frame may be one of the forgotten */
		restart(flow, to);
		return FLOW_CUT;
	}
	restart(flow, to);
	return FLOW_RESTART;
}

/* To the instruction that was interrupted, or it is as good as a gap. */
static enum flow_turn leave_handler(struct flow *flow, u64 to)
{
	u32 depth;

	for (depth = flow->depth; depth != flow->bottom; depth--) {
		u64 site = frame_at(flow, depth)->site;

		if (!frame_at(flow, depth)->handler)
			continue;
		if (to - site > 1)
			break;
		flow->depth = depth - 1;
		flow_begin(flow, site, false);
		return FLOW_LEAVE;
	}
	restart(flow, to);
	return FLOW_CUT;
}

/* --- the walk ------------------------------------------------------------------- */

/*
 * What ran before an interruption is known up to the last branch only; that
 * branch's target was reached.
 */
static void end_open(struct flow *flow, struct flow_table *table)
{
	if (flow->edges || flow->called)
		flow_end(flow, table, flow->position, 0, STREAM_GAP);
}

static enum flow_turn cut(struct flow *flow, struct flow_table *table, u64 to)
{
	end_open(flow, table);
	restart(flow, to);
	return FLOW_CUT;
}

bool flow_sync(struct flow *flow, struct flow_table *table,
	       const struct stream_event *event)
{
	if (likely(flow_follows(flow, event)))
		return true;
	if (event->kind > STREAM_SIGNAL && event->space == flow->space)
		return true;	/* says nothing about where the line was */

	end_open(flow, table);
	flow->space = event->space;
	restart(flow, event->kind > STREAM_SIGNAL ? 0 : event->from);
	return false;
}

static enum flow_turn signal(struct flow *flow, struct flow_table *table,
			     const struct stream_event *event)
{
	u64 next = event->from;
	bool fell = next > flow->position;

	if (fell)
		flow_end(flow, table, next - 1, 0, STREAM_SIGNAL);
	else
		end_open(flow, table);
	flow_push(flow, next - fell, true);
	flow_begin(flow, event->to, true);
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
		flow_end(flow, table, from, to, STREAM_JUMP);
		flow_begin(flow, to, false);
		return FLOW_JUMP;
	case STREAM_CALL:
		flow_end(flow, table, from, 0, STREAM_CALL);
		flow_push(flow, from, false);
		flow_begin(flow, to, true);
		return FLOW_ENTER;
	case STREAM_RET:
		flow_end(flow, table, from, 0, STREAM_RET);
		return leave(flow, to);
	case STREAM_SYSCALL:
		if (to - from - 1 < FLOW_CALL_MAX)
			return FLOW_NONE;	/* an instruction like any other */
		return cut(flow, table, to);
	case STREAM_SIGNAL:
		return signal(flow, table, event);
	case STREAM_SIGRETURN:
		end_open(flow, table);
		return leave_handler(flow, to);
	case STREAM_GAP:
		return cut(flow, table, to);
	default:
		return FLOW_NONE;
	}
}

/* --- what follows from a segment --------------------------------------------------- */

/* Is an address of the region on one of the segment's straight lines? */
static bool visits(const struct flow_segment *segment, u64 head, u64 tail)
{
	u64 line = segment->start;
	unsigned int i;

	for (i = 0; i < segment->edges; i++) {
		if (segment->start + segment->edge[i].from >= head)
			return line <= tail;
		line = segment->start + segment->edge[i].to;
	}
	return segment->start + segment->end >= head && line <= tail;
}

unsigned int flow_entries(const struct flow_segment *segment, u64 head,
			  u64 tail)
{
	u64 last = segment->start + segment->end;
	unsigned int entries;

	if (segment->start < head)
		entries = visits(segment, head, tail);
	else
		entries = segment->called && segment->start == head;

	if (segment->kind == STREAM_JUMP &&
	    !(last >= head && last <= tail) &&
	    segment->target >= head && segment->target <= tail)
		entries++;
	return entries;
}
