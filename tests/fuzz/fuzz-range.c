// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as values. The range engine must neither crash nor lose count, and
 * the exact count of each value, or pair, must be within the bounds of its
 * ranges. Eight bytes make an event, whose values crowd together or lie
 * anywhere.
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

/* A value in the first address space. */
struct known {
	u64 value, code, exact, least, around;	/* code: of pairs; else 0 */
};

static struct {
	struct known known[VALUES];
	unsigned int known_count;
	bool forgot;
} hand;

static bool is_of_pairs(void)
{
	return run.params.range_of == HWPROF_RANGE_IP_LOAD_ADDRESS ||
	       run.params.range_of == HWPROF_RANGE_IP_STORE_ADDRESS;
}

/* Returns a range as a box; a range has no code. */
static struct hwprof_row_box box_of(const void *data, u64 ip, u64 addr)
{
	const struct hwprof_row_range *row = data;

	if (row->row.type == HWPROF_ROW_BOX)
		return *(const struct hwprof_row_box *)data;
	if (row->low != ip || addr < ip || row->bits > 64 || row->bits % 2)
		fail("no such range");
	return (struct hwprof_row_box) {
		.row = row->row, .low = row->low, .bits = row->bits,
		.count = row->count,
	};
}

static bool is_aligned(u64 low, unsigned int bits)
{
	return bits == 64 ? !low : bits < 64 && !(low & ((1ULL << bits) - 1));
}

static bool is_within(u64 value, u64 low, unsigned int bits)
{
	return bits == 64 || (value ^ low) >> bits == 0;
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_box box = box_of(data, ip, addr);
	unsigned int i;

	if ((box.row.type == HWPROF_ROW_BOX) != is_of_pairs() ||
	    box.count != period || !period ||
	    !is_aligned(box.low, box.bits) ||
	    !is_aligned(box.code, box.code_bits))
		fail("no such row");
	if (refuses(period))
		return false;
	for (i = 0; i < hand.known_count && box.row.space == 1; i++) {
		struct known *known = &hand.known[i];

		if (!is_within(known->value, box.low, box.bits) ||
		    !is_within(known->code, box.code, box.code_bits))
			continue;
		if (box.bits || box.code_bits)
			known->around += period;
		else
			known->least += period;
	}
	return true;
}

/* Returns the value of an event of the stream. */
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
	u64 value = value_of(event), code = is_of_pairs() ? event->from : 0;
	unsigned int i;

	if (event->space != 1)
		return;
	for (i = 0; i < hand.known_count; i++)
		if (hand.known[i].value == value && hand.known[i].code == code)
			break;
	if (i == VALUES)
		return;
	/* Only values that were noted from their first event on. */
	if (i == hand.known_count && hand.known_count < VALUES && units) {
		hand.known[i] = (struct known){ .value = value, .code = code };
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

/*
 * Checks the bounds. A row of a wider range tells less about a value, but never
 * too much.
 */
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
