// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The multi engine learns several things from the same events. It is made of
 * other engines, its parts. To see events is what costs a program its time; to
 * learn from them is cheap.
 *
 * Its table holds a table of each part, and its cursor a cursor of each part.
 * Parts do not know of each other, and say what they would say alone. There is
 * one exception: if both paths and contexts are learnt, paths are told apart by
 * the context that they ran in.
 */
#include "call_pair.h"
#include "cct.h"
#include "edge_line.h"
#include "multi.h"
#include "loop.h"
#include "path_walk.h"
#include "window_feed.h"

/* Rows are emitted in this order. */
const struct engine_ops *const multi_parts[MULTI_PARTS] = {
	[MULTI_LOOPS]	= &loop_engine,
	[MULTI_CALLS]	= &call_engine,
	[MULTI_PATHS]	= &path_engine,
	[MULTI_CCT]	= &cct_engine,
	[MULTI_EDGES]	= &edge_engine,
};

struct multi_table {
	void *part[MULTI_PARTS];	/* its table; NULL: not learnt */
	bool more;			/* contexts or edges are learnt */
	u32 merging;			/* the part that merge() is at */
};

/*
 * The cursors of all parts, because a cursor is made for no table in
 * particular.
 */
struct multi_cursor {
	struct loop_cursor loops;
	struct path_cursor paths;
	struct cct_cursor cct;
	struct edge_cursor edges;
};

enum {
	MULTI_HEADER	= (sizeof(struct multi_table) + 63) & ~63U,
	/* Sum of the parts' table_min, as a test checks. */
	MULTI_MIN	= MULTI_HEADER + (64 + 32 + 64 + 64 + 32) * 1024,
	/* Low bits of a position; the part is above them. */
	MULTI_AT_BITS	= 8 * sizeof(size_t) - 3,
};

/* Return the part's cursor; NULL for calls, which have none. */
static void *multi_cursor_of(struct multi_cursor *cursor, enum multi_part part)
{
	switch (part) {
	case MULTI_LOOPS:
		return &cursor->loops;
	case MULTI_PATHS:
		return &cursor->paths;
	case MULTI_CCT:
		return &cursor->cct;
	case MULTI_EDGES:
		return &cursor->edges;
	default:
		return NULL;
	}
}

static bool multi_has_part(const struct engine_params *params,
			   unsigned int part)
{
	return params->parts >> part & 1;
}

/* Divide the memory in proportion to the parts' table_min. */
static void multi_table_init(void *memory, size_t size,
			     const struct engine_params *params)
{
	struct multi_table *table = memory;
	size_t least = 0, at = MULTI_HEADER, share;
	unsigned int i;

	memset(table, 0, sizeof(*table));
	for (i = 0; i < MULTI_PARTS; i++)
		if (multi_has_part(params, i))
			least += multi_parts[i]->table_min;
	size -= MULTI_HEADER;
	for (i = 0; i < MULTI_PARTS; i++) {
		if (!multi_has_part(params, i))
			continue;
		share = size / least * multi_parts[i]->table_min +
			size % least * multi_parts[i]->table_min / least;
		share &= ~(size_t)63;
		table->part[i] = memory + at;
		multi_parts[i]->table_init(memory + at, share, params);
		at += share;
	}
	table->more = table->part[MULTI_CCT] || table->part[MULTI_EDGES];
}

static void multi_cursor_init(void *cursor, u32 tid)
{
	unsigned int i;

	for (i = 0; i < MULTI_PARTS; i++)
		multi_parts[i]->cursor_init(multi_cursor_of(cursor, i), tid);
}

/* --- feeding ------------------------------------------------------------ */

/* An event can be a unit of several parts, and counts for each of them. */
static unsigned int multi_unit(const struct engine_params *params,
			       const struct stream_event *event)
{
	unsigned int units = 0, i;

	for (i = 0; i < MULTI_PARTS; i++)
		if (multi_has_part(params, i))
			units += multi_parts[i]->unit(params, event);
	return units;
}

/* Feed the parts that few sessions have. */
static noinline bool multi_feed_more(struct multi_table *table,
				     struct multi_cursor *cursor,
				     const struct stream_event *event)
{
	void *cct = table->part[MULTI_CCT];
	void *edges = table->part[MULTI_EDGES];
	bool room = true;

	if (cct)
		room = cct_feed(cct, &cursor->cct, event);
	if (edges)
		room &= edge_feed(edges, &cursor->edges, event);
	return room;
}

/*
 * Call the parts directly. Indirect calls through engine_ops would cost a fifth
 * of the time of an event.
 */
static bool multi_feed(void *memory, void *cursor_memory,
		       const struct stream_event *event)
{
	struct multi_cursor *cursor = cursor_memory;
	struct multi_table *table = memory;
	void *loops = table->part[MULTI_LOOPS];
	void *calls = table->part[MULTI_CALLS];
	void *paths = table->part[MULTI_PATHS];
	bool more = table->more, room = true;

	/* A path that ends with this event ran in the context before it. */
	if (unlikely(more && paths && table->part[MULTI_CCT]))
		cursor->paths.context = cct_context(table->part[MULTI_CCT],
						    &cursor->cct, event);
	if (paths)
		room = path_step(paths, &cursor->paths, event->space,
				 event->kind, event->from, event->to,
				 event->cycles) ||
		       path_event(paths, &cursor->paths, event);
	if (loops)
		room &= loop_feed(loops, &cursor->loops, event);
	if (calls)
		room &= call_feed(calls, NULL, event);
	if (unlikely(more))
		room &= multi_feed_more(table, cursor, event);
	return room;
}

