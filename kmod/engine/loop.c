// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/loops/: entries, iterations, trip counts (Nair, Lysecky: DAProf,
 * section 3).
 *
 * The flow walk (flow.h) counts segments as they end. Back edges and entries
 * are derived from these counts when a table is retired and the regions are
 * known. Only executions are followed as they happen: a cursor has the loops in
 * flight of its task. Consequences:
 *
 * - A call in a loop does not end it (section 4.4 of the paper).
 * - An entry that never takes the back edge is counted, also one from before
 *   the loop was known.
 * - An iteration costs one look-up.
 */
#include "loop.h"
#include "window_feed.h"

enum {
	/* Loops to drop at a time when too many are in flight. */
	LOOPS_DROPPED	= 8,
	RECENT_SHIFT	= 3,		/* 7/8-weighted average */
};

/* How a frame came into its loop. */
enum begun {
	BEGUN_SEEN,
	/* It was in the loop before anything was seen of the frame. */
	BEGUN_UNSEEN,
	/* It was called into the middle of the loop, which is no entry. */
	BEGUN_MIDDLE,
};

/* --- loops in flight --------------------------------------------------- */

static struct loop_frame *loop_frame_at(struct loop_cursor *cursor, u32 depth)
{
	return &cursor->frame[walk_index(depth)];
}

/* Return what flight.frame is for loops in flight of the running frame. */
static __always_inline u32 loop_running(const struct loop_cursor *cursor)
{
	return cursor->flow.walk.depth + 1;
}

/* Return the flight's loop in this table; NULL if it must be looked up. */
static __always_inline struct loop *
flight_known(const struct loop_table *table, const struct flight *flight)
{
	struct loop *loop = (void *)table->loops + flight->offset;

	/* The offset may be from another table, which was larger. */
	return likely(flight->offset < table->loops_size &&
		      loop_is(loop, flight->head, flight->space) &&
		      loop->tail == flight->tail) ? loop : NULL;
}

static struct loop *flight_loop(struct loop_table *table,
				struct flight *flight)
{
	struct loop *loop = flight_known(table, flight);

	if (likely(loop))
		return loop;
	loop = loop_get(table, flight->head, flight->tail, flight->space);
	flight->offset = (void *)loop - (void *)table->loops;
	return loop;
}

static __always_inline unsigned int loop_trip_bucket(u64 trip)
{
	unsigned int bucket = 63 ^ __builtin_clzll(trip);

	return bucket < HWPROF_TRIP_BUCKETS ? bucket : HWPROF_TRIP_BUCKETS - 1;
}

/* The trip count is a new extreme, or the first one. */
static __always_inline void loop_count_extreme(struct loop *loop, u64 trip)
{
	if (trip - 1 < loop->trip_min - 1)
		loop->trip_min = trip;
	loop->trip_max = max(loop->trip_max, trip);
	if (!loop->trip_recent)
		loop->trip_recent = trip << 8;
}

static noinline void loop_tell_exit(const struct loop_table *table,
				    const struct loop *loop, u64 trip)
{
	table->listener->loop_exit(table->listener, loop->head, loop->tail,
				   trip);
}

static __always_inline void loop_count_execution(const struct loop_table *table,
						 struct loop *loop, u64 trip)
{
	u64 least = loop->trip_min;

	loop->executions++;
	loop->heat += trip;
	loop->trips[loop_trip_bucket(trip)]++;
	if (unlikely(trip - least > loop->trip_max - least))
		loop_count_extreme(loop, trip);
	loop->trip_recent += (s64)((trip << 8) - loop->trip_recent) >>
			     RECENT_SHIFT;
	if (unlikely(table->listener))
		loop_tell_exit(table, loop, trip);
}

/* End an execution. @seen: control was seen to leave the region. */
static noinline void flight_close(struct loop_table *table,
				  struct flight *flight, bool seen)
{
	struct loop *loop;

	if (flight->begun == BEGUN_MIDDLE)
		return;
	loop = flight_loop(table, flight);
	loop_tolerate(loop, loop->tail > flight->tail);
	if (seen && flight->begun == BEGUN_SEEN)
		loop_count_execution(table, loop, flight->back_edges + 1);
	else
		loop->unclosed++;
}

/*
 * The common case of flight_close(): the execution was seen whole, and the
 * table knows the loop. Return false, having done nothing, in any other case.
 */
