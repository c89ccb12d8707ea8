// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/calls/: how often each call site called each procedure (Mousa, Krintz:
 * HPS, Hybrid Profiling Support, sections 5 and 6.1: hot call pairs). A reader
 * adds up pairs to get the calls of a method. Pairs are kept in a space-saving
 * table.
 */
#include "call_pair.h"
#include "window.h"
#include "window_feed.h"

static void call_table_init(void *memory, size_t size,
			    const struct engine_params *params)
{
	saving_init(&call_kind, memory, size, params);
}

/* Call pairs need no state of a task. */
static void call_cursor_init(void *cursor, u32 tid)
{
}

static unsigned int call_unit(const struct engine_params *params,
			      const struct stream_event *event)
{
	return event->kind == STREAM_CALL;
}

static bool call_is_known(const struct saving_table *table,
			  const struct stream_event *event)
{
	const u64 name[SAVING_WORDS] = { event->from, event->to };
	u64 key = saving_key(&call_kind, table, event->space, name);

	return saving_find(&call_kind, table, key, event->space, name);
}

static bool call_knows_window(void *table, struct window *window)
{
	const struct stream_event *event;

	while ((event = window_next(window)))
		if (event->kind == STREAM_CALL && !call_is_known(table, event))
			return false;
	return true;
}

static size_t call_merge(void *profile, void *table, size_t limit)
{
	return saving_merge(&call_kind, profile, table, limit);
}

static bool call_rows(void *table, u32 space, size_t *at, size_t limit,
		      engine_emit emit, void *context)
{
	return saving_rows(&call_kind, table, space, at, limit, emit,
			   context);
}

static void call_sample(const struct engine_params *params,
			const struct stream_event *event, u64 period,
			struct engine_sample *sample)
{
	struct hwprof_row_call *row = &sample->call;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_CALL;
	row->row.size = sizeof(*row);
	sample->ip = row->site = event->from;
	sample->addr = row->callee = event->to;
	row->calls = period;
	row->basis = HWPROF_BASIS_EXACT;
}

static bool call_forget(void *table, u32 space, size_t *at, size_t limit)
{
	return saving_forget(&call_kind, table, space, at, limit);
}

const struct engine_ops call_engine = {
	.name		= "calls",
	.cursor_size	= 0,
	.table_min	= 32 * 1024,
	.table_init	= call_table_init,
	.cursor_init	= call_cursor_init,
	.unit		= call_unit,
	.feed		= call_feed,
	.feed_window	= call_feed_window,
	.knows_window	= call_knows_window,
	.merge		= call_merge,
	.rows		= call_rows,
	.sample		= call_sample,
	.forget		= call_forget,
	.evicted	= saving_evicted,
	.pending	= saving_pending,
};
