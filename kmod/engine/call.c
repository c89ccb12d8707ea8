// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/calls/: how often each call site called each procedure (Mousa, Krintz:
 * HPS, Hybrid Profiling Support, sections 5 and 6.1: hot call pairs). A reader
 * adds up pairs to get the calls of a method. Pairs are kept in a space-saving
 * table.
 */
#include "call.h"
#include "window.h"
#include "window_feed.h"

struct call_pair {
	struct saving_item item;
	u64 name[2];		/* site, callee */
};

static bool tell_pair(const struct saving_table *table,
		      struct saving_item *item, engine_emit emit, void *context)
{
	const struct hwprof_row_call row = {
		.row.type = HWPROF_ROW_CALL,
		.row.size = sizeof(row),
		.row.space = item->space,
		.site = saving_name(item)[0],
		.callee = saving_name(item)[1],
		.calls = item->count,
		.error = item->error,
		.evicted = table->evicted,
		.sum_sq = item->sum_sq,
		.basis = table->basis,
	};

	return emit(context, &row, row.site, row.callee, row.calls);
}

static const struct saving_kind pairs = {
	.size	= sizeof(struct call_pair),
	.words	= 2,
	.tell	= tell_pair,
};

static void call_table_init(void *memory, size_t size,
			    const struct engine_params *params)
{
	saving_init(&pairs, memory, size, params);
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

void call_count(struct saving_table *table, u32 space, u64 site, u64 callee)
{
	const u64 name[SAVING_WORDS] = { site, callee };

	saving_count(table, saving_get(&pairs, table, space, name));
	table->pending += table->times;
}

/* The gap at the beginning of a burst begins a window. */
bool call_feed(void *memory, void *cursor, const struct stream_event *event)
{
	struct saving_table *table = memory;

	if (event->kind == STREAM_GAP)
		table->window++;
	if (event->kind != STREAM_CALL)
		return true;
	call_count(table, event->space, event->from, event->to);
	return saving_has_room(table);
}

static bool knows_call(const struct saving_table *table,
		       const struct stream_event *event)
{
	const u64 name[SAVING_WORDS] = { event->from, event->to };
	u64 key = saving_key(&pairs, table, event->space, name);

	return saving_find(&pairs, table, key, event->space, name);
}

static bool call_knows_window(void *table, struct window *window)
{
	const struct stream_event *event;

	while ((event = window_next(window)))
		if (event->kind == STREAM_CALL && !knows_call(table, event))
			return false;
	return true;
}

static size_t call_merge(void *profile, void *table, size_t limit)
{
	return saving_merge(&pairs, profile, table, limit);
}

static bool call_rows(void *table, u32 space, size_t *at, engine_emit emit,
		      void *context)
{
	return saving_rows(&pairs, table, space, at, emit, context);
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

static void call_forget(void *table, u32 space)
{
	saving_forget(&pairs, table, space);
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