static __always_inline bool flight_close_known(const struct loop_table *table,
					       const struct flight *flight)
{
	struct loop *loop = flight_known(table, flight);

	if (unlikely(!loop || flight->begun != BEGUN_SEEN))
		return false;
	loop_count_execution(table, loop, flight->back_edges + 1);
	return true;
}

/*
 * Close the loops in flight of all frames above the running one; these frames
 * are gone. Return true, as feed() does.
 */
static noinline bool loop_close_frames_slowly(struct loop_table *table,
					      struct loop_cursor *cursor)
{
	while (cursor->inner->frame > loop_running(cursor))
		flight_close(table, cursor->inner--, true);
	return true;
}

static noinline bool loop_close_frames(struct loop_table *table,
				       struct loop_cursor *cursor)
{
	u32 frame = loop_running(cursor);

	while (cursor->inner->frame > frame) {
		if (unlikely(!flight_close_known(table, cursor->inner)))
			return loop_close_frames_slowly(table, cursor);
		cursor->inner--;
	}
	return true;
}

static void flight_set_limit(struct flight *flight, u64 limit)
{
	flight->limit = limit;
	flight->reach = min(flight->reach, limit);
}

/* Return true if control stays in the loop with this jump. */
static __always_inline bool loop_stays(const struct loop_table *table,
				       const struct flight *flight, u64 from,
				       u64 to)
{
	u64 length = flight->tail - flight->head;

	if (to - flight->head > length)
		return false;
	/* A back edge to the head is in the region, or extends it. */
	if (to == flight->head)
		length = table->params.span;
	return from - flight->head <= length;
}

/*
 * Close the running frame's loops that a jump leaves, and compact the others.
 */
static void loop_close_left(struct loop_table *table,
			    struct loop_cursor *cursor, u64 from, u64 to)
{
	struct flight *flight = cursor->inner, *last = flight, *kept;
	u64 limit = ~0ULL;

	while (flight->frame == loop_running(cursor))
		flight--;
	for (kept = flight++; flight <= last; flight++) {
		if (!loop_stays(table, flight, from, to)) {
			flight_close(table, flight, true);
			continue;
		}
		flight_set_limit(flight, limit);
		limit = min(limit, flight->tail);
		*++kept = *flight;
	}
	cursor->inner = kept;
}

/* Drop the outermost loops in flight, to make room. */
static noinline void loop_drop_flights(struct loop_table *table,
				       struct loop_cursor *cursor)
{
	unsigned int i;

	for (i = 1; i <= LOOPS_DROPPED; i++)
		flight_close(table, &cursor->flight[i], false);
	memmove(&cursor->flight[1], &cursor->flight[i],
		(LOOPS_IN_FLIGHT - LOOPS_DROPPED) * sizeof(cursor->flight[0]));
	cursor->inner -= LOOPS_DROPPED;
}

/* Return how this frame came into the loop, as enum begun. */
static __always_inline u8 loop_how_begun(struct loop_cursor *cursor, u64 head,
					 u64 tail)
{
	u32 depth = cursor->flow.walk.depth;
	const struct loop_frame *frame = loop_frame_at(cursor, depth);

	if (likely(frame->low < head || frame->high > tail))
		return BEGUN_SEEN;
	return depth ? BEGUN_MIDDLE : BEGUN_UNSEEN;
}

/* Add a loop in flight. Its first back edge came from @from. */
static __always_inline void flight_open(struct loop_cursor *cursor,
					const struct loop_table *table,
					const struct loop *loop, u64 from)
{
	const struct flight *below = cursor->inner;
	struct flight *flight = ++cursor->inner;
	u64 head = loop->head, tail = loop->tail, limit = ~0ULL;
	u32 frame = loop_running(cursor);

	if (below->frame == frame)
		limit = min(below->limit, below->tail);
	flight->head = head;
	flight->reach = min(from, limit);
	flight->back_edges = 1;
	flight->frame = frame;
	flight->offset = (void *)loop - (void *)table->loops;
	flight->tail = tail;
	flight->limit = limit;
	flight->space = loop->space;
	flight->begun = loop_how_begun(cursor, head, tail);
}

static __always_inline bool
loop_cursor_is_full(const struct loop_cursor *cursor)
{
	return cursor->inner == &cursor->flight[LOOPS_IN_FLIGHT];
}

static __always_inline struct flight *flight_find(struct loop_cursor *cursor,
						  u64 head)
{
	struct flight *flight = cursor->inner;
	u32 frame = loop_running(cursor);

	for (; flight->frame == frame; flight--)
		if (flight->head == head)
			return flight;
	return NULL;
}

