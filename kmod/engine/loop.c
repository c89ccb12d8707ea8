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
	LOOPS_IN_FLIGHT	= 32,		/* in a cursor; a power of two */
	FOLD_MAX	= 256,		/* loops looked at when a segment goes */
	RECENT_SHIFT	= 3,		/* 7/8-weighted average */
};

struct loop {
	u64 head;
	u64 tail;
	u32 space;
	u32 tails;		/* 0: the slot is free */
	u64 heat;		/* back edges ever: what replacement goes by */
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
	u64 tail;
	u64 farthest;		/* back edge of this execution */
	u64 limit;		/* least tail of the frame's loops below this one */
	u32 slot;		/* of the loop, if it is still there */
	u32 space;
	u8 begun;		/* enum begun */
};

struct loop_frame {
	u32 base;		/* cursor.top when it was opened */
	/*
	 * Code reached in the frame so far. A loop around all of it was not
	 * entered in this frame. A call comes from before its target, so that
	 * it does enter a loop that begins there.
	 */
	u64 low, high;
};

struct loop_cursor {
	struct flow flow;
	struct flight *inner;	/* innermost of the running frame, or &none */
	u32 top;		/* loops in flight; counts on, like flow.depth */
	u32 bottom;
	struct flight none;
	struct flight flight[LOOPS_IN_FLIGHT];
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
	bool dropped;		/* a loop was evicted */
	size_t merged;		/* items that merge() took already */
};

/* --- the table of loops ------------------------------------------------ */

static struct loop *loop_set(const struct loop_table *table, u64 head,
			     u32 space)
{
	u64 hash = (head ^ (u64)space << 40 ^ table->params.seed) * FLOW_PRIME;

	return &table->loops[(hash >> 40) & (table->slots - LOOP_WAYS)];
}

static bool loop_is(const struct loop *loop, u64 head, u32 space)
{
	return loop->head == head && loop->space == space && loop->tails;
}

