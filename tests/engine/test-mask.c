// SPDX-License-Identifier: GPL-2.0-only
/*
 * Masks: what passes, compared with the plainest reading of the ABI, for random
 * masks and events; and which sessions take which mask.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "config/mask_rules.h"
#include "engine/mask.h"
#include "random.h"
#include "seeds.h"

enum {
	MASKS		= 20000,
	EVENTS		= 50,	/* for each */
};

/* --- what passes ---------------------------------------------------------- */

/* Returns true if all bits that @mask has are the same in both. */
static bool bits_match(u64 value, u64 mask, u64 match)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		if (mask >> i & 1 && (value >> i & 1) != (match >> i & 1))
			return false;
	return true;
}

/* Returns the hash of an address, as the ABI has it. */
static u64 hash_of(u64 ip)
{
	u64 product = ip * 11400714819323198485ULL;

	return product ^ product / 4294967296ULL;
}

static bool access_passes(const struct hwprof_mask *mask,
			  const struct stream_event *event)
{
	u32 width = 1;

	while (width < event->width)
		width *= 2;
	if (mask->classes && !(mask->classes >> event->class & 1))
		return false;
	if (mask->widths && !(mask->widths & width))
		return false;
	if (mask->value_mask && event->flags & STREAM_NO_VALUE)
		return false;
	return bits_match(event->value, mask->value_mask, mask->value_match) &&
	       bits_match(event->to, mask->address_mask, mask->address_match);
}

static bool passes(const struct hwprof_mask *mask,
		   const struct stream_event *event)
{
	bool hashes = mask->flags & HWPROF_MASK_HASH;
	u64 ip = hashes ? hash_of(event->from) : event->from;

	if (event->kind == STREAM_GAP)
		return true;
	if (mask->kinds && !(mask->kinds >> event->kind & 1))
		return false;
	if (!bits_match(ip, mask->ip_mask, mask->ip_match))
		return false;
	return (event->kind != STREAM_LOAD && event->kind != STREAM_STORE) ||
	       access_passes(mask, event);
}

/* A few bits, so that some events pass. */
static u64 few_bits(u64 *random)
{
	u64 bits = 0;
	int i;

	for (i = random_below(random, 3); i; i--)
		bits |= 1ULL << random_below(random, 64);
	return bits;
}

static struct hwprof_mask random_mask(u64 *random)
{
	struct hwprof_mask mask = {
		.flags = random_below(random, 2) * HWPROF_MASK_HASH,
		.kinds = random_next(random) & HWPROF_MASK_KINDS,
		.classes = random_next(random) & ((1 << HWPROF_CLASSES) - 1),
		.widths = random_next(random) & HWPROF_MASK_WIDTHS,
		.value_mask = few_bits(random),
		.address_mask = few_bits(random),
		.ip_mask = few_bits(random),
	};

	mask.kinds *= random_below(random, 2);
	mask.classes *= random_below(random, 2);
	mask.widths *= random_below(random, 2);
	mask.value_match = random_next(random) & mask.value_mask;
	mask.address_match = random_next(random) & mask.address_mask;
	mask.ip_match = random_next(random) & mask.ip_mask;
	return mask;
}

static struct stream_event random_event(u64 *random)
{
	static const u32 widths[] = { 1, 2, 4, 8, 10, 16, 32, 64 };
	struct stream_event event = {
		.from = random_next(random),
		.to = random_next(random),
		.kind = 1 + random_below(random, STREAM_STORE),
	};

	if (!stream_is_access(event.kind))
		return event;
	event.class = random_below(random, HWPROF_CLASSES);
	event.width = widths[random_below(random, 8)];
	if (random_once_in(random, 4))
		event.flags = STREAM_NO_VALUE;
	else
		event.value = random_next(random);
	return event;
}

