// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops: entries, iterations, trip counts (Nair, Lysecky: DAProf, section 3).
 *
 * Read off the flow walk. Segments are counted as they end; back edges and
 * entries follow from these counts, when a table is retired and when regions
 * are known. Only executions are followed as they happen, by the loops in
 * flight of the task's cursor. So a call made in a loop does not end it (the
 * paper's section 4.4), an entry that never takes the back edge is found, also
 * one from before the loop was known, and an iteration costs one look-up.
 */
#include "engine.h"
#include "flow.h"
#include "../../uapi/linux/hwprof.h"

enum {
	LOOP_WAYS	= 4,
	LOOP_FRESH_MAX	= LOOP_WAYS / 2,	/* DAProf, section 3.2.4 */
	LOOPS_MAX	= 1 << 15,	/* in a table */
	LOOPS_IN_FLIGHT	= 32,		/* in a cursor */
	LOOPS_DROPPED	= 8,		/* when there are more */
	FOLD_MAX	= 256,		/* loops looked at when a segment goes */
	RECENT_SHIFT	= 3,		/* 7/8-weighted average */
};

struct loop {
	u64 head;		/* 0: the slot is free */
	u64 tail;
	u32 space;
	u32 tails;		/* how often the region grew, and one */
	u64 heat;		/* iterations: what replacement goes by */
	u64 back_edges;		/* in no row yet, like all counts here */
	s64 entries;		/* of segments that were evicted */
	s64 settled;		/* of segments in the table: loop_settle() */
	s64 emitted;		/* of settled, those that rows carried */
	u64 executions;
	u64 unclosed;
	u64 runs;		/* both, ever; of a profile */
	u64 cycles;
	u64 trip_min;		/* 0: no execution yet */
	u64 trip_max;
	u64 trip_recent;	/* in 1/256; 0: no execution yet */
	u32 tolerance;
	u8 fresh;
	u8 rebase;		/* was evicted before: old entries are not known */
	u32 trips[HWPROF_TRIP_BUCKETS];
};

/* How a frame came into a loop of its. */
enum begun {
	BEGUN_SEEN,
	BEGUN_UNSEEN,		/* before the first that was seen of the frame */
	BEGUN_MIDDLE,		/* called into the middle: that is no entry */
};

/* A loop that a frame is in. */
struct flight {
	u64 head;
	u64 reach;		/* a back edge from up to here changes nothing */
	u64 back_edges;
	u32 frame;		/* the frame's depth + 1; 0: not a loop */
	u32 offset;		/* of the loop in table->loops, if still there */
	u64 tail;
	u64 farthest;		/* back edge of this execution */
	u64 limit;		/* least tail of the frame's loops below this one */
	u32 space;
	u8 begun;		/* enum begun */
};

/*
 * Code reached in a frame so far. A loop around all of it was not entered in
 * this frame. A call comes from before its target, so that it does enter a loop
 * that begins there.
 */
struct loop_frame {
	u64 low, high;
};

struct loop_cursor {
	struct flow flow;
	struct flight *inner;	/* the innermost */
	struct flight flight[1 + LOOPS_IN_FLIGHT];	/* [0] is not a loop */
	struct loop_frame frame[FLOW_DEPTH];
};

struct loop_table {
	struct flow_table flow;
	struct engine_params params;
	struct loop *loops;
	u16 *order;		/* slots in use by head, then space */
	u32 slots;		/* a power of two */
	u32 used;
	u64 longest;		/* greatest tail - head */
	u64 evicted;		/* back edges */
	bool is_profile;	/* its segments' back edges are in loops already */
	u64 gone;		/* executions of loops that were evicted */
	bool dropped;		/* a loop was evicted */
	size_t merged;		/* items that merge() took already */
};

/* --- the table of loops ------------------------------------------------ */

/*
 * A loop is in one of two sets, where it was put into the emptier one; so that
 * a table is nearly full before it has to evict.
 */