/*
 * Return true if the back edge belongs to the innermost loop, in this frame,
 * and changes nothing but its count.
 */
static __always_inline bool loop_takes(const struct flight *inner, u32 frame,
				       u64 from, u64 to)
{
	return inner->head == to && from <= inner->reach &&
	       inner->frame == frame;
}

/*
 * Take a back edge: one more iteration of a loop in flight, or the first one of
 * another loop.
 */
static void loop_back_edge(struct loop_table *table, struct loop_cursor *cursor,
			   u64 from, u64 to)
{
	struct flight *flight = flight_find(cursor, to);

	if (!flight) {
		struct loop *loop = loop_get(table, to, from,
					     cursor->flow.walk.space);

		loop_freshen(table, loop);
		if (loop_cursor_is_full(cursor))
			loop_drop_flights(table, cursor);
		flight_open(cursor, table, loop, from);
		return;
	}
	if (from > flight->tail) {
		flight->tail = from;
		flight_loop(table, flight);	/* extends the table's loop,
						 * too */
	}
	flight->reach = max(flight->reach, min(from, flight->limit));
	flight->back_edges++;
}

/* Take any jump back within the frame. */
static noinline bool loop_jump_any(struct loop_table *table,
				   struct loop_cursor *cursor, u64 from, u64 to)
{
	struct loop_frame *frame =
		loop_frame_at(cursor, cursor->flow.walk.depth);
	struct flight *inner = cursor->inner;

	frame->low = min(frame->low, to);
	frame->high = max(frame->high, from);
	while (inner->frame == loop_running(cursor) &&
	       !loop_stays(table, inner, from, to))
		flight_close(table, inner--, true);
	cursor->inner = inner;

	/* A loop below may end before this one. */
	if (inner->frame == loop_running(cursor) &&
	    (from > inner->limit || to == inner->head))
		loop_close_left(table, cursor, from, to);
	if (from - to <= table->params.span && to)
		loop_back_edge(table, cursor, from, to);
	return true;
}

/*
 * Return the loop that the segment in @slot, which was just counted, jumps back
 * to. The loop may have been replaced since.
 */
static __always_inline struct loop *
loop_jumped_to(const struct loop_table *table, const struct flow_slot *slot)
{
	return (void *)table->loops + table->hints[slot - table->flow.slots];
}

/* Take any jump back of a segment whose hint does not lead to the loop. */
static noinline bool loop_jump_unknown(struct loop_table *table,
				       struct loop_cursor *cursor,
				       const struct flow_slot *slot, u64 from,
				       u64 to)
{
	bool room = loop_jump_any(table, cursor, from, to);
	struct loop *loop = loop_find(table, to, cursor->flow.walk.space);

	if (loop)
		table->hints[slot - table->flow.slots] =
			(void *)loop - (void *)table->loops;
	return room;
}

/*
 * Take a jump back. Most often, inner loops are over, and an outer one goes on
 * or another one begins. Like loop_feed(), this only makes tail calls.
 */
static noinline bool loop_jump_back(struct loop_table *table,
				    struct loop_cursor *cursor,
				    const struct flow_slot *slot, u64 from,
				    u64 to)
{
	struct loop_frame *frame =
		loop_frame_at(cursor, cursor->flow.walk.depth);
	u32 now = loop_running(cursor);
	const struct loop *loop;
	struct flight *inner;

	while ((inner = cursor->inner)->frame == now &&
	       !loop_stays(table, inner, from, to)) {
		if (unlikely(!flight_close_known(table, inner)))
			return loop_jump_any(table, cursor, from, to);
		cursor->inner--;
	}
	if (loop_takes(inner, now, from, to)) {
		inner->back_edges++;
		return true;
	}
	if (to < frame->low)
		frame->low = to;
	if (from > frame->high)
		frame->high = from;

	if (inner->frame == now &&
	    (from > inner->limit || flight_find(cursor, to)))
		return loop_jump_any(table, cursor, from, to);
	loop = loop_jumped_to(table, slot);
	if (unlikely(!loop_is(loop, to, cursor->flow.walk.space)))
		return loop_jump_unknown(table, cursor, slot, from, to);
	if (unlikely(loop->tail < from || !loop->fresh ||
		     loop_cursor_is_full(cursor)))
		return loop_jump_any(table, cursor, from, to);
	flight_open(cursor, table, loop, from);
	return true;
}

