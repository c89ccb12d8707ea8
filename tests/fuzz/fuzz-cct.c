// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as calls, returns, signals and gaps of a few tasks. The cct engine
 * must neither crash nor lose count, and no chain may be longer than the limit.
 * Eight bytes make an event; procedures are few, so that they recurse.
 */
#include "engine.h"

enum { TASKS = 3, PROFILE_SIZE = 64 << 10 };

static const struct engine_ops *const fuzzed = &cct_engine;

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t task;		/* and its space, and how often */
	uint8_t from, from_offset;
	uint8_t to, to_offset;
	uint16_t limit;
};

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_context *row = data;
	bool root = row->kind == HWPROF_CONTEXT_ROOT ||
		    row->kind == HWPROF_CONTEXT_SIGNAL;

	if (row->calls + row->deeper != period || !row->id ||
	    row->callee != ip || row->site != addr ||
	    root != !row->parent || row->parent == row->id ||
	    !row->target != (row->kind != HWPROF_CONTEXT_RECURSION))
		fail("no such row");
	return !refuses(period);
}

static void feed(const struct bytes *bytes)
{
	bool stack = bytes->limit & 1 && (bytes->kind & 15) <= STREAM_GAP;
	const struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = (u64)bytes->from << 12 | bytes->from_offset,
		.to = (u64)bytes->to << 12 | bytes->to_offset,
		.space = 1 + (bytes->task >> 2 & 1),
		.flags = stack ? STREAM_STACK : 0,
		.value = stack ? bytes->limit & 0xfffe : 0,
	};
	unsigned int repeat;

	for (repeat = 0; repeat <= bytes->task >> 3; repeat++)
		feed_one(0, bytes->task % TASKS, &event, false);
	act(bytes->kind >> 4, 0, 1 + bytes->limit, event.space, take);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 0x5eed,
	};
	struct bytes bytes;

	fuzz_begin(cct_engine.table_min, PROFILE_SIZE, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	read_all(take);
	fuzz_end();
	return 0;
}
