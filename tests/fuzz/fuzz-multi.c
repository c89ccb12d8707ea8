// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as branches, to any two or more engines at once. They must neither
 * crash nor lose count. The first byte chooses the engines, and whether to feed
 * windows. Eight bytes make an event.
 */
#include "engine.h"
#include "engine/multi.h"

enum { SPACES = 2, TASKS = 3, ALL = (1 << MULTI_PARTS) - 1 };

static const struct engine_ops *const fuzzed = &multi_engine;

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t task;		/* and its space, and how often */
	uint16_t from, to;
	uint8_t shift, step;
};

/* Returns the part that a row belongs to, or 0 if there is no such row. */
static unsigned int parts_of(const struct hwprof_row *row)
{
	switch (row->type) {
	case HWPROF_ROW_LOOP:
	case HWPROF_ROW_TIME:
		return 1 << MULTI_LOOPS;
	case HWPROF_ROW_CALL:
		return 1 << MULTI_CALLS;
	case HWPROF_ROW_PATH:
		return 1 << MULTI_PATHS;
	case HWPROF_ROW_CONTEXT:
		return 1 << MULTI_CCT;
	case HWPROF_ROW_EDGE:
		return 1 << MULTI_EDGES;
	}
	return 0;
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	if (!(parts_of(data) & run.params.parts))
		fail("a row of what was not asked for");
	return !refuses(period);
}

static void feed(const struct bytes *bytes)
{
	struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = (u64)bytes->from << (bytes->shift & 31),
		.to = ((u64)bytes->to << (bytes->shift & 31)) + bytes->step,
		.space = 1 + (bytes->task >> 2) % SPACES,
	};
	unsigned int repeat;

	for (repeat = 0; repeat <= bytes->task >> 3; repeat++) {
		feed_one(bytes->task % FUZZ_TABLES, bytes->task % TASKS,
			 &event, bytes->shift >> 7);
		remember(&event);
		event.from += bytes->step;
		event.to += bytes->step;
	}
	act(bytes->kind >> 4, bytes->task % FUZZ_TABLES, 1 + bytes->step,
	    event.space, take);
	if (bytes->kind >> 4 >= 6 && run.params.basis == HWPROF_BASIS_TIME) {
		feed_last(bytes->task % FUZZ_TABLES, event.space,
			  1 + bytes->step % 4);
		fuzzed->taken(run.tables[bytes->task % FUZZ_TABLES],
			      bytes->from, event.space);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct engine_params params = { .span = 1 << 20, .seed = 77 };
	size_t least = fuzzed->table_min;
	struct bytes bytes;

	if (!size || !(*data & ALL & ((*data & ALL) - 1)))
		return -1;
	params.parts = *data & ALL;
	params.basis = *data & 0x80 && !(params.parts & 1 << MULTI_CCT) ?
		       HWPROF_BASIS_TIME : HWPROF_BASIS_EXACT;
	data++;
	size--;
	fuzz_begin(least, least, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	read_all(take);
	fuzz_end();
	return 0;
}