/*
 * A frame begins at @at. @came_from is an address outside of the loops that
 * this enters, or @at if the beginning was not seen.
 */
static __always_inline void loop_frame_begun(struct loop_cursor *cursor, u64 at,
					     u64 came_from)
{
	struct loop_frame *frame =
		loop_frame_at(cursor, cursor->flow.walk.depth);

	frame->low = came_from;
	frame->high = at;
}

/*
 * Close all loops in flight at a gap, where frame @depth had reached @at. A
 * loop that control had left, without a jump back since, was seen whole; the
 * others were cut.
 */
static void loop_close_cut(struct loop_table *table, struct loop_cursor *cursor,
			   u32 depth, u64 at)
{
	struct flight *flight = cursor->inner;

	for (; flight->frame; flight--) {
		if (flight->frame != depth + 1) {
			depth = flight->frame - 1;
			at = flow_waits_at(&cursor->flow, depth);
		}
		flight_close(table, flight,
			     at < flight->head || at > flight->tail);
	}
	cursor->inner = flight;
}

/* --- the engine --------------------------------------------------------- */

static bool loop_arrive(struct loop_table *table, struct loop_cursor *cursor,
			const struct stream_event *event);

/* Take any event. */
static noinline bool loop_turn(struct loop_table *table,
			       struct loop_cursor *cursor,
			       const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u32 depth = flow->walk.depth;
	u64 at = flow->walk.position;

	if (unlikely(event->kind == STREAM_ARRIVAL))
		return loop_arrive(table, cursor, event);
	if (unlikely(!flow_sync(flow, &table->flow, event))) {
		loop_close_cut(table, cursor, depth, at);
		loop_frame_begun(cursor, event->from, event->from);
		depth = 0;
		at = event->from;
	}
	switch (flow_turn(flow, &table->flow, event)) {
	case FLOW_JUMP:
		if (event->to <= event->from)
			loop_jump_any(table, cursor, event->from, event->to);
		break;
	case FLOW_ENTER:
		loop_frame_begun(cursor, event->to, event->to - 1);
		break;
	case FLOW_LEAVE:
		loop_close_frames(table, cursor);
		break;
	case FLOW_RESTART:
		while (cursor->inner->frame)
			flight_close(table, cursor->inner--, true);
		loop_frame_begun(cursor, event->to, event->to - 1);
		break;
	case FLOW_CUT:
		loop_close_cut(table, cursor, depth, at);
		loop_frame_begun(cursor, event->to, event->to);
		break;
	case FLOW_NONE:
		break;
	}
	return flow_has_table_room(&table->flow);
}

static noinline bool loop_arrive(struct loop_table *table,
				 struct loop_cursor *cursor,
				 const struct stream_event *event)
{
	struct stream_event branch = *event;

	flow_arrive(&cursor->flow, &table->flow, &branch);
	return loop_turn(table, cursor, &branch);
}

/*
 * The common cases. All calls are tail calls, so that this needs no stack.
 * Everything else is left to loop_turn(), which begins anew.
 */
static __always_inline bool loop_feed_jump(struct loop_table *table,
					   struct loop_cursor *cursor,
					   const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u64 from = event->from, to = event->to;
	const struct flow_slot *slot;

	if (to > from && flow_forward(flow, from, to))
		return true;
	slot = flow_end_known(flow, &table->flow, from, to);
	if (unlikely(!slot))
		return loop_turn(table, cursor, event);
	flow_begin(flow, to, to, 0);
	if (to > from)
		return true;
	if (!loop_takes(cursor->inner, loop_running(cursor), from, to))
		return loop_jump_back(table, cursor, slot, from, to);
	cursor->inner->back_edges++;
	return true;
}

static __always_inline bool loop_feed_call(struct loop_table *table,
					   struct loop_cursor *cursor,
					   const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u64 from = event->from, to = event->to;

	if (unlikely(!walk_has_room(&flow->walk)))
		return loop_turn(table, cursor, event);
	if (!(flow->shape & FLOW_EDGE_MASK))
		flow_push(flow, from, WALK_CALL, flow->start, flow->shape);
	else if (likely(flow_end_known(flow, &table->flow, from, 0)))
		flow_push(flow, from, WALK_CALL, from, 0);
	else
		return loop_turn(table, cursor, event);
	flow_begin(flow, to, to, FLOW_CALLED);
	loop_frame_begun(cursor, to, to - 1);
	return true;
}

