// SPDX-License-Identifier: GPL-2.0-only
/* The one walk over branches: see flow.h. */
#include "flow.h"

static void begin(struct flow *flow, u64 start, bool called)
{
	flow->start = start;
	flow->position = start;
	flow->signature = (start << 1 | called) * FLOW_PRIME;
	flow->called = called;
	flow->edges = 0;
}

/* Nothing is known of what runs now; @to is where it is, if that is known. */
static void restart(struct flow *flow, u64 to)
{
	flow->depth = 0;
	flow->bottom = 0;
	begin(flow, to ? to : ~0ULL, false);
}

void flow_init(struct flow *flow)
{
	memset(flow, 0, sizeof(*flow));
	restart(flow, 0);
}

static bool frame_is_handler(const struct flow *flow, u32 frame)
{
	u32 i = frame & (FLOW_DEPTH - 1);

	return flow->handler[i / 64] >> (i % 64) & 1;
}

static void push(struct flow *flow, u64 site, bool handler)
{
	u32 i = flow->depth++ & (FLOW_DEPTH - 1);

	flow->site[i] = site;
	flow->handler[i / 64] &= ~(1ULL << (i % 64));
	flow->handler[i / 64] |= (u64)handler << (i % 64);
	if (flow->depth - flow->bottom > FLOW_DEPTH)
		flow->bottom++;
}

/*
 * A return leads behind the call that opened the frame. Frames above that one
 * were left without a return (longjmp, tail calls, exceptions). A handler
 * returns to code that no call led to, its restorer, and stays in its frame.
 */
static enum flow_turn leave(struct flow *flow, u64 to)
{
	u32 frame, handler = 0;
	bool in_handler = false;

	for (frame = flow->depth; frame != flow->bottom; frame--) {
		u64 site = flow->site[(frame - 1) & (FLOW_DEPTH - 1)];

		if (frame_is_handler(flow, frame - 1)) {
			if (!in_handler)
				handler = frame;
			in_handler = true;
		} else if (to - site - 1 < FLOW_CALL_MAX) {
			flow->depth = frame - 1;
			/* The call was stepped over: the line goes on. */
			begin(flow, to - 1, false);
			return FLOW_LEAVE;
		}
	}
	if (in_handler) {
		flow->depth = handler;
		begin(flow, to, false);
		return FLOW_LEAVE;
	}
	if (flow->bottom) {	/* the frame may be one of the forgotten */
		restart(flow, to);
		return FLOW_CUT;
	}
	restart(flow, to);
	return FLOW_RESTART;
}

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

static __always_inline u64 segment_key(const struct flow_table *table,
				       const struct flow *flow, u64 end,
				       u64 target, unsigned int kind)
{
	u64 key = flow_mix(flow->signature, end, target);

	key = (key ^ key >> 32 ^ table->seed ^ ((u64)flow->space << 8 | kind)) *
	      FLOW_PRIME;
	key ^= key >> 29;
	return key ? key : 1;
}

static struct flow_set *key_set(const struct flow_table *table, u64 key)
{
	return &table->sets[key & table->set_mask];
}

static bool count_known(struct flow_set *set, u64 key, u64 count)
{
	unsigned int way;

	for (way = 0; way < FLOW_WAYS; way++) {
		if (set->key[way] == key) {
			set->count[way] += count;
			return true;
		}
	}
	return false;
}

/* Room for a new segment: a free way, or the one that ran least. */
static struct flow_segment *claim(struct flow_table *table, u64 key, u64 count)
{
	struct flow_set *set = key_set(table, key);
	struct flow_segment *segment;
	unsigned int way, least = 0;

	for (way = 0; way < FLOW_WAYS; way++) {
		if (!set->key[way]) {
			least = way;
			break;
		}
		if (set->count[way] < set->count[least])
			least = way;
	}
	segment = &table->segments[(set - table->sets) * FLOW_WAYS + least];
	if (set->key[least])
		table->evict(table, segment, set->count[least]);
	set->key[least] = key;
	set->count[least] = count;
	return segment;
}

void flow_table_add(struct flow_table *table, u64 key,
		    const struct flow_segment *segment, u64 count)
{
	if (!count_known(key_set(table, key), key, count))
		*claim(table, key, count) = *segment;
}

/* The segment in flight ends at @end, inclusive. */
static void end_segment(struct flow *flow, struct flow_table *table, u64 end,
			u64 target, unsigned int kind)
{
	u64 key = segment_key(table, flow, end, target, kind);

	if (unlikely(!count_known(key_set(table, key), key, 1)))
		fill(claim(table, key, 1), flow, end, target, kind);
}

/*
 * What ran before an interruption is known up to the last branch only; that
 * branch's target was reached.
 */
static void end_open(struct flow *flow, struct flow_table *table)
{
	if (flow->edges || flow->called)
		end_segment(flow, table, flow->position, 0, STREAM_GAP);
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
	if (likely(event->space == flow->space &&
		   event->from >= flow->position &&
		   !((event->from - flow->start) >> 32)))
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
		end_segment(flow, table, next - 1, 0, STREAM_SIGNAL);
	else
		end_open(flow, table);
	push(flow, next - fell, true);
	begin(flow, event->to, true);
	return FLOW_ENTER;
}

static enum flow_turn leave_handler(struct flow *flow, u64 to)
{
	u32 frame;

	for (frame = flow->depth; frame != flow->bottom; frame--) {
		u64 site = flow->site[(frame - 1) & (FLOW_DEPTH - 1)];

		if (!frame_is_handler(flow, frame - 1))
			continue;
		flow->depth = frame - 1;
		begin(flow, to - site <= 1 ? site : to, false);
		return FLOW_LEAVE;
	}
	restart(flow, to);
	return FLOW_CUT;
}

enum flow_turn flow_turn(struct flow *flow, struct flow_table *table,
			 const struct stream_event *event)
{
	u64 from = event->from, to = event->to;

	switch (event->kind) {
	case STREAM_COND:
	case STREAM_JUMP:
	case STREAM_INDIRECT:
		end_segment(flow, table, from, to, STREAM_JUMP);
		begin(flow, to, false);
		return FLOW_JUMP;
	case STREAM_CALL:
		end_segment(flow, table, from, 0, STREAM_CALL);
		push(flow, from, false);
		begin(flow, to, true);
		return FLOW_ENTER;
	case STREAM_RET:
		end_segment(flow, table, from, 0, STREAM_RET);
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

size_t flow_table_size(u32 sets)
{
	return sets * (sizeof(struct flow_set) +
		       FLOW_WAYS * sizeof(struct flow_segment));
}

void flow_table_init(struct flow_table *table, void *memory, u32 sets,
		     u64 seed, flow_evict evict)
{
	table->sets = memory;
	table->segments = (struct flow_segment *)(table->sets + sets);
	table->set_mask = sets - 1;
	table->seed = seed;
	table->evict = evict;
	memset(table->sets, 0, sets * sizeof(*table->sets));
}
