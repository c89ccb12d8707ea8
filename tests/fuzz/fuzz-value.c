// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as loads. The value engine must neither crash nor lose count. A
 * value must occur at least as often as its rows say and, if nothing was
 * evicted, not more often. Eight bytes make an event, of several tasks over
 * several tables.
 */
#include "engine.h"

enum {
	SPACES = 4,
	KNOWN = 8,		/* values that are counted by hand as well */
	TABLE_SIZE = 4 << 10,
	PROFILE_SIZE = 16 << 10,
};

static const struct engine_ops *const fuzzed = &value_engine;

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t task;		/* and table, space, repeats */
	uint16_t ip, value;
	uint8_t shift, step;
};

struct known {
	u32 space;
	u64 ip, value;
	u64 exact, hits, most;
};

static struct {
	struct known known[KNOWN];
	unsigned int known_count;
} hand;

static void see_value(struct known *known, const struct hwprof_row_value *row,
		      u64 rest)
{
	u32 i;

	if (known->ip != row->ip || known->space != row->row.space)
		return;
	for (i = 0; i < row->count; i++)
		if (row->values[i].value == known->value) {
			known->hits += row->values[i].hits;
			known->most += row->values[i].hits +
				       row->values[i].missed;
			return;
		}
	known->most += rest;
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_value *row = data;
	u64 rest = row->loads - row->unseen;
	unsigned int i;

	if (row->loads != period || !period || row->ip != ip ||
	    row->count > HWPROF_VALUES_MAX || row->unseen > row->loads ||
	    row->breaks > row->runs || row->runs > rest ||
	    row->strides > row->runs - row->breaks)
		fail("no such row");
	for (i = 0; i < row->count; i++) {
		if (row->values[i].hits > rest)
			fail("more values than executions");
		rest -= row->values[i].hits;
	}
	if (refuses(period))
		return false;
	for (i = 0; i < hand.known_count; i++)
		see_value(&hand.known[i], row, rest);
	return true;
}

static void note(const struct stream_event *event)
{
	unsigned int i;

	if (event->kind != STREAM_LOAD || event->flags & STREAM_NO_VALUE)
		return;
	for (i = 0; i < hand.known_count; i++)
		if (hand.known[i].value == event->value &&
		    hand.known[i].ip == event->from &&
		    hand.known[i].space == event->space)
			break;
	if (i == KNOWN)
		return;
	if (i == hand.known_count) {
		/* Only values that were noted before the first row. */
		if (run.delivered)
			return;
		hand.known[hand.known_count++] = (struct known) {
			event->space, event->from, event->value, 0, 0, 0,
		};
	}
	hand.known[i].exact++;
}

static void feed(const struct bytes *bytes)
{
	unsigned int task = bytes->task % FUZZ_TASKS;
	unsigned int table = bytes->task / 4 % FUZZ_TABLES;
	unsigned int repeat, repeats = 1 + bytes->task / 32 * 9;
	struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = bytes->ip,
		.value = (u64)bytes->value << (bytes->shift & 63),
		.flags = bytes->shift == 255 ? STREAM_NO_VALUE : 0,
		.width = 8,
		.space = bytes->task / 8 % SPACES,
	};

	for (repeat = 0; repeat < repeats; repeat++) {
		note(&event);
		feed_one(table, task, &event, bytes->shift % 2 == 0);
		event.value += bytes->step;
		event.from += bytes->shift >> 6;
	}
	if (bytes->kind >> 4 == 4)
		engine_forget(&value_engine, run.tables[table], event.space);
	act(bytes->kind >> 4, table, 1 + bytes->step, event.space, take);
}

static void check_known(void)
{
	unsigned int i;

	read_all(take);
	for (i = 0; i < hand.known_count; i++) {
		const struct known *known = &hand.known[i];

		if (known->hits > known->exact ||
		    (!fuzz_evicted() && known->exact > known->most))
			fail("a value is not within its bounds");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 5,
	};
	struct bytes bytes;

	memset(&hand, 0, sizeof(hand));
	fuzz_begin(TABLE_SIZE, PROFILE_SIZE, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	check_known();
	fuzz_end();
	return 0;
}