static __always_inline bool loop_feed_return(struct loop_table *table,
					     struct loop_cursor *cursor,
					     const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;

	if (unlikely(!walk_returns(&flow->walk, event->to) ||
		     !flow_end_known(flow, &table->flow, event->from, 0)))
		return loop_turn(table, cursor, event);
	flow->walk.depth--;
	flow_go_on(flow, event->to);
	if (cursor->inner->frame > loop_running(cursor))
		return loop_close_frames(table, cursor);
	return true;
}

bool loop_feed(void *memory, void *cursor_memory,
		      const struct stream_event *event)
{
	struct loop_cursor *cursor = cursor_memory;
	struct loop_table *table = memory;

	if (table->effects)
		return line_feed(table, &cursor->line, event);
	if (unlikely(!walk_follows(&cursor->flow.walk, event->space,
				   event->from)))
		return loop_turn(table, cursor, event);
	if (stream_is_jump(event->kind))
		return loop_feed_jump(table, cursor, event);
	if (event->kind == STREAM_CALL)
		return loop_feed_call(table, cursor, event);
	if (event->kind == STREAM_RET)
		return loop_feed_return(table, cursor, event);
	return loop_turn(table, cursor, event);
}

static unsigned int loop_unit(const struct engine_params *params,
			      const struct stream_event *event)
{
	return stream_is_back_edge(event, params->span);
}

static void loop_cursor_init(void *memory, u32 tid)
{
	struct loop_cursor *cursor = memory;

	memset(cursor, 0, sizeof(*cursor));
	cursor->flight[0].head = ~0ULL;
	cursor->inner = cursor->flight;
	cursor->line = LINE_UNKNOWN;
	flow_init(&cursor->flow);
	loop_frame_begun(cursor, 0, 0);
}

/* A third of the memory is for loops, the rest for segments. */
static void loop_table_init(void *memory, size_t size,
			    const struct engine_params *params)
{
	struct loop_table *table = memory;
	size_t loop_size = sizeof(struct loop) + 3 * sizeof(*table->order);
	size_t header = (sizeof(*table) + 63) & ~63UL;
	u32 slots = LOOP_WAYS, segments = 2 * FLOW_WAYS;
	bool windows = params->basis != HWPROF_BASIS_EXACT;

	size -= header;
	while (slots < LOOPS_MAX && 2 * slots * loop_size <= size / 3)
		slots *= 2;
	size -= slots * loop_size;
	while (flow_table_size(2 * segments) +
	       2 * segments * sizeof(*table->hints) +
	       (windows ? window_table_size(slots, 2 * segments) : 0) <= size)
		segments *= 2;

	table->params = *params;
	table->slots = slots;
	table->loops_size = slots * sizeof(struct loop);
	flow_table_init(&table->flow, memory + header, segments, params->seed,
			loop_segment_evicted);
	table->loops = memory + header + flow_table_size(segments);
	table->hints = (u32 *)(table->loops + slots);
	table->order = (u16 *)(table->hints + segments);
	table->before = table->order + slots;
	table->further = table->before + slots;
	if (windows)
		window_table_init(table, table->further + slots);
}

static void loop_listen(void *memory, struct engine_listener *listener)
{
	struct loop_table *table = memory;

	table->listener = listener;
}

static void loop_sample(const struct engine_params *params,
			const struct stream_event *event, u64 period,
			struct engine_sample *sample)
{
	struct hwprof_row_loop *row = &sample->loop;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_LOOP;
	row->row.size = sizeof(*row);
	sample->ip = row->head = event->to;
	sample->addr = row->tail = event->from;
	row->back_edges = period;
	row->basis = HWPROF_BASIS_EXACT;
}

const struct engine_ops loop_engine = {
	.name		= "loops",
	.cursor_size	= sizeof(struct loop_cursor),
	.table_min	= 64 * 1024,
	.table_init	= loop_table_init,
	.cursor_init	= loop_cursor_init,
	.unit		= loop_unit,
	.feed		= loop_feed,
	.listen		= loop_listen,
	.feed_window	= loop_feed_window,
	.knows_window	= loop_knows_window,
	.taken		= loop_window_taken,
	.merge		= loop_merge,
	.settle		= loop_settle,
	.rows		= loop_rows,
	.sample		= loop_sample,
	.forget		= loop_forget,
	.evicted	= loop_evicted,
	.pending	= loop_pending,
	.filled		= loop_filled,
};
