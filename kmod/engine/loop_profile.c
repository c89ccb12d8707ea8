// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Merge tables into a profile, and make rows of it. */
#include "loop_table.h"

/* Return the back edges that only segments have so far. */
static u64 loop_segments_pending(const struct loop_table *table)
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

u64 loop_pending(const void *memory)
{
	const struct loop_table *table = memory;
	u64 pending = table->is_profile ? 0 : loop_segments_pending(table);
	u32 i;

	for (i = 0; i < table->used; i++)
		pending += table->loops[table->order[i]].back_edges;
	return pending;
}

u64 loop_evicted(const void *memory)
{
	return ((const struct loop_table *)memory)->evicted;
}

u32 loop_filled(const void *memory)
{
	const struct loop_table *table = memory;
	u32 loops = (u64)table->used * ENGINE_FULL / table->slots;
	u32 segments = (u64)table->flow.claimed * ENGINE_FULL /
		       table->flow.slot_count;
	u32 places = places_count(table), used = 0, i;

	for (i = 0; i < places; i++)
		used += table->places[i].windows != 0;
	if (places)
		used = (u64)used * ENGINE_FULL / places;
	return max(max(loops, segments), used);
}

/* Reset what was merged, or carried by a row. */
static void loop_reset_counts(struct loop *loop)
{
	loop->back_edges = 0;
	loop->entries = 0;
	loop->executions = 0;
	loop->unclosed = 0;
	loop->sum_back_sq = 0;
	loop->sum_entry_sq = 0;
	loop->sum_cross = 0;
	loop->tolerance = 0;
	memset(loop->trips, 0, sizeof(loop->trips));
}

/* --- merging ------------------------------------------------------------ */

enum { LOOKS = 8 };		/* so many looks take as long as one item */

static void loop_merge_trips(struct loop *into, const struct loop *from)
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
 * Merge a loop. The table keeps it, without counts but with the largest region
 * that the profile knows, so that executions are not split at a known tail.
 */
static void loop_merge_one(struct loop_table *profile, struct loop_table *table,
			   struct loop *from)
{
	struct loop *into = loop_find(profile, from->head, from->space);

	window_close(table, from);
	/* grow() would have done so if the table had known the region. */
	if (into && into->tail > from->tail)
		loop_tolerate(into, from->executions + from->unclosed);
	into = loop_get(profile, from->head, from->tail, from->space);
	into->runs += from->executions + from->unclosed;
	into->back_edges += from->back_edges;
	into->heat += from->heat;
	into->entries += from->entries;
	into->executions += from->executions;
	into->unclosed += from->unclosed;
	into->sum_back_sq += from->sum_back_sq;
	into->sum_entry_sq += from->sum_entry_sq;
	into->sum_cross += from->sum_cross;
	loop_tolerate(into, from->tolerance);
	loop_merge_trips(into, from);
	if (from->executions)
		loop_freshen(profile, into);

	loop_reset_counts(from);
	from->heat /= 2;	/* hot loops stay for a while */
	from->trip_min = 0;
	from->trip_max = 0;
	loop_set_tail(table, from, into->tail);
}

static void loop_merge_segment(struct loop_table *profile,
			       struct loop_table *table, size_t at)
{
	const struct flow_segment *segment = &table->flow.segments[at];
	struct flow_slot *slot = &table->flow.slots[at];
	struct loop *loop;

	if (!slot->key)
		return;
	loop = loop_count_back_edges(profile, segment, slot->count);

	/* Add to the tolerance unless the table still had the executions. */
	if (loop && table->gone && !loop_find(table, loop->head, loop->space))
		loop_tolerate(loop, min(table->gone, slot->count));
	flow_table_add(&profile->flow, slot->key, segment, slot->count);
	slot->key = 0;
}

/*
 * A segment that is evicted from the profile looks at each loop that it may
 * enter. LOOKS of such looks count as one item of @limit.
 */
size_t loop_merge(void *profile_memory, void *memory, size_t limit)
{
	struct loop_table *profile = profile_memory, *table = memory;
	size_t places = places_count(table), taken = 0;
	size_t items = table->used + places + table->flow.slot_count;

	profile->is_profile = true;

	/* Loops come first, because the profile may have to evict segments. */
	while (taken < limit && table->merged < items) {
		size_t at = table->merged;

		profile->looked = 0;
		if (at < table->used)
			loop_merge_one(profile, table,
				       &table->loops[table->order[at]]);
		else if (at < table->used + places)
			place_merge(profile, &table->places[at - table->used]);
		else
			loop_merge_segment(profile, table,
					   at - table->used - places);
		table->merged++;
		taken = min(taken + 1 + (size_t)profile->looked / LOOKS, limit);
	}
	if (taken < limit) {
		profile->evicted += table->evicted;
		table->evicted = 0;
		table->gone = 0;
		table->merged = 0;
		table->window_of = NULL;	/* that line has gone on
						 * elsewhere */
		table->flow.claimed = 0;
	}
	return taken;
}

