// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as calls, returns, signals and gaps of a few tasks: the cct engine
 * must neither crash nor lose count, and no chain is longer than it may be.
 * Eight bytes make an event; procedures are few, so that they recurse.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

enum { TASKS = 3, PROFILE_SIZE = 64 << 10 };

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t task;		/* and its space, and how often */
	uint8_t from, from_offset;
	uint8_t to, to_offset;
	uint16_t limit;
};

static struct {
	void *table, *profile, *cursors[TASKS];
	u64 produced, delivered;
	unsigned int refuse;
} run;

static void *fresh_table(size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 0x5eed,
	};
	void *table = calloc(1, size);

	cct_engine.table_init(table, size, &params);
	return table;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void account(void)
{
	u64 rest = cct_engine.pending(run.table) +
		   cct_engine.evicted(run.table) +
		   cct_engine.pending(run.profile) +
		   cct_engine.evicted(run.profile);

	if (run.produced != run.delivered + rest)
		fail("the account does not add up");
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_context *row = data;
	bool root = row->kind == HWPROF_CONTEXT_ROOT ||
		    row->kind == HWPROF_CONTEXT_SIGNAL;

	if (run.refuse && !(++run.refuse % 3))
		return false;
	if (row->calls + row->deeper != period || !row->id ||
	    row->callee != ip || row->site != addr ||
	    root != !row->parent || row->parent == row->id ||
	    !row->target != (row->kind != HWPROF_CONTEXT_RECURSION))
		fail("no such row");
	run.delivered += period;
	return true;
}

static void retire(size_t limit)
{
	while (cct_engine.merge(run.profile, run.table, limit) == limit)
		account();
	account();
	if (cct_engine.pending(run.table))
		fail("a merged table is not empty");
}

static void read_rows(void)
{
	size_t at = 0;

	cct_engine.rows(run.profile, 0, &at, take, NULL);
	account();
}

static void feed(const struct bytes *bytes)
{
	const struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = (u64)bytes->from << 12 | bytes->from_offset,
		.to = (u64)bytes->to << 12 | bytes->to_offset,
		.space = 1 + (bytes->task >> 2 & 1),
	};
	const struct engine_params params = { 0 };
	unsigned int repeat;

	for (repeat = 0; repeat <= bytes->task >> 3; repeat++) {
		run.produced += cct_engine.unit(&params, &event);
		if (!cct_engine.feed(run.table,
				     run.cursors[bytes->task % TASKS], &event))
			retire(64);
	}
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
		cct_engine.forget(run.profile, event.space);
		account();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;
	unsigned int i;

	memset(&run, 0, sizeof(run));
	run.table = fresh_table(cct_engine.table_min);
	run.profile = fresh_table(PROFILE_SIZE);
	for (i = 0; i < TASKS; i++) {
		run.cursors[i] = malloc(cct_engine.cursor_size);
		cct_engine.cursor_init(run.cursors[i], i);
	}
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	run.refuse = 0;
	retire(1000);
	read_rows();
	if (cct_engine.pending(run.profile))
		fail("rows are missing");
	for (i = 0; i < TASKS; i++)
		free(run.cursors[i]);
	free(run.table);
	free(run.profile);
	return 0;
}