static void test_random(void **state)
{
	u64 random = 1, passed = 0, all = 0;
	u64 masks = seeds(MASKS), i;
	unsigned int k;

	for (i = 0; i < masks; i++) {
		struct hwprof_mask asked = random_mask(&random);
		struct mask mask = mask_of(&asked);

		for (k = 0; k < EVENTS; k++) {
			struct stream_event event = random_event(&random);
			bool expected = passes(&asked, &event);

			assert_int_equal(expected, mask_passes(&mask, &event));
			/* The module gives up early on both of these. */
			if (expected && stream_is_access(event.kind))
				assert_true(mask_passes_operand(
					&mask, 1U << event.kind, event.class,
					event.width));
			if (expected)
				assert_true(event.kind == STREAM_GAP ||
					    mask_passes_ip(&mask, event.from));
			passed += expected;
			all++;
		}
	}
	/* Neither all nor nothing. */
	assert_in_range(passed, all / 10, all / 2);
}

static void test_nothing_asked(void **state)
{
	const struct hwprof_mask asked = { .flags = HWPROF_MASK_SET };
	struct mask mask = mask_of(&asked);
	u64 random = 2;
	int i;

	assert_false(mask.leaves_out);
	for (i = 0; i < MASKS; i++) {
		struct stream_event event = random_event(&random);

		assert_true(mask_passes(&mask, &event));
	}
}

/* Each field alone makes a mask. */
static void test_leaves_out(void **state)
{
	assert_true(mask_of(&(struct hwprof_mask){ .kinds = 2 }).leaves_out);
	assert_true(mask_of(&(struct hwprof_mask){ .classes = 1 }).leaves_out);
	assert_true(mask_of(&(struct hwprof_mask){ .widths = 8 }).leaves_out);
	assert_true(
		mask_of(&(struct hwprof_mask){ .value_mask = 1 }).leaves_out);
	assert_true(
		mask_of(&(struct hwprof_mask){ .address_mask = 1 }).leaves_out);
	assert_true(mask_of(&(struct hwprof_mask){ .ip_mask = 1 }).leaves_out);
}

/* Masks of n bits divide a program's instructions about evenly. */
static void test_parts(void **state)
{
	unsigned int counts[4] = { 0 }, i;

	for (i = 0; i < 4000; i++)
		counts[HWPROF_MASK_HASH_OF(0x401000 + 4ULL * i) & 3]++;
	for (i = 0; i < 4; i++)
		assert_in_range(counts[i], 800, 1200);
}

/* --- which sessions take which -------------------------------------------- */

enum { ALL_SOURCES = (1 << SOURCE_COUNT) - 1 };

/* Returns the config of fields whose bits in word 0 are @fields. */
static struct session_config config_of(u64 fields, u64 range_of)
{
	const struct config_request request = {
		.words = { fields, 0, range_of << 20 },
		.exclude = EXCLUDE_KERNEL,
	};
	const struct config_machine machine = { .sources = ALL_SOURCES };
	struct session_config config;

	config_decode(&config, &request, &machine);
	return config;
}

#define FIELD(name)	(1ULL << field_places[FIELD_##name].low)

static int check(u64 fields, u64 range_of, struct hwprof_mask mask)
{
	struct session_config config = config_of(fields, range_of);
	struct config_refusal refusal;

	mask.flags |= HWPROF_MASK_SET;
	refusal = mask_check(&config, &mask);
	assert_int_equal(!refusal.error, !refusal.sentence);
	return refusal.error;
}

static int check_values(struct hwprof_mask mask)
{
	return check(FIELD(values) | FIELD(step), 0, mask);
}

#define MASK(...)	((struct hwprof_mask){ __VA_ARGS__ })