/* --- entries, from segments -------------------------------------------- */

/*
 * Count the entries that runs of a segment made. Return how many loops it
 * looked at.
 */
static u32 loop_settle_segment(struct loop_table *table,
			       const struct flow_segment *segment, u64 count)
{
	struct entered entered = entered_begin(table, segment, ~0U);
	struct loop *loop;

	while ((loop = entered_next(table, &entered)))
		loop->settled += count * entered.entries;
	return entered.looked;
}

/*
 * Compute the entries so far of every loop of @space (0: of all), from all
 * segments. A hostile program can make each segment enter every loop.
 */
bool loop_settle(void *memory, u32 space, size_t *at, size_t limit)
{
	struct loop_table *table = memory;
	struct flow_table *flow = &table->flow;
	size_t looked = 0;
	u32 i;

	for (i = 0; !*at && i < table->used; i++)
		table->loops[table->order[i]].settled = 0;
	for (; *at < flow->slot_count && looked < limit; ++*at) {
		const struct flow_segment *segment = &flow->segments[*at];
		const struct flow_slot *slot = &flow->slots[*at];

		looked++;
		if (slot->key && (!space || segment->space == space))
			looked += loop_settle_segment(table, segment,
						      slot->count);
	}
	return *at == flow->slot_count;
}

/* --- rows ---------------------------------------------------------------- */

static s64 loop_new_entries(struct loop *loop)
{
	/* Do not report entries from before the eviction again. */
	if (loop->rebase) {
		loop->rebase = 0;
		loop->emitted = loop->settled -
				(s64)(loop->executions + loop->unclosed);
	}
	return loop->entries + loop->settled - loop->emitted;
}

static bool loop_emit(struct loop_table *table, struct loop *loop,
		      engine_emit emit, void *context)
{
	s64 entries = loop_new_entries(loop);
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
		.trip_min = loop->trip_min,
		.trip_max = loop->trip_max,
		.trip_recent = loop->trip_recent,
		.tails = loop->tails,
		.tolerance = table->effects ? 0 : loop->tolerance,
		.basis = table->params.basis,
		.sum_back_sq = loop->sum_back_sq,
		.sum_entry_sq = loop->sum_entry_sq,
		.sum_cross = loop->sum_cross,
	};

	if (!entries && !loop->back_edges && !loop->executions &&
	    !loop->unclosed)
		return true;
	memcpy(row.trips, loop->trips, sizeof(row.trips));
	if (!emit(context, &row, loop->head, loop->tail, loop->back_edges))
		return false;

	loop->emitted += entries - loop->entries;
	loop_reset_counts(loop);
	return true;
}

bool loop_rows(void *memory, u32 space, size_t *at, size_t limit,
	       engine_emit emit, void *context)
{
	struct loop_table *table = memory;

	for (; *at < table->used && limit; ++*at, limit--) {
		struct loop *loop = &table->loops[table->order[*at]];

		if ((!space || loop->space == space) &&
		    !loop_emit(table, loop, emit, context))
			return false;
	}
	return *at >= table->used &&
	       places_rows(table, space, at, limit, emit, context);
}

static void loop_forget_loops(struct loop_table *table, u32 space)
{
	u32 i, kept = 0;

	for (i = 0; i < table->used; i++) {
		struct loop *loop = &table->loops[table->order[i]];

		if (loop->space == space) {
			loop_clear(table, loop);
		} else {
			table->order[kept++] = table->order[i];
		}
	}
	table->used = kept;
	order_link(table);
}

/*
 * Loops and places go at once. They have numbers of 16 bits. They go before the
 * segments, of which some alone would say less than was told of the loops.
 */
bool loop_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	struct loop_table *table = memory;
	struct flow_table *flow = &table->flow;

	if (!*at) {
		loop_forget_loops(table, space);
		places_forget(table, space);
		loop_forget_effects(table);
	}
	for (; *at < flow->slot_count && limit; ++*at, limit--)
		if (flow->segments[*at].space == space)
			flow->slots[*at].key = 0;
	return *at == flow->slot_count;
}

