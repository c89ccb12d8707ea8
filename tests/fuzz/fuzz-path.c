// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as branches. The path engine must neither crash nor lose count, and
 * no row may contain an impossible path. Eight bytes make an event. If a byte
 * is left over, the last branches are also fed as windows that a time counter
 * takes.
 */
#include "engine.h"

enum {
	SPACES = 3, TASKS = 2,
	PROFILE_SIZE = 16 << 10, TABLE_SIZE = 8 << 10,
	WINDOWS_SIZE = 64 << 10,	/* there is a cursor in it */
};

static const struct engine_ops *const fuzzed = &path_engine;

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t space;		/* and which task it is, and how often */
	uint16_t from, to;
	uint8_t shift, step;
};

/*
 * Tells whether jumps lead forward, each from the target of the last one or
 * behind it.
 */
static bool can_be(const struct hwprof_row_path *row)
{
	u64 line = row->start;
	u32 i;

	if (row->flags & HWPROF_PATH_UNSEEN)
		return !row->start && !row->target && !row->length &&
		       (!row->end || row->flags & HWPROF_PATH_OPEN);
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
	bool open = row->flags & HWPROF_PATH_OPEN;

	if (!row->count || period != (open ? 0 : row->count) ||
	    ip != (open ? row->end : row->start) ||
	    addr != (open ? 0 : row->end) ||
	    (open && run.params.basis != HWPROF_BASIS_TIME) ||
	    row->spelled > row->length ||
	    row->spelled > HWPROF_PATH_JUMPS_MAX ||
	    row->row.size != sizeof(*row) + row->spelled *
			     sizeof(row->jumps[0]) || !can_be(row))
		fail("no such row");
	return !refuses(period);
}

/* Feeds a window, taken a few bytes behind the last branch, or anywhere. */
static void feed_window(const struct bytes *bytes, u32 space)
{
	feed_last(0, space, 1 + bytes->step % 4);
	path_engine.taken(run.tables[0], last[0].to + (bytes->to & 7), space);
	path_engine.taken(run.tables[0], bytes->from, space);
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
	unsigned int task = bytes->space / SPACES % TASKS, repeat;

	for (repeat = 0; repeat <= bytes->space / (SPACES * TASKS); repeat++) {
		feed_one(0, task, &event, false);
		remember(&event);
		event.from += bytes->step;
		event.to += bytes->step;
	}
	act(bytes->kind >> 4, 0, 1 + bytes->step, event.space, take);
	if (bytes->kind >> 4 == 5)
		path_engine.cursor_init(run.cursors[task], 1);
	if (bytes->kind >> 4 >= 6 && run.params.basis == HWPROF_BASIS_TIME)
		feed_window(bytes, event.space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool windows = size % sizeof(struct bytes);
	const struct engine_params params = {
		.basis = windows ? HWPROF_BASIS_TIME : HWPROF_BASIS_EXACT,
		.seed = 77,
	};
	struct bytes bytes;

	if (windows)
		fuzz_begin(WINDOWS_SIZE, WINDOWS_SIZE, &params);
	else
		fuzz_begin(TABLE_SIZE, PROFILE_SIZE, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	read_all(take);
	fuzz_end();
	return 0;
}
