// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as calls: the call engine must neither crash nor lose count, and
 * each pair was called no less and no more often than its rows say. Eight bytes
 * make an event, or a window of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/window.h"

enum {
	SPACES = 4,
	SITES = 256,
	CALLEES = 4,
	BASE = 0x10000,
	TABLE_SIZE = 5000,
	PROFILE_SIZE = 9000,
};

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

static struct {
	void *table, *profile;
	struct pair pairs[SPACES][SITES][CALLEES];
	u64 produced, delivered;
	unsigned int refuse;
} run;

static void *fresh_table(size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_BRANCHES, .seed = 1,
	};
	void *table = calloc(1, size);

	call_engine.table_init(table, size, &params);
	return table;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static u64 evicted(void)
{
	return call_engine.evicted(run.table) +
	       call_engine.evicted(run.profile);
}

static void account(void)
{
	if (run.produced != run.delivered + evicted() +
			    call_engine.pending(run.table) +
			    call_engine.pending(run.profile))
		fail("the account does not add up");
}

static struct pair *pair_of(u32 space, u64 site, u64 callee)
{
	return &run.pairs[space][site % SITES][callee % CALLEES];
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_call *row = data;
	struct pair *pair;

	if (run.refuse && !(++run.refuse % 3))
		return false;
	if (row->calls != period || !period || row->site != ip ||
	    row->callee != addr || row->row.space >= SPACES)
		fail("no such row");
	run.delivered += period;
	pair = pair_of(row->row.space, ip, addr);
	pair->told += period;
	pair->error = row->error;
	pair->evicted = row->evicted;
	return true;
}

static void retire(size_t limit)
{
	while (call_engine.merge(run.profile, run.table, limit) == limit)
		account();
	account();
}

static void read_rows(void)
{
	size_t at = 0;

	call_engine.rows(run.profile, 0, &at, take, NULL);
	account();
}

static void feed(const struct bytes *bytes)
{
	const struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = BASE + bytes->site,
		.to = BASE + bytes->callee % CALLEES,
		.space = bytes->space % SPACES,
	};
	const struct engine_params params = { 0 };
	unsigned int units = call_engine.unit(&params, &event);

	pair_of(event.space, event.from, event.to)->exact += units;
	run.produced += units;
	if (!call_engine.feed(run.table, NULL, &event) && bytes->repeat & 1)
		retire(64);
}

/* Two branches, of which the newer one is an event. */
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
	call_engine.feed_window(run.table, &window, &counts);
	run.produced += counts.units;
	pair_of(space, branches[0].from, branches[0].to)->exact += counts.units;
}

static void act(const struct bytes *bytes)
{
	u32 space = bytes->space % SPACES;

	switch (bytes->kind >> 4) {
	case 1:
		retire(1 + bytes->limit);
		break;
	case 2:
		read_rows();
		break;
	case 3:
		run.refuse ^= 1;
		break;
	case 4:
		retire(1000);
		call_engine.forget(run.profile, space);
		account();
		/* It is gone; what has its number now is another one. */
		memset(run.pairs[space], 0, sizeof(run.pairs[space]));
		break;
	}
}

static void check_pairs(void)
{
	unsigned int space, i, k;

	run.refuse = 0;
	retire(1000);
	read_rows();
	if (call_engine.pending(run.profile))
		fail("rows are missing");
	for (space = 0; space < SPACES; space++)
		for (i = 0; i < SITES; i++)
			for (k = 0; k < CALLEES; k++) {
				const struct pair *pair =
					&run.pairs[space][i][k];

				if (pair->told > pair->exact ||
				    pair->exact > pair->told + pair->error +
						  evicted() - pair->evicted)
					fail("a pair is not within its bounds");
			}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;

	memset(&run, 0, sizeof(run));
	run.table = fresh_table(TABLE_SIZE);
	run.profile = fresh_table(PROFILE_SIZE);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		if (bytes.kind >> 4 == 5)
			feed_window(&bytes);
		else
			feed(&bytes);
		act(&bytes);
	}
	check_pairs();
	free(run.table);
	free(run.profile);
	return 0;
}