static void test_fields(void **state)
{
	assert_int_equal(-EINVAL, check_values(MASK(.flags = 4)));
	assert_int_equal(-EINVAL, check_values(MASK(.reserved = 1)));
	assert_int_equal(-EINVAL, check_values(MASK(.kinds = 1)));
	assert_int_equal(-EINVAL, check_values(MASK(.kinds = 1 << STREAM_GAP)));
	assert_int_equal(-EINVAL, check_values(MASK(.kinds = 1 << 12)));
	assert_int_equal(-EINVAL, check_values(MASK(.classes = 1 << 7)));
	assert_int_equal(-EINVAL, check_values(MASK(.widths = 128)));
	assert_int_equal(-EINVAL, check_values(MASK(.value_match = 1)));
	assert_int_equal(-EINVAL, check_values(MASK(.address_match = 1)));
	assert_int_equal(-EINVAL, check_values(MASK(.ip_match = 1)));
	assert_int_equal(0, check_values(MASK(.kinds = HWPROF_MASK_KINDS)));
	assert_int_equal(0, check_values(MASK(.classes = 127, .widths = 127)));
	assert_int_equal(0, check_values(MASK(.value_mask = 3,
					      .value_match = 1,
					      .address_mask = ~0ULL,
					      .ip_mask = 1)));
}

static void test_accesses(void **state)
{
	const u64 edges = FIELD(edges) | FIELD(step);
	const u64 ranges = FIELD(ranges) | FIELD(step);
	const struct hwprof_mask loads = MASK(.kinds = 1 << STREAM_LOAD);

	assert_int_equal(0, check_values(loads));
	assert_int_equal(0, check(ranges, HWPROF_RANGE_LOAD_VALUE, loads));
	assert_int_equal(-EOPNOTSUPP, check(ranges, 0, loads));
	assert_int_equal(-EOPNOTSUPP, check(edges, 0, loads));
	assert_int_equal(-EOPNOTSUPP, check(edges, 0, MASK(.classes = 1)));
	assert_int_equal(-EOPNOTSUPP, check(edges, 0, MASK(.widths = 1)));
	assert_int_equal(-EOPNOTSUPP, check(edges, 0, MASK(.value_mask = 1)));
	assert_int_equal(-EOPNOTSUPP, check(edges, 0, MASK(.address_mask = 1)));
}

static void test_branches(void **state)
{
	const struct hwprof_mask calls = MASK(.kinds = 1 << STREAM_CALL);
	const struct hwprof_mask all = MASK(.kinds = HWPROF_MASK_BRANCHES);
	const struct hwprof_mask some = MASK(.ip_mask = 1);
	const u64 follow[] = {
		FIELD(loops), FIELD(paths), FIELD(branches), FIELD(cct),
		FIELD(loops) | FIELD(calls),
	};
	const u64 single[] = {
		FIELD(edges), FIELD(calls), FIELD(calls) | FIELD(edges),
		FIELD(ranges),
	};
	unsigned int i;

	for (i = 0; i < sizeof(follow) / sizeof(follow[0]); i++) {
		u64 fields = follow[i] | FIELD(step);

		assert_int_equal(-EINVAL, check(fields, 0, calls));
		assert_int_equal(-EINVAL, check(fields, 0, some));
		assert_int_equal(0, check(fields, 0, all));
		assert_int_equal(0, check(fields, 0, MASK(.size = 0)));
	}
	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		assert_int_equal(0, check(single[i] | FIELD(step), 0, calls));
		assert_int_equal(0, check(single[i] | FIELD(lbr), 0, some));
	}
	assert_int_equal(-EINVAL, check(FIELD(loops) | FIELD(lbr), 0, calls));
}

static void test_samples(void **state)
{
	const struct hwprof_mask calls = MASK(.kinds = 1 << STREAM_CALL);
	const struct hwprof_mask some = MASK(.ip_mask = 1);
	const u64 samples[] = {
		FIELD(ranges) | FIELD(sample), FIELD(cct) | FIELD(sample),
		FIELD(cct) | FIELD(lbr),
	};
	unsigned int i;

	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		assert_int_equal(-EOPNOTSUPP, check(samples[i], 0, calls));
		assert_int_equal(0, check(samples[i], 0, some));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_leaves_out),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_accesses),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