static bool multi_path_end(const void *memory, const struct stream_event *event,
			   u32 space, struct engine_path *path)
{
	const struct multi_cursor *cursor = memory;

	return path_engine.path_end(&cursor->paths, event, space, path);
}

static void multi_listen(void *memory, struct engine_listener *listener)
{
	struct multi_table *table = memory;

	loop_engine.listen(table->part[MULTI_LOOPS], listener);
}

/* Windows are not fed to contexts. */
static bool multi_feed_window(void *memory, struct window *window,
			      struct window_counts *counts)
{
	struct multi_table *table = memory;

	return window_feed(table->part[MULTI_LOOPS], table->part[MULTI_CALLS],
			   table->part[MULTI_PATHS], table->part[MULTI_EDGES],
			   window, counts);
}

static void multi_taken(void *memory, u64 ip, u32 space)
{
	struct multi_table *table = memory;
	unsigned int i;

	for (i = 0; i < MULTI_PARTS; i++)
		if (table->part[i] && multi_parts[i]->taken)
			multi_parts[i]->taken(table->part[i], ip, space);
}

/* --- from a table into a profile ---------------------------------------- */

/* Skip parts that are merged already: proving them empty costs a full scan. */
static size_t multi_merge(void *memory, void *table_memory, size_t limit)
{
	struct multi_table *profile = memory, *table = table_memory;
	size_t taken = 0;
	u32 *i = &table->merging;

	for (; *i < MULTI_PARTS; ++*i) {
		if (!table->part[*i])
			continue;
		taken += multi_parts[*i]->merge(profile->part[*i],
						table->part[*i],
						limit - taken);
		if (taken == limit)
			return taken;
	}
	*i = 0;
	return taken;
}

/* --- rows --------------------------------------------------------------- */

/* Only loops have something to settle. */
static bool multi_settle(void *memory, u32 space, size_t *at, size_t limit)
{
	struct multi_table *table = memory;
	void *loops = table->part[MULTI_LOOPS];

	return !loops || loop_engine.settle(loops, space, at, limit);
}

/* A position is *@at of multi_rows() or multi_forget(). */
static size_t multi_at_part(size_t at)
{
	return at >> MULTI_AT_BITS;
}

static size_t multi_at_within(size_t at)
{
	return at & (((size_t)1 << MULTI_AT_BITS) - 1);
}

static size_t multi_at(size_t part, size_t within)
{
	return part << MULTI_AT_BITS | within;
}

static bool multi_rows(void *memory, u32 space, size_t *at, size_t limit,
		       engine_emit emit, void *context)
{
	struct multi_table *table = memory;
	size_t i = multi_at_part(*at), within = multi_at_within(*at);
	bool done = true;

	for (; i < MULTI_PARTS; i++, within = 0) {
		if (!table->part[i])
			continue;
		done = multi_parts[i]->rows(table->part[i], space, &within,
					    limit, emit, context);
		if (!done)
			break;
	}
	*at = multi_at(i, within);
	return done;
}

/* Make the row of the first part for which the event is a unit. */
static void multi_sample(const struct engine_params *params,
			 const struct stream_event *event, u64 period,
			 struct engine_sample *sample)
{
	unsigned int first = __builtin_ctz(params->parts), i;

	for (i = first; i < MULTI_PARTS; i++) {
		if (multi_has_part(params, i) &&
		    multi_parts[i]->unit(params, event)) {
			first = i;
			break;
		}
	}
	multi_parts[first]->sample(params, event, period, sample);
}

static bool multi_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	struct multi_table *table = memory;
	size_t i = multi_at_part(*at), within = multi_at_within(*at);
	bool done = true;

	for (; i < MULTI_PARTS; i++, within = 0) {
		if (!table->part[i])
			continue;
		done = multi_parts[i]->forget(table->part[i], space, &within,
					      limit);
		if (!done)
			break;
	}
	*at = multi_at(i, within);
	return done;
}

static u64 multi_evicted(const void *memory)
{
	const struct multi_table *table = memory;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < MULTI_PARTS; i++)
		if (table->part[i])
			sum += multi_parts[i]->evicted(table->part[i]);
	return sum;
}

static u64 multi_pending(const void *memory)
{
	const struct multi_table *table = memory;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < MULTI_PARTS; i++)
		if (table->part[i])
			sum += multi_parts[i]->pending(table->part[i]);
	return sum;
}

const struct engine_ops multi_engine = {
	.name		= "multi",
	.cursor_size	= sizeof(struct multi_cursor),
	.table_min	= MULTI_MIN,
	.table_init	= multi_table_init,
	.cursor_init	= multi_cursor_init,
	.unit		= multi_unit,
	.feed		= multi_feed,
	.path_end	= multi_path_end,
	.listen		= multi_listen,
	.feed_window	= multi_feed_window,
	.taken		= multi_taken,
	.merge		= multi_merge,
	.settle		= multi_settle,
	.rows		= multi_rows,
	.sample		= multi_sample,
	.forget		= multi_forget,
	.evicted	= multi_evicted,
	.pending	= multi_pending,
};
