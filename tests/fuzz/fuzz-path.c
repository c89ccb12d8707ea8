// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as branches: the path engine must neither crash nor lose count, and
 * no row may tell of a path that cannot be. Eight bytes make an event.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

enum { SPACES = 3, TASKS = 2, PROFILE_SIZE = 16 << 10, TABLE_SIZE = 8 << 10 };

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t space;		/* and which task it is, and how often */
	uint16_t from, to;
	uint8_t shift, step;
};

static struct {
	void *table, *profile;
	void *cursor[TASKS];
	u64 produced, delivered;
	unsigned int refuse;
} run;

static void *fresh_table(size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 77,
	};
	void *table = calloc(1, size);

	path_engine.table_init(table, size, &params);
	return table;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void account(void)
{
	u64 rest = path_engine.pending(run.table) +
		   path_engine.evicted(run.table) +
		   path_engine.pending(run.profile) +
		   path_engine.evicted(run.profile);

	if (run.produced != run.delivered + rest)
		fail("the account does not add up");
}

/* Jumps lead forward, each from where the last one led or behind that. */
static bool can_be(const struct hwprof_row_path *row)
{
	u64 line = row->start;
	u32 i;

	if (row->flags & HWPROF_PATH_UNSEEN)
		return !row->start && !row->end && !row->target &&
		       !row->length;
	for (i = 0; i < row->spelled; i++) {
		if (row->jumps[i].from < line ||
		    row->jumps[i].to <= row->jumps[i].from)
			return false;
		line = row->jumps[i].to;
	}
	return row->end >= line && row->target <= row->end;
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_path *row = data;

	if (run.refuse && !(++run.refuse % 3))
		return false;
	if (row->count != period || !period || row->start != ip ||
	    row->end != addr || row->spelled > row->length ||
	    row->spelled > HWPROF_PATH_JUMPS_MAX ||
	    row->row.size != sizeof(*row) + row->spelled *
			     sizeof(row->jumps[0]) || !can_be(row))
		fail("no such row");
	run.delivered += period;
	return true;
}

static void retire(size_t limit)
{
	while (path_engine.merge(run.profile, run.table, limit) == limit)
		account();
	account();
}

static void read_rows(void)
{
	size_t at = 0;

	path_engine.rows(run.profile, 0, &at, take, NULL);
	account();
}

static void feed(const struct bytes *bytes)
{
	struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = (u64)bytes->from << (bytes->shift & 63),
		.to = ((u64)bytes->to << (bytes->shift & 63)) + bytes->step,
		.space = bytes->space % SPACES,
	};
	void *cursor = run.cursor[bytes->space / SPACES % TASKS];
	unsigned int repeat;

	for (repeat = 0; repeat <= bytes->space / (SPACES * TASKS); repeat++) {
		run.produced += path_engine.unit(NULL, &event);
		if (!path_engine.feed(run.table, cursor, &event))
			retire(64);
		event.from += bytes->step;
		event.to += bytes->step;
	}
	switch (bytes->kind >> 4) {
	case 1:
		retire(1 + bytes->step);
		break;
	case 2:
		read_rows();
		break;
	case 3:
		run.refuse ^= 1;
		break;
	case 4:
		retire(1000);
		path_engine.forget(run.profile, event.space);
		account();
		break;
	case 5:
		path_engine.cursor_init(cursor, 1);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;
	unsigned int i;

	memset(&run, 0, sizeof(run));
	run.table = fresh_table(TABLE_SIZE);
	run.profile = fresh_table(PROFILE_SIZE);
	for (i = 0; i < TASKS; i++) {
		run.cursor[i] = malloc(path_engine.cursor_size);
		path_engine.cursor_init(run.cursor[i], i);
	}
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	run.refuse = 0;
	retire(1000);
	read_rows();
	if (path_engine.pending(run.profile))
		fail("rows are missing");
	for (i = 0; i < TASKS; i++)
		free(run.cursor[i]);
	free(run.table);
	free(run.profile);
	return 0;
}
