// SPDX-License-Identifier: GPL-2.0-only
/*
 * The judge of hot ranges (tests/accuracy/hot_ranges.h): what the bounds let a
 * profile miss is explained, and nothing else is.
 */
#include <stdlib.h>

#include "check.h"
#include "tests/accuracy/hot_ranges.h"
#include "tests/engine/random.h"
#include "tests/engine/range_streams.h"
#include "tests/engine/seeds.h"
#include "tests/oracle/array.h"

/* --- profiles made by hand ------------------------------------------------ */

enum { EVENTS = 100, HOT = 10, FAR = 1 << 20 };

struct part {
	u64 low;
	u32 bits;
	u64 count;
};

/* Returns so many of 100 events; the rest of them is far away. */
static struct numbers numbers_of(const struct part *parts, size_t count)
{
	struct keys keys = { 0 };
	struct numbers numbers;
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < parts[i].count; k++)
			*array_push(&keys) = (struct range_key){
				.value = parts[i].low };
	while (keys.count < EVENTS)
		*array_push(&keys) = (struct range_key){ .value = FAR };
	numbers = sorted_numbers(&keys, false);
	free(keys.items);
	return numbers;
}

/*
 * Judges a profile of @told, whose ranges are hot from @hot on, by the events
 * @is. Events that are missing in both are far away.
 */
static struct verdict judge(const struct part *is, const struct part *told,
			    size_t count, double hot)
{
	struct numbers numbers = numbers_of(is, count);
	struct range_set truth = exact_set(&numbers, HOT), set = { 0 };
	struct verdict verdict = { .worst = 1 };
	u64 far = EVENTS;
	size_t i;

	for (i = 0; i < count; i++)
		far -= is[i].count;
	assert_int_equal(range_set_add(&set, FAR, 0, far), 0);
	for (i = 0; i < count; i++)
		assert_int_equal(range_set_add(&set, told[i].low, told[i].bits,
					       told[i].count), 0);
	assert_int_equal(range_set_build(&set, hot), 0);
	judge_counts(&set, &numbers, &verdict);
	judge_hot(&set, &truth, &numbers, HOT, &verdict);
	range_set_free(&set);
	range_set_free(&truth);
	free(numbers.items);
	return verdict;
}

/* Events of a hot range were counted around it, so that it is not hot. */
static void test_counted_around(void **state)
{
	static const struct part is[] = {
		{ 0, 0, 11 }, { 32, 0, 2 },
	}, told[] = {
		{ 0, 0, 8 }, { 0, 6, 5 },
	};
	struct verdict verdict = judge(is, told, 2, HOT);

	assert_int_equal(verdict.wrong, 0);
	assert_int_equal(verdict.missed, 1);
	assert_int_equal(verdict.unexplained, 0);
}

/*
 * An event of a hot range was counted around it. There it makes a range hot,
 * whose events lack in the next wider one, which is hot by exact counts.
 */
static void test_hot_between(void **state)
{
	static const struct part is[] = {
		{ 0, 0, 12 }, { 8, 0, 9 }, { 32, 0, 3 },
	}, told[] = {
		{ 0, 0, 11 }, { 0, 4, 10 }, { 32, 0, 3 },
	};
	struct verdict verdict = judge(is, told, 3, HOT);

	assert_int_equal(verdict.wrong, 0);
	assert_int_equal(verdict.missed, 1);
	assert_int_equal(verdict.unexplained, 0);
}

/* A range is said to be hot without such an event. */
static void test_said_for_nothing(void **state)
{
	static const struct part is[] = {
		{ 0, 0, 12 }, { 8, 0, 9 }, { 32, 0, 3 },
	};
	struct verdict verdict = judge(is, is, 3, 9);

	assert_int_equal(verdict.wrong, 0);
	assert_int_equal(verdict.missed, 1);
	assert_int_equal(verdict.unexplained, 1);
}

/* Events of a hot range are nowhere. */
static void test_lost(void **state)
{
	static const struct part is[] = { { 0, 0, 12 } },
				 told[] = { { 0, 0, 9 } };
	struct verdict verdict = judge(is, told, 1, HOT);

	assert_int_equal(verdict.wrong, 2);
	assert_int_equal(verdict.missed, 1);
	assert_int_equal(verdict.unexplained, 1);
}

/* A hot range has its events, and is not said to be hot. */
static void test_not_said(void **state)
{
	static const struct part is[] = { { 0, 0, 12 } };
	struct verdict verdict = judge(is, is, 1, 13);

	assert_int_equal(verdict.wrong, 0);
	assert_int_equal(verdict.missed, 1);
	assert_int_equal(verdict.unexplained, 1);
}

/* --- profiles of the engine ----------------------------------------------- */

enum { LENGTH = 20000, BLOCKS = 64, EPSILON_PPM = 100000 };

static struct keys stream_of(enum stream stream, u64 seed, bool pairs)
{
	u64 random = seed, codes = seed + 1000, i;
	struct keys keys = { 0 };

	for (i = 0; i < LENGTH; i++)
		*array_push(&keys) = (struct range_key){
			.value = next_value(stream, i, &random),
			.code = pairs ? next_value(CODE, i, &codes) : 0 };
	return keys;
}

static struct verdict judge_stream(const struct keys *keys,
				   const struct numbers *numbers, bool pairs,
				   double hot)
{
	struct range_set truth = exact_set(numbers, hot), set;
	struct verdict verdict = { .worst = 1 };
	u64 refused;

	set = counted_set(keys, pairs, BLOCKS, EPSILON_PPM, hot, &refused);
	judge_counts(&set, numbers, &verdict);
	judge_hot(&set, &truth, numbers, hot, &verdict);
	range_set_free(&set);
	range_set_free(&truth);
	return verdict;
}

/* Returns how many hot ranges were missed, with 2 to 10 % of all as hot. */
static size_t try_stream(enum stream stream, u64 seed, bool pairs)
{
	struct keys keys = stream_of(stream, seed, pairs);
	struct numbers numbers = sorted_numbers(&keys, pairs);
	size_t missed = 0, percent;

	for (percent = 2; percent <= 10; percent++) {
		struct verdict verdict =
			judge_stream(&keys, &numbers, pairs,
				     LENGTH * percent / 100.);

		assert_int_equal(verdict.wrong, 0);
		assert_int_equal(verdict.unexplained, 0);
		missed += verdict.missed;
	}
	free(numbers.items);
	free(keys.items);
	return missed;
}

/* In little memory the engine misses many, and the bounds explain them all. */
static void test_engine(void **state)
{
	unsigned int stream;
	size_t missed = 0;
	u64 seed;

	for (seed = 0; seed < seeds(1); seed++)
		for (stream = 0; stream < STREAMS; stream++) {
			missed += try_stream(stream, seed, false);
			missed += try_stream(stream, seed, true);
		}
	assert_true(missed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted_around),
		cmocka_unit_test(test_hot_between),
		cmocka_unit_test(test_said_for_nothing),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_not_said),
		cmocka_unit_test(test_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
