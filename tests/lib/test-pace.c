// SPDX-License-Identifier: GPL-2.0-only
/* The cost of stepping, computed from times that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/pace.h"

static struct pace pace_of(double free, double rest, double stepped)
{
	const struct pace_times times = { free, rest, stepped };
	struct pace pace = { 0 };

	pace_of_times(&pace, &times);
	return pace;
}

/*
 * A round of two instructions takes 2 ns, and 1.5 us when it is stepped. The
 * clock takes 40 us.
 */
static void test_slowdown(void **state)
{
	struct pace pace = pace_of(2.0 * PACE_FREE_ROUNDS, 40000,
				   40000 + 1500.0 * PACE_STEPPED_ROUNDS);

	assert_float_equal(pace.step_ns, 750, 1e-6);
	assert_float_equal(pace.slowdown, 750, 1e-6);
}

/* The same on a CPU of half the speed, whose traps take as long. */
static void test_slower_cpu(void **state)
{
	struct pace pace = pace_of(4.0 * PACE_FREE_ROUNDS, 0,
				   1500.0 * PACE_STEPPED_ROUNDS);

	assert_float_equal(pace.step_ns, 750, 1e-6);
	assert_float_equal(pace.slowdown, 375, 1e-6);
}

/* A clock that stands still, or jumps, tells nothing. */
static void test_no_time(void **state)
{
	assert_true(pace_of(0, 0, 1e6).step_ns == 0);
	assert_true(pace_of(1e6, 500, 500).step_ns == 0);
	assert_true(pace_of(1e6, 500, 400).slowdown == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slowdown),
		cmocka_unit_test(test_slower_cpu),
		cmocka_unit_test(test_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
