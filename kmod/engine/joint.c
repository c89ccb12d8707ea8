// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The joint engine learns several things from the same events. It is made of
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
#include "joint.h"
#include "loop.h"
#include "path_walk.h"
#include "window_feed.h"

/* Rows are emitted in this order. */
const struct engine_ops *const joint_parts[JOINT_PARTS] = {
	[JOINT_LOOPS]	= &loop_engine,
	[JOINT_CALLS]	= &call_engine,
	[JOINT_PATHS]	= &path_engine,
	[JOINT_CCT]	= &cct_engine,
	[JOINT_EDGES]	= &edge_engine,
};

struct joint_table {
	void *part[JOINT_PARTS];	/* its table; NULL: not learnt */
	u32 merging;			/* the part that merge() is at */
};

/*
 * The cursors of all parts, because a cursor is made for no table in
 * particular.
 */
struct joint_cursor {
	struct loop_cursor loops;
	struct path_cursor paths;
	struct cct_cursor cct;
	struct edge_cursor edges;
};

enum {
	JOINT_HEADER	= (sizeof(struct joint_table) + 63) & ~63U,
	/* Sum of the parts' table_min, as a test checks. */
	JOINT_MIN	= JOINT_HEADER + (64 + 32 + 64 + 64 + 32) * 1024,
	/* Low bits of rows()' position; the part is above them. */
	JOINT_AT_BITS	= 8 * sizeof(size_t) - 3,
};

/* Return the part's cursor; NULL for calls, which have none. */
static void *cursor_of(struct joint_cursor *cursor, enum joint_part part)
{
	switch (part) {
	case JOINT_LOOPS:
		return &cursor->loops;
	case JOINT_PATHS:
		return &cursor->paths;
	case JOINT_CCT:
		return &cursor->cct;
	case JOINT_EDGES:
		return &cursor->edges;
	default:
		return NULL;
	}
}

static bool has_part(const struct engine_params *params, unsigned int part)
{
	return params->parts >> part & 1;
}

/* Divide the memory in proportion to the parts' table_min. */
static void joint_table_init(void *memory, size_t size,
			     const struct engine_params *params)
{
	struct joint_table *table = memory;
	size_t least = 0, at = JOINT_HEADER, share;
	unsigned int i;

	memset(table, 0, sizeof(*table));
	for (i = 0; i < JOINT_PARTS; i++)
		if (has_part(params, i))
			least += joint_parts[i]->table_min;
	size -= JOINT_HEADER;
	for (i = 0; i < JOINT_PARTS; i++) {
		if (!has_part(params, i))
			continue;
		share = size / least * joint_parts[i]->table_min +
			size % least * joint_parts[i]->table_min / least;
		share &= ~(size_t)63;
		table->part[i] = memory + at;
		joint_parts[i]->table_init(memory + at, share, params);
		at += share;
	}
}

static void joint_cursor_init(void *cursor, u32 tid)
{
	unsigned int i;

	for (i = 0; i < JOINT_PARTS; i++)
		joint_parts[i]->cursor_init(cursor_of(cursor, i), tid);
}

/* --- feeding ------------------------------------------------------------ */

/* An event can be a unit of several parts, and counts for each of them. */
static unsigned int joint_unit(const struct engine_params *params,
			       const struct stream_event *event)
{
	unsigned int units = 0, i;

	for (i = 0; i < JOINT_PARTS; i++)
		if (has_part(params, i))
			units += joint_parts[i]->unit(params, event);
	return units;
}

/*
 * Call the parts directly. Indirect calls through engine_ops would cost a fifth
 * of the time of an event.
 */
static bool joint_feed(void *memory, void *cursor_memory,
		       const struct stream_event *event)
{
	struct joint_cursor *cursor = cursor_memory;
	struct joint_table *table = memory;
	void *loops = table->part[JOINT_LOOPS];
	void *calls = table->part[JOINT_CALLS];
	void *paths = table->part[JOINT_PATHS];
	void *cct = table->part[JOINT_CCT];
	void *edges = table->part[JOINT_EDGES];
	bool room = true;

	/* A path that ends with this event ran in the context before it. */
	if (paths && cct)
		cursor->paths.context = cct_context(cct, &cursor->cct, event);
	if (paths)
		room = path_step(paths, &cursor->paths, event->space,
				 event->kind, event->from, event->to,
				 event->cycles) ||
		       path_event(paths, &cursor->paths, event);
	if (loops)
		room &= loop_feed(loops, &cursor->loops, event);
	if (calls)
		room &= call_feed(calls, NULL, event);
	if (cct)
		room &= cct_feed(cct, &cursor->cct, event);
	if (edges)
		room &= edge_feed(edges, &cursor->edges, event);
	return room;
}

