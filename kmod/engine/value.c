// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/values/: the values that loads give, how invariant each load is, and
 * how its values change (Zilles, Sohi: A Programmable Co-processor for
 * Profiling, section 5 and appendix A; see value_slot.h and value_table.h).
 *
 * The engine looks at loads only (the opcode filter of section 3.2). A row
 * tells of a load's executions since its last row, and takes their counts with
 * it.
 */
#include "engine.h"
#include "value_table.h"

enum {
	/*
	 * The thread's number is from this bit on, a count of events below it.
	 */
	STAMP_SHIFT = 42,
};

/*
 * The stamp grows with each load and each gap of the thread. A table has missed
 * nothing if it has the stamp of its last event.
 */
struct value_cursor {
	u64 stamp;
};

static void value_init(void *memory, size_t size,
		       const struct engine_params *params)
{
	size_t header = (sizeof(struct value_table) + 63) & ~(size_t)63;
	struct value_table *table = memory;

	value_table_init(table, memory + header, size - header, params->seed);
	table->basis = params->basis;
}

static void value_cursor_init(void *memory, u32 tid)
{
	struct value_cursor *cursor = memory;

	cursor->stamp = ((u64)tid << STAMP_SHIFT) + 1;
}

static unsigned int value_unit(const struct engine_params *params,
			       const struct stream_event *event)
{
	return event->kind == STREAM_LOAD;
}

static bool value_feed(void *memory, void *cursor_memory,
		       const struct stream_event *event)
{
	struct value_cursor *cursor = cursor_memory;
	struct value_table *table = memory;

	if (event->kind != STREAM_LOAD) {
		cursor->stamp += event->kind == STREAM_GAP;
		return true;
	}
	if (unlikely(table->stamp != cursor->stamp))
		table->epoch++;
	table->stamp = ++cursor->stamp;
	if (unlikely(event->flags & STREAM_NO_VALUE))
		value_table_miss(table, event->from, event->space + 1);
	else
		value_table_feed(table, event->from, event->space + 1,
				 event->value, event->width);
	return likely(!table->crowded);
}

/*
 * An item of the limit is a slot, used or not, because looking at slots takes
 * the time that callers wait for.
 */
static size_t value_merge(void *memory, void *table_memory, size_t limit)
{
	struct value_table *profile = memory, *table = table_memory;
	size_t taken;

	for (taken = 0; taken < limit; taken++) {
		if (table->merged >= value_table_items(table))
			break;
		value_table_take(profile, table, table->merged++);
	}
	if (taken == limit)
		return taken;
	profile->evicted += table->evicted;
	table->evicted = 0;
	value_table_taken(table);
	return taken;
}

static void value_fill_row(struct hwprof_row_value *row,
			   const struct value_slot *slot)
{
	u32 i;

	for (i = 0; i < slot->kept; i++) {
		const struct value_count *value = &slot->values[i];

		if (!value->hits)
			continue;
		row->values[row->count++] = (struct hwprof_value) {
			.value = value->value,
			.hits = value->hits,
			.missed = value->missed,
		};
	}
}

static bool value_emit_slot(struct value_table *table, struct value_slot *slot,
			    engine_emit emit, void *context)
{
	struct hwprof_row_value row = {
		.row.type = HWPROF_ROW_VALUE,
		.row.size = sizeof(row),
		.row.space = slot->owner - 1,
		.ip = slot->ip,
		.loads = slot->loads,
		.unseen = slot->unseen,
		.runs = slot->runs,
		.breaks = slot->breaks,
		.stride = slot->stride,
		.strides = slot->strides,
		.width = slot->width,
		.basis = table->basis,
	};

	value_fill_row(&row, slot);
	if (!emit(context, &row, row.ip, 0, row.loads))
		return false;
	table->pending -= slot->loads;
	value_slot_told(slot);
	return true;
}

static bool value_rows(void *memory, u32 space, size_t *at, size_t limit,
		       engine_emit emit, void *context)
{
	struct value_table *table = memory;

	for (; *at < table->slot_count && limit; ++*at, limit--) {
		struct value_slot *slot = &table->slots[*at];

		if (slot->loads && (!space || slot->owner == space + 1) &&
		    !value_emit_slot(table, slot, emit, context))
			return false;
	}
	return *at == table->slot_count;
}

static void value_sample(const struct engine_params *params,
			 const struct stream_event *event, u64 period,
			 struct engine_sample *sample)
{
	struct hwprof_row_value *row = &sample->value;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_VALUE;
	row->row.size = sizeof(*row);
	sample->ip = row->ip = event->from;
	sample->addr = event->to;
	row->loads = period;
	row->width = event->width;
	row->basis = HWPROF_BASIS_EXACT;
	row->count = 1;
	row->values[0].value = event->value;
}

static bool value_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	return value_table_forget(memory, space + 1, at, limit);
}

static u64 value_evicted(const void *memory)
{
	return ((const struct value_table *)memory)->evicted;
}

static u64 value_pending(const void *memory)
{
	return ((const struct value_table *)memory)->pending;
}

const struct engine_ops value_engine = {
	.name		= "values",
	.cursor_size	= sizeof(struct value_cursor),
	.table_min	= 128 * 1024,
	.table_init	= value_init,
	.cursor_init	= value_cursor_init,
	.unit		= value_unit,
	.feed		= value_feed,
	.merge		= value_merge,
	.rows		= value_rows,
	.sample		= value_sample,
	.forget		= value_forget,
	.evicted	= value_evicted,
	.pending	= value_pending,
};
