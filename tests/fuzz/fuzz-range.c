// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as values: the range engine must neither crash nor lose count, and
 * each value has had no less and no more than its ranges say. Eight bytes make
 * an event, whose values crowd together or lie anywhere.
 */
#include "engine.h"

enum {
	SPACES = 16,
	VALUES = 8,		/* that are counted by hand as well */
	PROFILE_SIZE = 64 << 10,
};

static const struct engine_ops *const fuzzed = &range_engine;

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
	struct known known[VALUES];
	unsigned int known_count;
	bool forgot;
} hand;

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_range *row = data;
	unsigned int i;

	if (row->count != period || !period || row->low != ip || addr < ip ||
	    row->bits > 64 || row->bits % 2)
		fail("no such row");
	if (refuses(period))
		return false;
	for (i = 0; i < hand.known_count && row->row.space == 1; i++) {
		struct known *known = &hand.known[i];

		if (known->value < ip || known->value > addr)
			continue;
		if (row->bits)
			known->around += period;
		else
			known->least += period;
	}
	return true;
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
	for (i = 0; i < hand.known_count; i++)
		if (hand.known[i].value == value)
			break;
	if (i == VALUES)
		return;
	/* Only those that were known from their first event on. */
	if (i == hand.known_count && hand.known_count < VALUES && units) {
		hand.known[i] = (struct known){ .value = value };
		hand.known_count++;
	}
	if (i < hand.known_count)
		hand.known[i].exact += units;
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
		feed_one(0, 0, &event, false);
	}
	act(bytes->kind >> 4, 0, 1 + bytes->step, event.space, take);
	hand.forgot |= bytes->kind >> 4 == 4 && event.space == 1;
}

/* A row of no value of its own says less, and never too much. */
static void check_known(void)
{
	unsigned int i;

	read_all(take);
	for (i = 0; i < hand.known_count; i++) {
		const struct known *known = &hand.known[i];

		if (known->least > known->exact ||
		    (!hand.forgot &&
		     known->exact > known->least + known->around))
			fail("a value is not within its bounds");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .epsilon_ppm = 50000,
	};
	struct bytes bytes;

	if (size)
		params.range_of = data[--size] % HWPROF_RANGES_OF_COUNT;
	memset(&hand, 0, sizeof(hand));
	fuzz_begin(range_engine.table_min, PROFILE_SIZE, &params);
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	check_known();
	fuzz_end();
	return 0;
}
