// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as loads: the value engine must neither crash nor lose count, and a
 * value was given no less often than is said and, where nothing was evicted, no
 * more. Eight bytes make an event, of several tasks over several tables.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

enum {
	SPACES = 4,
	TASKS = 4,
	TABLES = 2,
	KNOWN = 8,		/* values that are counted by hand as well */
	TABLE_SIZE = 4 << 10,
	PROFILE_SIZE = 16 << 10,
};

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
	void *tables[TABLES], *profile;
	u64 cursors[TASKS];
	struct known known[KNOWN];
	unsigned int known_count;
	u64 produced, delivered;
	unsigned int refuse;
} run;

static void *fresh_table(size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 5,
	};
	void *table = calloc(1, size);

	value_engine.table_init(table, size, &params);
	return table;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static u64 evicted(void)
{
	u64 sum = value_engine.evicted(run.profile);
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		sum += value_engine.evicted(run.tables[i]);
	return sum;
}

static void account(void)
{
	u64 rest = value_engine.pending(run.profile) + evicted();
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		rest += value_engine.pending(run.tables[i]);
	if (run.produced != run.delivered + rest)
		fail("the account does not add up");
}

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

	if (run.refuse && !(++run.refuse % 3))
		return false;
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
	run.delivered += period;
	for (i = 0; i < run.known_count; i++)
		see_value(&run.known[i], row, rest);
	return true;
}

static void retire(unsigned int table, size_t limit)
{
	while (value_engine.merge(run.profile, run.tables[table], limit) ==
	       limit)
		account();
	account();
}

static void read_rows(void)
{
	size_t at = 0;

	value_engine.rows(run.profile, 0, &at, take, NULL);
	account();
}

static void note(const struct stream_event *event)
{
	unsigned int i;

	if (event->kind != STREAM_LOAD || event->flags & STREAM_NO_VALUE)
		return;
	for (i = 0; i < run.known_count; i++)
		if (run.known[i].value == event->value &&
		    run.known[i].ip == event->from &&
		    run.known[i].space == event->space)
			break;
	if (i == KNOWN)
		return;
	if (i == run.known_count) {
		/* Only those that were known from the first row on. */
		if (run.delivered)
			return;
		run.known[run.known_count++] = (struct known) {
			event->space, event->from, event->value, 0, 0, 0,
		};
	}
	run.known[i].exact++;
}

static void feed(const struct bytes *bytes)
{
	unsigned int task = bytes->task % TASKS;
	unsigned int table = bytes->task / 4 % TABLES;
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
		run.produced += value_engine.unit(NULL, &event);
		if (!value_engine.feed(run.tables[table], &run.cursors[task],
				       &event) && bytes->shift % 2)
			retire(table, 64);
		event.value += bytes->step;
		event.from += bytes->shift >> 6;
	}
	switch (bytes->kind >> 4) {
	case 1:
		retire(table, 1 + bytes->step);
		break;
	case 2:
		read_rows();
		break;
	case 3:
		run.refuse ^= 1;
		break;
	case 4:
		value_engine.forget(run.tables[table], event.space);
		value_engine.forget(run.profile, event.space);
		account();
		break;
	}
}

static void check_known(void)
{
	unsigned int i;

	run.refuse = 0;
	for (i = 0; i < TABLES; i++)
		retire(i, 1000);
	read_rows();
	if (value_engine.pending(run.profile))
		fail("rows are missing");
	for (i = 0; i < run.known_count; i++) {
		const struct known *known = &run.known[i];

		if (known->hits > known->exact ||
		    (!evicted() && known->exact > known->most))
			fail("a value is not within its bounds");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;
	unsigned int i;

	memset(&run, 0, sizeof(run));
	for (i = 0; i < TABLES; i++)
		run.tables[i] = fresh_table(TABLE_SIZE);
	run.profile = fresh_table(PROFILE_SIZE);
	for (i = 0; i < TASKS; i++)
		value_engine.cursor_init(&run.cursors[i], i);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	check_known();
	for (i = 0; i < TABLES; i++)
		free(run.tables[i]);
	free(run.profile);
	return 0;
}
