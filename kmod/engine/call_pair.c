// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Call pairs in a space-saving table. See call.c. */
#include "call_pair.h"

struct call_pair {
	struct saving_item item;
	u64 name[2];		/* site, callee */
};

static bool call_tell_pair(const struct saving_table *table,
			   struct saving_item *item, engine_emit emit,
			   void *context)
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

const struct saving_kind call_kind = {
	.size	= sizeof(struct call_pair),
	.words	= 2,
	.tell	= call_tell_pair,
};

void call_count(struct saving_table *table, u32 space, u64 site, u64 callee)
{
	const u64 name[SAVING_WORDS] = { site, callee };

	saving_count(table, saving_get(&call_kind, table, space, name));
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
