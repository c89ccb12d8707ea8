// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as sampled stacks of calls. The cct engine must neither crash nor
 * lose weight, and a known chain must lead to the same context as walking it. A
 * byte makes a call; procedures are few, so that they recurse.
 */
#include "engine.h"

enum { PROFILE_SIZE = 128 << 10, DEPTH = 600, METRICS = 2 };

static const struct engine_ops *const fuzzed = &cct_engine;

struct bytes {
	uint8_t what;		/* high bits: what to do after it */
	uint8_t table;		/* and its space */
	uint8_t repeat;		/* the calls, so often */
	uint8_t length;		/* calls that follow, a byte each */
};

static u64 sites[DEPTH], procedures[DEPTH];

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_context *row = data;
	bool back = row->kind == HWPROF_CONTEXT_RECURSION;

	if (row->weight + row->deeper != period || !row->id ||
	    row->callee != ip || row->site != addr ||
	    !row->parent != (row->kind == HWPROF_CONTEXT_ROOT) ||
	    row->parent == row->id || !row->target == back ||
	    (back && period) || row->metric_count != METRICS ||
	    row->metrics[0] != period)
		fail("no such row");
	return !refuses(period);
}

static u32 make_calls(const struct bytes *bytes, const uint8_t *calls)
{
	u32 depth = 0, i, k;

	for (k = 0; k <= bytes->repeat; k++)
		for (i = 0; i < bytes->length && depth < DEPTH; i++) {
			procedures[depth] = (u64)(calls[i] >> 2) << 12;
			sites[depth++] = (u64)(calls[i] >> 2) << 12 |
					 (calls[i] & 3);
		}
	return depth;
}

static void feed(const struct bytes *bytes, const uint8_t *calls)
{
	void *table = run.tables[bytes->table % FUZZ_TABLES];
	struct stream_stack stack = {
		.sites = sites, .procedures = procedures,
		.procedure = (u64)(bytes->what & 15) << 12,
		.weight = bytes->what + 1u, .space = 1 + (bytes->table >> 7),
		.depth = make_calls(bytes, calls),
	};

	/* The first metric must stay equal to the weight. */
	const u64 metrics[METRICS] = { stack.weight, bytes->what };

	stack.used = stack.depth;
	stack.metrics = metrics;
	run.produced += stack.weight;
	if (!fuzzed->count_stack(table, &stack) &&
	    !fuzzed->feed_stack(table, &stack))
		retire(bytes->table % FUZZ_TABLES, 64);
	act(bytes->what >> 4, bytes->table % FUZZ_TABLES, 1 + bytes->repeat,
	    stack.space, take);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_TIME, .seed = 0x5eed, .metrics = METRICS,
	};
	struct bytes bytes;

	fuzz_begin(cct_engine.table_min, PROFILE_SIZE, &params);
	while (size >= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		size -= sizeof(bytes);
		bytes.length = min((size_t)bytes.length, size);
		feed(&bytes, data);
		data += bytes.length;
		size -= bytes.length;
	}
	read_all(take);
	fuzz_end();
	return 0;
}