static struct loop *loop_find(const struct loop_table *table, u64 head,
			      u32 space)
{
	struct loop *loop = loop_set(table, head, space);
	unsigned int way;

	for (way = 0; way < LOOP_WAYS; way++, loop++)
		if (loop_is(loop, head, space))
			return loop;
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

static void grow(struct loop_table *table, struct loop *loop, u64 tail)
{
	loop->tail = tail;
	if (tail - loop->head > table->longest)
		table->longest = tail - loop->head;
}

/*
 * Fresh are those that ran lately; when more than half of a set's ways are,
 * the others start again, so that hot loops of an earlier phase can go.
 */
static void freshen(struct loop_table *table, struct loop *loop)
{
	struct loop *set = loop_set(table, loop->head, loop->space);
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
	table->dropped = true;
	memset(loop, 0, sizeof(*loop));
}

/* How much would be lost with it: back edges or, in a table, executions. */
static u64 loop_heat(const struct loop *loop)
{
	return max(loop->heat, loop->executions);
}

/* A free way, or the one with fewest back edges of those that are not fresh. */
static struct loop *loop_claim(struct loop_table *table, u64 head, u32 space)
{
	struct loop *set = loop_set(table, head, space), *least = NULL;
	unsigned int way;

	for (way = 0; way < LOOP_WAYS; way++) {
		if (!set[way].tails)
			return &set[way];
		if (!set[way].fresh &&
		    (!least || loop_heat(&set[way]) < loop_heat(least)))
			least = &set[way];
	}
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
		grow(table, loop, tail);
		order_insert(table, loop);
		freshen(table, loop);
	} else if (tail > loop->tail) {
		grow(table, loop, tail);
		loop->tails++;
		loop->tolerance += !table->is_profile;
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

/* Back edges that @count runs of the segment took, for its loop. */
static void count_back_edges(struct loop_table *table,
			     const struct flow_segment *segment, u64 count)
{
	struct loop *loop;

	if (!flow_is_back_edge(segment, table->params.span))
		return;
	loop = loop_get(table, segment->target, segment->end, segment->space);
	loop->back_edges += count;
	loop->heat += count;
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
	size_t set, way;
	u32 i;

	for (i = 0; i < table->used; i++)
		table->loops[table->order[i]].settled = 0;
	for (set = 0; set < flow->set_count; set++) {
		for (way = 0; way < FLOW_WAYS; way++) {
			const struct flow_segment *segment =
				&flow->segments[set * FLOW_WAYS + way];

			if (flow->sets[set].key[way] &&
			    (!space || segment->space == space))
				enter_loops(table, segment,
					    flow->sets[set].count[way], true,
					    ~0U);
		}
	}
}

/* --- loops in flight --------------------------------------------------- */

static struct flight *flight_at(struct loop_cursor *cursor, u32 i)
{
	return &cursor->flight[i & (LOOPS_IN_FLIGHT - 1)];
}

static struct loop_frame *frame_at(struct loop_cursor *cursor, u32 depth)
{
	return &cursor->frame[depth & (FLOW_DEPTH - 1)];
}

/* The lowest loop in flight of the frame that runs now. */
static u32 frame_base(struct loop_cursor *cursor)
{
	u32 base = frame_at(cursor, cursor->flow.depth)->base;

	return (s32)(base - cursor->bottom) > 0 ? base : cursor->bottom;
}

static void find_inner(struct loop_cursor *cursor)
{
	cursor->inner = cursor->top == frame_base(cursor) ?
			&cursor->none : flight_at(cursor, cursor->top - 1);
}

static struct loop *flight_loop(struct loop_table *table,
				struct flight *flight)
{
	struct loop *loop = &table->loops[flight->slot & (table->slots - 1)];

	if (likely(loop_is(loop, flight->head, flight->space) &&
		   loop->tail >= flight->tail))
		return loop;
	loop = loop_get(table, flight->head, flight->tail, flight->space);
	flight->slot = loop - table->loops;
	flight->tail = loop->tail;
	return loop;
}

static unsigned int trip_bucket(u64 trip)
{
	unsigned int bucket = 63 - __builtin_clzll(trip);

	return bucket < HWPROF_TRIP_BUCKETS ? bucket : HWPROF_TRIP_BUCKETS - 1;
}

static void count_execution(struct loop *loop, u64 trip)
{
	u64 scaled = trip << 8;

	loop->executions++;
	loop->trips[trip_bucket(trip)]++;
	if (!loop->trip_min || trip < loop->trip_min)
		loop->trip_min = trip;
	if (trip > loop->trip_max)
		loop->trip_max = trip;
	if (!loop->trip_recent)
		loop->trip_recent = scaled;
	else
		loop->trip_recent += (s64)(scaled - loop->trip_recent) >>
				     RECENT_SHIFT;
}

/* The execution is over; @seen: control was seen to leave the region. */
static void close_flight(struct loop_table *table, struct flight *flight,
			 bool seen)
{
	struct loop *loop;

	if (flight->begun == BEGUN_MIDDLE)
		return;
	loop = flight_loop(table, flight);
	if (seen && flight->begun == BEGUN_SEEN)
		count_execution(loop, flight->back_edges + 1);
	else
		loop->unclosed++;
}

/* Closes all loops in flight from @base up: their frames are closed. */
static void close_above(struct loop_table *table, struct loop_cursor *cursor,
			u32 base)
{
	if ((s32)(base - cursor->bottom) < 0)
		base = cursor->bottom;
	while ((s32)(cursor->top - base) > 0)
		close_flight(table, flight_at(cursor, --cursor->top), true);
}

static void set_limit(struct flight *flight, u64 limit)
{
	flight->limit = limit;
	flight->reach = min(flight->farthest, limit);
}

/* Is control, with this jump, still in the loop? */
static bool stays(const struct flight *flight, u64 from, u64 to)
{
	/* A jump to the head is in the region, or makes it grow. */
	return to == flight->head ||
	       (to > flight->head && to <= flight->tail &&
		from >= flight->head && from <= flight->tail);
}

/* The frame's loops that a jump leaves are closed; the others move together. */
static void close_left(struct loop_table *table, struct loop_cursor *cursor,
		       u64 from, u64 to)
{
	u32 i, kept = frame_base(cursor);
	u64 limit = ~0ULL;

	for (i = kept; i != cursor->top; i++) {
		struct flight *flight = flight_at(cursor, i);

		if (!stays(flight, from, to)) {
			close_flight(table, flight, true);
			continue;
		}
		set_limit(flight, limit);
		limit = min(limit, flight->tail);
		*flight_at(cursor, kept++) = *flight;
	}
	cursor->top = kept;
}

static struct flight *flight_push(struct loop_table *table,
				  struct loop_cursor *cursor, u64 from, u64 to)
{
	struct loop *loop = loop_get(table, to, from, cursor->flow.space);
	struct loop_frame *frame = frame_at(cursor, cursor->flow.depth);
	struct flight *flight, *below = NULL;

	freshen(table, loop);
	if (cursor->top != frame_base(cursor))
		below = flight_at(cursor, cursor->top - 1);
	if (cursor->top - cursor->bottom == LOOPS_IN_FLIGHT) {
		close_flight(table, flight_at(cursor, cursor->bottom), false);
		cursor->bottom++;
	}
	flight = flight_at(cursor, cursor->top++);
	flight->head = to;
	flight->tail = loop->tail;
	flight->farthest = from;
	flight->back_edges = 0;
	flight->slot = loop - table->loops;
	flight->space = loop->space;
	flight->begun = BEGUN_SEEN;
	if (frame->low >= to && frame->high <= loop->tail)
		flight->begun = cursor->flow.depth ? BEGUN_MIDDLE : BEGUN_UNSEEN;
	set_limit(flight, below ? min(below->limit, below->tail) : ~0ULL);
	return flight;
}

static struct flight *flight_find(struct loop_cursor *cursor, u64 head)
{
	u32 i, base = frame_base(cursor);

	for (i = cursor->top; i != base; i--)
		if (flight_at(cursor, i - 1)->head == head)
			return flight_at(cursor, i - 1);
	return NULL;
}

/* The loop jumped back to is in flight and takes the jump as it is. */
static bool takes(const struct flight *flight, u64 from, u64 to)
{
	return flight->head == to && from <= flight->reach;
}

/* One more iteration of a loop in flight, or the first of another. */
static void back_edge(struct loop_table *table, struct loop_cursor *cursor,
		      u64 from, u64 to)
{
	struct flight *flight = flight_find(cursor, to);

	if (!flight)
		flight = flight_push(table, cursor, from, to);
	if (from > flight->tail) {
		flight->tail = from;
		flight_loop(table, flight);	/* it grows, too */
	}
	flight->farthest = max(flight->farthest, from);
	set_limit(flight, flight->limit);
	flight->back_edges++;
}

/* A jump back within the frame. */
static void jump_back(struct loop_table *table, struct loop_cursor *cursor,
		      u64 from, u64 to)
{
	struct loop_frame *frame = frame_at(cursor, cursor->flow.depth);
	u32 base = frame_base(cursor);

	frame->low = min(frame->low, to);
	frame->high = max(frame->high, from);

	/* Most often inner loops are over and an outer one goes on. */
	while (cursor->top != base &&
	       !stays(flight_at(cursor, cursor->top - 1), from, to))
		close_flight(table, flight_at(cursor, --cursor->top), true);
	if (cursor->top != base) {
		struct flight *top = flight_at(cursor, cursor->top - 1);

		if (takes(top, from, to)) {
			top->back_edges++;
			cursor->inner = top;
			return;
		}
		/* A loop below may end before this one does. */
		if (from > top->limit || to == top->head)
			close_left(table, cursor, from, to);
	}
	if (from - to <= table->params.span && to)
		back_edge(table, cursor, from, to);
	find_inner(cursor);
}

/* A frame begins at @at; @came_from: outside of it or, unseen, @at. */
static void frame_begun(struct loop_cursor *cursor, u64 at, u64 came_from)
{
	struct loop_frame *frame = frame_at(cursor, cursor->flow.depth);

	frame->base = cursor->top;
	frame->low = came_from;
	frame->high = at;
	cursor->inner = &cursor->none;
}

/*
 * A gap, with frame @depth at @at. Loops in flight that control has left, but
 * not jumped back from yet, were seen whole; the others are cut.
 */
static void close_cut(struct loop_table *table, struct loop_cursor *cursor,
		      u32 depth, u64 at)
{
	while (cursor->top != cursor->bottom) {
		struct flight *flight = flight_at(cursor, cursor->top - 1);

		while (depth && (s32)(frame_at(cursor, depth)->base -
				      cursor->top) >= 0) {
			depth--;
			at = cursor->flow.frame[depth & (FLOW_DEPTH - 1)].site;
		}
		cursor->top--;
		close_flight(table, flight,
			     at < flight->head || at > flight->tail);
	}
}

/* --- the engine --------------------------------------------------------- */

/* The table took so many new segments that it pays to retire it. */
static __always_inline bool has_room(const struct loop_table *table)
{
	return table->flow.claimed <= table->flow.set_count * FLOW_WAYS / 2;
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
		if (depth != flow->depth)
			close_above(table, cursor,
				    frame_at(cursor, flow->depth + 1)->base);
		find_inner(cursor);
		break;
	case FLOW_RESTART:
		close_above(table, cursor, cursor->bottom);
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

/* A known segment that ends in a jump back, to another loop. */
static noinline bool loop_back(struct loop_table *table,
			       struct loop_cursor *cursor, u64 from, u64 to)
{
	flow_begin(&cursor->flow, to, to, false);
	jump_back(table, cursor, from, to);
	return true;
}

/*
 * The common cases. They call nothing before they are done, so that this needs
 * no stack; whatever is not common is left to loop_turn(), from the start.
 */
static bool loop_feed(void *memory, void *cursor_memory,
		      const struct stream_event *event)
{
	struct loop_cursor *cursor = cursor_memory;
	struct loop_table *table = memory;
	struct flow *flow = &cursor->flow;
	u64 from = event->from, to = event->to;

	if (unlikely(!flow_follows(flow, event)))
		return loop_turn(table, cursor, event);

	if (stream_is_jump(event->kind)) {
		if (to > from) {
			if (flow_forward(flow, from, to))
				return true;
		} else if (flow_end_known(flow, &table->flow, from, to)) {
			if (!takes(cursor->inner, from, to))
				return loop_back(table, cursor, from, to);
			flow_begin(flow, to, to, false);
			cursor->inner->back_edges++;
			return true;
		}
	} else if (event->kind == STREAM_CALL) {
		if (flow_has_room(flow) &&
		    (!flow->edges ||
		     flow_end_known(flow, &table->flow, from, 0))) {
			flow_push(flow, from, !flow->edges);
			flow_begin(flow, to, to, true);
			frame_begun(cursor, to, to - 1);
			return true;
		}
	} else if (event->kind == STREAM_RET) {
		if (flow_returns(flow, to) &&
		    cursor->top == frame_at(cursor, flow->depth)->base &&
		    flow_end_known(flow, &table->flow, from, 0)) {
			flow_leave(flow, to);
			find_inner(cursor);
			return true;
		}
	}
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
	cursor->none.head = ~0ULL;
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
	u32 slots = LOOP_WAYS, sets = 2;

	memset(table, 0, sizeof(*table));
	size -= header;
	while (slots < LOOPS_MAX && 2 * slots * loop_size <= size / 3)
		slots *= 2;
	size -= slots * loop_size;
	while (flow_table_size(2 * sets) <= size)
		sets *= 2;

	table->params = *params;
	table->slots = slots;
	flow_table_init(&table->flow, memory + header, sets, params->seed,
			segment_evicted);
	table->loops = memory + header + flow_table_size(sets);
	table->order = (u16 *)(table->loops + slots);
	memset(table->loops, 0, slots * sizeof(*table->loops));
}

/* Back edges that are still in segments only. */
static u64 segments_pending(const struct loop_table *table)
{
	const struct flow_table *flow = &table->flow;
	u64 pending = 0;
	size_t i;

	for (i = 0; i < (size_t)flow->set_count * FLOW_WAYS; i++) {
		const struct flow_set *set = &flow->sets[i / FLOW_WAYS];

		if (set->key[i % FLOW_WAYS] &&
		    flow_is_back_edge(&flow->segments[i], table->params.span))
			pending += set->count[i % FLOW_WAYS];
	}
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

	/* Who knew less of the region may have split or missed executions. */
	if (into && into->tail < from->tail)
		into->tolerance += into->runs;
	else if (into && into->tail > from->tail)
		into->tolerance += from->executions + from->unclosed;
	into = loop_get(profile, from->head, from->tail, from->space);
	into->runs += from->executions + from->unclosed;
	into->back_edges += from->back_edges;
	into->heat += from->heat;
	into->entries += from->entries;
	into->executions += from->executions;
	into->unclosed += from->unclosed;
	into->cycles += from->cycles;
	into->tolerance += from->tolerance;
	merge_trips(into, from);
	if (from->executions)
		freshen(profile, into);

	from->back_edges = 0;
	from->heat = 0;
	from->entries = 0;
	from->executions = 0;
	from->unclosed = 0;
	from->cycles = 0;
	from->tolerance = 0;
	from->trip_min = 0;
	from->trip_max = 0;
	memset(from->trips, 0, sizeof(from->trips));
	grow(table, from, into->tail);
}

static void merge_set(struct loop_table *profile, struct loop_table *table,
		      size_t at)
{
	struct flow_set *set = &table->flow.sets[at];
	unsigned int way;

	for (way = 0; way < FLOW_WAYS; way++) {
		const struct flow_segment *segment =
			&table->flow.segments[at * FLOW_WAYS + way];

		if (!set->key[way])
			continue;
		count_back_edges(profile, segment, set->count[way]);
		flow_table_add(&profile->flow, set->key[way], segment,
			       set->count[way]);
		set->key[way] = 0;
	}
}

static size_t loop_merge(void *profile_memory, void *memory, size_t limit)
{
	struct loop_table *profile = profile_memory, *table = memory;
	size_t items = table->used + table->flow.set_count, taken = 0;

	profile->is_profile = true;

	/* Loops first: the profile may have to give up segments. */
	for (; taken < limit && table->merged < items; taken++) {
		if (table->merged < table->used)
			merge_loop(profile, table, &table->loops[
				table->order[table->merged]]);
		else
			merge_set(profile, table, table->merged - table->used);
		table->merged++;
	}
	if (taken < limit) {
		profile->evicted += table->evicted;
		table->evicted = 0;
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
	size_t set, way;
	u32 i, kept = 0;

	for (set = 0; set < flow->set_count; set++)
		for (way = 0; way < FLOW_WAYS; way++)
			if (flow->segments[set * FLOW_WAYS + way].space == space)
				flow->sets[set].key[way] = 0;
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