static __always_inline struct loop *loop_set(const struct loop_table *table,
					     u64 head, u32 space,
					     unsigned int choice)
{
	u64 hash = (head ^ (u64)space << 40 ^ table->params.seed) * FLOW_PRIME;

	if (choice)
		hash = (hash ^ hash >> 32) * FLOW_PRIME;
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

/* The first place in table->order not before (head, space). */
static u32 order_search(const struct loop_table *table, u64 head, u32 space)
{
	u32 low = 0, high = table->used;

	while (low < high) {
		u32 middle = (low + high) / 2;
		const struct loop *loop = &table->loops[table->order[middle]];

		if (loop->head < head ||
		    (loop->head == head && loop->space < space))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void order_insert(struct loop_table *table, const struct loop *loop)
{
	u32 at = order_search(table, loop->head, loop->space);

	memmove(&table->order[at + 1], &table->order[at],
		(table->used - at) * sizeof(*table->order));
	table->order[at] = loop - table->loops;
	table->used++;
}

static void order_remove(struct loop_table *table, const struct loop *loop)
{
	u32 at = order_search(table, loop->head, loop->space);

	table->used--;
	memmove(&table->order[at], &table->order[at + 1],
		(table->used - at) * sizeof(*table->order));
}

static void set_tail(struct loop_table *table, struct loop *loop, u64 tail)
{
	loop->tail = tail;
	if (tail - loop->head > table->longest)
		table->longest = tail - loop->head;
}

/* So many executions may have been split, or are missing. */
static void tolerate(struct loop *loop, u64 executions)
{
	loop->tolerance = min(loop->tolerance + executions, (u64)U32_MAX);
}

/* Whatever ran while less of the region was known may have been split. */
static void grow(struct loop_table *table, struct loop *loop, u64 tail)
{
	set_tail(table, loop, tail);
	loop->tails++;
	tolerate(loop, table->is_profile ? loop->runs :
					   loop->executions + loop->unclosed);
}

/*
 * Fresh are those that ran lately; when more than half of a set's ways are,
 * the others start again, so that hot loops of an earlier phase can go.
 */
static void freshen(struct loop_table *table, struct loop *loop)
{
	size_t at = loop - table->loops;
	struct loop *set = &table->loops[at & ~(size_t)(LOOP_WAYS - 1)];
	unsigned int way, fresh = 0;

	if (loop->fresh)
		return;
	loop->fresh = 1;
	for (way = 0; way < LOOP_WAYS; way++)
		fresh += set[way].fresh;
	if (fresh <= LOOP_FRESH_MAX)
		return;
	for (way = 0; way < LOOP_WAYS; way++)
		set[way].fresh = &set[way] == loop;
}

static void loop_evict(struct loop_table *table, struct loop *loop)
{
	order_remove(table, loop);
	table->evicted += loop->back_edges;
	table->gone += loop->executions + loop->unclosed;
	table->dropped = true;
	memset(loop, 0, sizeof(*loop));
}

/* Counts the free ways of a set, and finds one. */
static unsigned int find_free(struct loop *set, struct loop **found)
{
	unsigned int way, count = 0;

	for (way = 0; way < LOOP_WAYS; way++) {
		if (!set[way].head) {
			*found = &set[way];
			count++;
		}
	}
	return count;
}

/* The one with fewest iterations of those that are not fresh. */
static void find_least(struct loop *set, struct loop **least)
{
	unsigned int way;

	for (way = 0; way < LOOP_WAYS; way++)
		if (!set[way].fresh &&
		    (!*least || set[way].heat < (*least)->heat))
			*least = &set[way];
}

/* A free way, where there are more of them; or else one is made free. */
static struct loop *loop_claim(struct loop_table *table, u64 head, u32 space)
{
	struct loop *first = loop_set(table, head, space, 0);
	struct loop *second = loop_set(table, head, space, 1);
	struct loop *free[2], *least = NULL;
	unsigned int firsts = find_free(first, &free[0]);
	unsigned int seconds = find_free(second, &free[1]);

	if (firsts || seconds)
		return free[seconds > firsts];
	find_least(first, &least);
	find_least(second, &least);
	loop_evict(table, least);
	return least;
}

static struct loop *loop_get(struct loop_table *table, u64 head, u64 tail,
			     u32 space)
{
	struct loop *loop = loop_find(table, head, space);

	if (!loop) {
		loop = loop_claim(table, head, space);
		loop->head = head;
		loop->space = space;
		loop->tails = 1;
		loop->rebase = table->dropped;
		tolerate(loop, table->gone);
		set_tail(table, loop, tail);
		order_insert(table, loop);
		freshen(table, loop);
	} else if (unlikely(tail > loop->tail)) {
		grow(table, loop, tail);
	}
	return loop;
}

/* --- entries, from segments -------------------------------------------- */

/*
 * Adds the entries that @count runs of the segment made to the loops that are
 * known: through *settled* or, when the segment is about to go, to *entries*.
 * At most @most loops are looked at.
 */
static void enter_loops(struct loop_table *table,
			const struct flow_segment *segment, u64 count,
			bool settle, u32 most)
{
	u64 low = segment->start, high = segment->end;
	u32 at;

	/* Heads on the segment, and regions that its last jump leads into. */
	if (segment->target) {
		u64 reach = segment->target > table->longest ?
			    segment->target - table->longest : 0;

		low = min(low, reach);
		high = max(high, segment->target);
	}
	for (at = order_search(table, low, 0); at < table->used && most; at++) {
		struct loop *loop = &table->loops[table->order[at]];
		u64 entries;

		if (loop->head > high)
			break;
		most--;
		if (loop->space != segment->space)
			continue;
		entries = count * flow_entries(segment, loop->head, loop->tail);
		if (settle)
			loop->settled += entries;
		else
			loop->entries += entries;
	}
}

/* Back edges that @count runs of the segment took, for its loop; or NULL. */
static struct loop *count_back_edges(struct loop_table *table,
				     const struct flow_segment *segment,
				     u64 count)
{
	struct loop *loop;

	if (!flow_is_back_edge(segment, table->params.span))
		return NULL;
	loop = loop_get(table, segment->target, segment->end, segment->space);
	loop->back_edges += count;
	loop->heat += count;
	return loop;
}

static void segment_evicted(struct flow_table *flow,
			    const struct flow_segment *segment, u64 count)
{
	struct loop_table *table = container_of(flow, struct loop_table, flow);

	if (!table->is_profile)
		count_back_edges(table, segment, count);
	enter_loops(table, segment, count, false, FOLD_MAX);
}

/* Entries so far of every loop of @space (0: all), from all segments. */
static void loop_settle(void *memory, u32 space)
{
	struct loop_table *table = memory;
	struct flow_table *flow = &table->flow;
	u32 i;

	for (i = 0; i < table->used; i++)
		table->loops[table->order[i]].settled = 0;
	for (i = 0; i < flow->slot_count; i++) {
		const struct flow_segment *segment = &flow->segments[i];

		if (flow->slots[i].key && (!space || segment->space == space))
			enter_loops(table, segment, flow->slots[i].count, true,
				    ~0U);
	}
}

/* --- loops in flight --------------------------------------------------- */

static struct loop_frame *frame_at(struct loop_cursor *cursor, u32 depth)
{
	return &cursor->frame[depth & (FLOW_DEPTH - 1)];
}

/* The loops in flight of the running frame are those with this number. */
static __always_inline u32 running(const struct loop_cursor *cursor)
{
	return cursor->flow.depth + 1;
}

/* The flight's loop in this table; NULL: that must be looked up. */
static __always_inline struct loop *
flight_known(const struct loop_table *table, const struct flight *flight)
{
	struct loop *loop = (void *)table->loops + flight->offset;

	/* Another table may be smaller. */
	return likely(flight->offset < table->slots * sizeof(*loop) &&
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

static __always_inline unsigned int trip_bucket(u64 trip)
{
	unsigned int bucket = 63 ^ __builtin_clzll(trip);

	return bucket < HWPROF_TRIP_BUCKETS ? bucket : HWPROF_TRIP_BUCKETS - 1;
}

static __always_inline void count_execution(struct loop *loop, u64 trip)
{
	u64 scaled = trip << 8;

	loop->executions++;
	loop->heat += trip;
	loop->trips[trip_bucket(trip)]++;
	if (unlikely(trip - 1 < loop->trip_min - 1))
		loop->trip_min = trip;
	if (unlikely(trip > loop->trip_max))
		loop->trip_max = trip;
	if (unlikely(!loop->trip_recent))
		loop->trip_recent = scaled;
	else
		loop->trip_recent += (s64)(scaled - loop->trip_recent) >>
				     RECENT_SHIFT;
}

/* The execution is over; @seen: control was seen to leave the region. */
static noinline void close_flight(struct loop_table *table,
				  struct flight *flight, bool seen)
{
	struct loop *loop;

	if (flight->begun == BEGUN_MIDDLE)
		return;
	loop = flight_loop(table, flight);
	tolerate(loop, loop->tail > flight->tail);
	if (seen && flight->begun == BEGUN_SEEN)
		count_execution(loop, flight->back_edges + 1);
	else
		loop->unclosed++;
}

/* The same as is usual: it was seen whole, and the table knows the loop. */
static __always_inline bool close_known(const struct loop_table *table,
					const struct flight *flight)
{
	struct loop *loop = flight_known(table, flight);

	if (unlikely(!loop || flight->begun != BEGUN_SEEN))
		return false;
	count_execution(loop, flight->back_edges + 1);
	return true;
}

/*
 * Frames above the running one are gone, and so is what they were in. True, as
 * feed() is then done.
 */
static noinline bool close_frames(struct loop_table *table,
				  struct loop_cursor *cursor)
{
	struct flight *flight = cursor->inner;

	for (; flight->frame > running(cursor); flight--)
		if (unlikely(!close_known(table, flight)))
			close_flight(table, flight, true);
	cursor->inner = flight;
	return true;
}

static void set_limit(struct flight *flight, u64 limit)
{
	flight->limit = limit;
	flight->reach = min(flight->farthest, limit);
}

/* Is control, with this jump, still in the loop? */
static __always_inline bool stays(const struct loop_table *table,
				  const struct flight *flight, u64 from, u64 to)
{
	u64 length = flight->tail - flight->head;

	if (to - flight->head > length)
		return false;
	/* A back edge to the head is in the region, or makes it grow. */
	if (to == flight->head)
		length = table->params.span;
	return from - flight->head <= length;
}

/* The frame's loops that a jump leaves are closed; the others move together. */
static void close_left(struct loop_table *table, struct loop_cursor *cursor,
		       u64 from, u64 to)
{
	struct flight *flight = cursor->inner, *last = flight, *kept;
	u64 limit = ~0ULL;

	while (flight->frame == running(cursor))
		flight--;
	for (kept = flight++; flight <= last; flight++) {
		if (!stays(table, flight, from, to)) {
			close_flight(table, flight, true);
			continue;
		}
		set_limit(flight, limit);
		limit = min(limit, flight->tail);
		*++kept = *flight;
	}
	cursor->inner = kept;
}

/* The outermost make room. */
static noinline void drop_flights(struct loop_table *table,
				  struct loop_cursor *cursor)
{
	unsigned int i;

	for (i = 1; i <= LOOPS_DROPPED; i++)
		close_flight(table, &cursor->flight[i], false);
	memmove(&cursor->flight[1], &cursor->flight[i],
		(LOOPS_IN_FLIGHT - LOOPS_DROPPED) * sizeof(cursor->flight[0]));
	cursor->inner -= LOOPS_DROPPED;
}

/* Was the loop entered in this frame? */
static __always_inline u8 how_begun(struct loop_cursor *cursor, u64 head,
				    u64 tail)
{
	u32 depth = cursor->flow.depth;
	const struct loop_frame *frame = frame_at(cursor, depth);

	if (likely(frame->low < head || frame->high > tail))
		return BEGUN_SEEN;
	return depth ? BEGUN_MIDDLE : BEGUN_UNSEEN;
}

/* A loop that jumps back @from is in flight from now on. */
static __always_inline void flight_open(struct loop_cursor *cursor,
					const struct loop_table *table,
					const struct loop *loop, u64 from)
{
	const struct flight *below = cursor->inner;
	struct flight *flight = ++cursor->inner;
	u64 head = loop->head, tail = loop->tail, limit = ~0ULL;
	u32 frame = running(cursor);

	if (below->frame == frame)
		limit = min(below->limit, below->tail);
	flight->head = head;
	flight->reach = min(from, limit);
	flight->back_edges = 1;
	flight->frame = frame;
	flight->offset = (void *)loop - (void *)table->loops;
	flight->tail = tail;
	flight->farthest = from;
	flight->limit = limit;
	flight->space = loop->space;
	flight->begun = how_begun(cursor, head, tail);
}

static __always_inline bool is_full(const struct loop_cursor *cursor)
{
	return cursor->inner == &cursor->flight[LOOPS_IN_FLIGHT];
}

static __always_inline struct flight *flight_find(struct loop_cursor *cursor,
						  u64 head)
{
	struct flight *flight = cursor->inner;
	u32 frame = running(cursor);

	for (; flight->frame == frame; flight--)
		if (flight->head == head)
			return flight;
	return NULL;
}

/* The innermost loop, in this frame, is jumped back to and takes it as it is. */
static __always_inline bool takes(const struct flight *inner, u32 frame,
				  u64 from, u64 to)
{
	return inner->head == to && from <= inner->reach &&
	       inner->frame == frame;
}

/* One more iteration of a loop in flight, or the first of another. */
static void back_edge(struct loop_table *table, struct loop_cursor *cursor,
		      u64 from, u64 to)
{
	struct flight *flight = flight_find(cursor, to);

	if (!flight) {
		struct loop *loop = loop_get(table, to, from,
					     cursor->flow.space);

		freshen(table, loop);
		if (is_full(cursor))
			drop_flights(table, cursor);
		flight_open(cursor, table, loop, from);
		return;
	}
	if (from > flight->tail) {
		flight->tail = from;
		flight_loop(table, flight);	/* it grows, too */
	}
	flight->farthest = max(flight->farthest, from);
	set_limit(flight, flight->limit);
	flight->back_edges++;
}

/* Any jump back within the frame. */
static noinline bool jump_any(struct loop_table *table,
			      struct loop_cursor *cursor, u64 from, u64 to)
{
	struct loop_frame *frame = frame_at(cursor, cursor->flow.depth);
	struct flight *inner = cursor->inner;

	frame->low = min(frame->low, to);
	frame->high = max(frame->high, from);
	while (inner->frame == running(cursor) && !stays(table, inner, from, to))
		close_flight(table, inner--, true);
	cursor->inner = inner;

	/* A loop below may end before this one does. */
	if (inner->frame == running(cursor) &&
	    (from > inner->limit || to == inner->head))
		close_left(table, cursor, from, to);
	if (from - to <= table->params.span && to)
		back_edge(table, cursor, from, to);
	return true;
}

/*
 * Most often inner loops are over, and an outer one goes on or another one
 * begins. Like loop_feed(), this calls nothing before it is done.
 */
static noinline bool jump_back(struct loop_table *table,
			       struct loop_cursor *cursor, u64 from, u64 to)
{
	struct loop_frame *frame = frame_at(cursor, cursor->flow.depth);
	struct flight *inner = cursor->inner;
	u32 running_now = running(cursor);
	struct loop *loop;

	while (inner->frame == running_now &&
	       !stays(table, inner, from, to)) {
		if (unlikely(!close_known(table, inner)))
			return jump_any(table, cursor, from, to);
		cursor->inner = --inner;
	}
	if (takes(inner, running_now, from, to)) {
		inner->back_edges++;
		return true;
	}
	frame->low = min(frame->low, to);
	frame->high = max(frame->high, from);

	if (inner->frame == running_now &&
	    (from > inner->limit || flight_find(cursor, to)))
		return jump_any(table, cursor, from, to);
	loop = loop_find(table, to, cursor->flow.space);
	if (unlikely(!loop || loop->tail < from || !loop->fresh ||
		     is_full(cursor)))
		return jump_any(table, cursor, from, to);
	flight_open(cursor, table, loop, from);
	return true;
}

/* A frame begins at @at; @came_from: outside of it or, unseen, @at. */
static __always_inline void frame_begun(struct loop_cursor *cursor, u64 at,
					u64 came_from)
{
	struct loop_frame *frame = frame_at(cursor, cursor->flow.depth);

	frame->low = came_from;
	frame->high = at;
}

/*
 * A gap, with frame @depth at @at. Loops in flight that control has left, but
 * not jumped back from yet, were seen whole; the others are cut.
 */
static void close_cut(struct loop_table *table, struct loop_cursor *cursor,
		      u32 depth, u64 at)
{
	struct flight *flight = cursor->inner;

	for (; flight->frame; flight--) {
		if (flight->frame != depth + 1) {
			depth = flight->frame - 1;
			at = flow_frame(&cursor->flow, depth)->site;
		}
		close_flight(table, flight,
			     at < flight->head || at > flight->tail);
	}
	cursor->inner = flight;
}

/* --- the engine --------------------------------------------------------- */

/* The table took so many new segments that it pays to retire it. */
static bool has_room(const struct loop_table *table)
{
	return table->flow.claimed <= table->flow.slot_count / 2;
}

/* Anything at all. */
static noinline bool loop_turn(struct loop_table *table,
			       struct loop_cursor *cursor,
			       const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u32 depth = flow->depth;
	u64 at = flow->position;

	if (unlikely(!flow_sync(flow, &table->flow, event))) {
		close_cut(table, cursor, depth, at);
		frame_begun(cursor, event->from, event->from);
		depth = 0;
		at = event->from;
	}
	switch (flow_turn(flow, &table->flow, event)) {
	case FLOW_JUMP:
		if (event->to <= event->from)
			jump_back(table, cursor, event->from, event->to);
		break;
	case FLOW_ENTER:
		frame_begun(cursor, event->to, event->to - 1);
		break;
	case FLOW_LEAVE:
		close_frames(table, cursor);
		break;
	case FLOW_RESTART:
		while (cursor->inner->frame)
			close_flight(table, cursor->inner--, true);
		frame_begun(cursor, event->to, event->to);
		break;
	case FLOW_CUT:
		close_cut(table, cursor, depth, at);
		frame_begun(cursor, event->to, event->to);
		break;
	case FLOW_NONE:
		break;
	}
	return has_room(table);
}

/*
 * The common cases. They call nothing before they are done, so that this needs
 * no stack; whatever is not common is left to loop_turn(), from the start.
 */
static __always_inline bool feed_jump(struct loop_table *table,
				      struct loop_cursor *cursor,
				      const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u64 from = event->from, to = event->to;

	if (to > from && flow_forward(flow, from, to))
		return true;
	if (unlikely(!flow_end_known(flow, &table->flow, from, to)))
		return loop_turn(table, cursor, event);
	flow_begin(flow, to, to, 0);
	if (to > from)
		return true;
	if (!takes(cursor->inner, running(cursor), from, to))
		return jump_back(table, cursor, from, to);
	cursor->inner->back_edges++;
	return true;
}

static __always_inline bool feed_call(struct loop_table *table,
				      struct loop_cursor *cursor,
				      const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u64 from = event->from, to = event->to;

	if (unlikely(!flow_has_room(flow)))
		return loop_turn(table, cursor, event);
	if (!(flow->shape & FLOW_EDGE_MASK))
		flow_push(flow, from, flow->start, flow->shape);
	else if (likely(flow_end_known(flow, &table->flow, from, 0)))
		flow_push(flow, from, from, 0);
	else
		return loop_turn(table, cursor, event);
	flow_begin(flow, to, to, FLOW_CALLED);
	frame_begun(cursor, to, to - 1);
	return true;
}

static __always_inline bool feed_return(struct loop_table *table,
					struct loop_cursor *cursor,
					const struct stream_event *event)
{
	struct flow *flow = &cursor->flow;
	u32 depth = flow->depth - 1;
	const struct flow_frame *frame = flow_frame(flow, depth);

	if (unlikely(!flow_called_from(frame, event->to) ||
		     flow->depth == flow->bottom ||
		     !flow_end_known(flow, &table->flow, event->from, 0)))
		return loop_turn(table, cursor, event);
	flow_leave(flow, depth, frame, event->to);
	if (cursor->inner->frame > depth + 1)
		return close_frames(table, cursor);
	return true;
}

static bool loop_feed(void *memory, void *cursor_memory,
		      const struct stream_event *event)
{
	struct loop_cursor *cursor = cursor_memory;
	struct loop_table *table = memory;

	if (unlikely(!flow_follows(&cursor->flow, event)))
		return loop_turn(table, cursor, event);
	if (stream_is_jump(event->kind))
		return feed_jump(table, cursor, event);
	if (event->kind == STREAM_CALL)
		return feed_call(table, cursor, event);
	if (event->kind == STREAM_RET)
		return feed_return(table, cursor, event);
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
	flow_init(&cursor->flow);
	frame_begun(cursor, 0, 0);
}

/* A third of the memory for loops, the rest for segments. */
static void loop_table_init(void *memory, size_t size,
			    const struct engine_params *params)
{
	struct loop_table *table = memory;
	size_t loop_size = sizeof(struct loop) + sizeof(*table->order);
	size_t header = (sizeof(*table) + 63) & ~63UL;
	u32 slots = LOOP_WAYS, segments = 2 * FLOW_WAYS;

	memset(table, 0, sizeof(*table));
	size -= header;
	while (slots < LOOPS_MAX && 2 * slots * loop_size <= size / 3)
		slots *= 2;
	size -= slots * loop_size;
	while (flow_table_size(2 * segments) <= size)
		segments *= 2;

	table->params = *params;
	table->slots = slots;
	flow_table_init(&table->flow, memory + header, segments, params->seed,
			segment_evicted);
	table->loops = memory + header + flow_table_size(segments);
	table->order = (u16 *)(table->loops + slots);
	memset(table->loops, 0, slots * sizeof(*table->loops));
}

/* Back edges that are still in segments only. */
static u64 segments_pending(const struct loop_table *table)
{
	const struct flow_table *flow = &table->flow;
	u64 pending = 0;
	u32 i;

	for (i = 0; i < flow->slot_count; i++)
		if (flow->slots[i].key &&
		    flow_is_back_edge(&flow->segments[i], table->params.span))
			pending += flow->slots[i].count;
	return pending;
}

static u64 loop_pending(const void *memory)
{
	const struct loop_table *table = memory;
	u64 pending = table->is_profile ? 0 : segments_pending(table);
	u32 i;

	for (i = 0; i < table->used; i++)
		pending += table->loops[table->order[i]].back_edges;
	return pending;
}

static u64 loop_evicted(const void *memory)
{
	return ((const struct loop_table *)memory)->evicted;
}

/* --- merging ------------------------------------------------------------ */

static void merge_trips(struct loop *into, const struct loop *from)
{
	unsigned int i;

	if (!from->executions)
		return;
	if (!into->trip_min || from->trip_min < into->trip_min)
		into->trip_min = from->trip_min;
	into->trip_max = max(into->trip_max, from->trip_max);
	into->trip_recent = from->trip_recent;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		into->trips[i] += from->trips[i];
}

/*
 * The table keeps the loop, without its counts and with all that the profile
 * knows of its region: so executions are not split at a tail that is known.
 */
static void merge_loop(struct loop_table *profile, struct loop_table *table,
		       struct loop *from)
{
	struct loop *into = loop_find(profile, from->head, from->space);

	/* As grow() says, had the table known the region. */
	if (into && into->tail > from->tail)
		tolerate(into, from->executions + from->unclosed);
	into = loop_get(profile, from->head, from->tail, from->space);
	into->runs += from->executions + from->unclosed;
	into->back_edges += from->back_edges;
	into->heat += from->heat;
	into->entries += from->entries;
	into->executions += from->executions;
	into->unclosed += from->unclosed;
	into->cycles += from->cycles;
	tolerate(into, from->tolerance);
	merge_trips(into, from);
	if (from->executions)
		freshen(profile, into);

	from->back_edges = 0;
	from->heat /= 2;	/* what was hot stays for a while */
	from->entries = 0;
	from->executions = 0;
	from->unclosed = 0;
	from->cycles = 0;
	from->tolerance = 0;
	from->trip_min = 0;
	from->trip_max = 0;
	memset(from->trips, 0, sizeof(from->trips));
	set_tail(table, from, into->tail);
}

static void merge_segment(struct loop_table *profile, struct loop_table *table,
			  size_t at)
{
	const struct flow_segment *segment = &table->flow.segments[at];
	struct flow_slot *slot = &table->flow.slots[at];
	struct loop *loop;

	if (!slot->key)
		return;
	loop = count_back_edges(profile, segment, slot->count);

	/* Did the table also keep the executions that took them? */
	if (loop && table->gone && !loop_find(table, loop->head, loop->space))
		tolerate(loop, min(table->gone, slot->count));
	flow_table_add(&profile->flow, slot->key, segment, slot->count);
	slot->key = 0;
}

static size_t loop_merge(void *profile_memory, void *memory, size_t limit)
{
	struct loop_table *profile = profile_memory, *table = memory;
	size_t items = table->used + table->flow.slot_count, taken = 0;

	profile->is_profile = true;

	/* Loops first: the profile may have to give up segments. */
	for (; taken < limit && table->merged < items; taken++) {
		if (table->merged < table->used)
			merge_loop(profile, table, &table->loops[
				table->order[table->merged]]);
		else
			merge_segment(profile, table,
				      table->merged - table->used);
		table->merged++;
	}
	if (taken < limit) {
		profile->evicted += table->evicted;
		table->evicted = 0;
		table->gone = 0;
		table->merged = 0;
		table->flow.claimed = 0;
	}
	return taken;
}

/* --- rows ---------------------------------------------------------------- */

static s64 new_entries(struct loop *loop)
{
	/* What it entered before it was evicted is not to be told again. */
	if (loop->rebase) {
		loop->rebase = 0;
		loop->emitted = loop->settled -
				(s64)(loop->executions + loop->unclosed);
	}
	return loop->entries + loop->settled - loop->emitted;
}

static bool emit_loop(struct loop_table *table, struct loop *loop,
		      engine_emit emit, void *context)
{
	s64 entries = new_entries(loop);
	struct hwprof_row_loop row = {
		.row.type = HWPROF_ROW_LOOP,
		.row.size = sizeof(row),
		.row.space = loop->space,
		.head = loop->head,
		.tail = loop->tail,
		.back_edges = loop->back_edges,
		.entries = entries,
		.executions = loop->executions,
		.unclosed = loop->unclosed,
		.cycles = loop->cycles,
		.trip_min = loop->trip_min,
		.trip_max = loop->trip_max,
		.trip_recent = loop->trip_recent,
		.tails = loop->tails,
		.tolerance = loop->tolerance,
		.basis = table->params.basis,
	};

	if (!entries && !loop->back_edges && !loop->executions &&
	    !loop->unclosed)
		return true;
	memcpy(row.trips, loop->trips, sizeof(row.trips));
	if (!emit(context, &row, loop->head, loop->tail, loop->back_edges))
		return false;

	loop->emitted += entries - loop->entries;
	loop->entries = 0;
	loop->back_edges = 0;
	loop->executions = 0;
	loop->unclosed = 0;
	loop->cycles = 0;
	loop->tolerance = 0;
	memset(loop->trips, 0, sizeof(loop->trips));
	return true;
}

static bool loop_rows(void *memory, u32 space, size_t *at, engine_emit emit,
		      void *context)
{
	struct loop_table *table = memory;

	for (; *at < table->used; ++*at) {
		struct loop *loop = &table->loops[table->order[*at]];

		if ((!space || loop->space == space) &&
		    !emit_loop(table, loop, emit, context))
			return false;
	}
	return true;
}

static void loop_forget(void *memory, u32 space)
{
	struct loop_table *table = memory;
	struct flow_table *flow = &table->flow;
	u32 i, kept = 0;

	for (i = 0; i < flow->slot_count; i++)
		if (flow->segments[i].space == space)
			flow->slots[i].key = 0;
	for (i = 0; i < table->used; i++) {
		struct loop *loop = &table->loops[table->order[i]];

		if (loop->space == space) {
			table->evicted += loop->back_edges;
			memset(loop, 0, sizeof(*loop));
		} else {
			table->order[kept++] = table->order[i];
		}
	}
	table->used = kept;
}

static void loop_sample(const struct stream_event *event, u64 period,
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
	.merge		= loop_merge,
	.settle		= loop_settle,
	.rows		= loop_rows,
	.sample		= loop_sample,
	.forget		= loop_forget,
	.evicted	= loop_evicted,
	.pending	= loop_pending,
};
