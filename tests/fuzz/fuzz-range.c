// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as values: the range engine must neither crash nor lose count, and
 * each value has had no less and no more than its ranges say. Eight bytes make
 * an event, whose values crowd together or lie anywhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

enum {
	SPACES = 16,
	VALUES = 8,		/* that are counted by hand as well */
	PROFILE_SIZE = 64 << 10,
};

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t space;
	uint16_t value, weight;
	uint8_t shift, step;
};

/* In the first address space. */
struct known {
	u64 value, exact, least, around;
};

static struct {
	void *table, *profile;
	struct known known[VALUES];
	unsigned int known_count;
	u64 produced, delivered;
	struct engine_params params;
	unsigned int refuse;
	bool forgot;
} run;

static void *fresh_table(size_t size)
{
	void *table = malloc(size);

	range_engine.table_init(table, size, &run.params);
	return table;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void account(void)
{
	u64 rest = range_engine.pending(run.table) +
		   range_engine.evicted(run.table) +
		   range_engine.pending(run.profile) +
		   range_engine.evicted(run.profile);

	if (run.produced != run.delivered + rest)
		fail("the account does not add up");
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_range *row = data;
	unsigned int i;

	if (run.refuse && !(++run.refuse % 3))
		return false;
	if (row->count != period || !period || row->low != ip || addr < ip ||
	    row->bits > 64 || row->bits % 2)
		fail("no such row");
	run.delivered += period;
	for (i = 0; i < run.known_count && row->row.space == 1; i++) {
		struct known *known = &run.known[i];

		if (known->value < ip || known->value > addr)
			continue;
		if (row->bits)
			known->around += period;
		else
			known->least += period;
	}
	return true;
}

static void retire(size_t limit)
{
	while (range_engine.merge(run.profile, run.table, limit) == limit)
		account();
	account();
}

static void read_rows(void)
{
	size_t at = 0;

	range_engine.rows(run.profile, 0, &at, take, NULL);
	account();
}

/* Of an event that is in the stream. */
static u64 value_of(const struct stream_event *event)
{
	if (run.params.range_of == HWPROF_RANGE_LOAD_VALUE)
		return event->value;
	if (run.params.range_of == HWPROF_RANGE_NARROW_IP ||
	    event->kind == STREAM_SAMPLE)
		return event->from;
	return event->to;
}

static void note(const struct stream_event *event, unsigned int units)
{
	u64 value = value_of(event);
	unsigned int i;

	if (event->space != 1)
		return;
	for (i = 0; i < run.known_count; i++)
		if (run.known[i].value == value)
			break;
	if (i == VALUES)
		return;
	/* Only those that were known from their first event on. */
	if (i == run.known_count && run.known_count < VALUES && units) {
		run.known[i] = (struct known){ .value = value };
		run.known_count++;
	}
	if (i < run.known_count)
		run.known[i].exact += units;
}

static void feed(const struct bytes *bytes)
{
	u64 value = (u64)bytes->value << (bytes->shift & 63);
	const struct stream_event event = {
		.kind = bytes->kind & 15,
		.from = value + bytes->step, .to = value - bytes->step,
		.value = (u64)bytes->weight << (bytes->shift >> 6) * 8,
		.space = 1 + bytes->space % SPACES,
		.width = 1 << bytes->shift % 6,
	};
	unsigned int repeat, units = range_engine.unit(&run.params, &event);

	for (repeat = 0; repeat <= bytes->space / SPACES; repeat++) {
		note(&event, units);
		run.produced += units;
		if (!range_engine.feed(run.table, NULL, &event))
			retire(64);
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
		range_engine.forget(run.profile, event.space);
		run.forgot |= event.space == 1;
		account();
		break;
	}
}

/* A row of no value of its own says less, and never too much. */
static void check_known(void)
{
	unsigned int i;

	run.refuse = 0;
	retire(1000);
	read_rows();
	if (range_engine.pending(run.profile))
		fail("rows are missing");
	for (i = 0; i < run.known_count; i++) {
		const struct known *known = &run.known[i];

		if (known->least > known->exact ||
		    (!run.forgot &&
		     known->exact > known->least + known->around))
			fail("a value is not within its bounds");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;

	memset(&run, 0, sizeof(run));
	run.params = (struct engine_params) {
		.basis = HWPROF_BASIS_EXACT, .epsilon_ppm = 50000,
	};
	if (size)
		run.params.range_of = data[--size] % HWPROF_RANGES_OF_COUNT;
	run.table = fresh_table(range_engine.table_min);
	run.profile = fresh_table(PROFILE_SIZE);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	check_known();
	free(run.table);
	free(run.profile);
	return 0;
}
