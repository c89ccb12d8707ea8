// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses PMUs for triggers on machines with different cores, recognises copies
 * of newest branches, and judges trials of branch records: no emulator has such
 * machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/window.h"
#include "source/core_pmus.h"
#include "source/lbr_verdict.h"
#include "source/x86/skylake.h"

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

/* --- who has such copies -------------------------------------------------- */

/* Models of family 6, by the names in Linux's intel-family.h. */
enum {
	BROADWELL_X	= 0x4f,
	BROADWELL_D	= 0x56,
	BROADWELL_G	= 0x47,
	SKYLAKE_L	= 0x4e,
	SKYLAKE		= 0x5e,
	SKYLAKE_X	= 0x55,
	KABYLAKE_L	= 0x8e,
	KABYLAKE	= 0x9e,
	COMETLAKE	= 0xa5,
	COMETLAKE_L	= 0xa6,
	CANNONLAKE_L	= 0x66,
	ICELAKE_X	= 0x6a,
	TIGERLAKE_L	= 0x8c,
	ROCKETLAKE	= 0xa7,
};

static void test_skylake(void **state)
{
	static const u8 models[] = {
		SKYLAKE_L, SKYLAKE, SKYLAKE_X, KABYLAKE_L, KABYLAKE,
		COMETLAKE, COMETLAKE_L,
	};
	u32 i;

	for (i = 0; i < sizeof(models); i++) {
		assert_true(skylake_copies_newest_branch(6, models[i]));
		assert_false(skylake_copies_newest_branch(15, models[i]));
		assert_false(skylake_copies_newest_branch(19, models[i]));
	}
}

/* Cores before and after, and all others: there are seven models alone. */
static void test_no_skylake(void **state)
{
	u32 model, count = 0;

	assert_false(skylake_copies_newest_branch(6, BROADWELL_X));
	assert_false(skylake_copies_newest_branch(6, BROADWELL_D));
	assert_false(skylake_copies_newest_branch(6, BROADWELL_G));
	assert_false(skylake_copies_newest_branch(6, CANNONLAKE_L));
	assert_false(skylake_copies_newest_branch(6, ICELAKE_X));
	assert_false(skylake_copies_newest_branch(6, TIGERLAKE_L));
	assert_false(skylake_copies_newest_branch(6, ROCKETLAKE));
	for (model = 0; model < 4096; model++)
		count += skylake_copies_newest_branch(6, model);
	assert_int_equal(count, 7);
}

/* --- trials of branch records --------------------------------------------- */

static void test_records(void **state)
{
	assert_null(lbr_verdict(32, 1, 1000));
	assert_null(lbr_verdict(1, 1, 0));
}

/* The kernel delivers samples without their records. */
static void test_no_records(void **state)
{
	assert_non_null(strstr(lbr_verdict(0, 1, 1000), "no branch records"));
	assert_non_null(strstr(lbr_verdict(0, 7, 0), "no branch records"));
}

static void test_no_samples(void **state)
{
	assert_non_null(strstr(lbr_verdict(0, 0, 1), "does not interrupt"));
	assert_non_null(strstr(lbr_verdict(0, 0, 0), "in use"));
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
		cmocka_unit_test(test_skylake),
		cmocka_unit_test(test_no_skylake),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_no_records),
		cmocka_unit_test(test_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