static bool joint_path_end(const void *memory, const struct stream_event *event,
			   u32 space, struct engine_path *path)
{
	const struct joint_cursor *cursor = memory;

	return path_engine.path_end(&cursor->paths, event, space, path);
}

static void joint_listen(void *memory, struct engine_listener *listener)
{
	struct joint_table *table = memory;

	loop_engine.listen(table->part[JOINT_LOOPS], listener);
}

/* Windows are not fed to contexts. */
static bool joint_feed_window(void *memory, struct window *window,
			      struct window_counts *counts)
{
	struct joint_table *table = memory;

	return window_feed(table->part[JOINT_LOOPS], table->part[JOINT_CALLS],
			   table->part[JOINT_PATHS], table->part[JOINT_EDGES],
			   window, counts);
}

static void joint_taken(void *memory, u64 ip, u32 space)
{
	struct joint_table *table = memory;
	unsigned int i;

	for (i = 0; i < JOINT_PARTS; i++)
		if (table->part[i] && joint_parts[i]->taken)
			joint_parts[i]->taken(table->part[i], ip, space);
}

/* --- from a table into a profile ---------------------------------------- */

/* Skip parts that are merged already: proving them empty costs a full scan. */
static size_t joint_merge(void *memory, void *table_memory, size_t limit)
{
	struct joint_table *profile = memory, *table = table_memory;
	size_t taken = 0;
	u32 *i = &table->merging;

	for (; *i < JOINT_PARTS; ++*i) {
		if (!table->part[*i])
			continue;
		taken += joint_parts[*i]->merge(profile->part[*i],
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
static bool joint_settle(void *memory, u32 space, size_t *at, size_t limit)
{
	struct joint_table *table = memory;
	void *loops = table->part[JOINT_LOOPS];

	return !loops || loop_engine.settle(loops, space, at, limit);
}

static bool joint_rows(void *memory, u32 space, size_t *at, engine_emit emit,
		       void *context)
{
	struct joint_table *table = memory;
	size_t i = *at >> JOINT_AT_BITS;
	size_t within = *at & (((size_t)1 << JOINT_AT_BITS) - 1);
	bool done = true;

	for (; i < JOINT_PARTS; i++, within = 0) {
		if (!table->part[i])
			continue;
		done = joint_parts[i]->rows(table->part[i], space, &within,
					    emit, context);
		if (!done)
			break;
	}
	*at = i << JOINT_AT_BITS | within;
	return done;
}

/* Make the row of the first part for which the event is a unit. */
static void joint_sample(const struct engine_params *params,
			 const struct stream_event *event, u64 period,
			 struct engine_sample *sample)
{
	unsigned int first = __builtin_ctz(params->parts), i;

	for (i = first; i < JOINT_PARTS; i++) {
		if (has_part(params, i) &&
		    joint_parts[i]->unit(params, event)) {
			first = i;
			break;
		}
	}
	joint_parts[first]->sample(params, event, period, sample);
}

static void joint_forget(void *memory, u32 space)
{
	struct joint_table *table = memory;
	unsigned int i;

	for (i = 0; i < JOINT_PARTS; i++)
		if (table->part[i])
			joint_parts[i]->forget(table->part[i], space);
}

static u64 joint_evicted(const void *memory)
{
	const struct joint_table *table = memory;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < JOINT_PARTS; i++)
		if (table->part[i])
			sum += joint_parts[i]->evicted(table->part[i]);
	return sum;
}

static u64 joint_pending(const void *memory)
{
	const struct joint_table *table = memory;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < JOINT_PARTS; i++)
		if (table->part[i])
			sum += joint_parts[i]->pending(table->part[i]);
	return sum;
}

const struct engine_ops joint_engine = {
	.name		= "joint",
	.cursor_size	= sizeof(struct joint_cursor),
	.table_min	= JOINT_MIN,
	.table_init	= joint_table_init,
	.cursor_init	= joint_cursor_init,
	.unit		= joint_unit,
	.feed		= joint_feed,
	.path_end	= joint_path_end,
	.listen		= joint_listen,
	.feed_window	= joint_feed_window,
	.taken		= joint_taken,
	.merge		= joint_merge,
	.settle		= joint_settle,
	.rows		= joint_rows,
	.sample		= joint_sample,
	.forget		= joint_forget,
	.evicted	= joint_evicted,
	.pending	= joint_pending,
};
