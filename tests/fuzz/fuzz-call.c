// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as calls. The call engine must neither crash nor lose count, and
 * the exact calls of each pair must be within the bounds of its rows. Eight
 * bytes make an event, or a window of events.
 */
#include "engine.h"
#include "engine/window.h"

enum {
	SPACES = 4,
	SITES = 256,
	CALLEES = 4,
	BASE = 0x10000,
	TABLE_SIZE = 5000,
	PROFILE_SIZE = 9000,
};

static const struct engine_ops *const fuzzed = &call_engine;

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t space;
	uint8_t site, callee;
	uint8_t repeat, step;
	uint16_t limit;
};

struct pair {
	u64 exact, told, error, evicted;
};

static struct pair pairs[SPACES][SITES][CALLEES];

static struct pair *pair_of(u32 space, u64 site, u64 callee)
{
	return &pairs[space][site % SITES][callee % CALLEES];
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_call *row = data;
	struct pair *pair;

	if (row->calls != period || !period || row->site != ip ||
	    row->callee != addr || row->row.space >= SPACES)
		fail("no such row");
	if (refuses(period))
		return false;
	pair = pair_of(row->row.space, ip, addr);
	pair->told += period;
	pair->error = row->error;
	pair->evicted = row->evicted;
	return true;
}

static void feed(const struct bytes *bytes)
{
	const struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = BASE + bytes->site,
		.to = BASE + bytes->callee % CALLEES,
		.space = bytes->space % SPACES,
	};

	pair_of(event.space, event.from, event.to)->exact +=
		call_engine.unit(&run.params, &event);
	feed_one(0, 0, &event, !(bytes->repeat & 1));
}

/* Feeds two branches, of which the newer one is an event. */
static void feed_window(const struct bytes *bytes)
{
	struct window_branch branches[2] = {
		{ .from = BASE + bytes->site,
		  .to = BASE + bytes->callee % CALLEES },
		{ .from = BASE, .to = BASE },
	};
	const u8 kinds[2] = { bytes->kind & 15, STREAM_JUMP };
	struct window_counts counts = { 0 };
	u32 space = bytes->space % SPACES;
	struct window window;

	window_begin(&window, branches, kinds, 2, space);
	window.times = 1 + bytes->repeat;
	call_engine.feed_window(run.tables[0], &window, &counts);
	run.produced += counts.units;
	pair_of(space, branches[0].from, branches[0].to)->exact += counts.units;
}

static void check_pairs(void)
{
	unsigned int space, i, k;

	read_all(take);
	for (space = 0; space < SPACES; space++)
		for (i = 0; i < SITES; i++)
			for (k = 0; k < CALLEES; k++) {
				const struct pair *pair =
					&pairs[space][i][k];

				if (pair->told > pair->exact ||
				    pair->exact > pair->told + pair->error +
							  fuzz_evicted() -
							  pair->evicted)
					fail("a pair is not within its bounds");
			}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_BRANCHES, .seed = 1,
	};
	struct bytes bytes;

	memset(pairs, 0, sizeof(pairs));
	fuzz_begin(TABLE_SIZE, PROFILE_SIZE, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		u32 space;

		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		space = bytes.space % SPACES;
		if (bytes.kind >> 4 == 5)
			feed_window(&bytes);
		else
			feed(&bytes);
		act(bytes.kind >> 4, 0, 1 + bytes.limit, space, take);
		/* The space is gone; its number now belongs to another one. */
		if (bytes.kind >> 4 == 4)
			memset(pairs[space], 0, sizeof(pairs[space]));
	}
	check_pairs();
	fuzz_end();
	return 0;
}
