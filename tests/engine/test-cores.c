// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses PMUs for triggers on machines with different cores, and recognises
 * copies of newest branches: no emulator has such machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/window.h"
#include "source/core_pmus.h"

enum { RAW = 4, ATOM = 10 };	/* perf's numbers for an Alder Lake's PMUs */

static const struct core_pmu big = { RAW, 0x20c4 }, small = { ATOM, 0xc0c4 };

static struct core_pmus alder_lake(void)
{
	struct core_pmus pmus = { 0 };

	assert_true(core_pmus_add(&pmus, &big));
	assert_true(core_pmus_add(&pmus, &small));
	assert_true(core_pmus_add(&pmus, &big));
	assert_int_equal(pmus.count, 2);
	return pmus;
}

static void test_intel(void **state)
{
	assert_int_equal(core_kind_of_intel(0x40000001), CORE_PERFORMANCE);
	assert_int_equal(core_kind_of_intel(0x20000001), CORE_EFFICIENT);
	assert_int_equal(core_kind_of_intel(0), CORE_UNKNOWN);
	assert_int_equal(core_taken_branches_of_intel(CORE_UNKNOWN), 0x20c4);
	assert_int_equal(core_taken_branches_of_intel(CORE_PERFORMANCE),
			 0x20c4);
	assert_int_equal(core_taken_branches_of_intel(CORE_EFFICIENT), 0xc0c4);
}

/* An event of one CPU gets the trigger of that CPU's PMU. */
static void test_one_cpu(void **state)
{
	struct core_pmus pmus = alder_lake();
	struct core_pmu chosen[CORE_PMUS_MAX];

	assert_int_equal(core_pmus_choose(&pmus, ATOM, false, 0, chosen), 1);
	assert_int_equal(chosen[0].type, ATOM);
	assert_int_equal(chosen[0].event, 0xc0c4);
	assert_int_equal(core_pmus_choose(&pmus, RAW, false, 0, chosen), 1);
	assert_int_equal(chosen[0].type, RAW);
	assert_int_equal(chosen[0].event, 0x20c4);
	assert_int_equal(core_pmus_choose(&pmus, 7, false, 0, chosen), 0);
}

/* An event of a task gets a trigger on each PMU. */
static void test_all_cpus(void **state)
{
	struct core_pmus pmus = alder_lake();
	struct core_pmu chosen[CORE_PMUS_MAX];

	assert_int_equal(core_pmus_choose(&pmus, 0, true, 0, chosen), 2);
	assert_int_equal(chosen[0].event, 0x20c4);
	assert_int_equal(chosen[1].event, 0xc0c4);
	assert_false(core_pmus_are_alike(&pmus));
}

/* big.LITTLE has no known event of taken branches, but named events work. */
static void test_named(void **state)
{
	const struct core_pmu pmu = { .type = 8 };
	struct core_pmus pmus = { 0 };
	struct core_pmu chosen[CORE_PMUS_MAX];

	assert_true(core_pmus_add(&pmus, &pmu));
	assert_int_equal(core_pmus_choose(&pmus, 8, false, 0, chosen), 0);
	assert_int_equal(core_pmus_choose(&pmus, 8, false, 0x21, chosen), 1);
	assert_int_equal(chosen[0].event, 0x21);
	assert_true(core_pmus_are_alike(&pmus));
}

static void test_full(void **state)
{
	struct core_pmus pmus = { 0 };
	struct core_pmu pmu = { 0 };

	for (pmu.type = 1; pmu.type <= CORE_PMUS_MAX; pmu.type++)
		assert_true(core_pmus_add(&pmus, &pmu));
	assert_false(core_pmus_add(&pmus, &pmu));
	pmu.type = 1;
	assert_true(core_pmus_add(&pmus, &pmu));
	assert_int_equal(pmus.count, CORE_PMUS_MAX);
}

/* --- the newest branch twice ---------------------------------------------- */

#define COPIES(...) ({							       \
	const struct window_branch branches_[] = { __VA_ARGS__ };	       \
									       \
	window_copies(branches_, sizeof(branches_) / sizeof(branches_[0]));    \
})

#define BACK	{ 0x1020, 0x1010, 0 }
#define ON	{ 0x1014, 0x1018, 0 }
#define FAULT	{ 1ULL << 63, 0x1010, 0 }

static void test_copy(void **state)
{
	assert_int_equal(COPIES(BACK, BACK, ON, BACK), 1);
	assert_int_equal(COPIES(BACK, ON, BACK, ON), 0);
	assert_int_equal(COPIES(ON, BACK, BACK, ON), 0);
}

/* The copy may have other cycles, as real copies do. */
static void test_other_flags(void **state)
{
	assert_int_equal(COPIES({ 0x1020, 0x1010, 7 << WINDOW_CYCLES_SHIFT },
				BACK, ON), 1);
}

/* A loop of one branch also repeats elsewhere in the stack. */
static void test_loop(void **state)
{
	assert_int_equal(COPIES(BACK, BACK, BACK, ON), 0);
	assert_int_equal(COPIES(BACK, BACK, ON, BACK, BACK), 0);
}

/* No line leads from its target to it, whatever else was recorded. */
static void test_never_twice(void **state)
{
	assert_int_equal(COPIES(ON, ON), 1);
	assert_int_equal(COPIES(ON, ON, ON), 1);
}

/* Returns to an instruction of a program that takes several page faults. */
static void test_from_kernel(void **state)
{
	assert_int_equal(COPIES(FAULT, FAULT, FAULT), 0);
	assert_int_equal(COPIES(FAULT, FAULT, ON), 1);
}

static void test_short(void **state)
{
	assert_int_equal(COPIES(BACK), 0);
	assert_int_equal(window_copies(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intel),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_all_cpus),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_other_flags),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_never_twice),
		cmocka_unit_test(test_from_kernel),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
