// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The engine of docs/adding-an-engine.md, hwprof/returns/: how often each
 * return instruction led where.
 */
#include "engine.h"
#include "saving.h"

struct return_pair {
	struct saving_item item;
	u64 name[2];		/* the instruction, and where it led */
};

static bool tell_return(const struct saving_table *table,
			struct saving_item *item, engine_emit emit,
			void *context)
{
	const struct hwprof_row_return row = {
		.row.type = HWPROF_ROW_RETURN,
		.row.size = sizeof(row),
		.row.space = item->space,
		.from = saving_name(item)[0],
		.to = saving_name(item)[1],
		.returns = item->count,
	};

	return emit(context, &row, row.from, row.to, row.returns);
}

static const struct saving_kind kind = {
	.size	= sizeof(struct return_pair),
	.words	= 2,
	.tell	= tell_return,
};

static void return_table_init(void *memory, size_t size,
			      const struct engine_params *params)
{
	saving_init(&kind, memory, size, params);
}

/* Returns need no state of a task. */
static void return_cursor_init(void *cursor, u32 tid)
{
}

static unsigned int return_unit(const struct engine_params *params,
				const struct stream_event *event)
{
	return event->kind == STREAM_RET;
}

static bool return_feed(void *memory, void *cursor,
			const struct stream_event *event)
{
	const u64 name[SAVING_WORDS] = { event->from, event->to };
	struct saving_table *table = memory;

	if (event->kind != STREAM_RET)
		return true;
	saving_count(table, saving_get(&kind, table, event->space, name));
	table->pending += table->times;
	return saving_has_room(table);
}

static size_t return_merge(void *profile, void *table, size_t limit)
{
	return saving_merge(&kind, profile, table, limit);
}

static bool return_rows(void *table, u32 space, size_t *at, size_t limit,
			engine_emit emit, void *context)
{
	return saving_rows(&kind, table, space, at, limit, emit,
			   context);
}

static void return_sample(const struct engine_params *params,
			  const struct stream_event *event, u64 period,
			  struct engine_sample *sample)
{
	struct hwprof_row_return *row = (void *)&sample->row;

	*row = (struct hwprof_row_return) {
		.row.type = HWPROF_ROW_RETURN,
		.row.size = sizeof(*row),
		.from = event->from,
		.to = event->to,
		.returns = period,
	};
	sample->ip = event->from;
	sample->addr = event->to;
}

static bool return_forget(void *table, u32 space, size_t *at, size_t limit)
{
	return saving_forget(&kind, table, space, at, limit);
}

const struct engine_ops return_engine = {
	.name		= "returns",
	.cursor_size	= 0,
	.table_min	= 32 * 1024,
	.table_init	= return_table_init,
	.cursor_init	= return_cursor_init,
	.unit		= return_unit,
	.feed		= return_feed,
	.merge		= return_merge,
	.rows		= return_rows,
	.sample		= return_sample,
	.forget		= return_forget,
	.evicted	= saving_evicted,
	.pending	= saving_pending,
};
