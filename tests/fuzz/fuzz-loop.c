// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as branches. The loop engine must neither crash nor lose count. The
 * first byte tells whether all branches were seen, or bursts and windows. Eight
 * bytes make an event. Small numbers pick addresses near each other, to make
 * loops, calls and returns likely.
 */
#include "engine.h"

enum { PROFILE_SIZE = 256 << 10 };

static const struct engine_ops *const fuzzed = &loop_engine;

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t task_space;
	uint16_t from, to;
	uint8_t scale_from, scale_to;
};

static bool take(void *context, const void *row, u64 ip, u64 addr, u64 period)
{
	return !refuses(period);
}

/* Returns an address: close to others, or anywhere. */
static u64 address(uint16_t low, uint8_t scale)
{
	u64 base = (u64)(scale >> 4) * 0x1111111111111111ULL;

	return scale < 16 ? 0x400000 + (low & 0xff) :
			    base + ((u64)low << (scale & 15));
}

static void feed(const struct bytes *bytes)
{
	const struct stream_event event = {
		.from = address(bytes->from, bytes->scale_from),
		.to = address(bytes->to, bytes->scale_to),
		.kind = bytes->kind & 15,
		.space = bytes->task_space >> 6,
	};

	feed_one(0, bytes->task_space % 2, &event, false);
	remember(&event);
	act(bytes->kind >> 4, 0, 1 + (bytes->task_space & 31), event.space,
	    take);
	if (bytes->kind >> 4 >= 6 && run.params.basis == HWPROF_BASIS_TIME) {
		feed_last(0, event.space, 1 + bytes->task_space % 4);
		fuzzed->taken(run.tables[0], event.from, event.space);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct engine_params params = { .span = 1 << 20, .seed = 42 };
	struct bytes bytes;

	if (!size)
		return -1;
	params.basis = *data & 1 ? HWPROF_BASIS_TIME : HWPROF_BASIS_EXACT;
	data++;
	size--;
	fuzz_begin(loop_engine.table_min, PROFILE_SIZE, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	account();
	fuzz_end();
	return 0;
}
