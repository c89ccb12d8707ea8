// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller of the budget in simulated time. Programs run in the kernel
 * some of the time, and looks (bursts) vary in cost, change, and are sometimes
 * absurd. The tests assert what users get: the share of time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "engine/burst.h"
#include "engine/burst_window.h"
#include "random.h"

enum { PROGRAMS = 300, MS = 1000000 };

#define SECOND	1000000000ULL

/* A profiled program; times in ns. */
struct program {
	uint64_t random;
	struct burst_control control;
	u64 interrupt;		/* cost of a tick */
	u64 look;		/* average cost of a look */
	unsigned int spread;	/* variation of that in percent */
	unsigned int user;	/* percent of ticks in user code */
	u64 time, cost, looks;
	u64 spent;		/* since the last tick */
};

/* Returns a uniform number in [low, high]. */
static u64 draw(struct program *program, u64 low, u64 high)
{
	return low + random_below(&program->random, high - low + 1);
}

static void tick(struct program *program, u64 units)
{
	u64 distance = burst_distance(&program->control,
				      random_next(&program->random));

	program->time += distance;
	burst_account(&program->control, program->spent, distance, units);
	program->spent = program->interrupt;
	if (!burst_must_pass(&program->control) &&
	    random_below(&program->random, 100) < program->user) {
		program->spent += program->look *
			draw(program, 100 - program->spread,
			     100 + program->spread) / 100;
		program->looks++;
	}
	program->cost += program->spent;
}

/* Runs for that time and number of looks. Returns the share of the cost. */
static double run(struct program *program, u64 time, u64 looks)
{
	u64 begin = program->time, cost = program->cost, had = program->looks;

	while (program->time - begin < time || program->looks - had < looks)
		tick(program, 0);
	return (double)(program->cost - cost) / (program->time - begin);
}

static struct program start(u64 seed, u32 permille)
{
	struct program program = { .random = seed };

	program.interrupt = draw(&program, 200, 20000);
	program.look = draw(&program, 1, 100) *
		       (draw(&program, 0, 1) ? 50 : 30000);
	program.spread = draw(&program, 0, 90);
	program.user = draw(&program, 0, 2) ? 100 : draw(&program, 2, 99);
	burst_control_init(&program.control, permille,
			   draw(&program, 1, 10) * program.look / 5);
	return program;
}

static double asked(const struct program *program)
{
	return program->control.permille / 1000.;
}

static void assert_near(const struct program *program, double share, double by)
{
	if (share >= asked(program) * (1 - by) &&
	    share <= asked(program) * (1 + by))
		return;
	fail_msg("%.4f %% of %.1f %%: interrupt %llu, look %llu, spread %u, user %u",
		 100 * share, 100 * asked(program),
		 (unsigned long long)program->interrupt,
		 (unsigned long long)program->look, program->spread,
		 program->user);
}

/* For any program, a hundred looks are within a fifth of the budget. */
static void test_holds(void **state)
{
	static const u32 budgets[] = { 1, 5, 10, 20, 50, 200 };
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		struct program program = start(i, budgets[i % 6]);

		/*
		 * Ticks are at least 10 us apart, so cheap looks may cost less
		 * than the budget.
		 */
		if (program.interrupt + program.look < 20000)
			program.look += 20000;
		assert_near(&program, run(&program, 0, 300), 0.2);
	}
}

/* A short run is off by at most one distance. */
static void test_begins_well(void **state)
{
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		struct program program = start(i, 10);

		program.look = 100 * 1000;
		program.spread = 30;
		program.user = 100;
		burst_control_init(&program.control, 10, program.look);
		assert_near(&program, run(&program, 0, 30), 0.2);
	}
}

/* The cost of looks changes a hundredfold, up and down. */
static void test_follows(void **state)
{
	unsigned int i;

	for (i = 0; i < PROGRAMS / 10; i++) {
		struct program program = start(i, 20);
		double share;

		program.interrupt = 2000;
		program.user = 100;
		program.look = 20 * 1000;
		run(&program, 0, 200);
		program.look *= 100;
		run(&program, 0, 200);
		share = run(&program, 0, 300);
		assert_near(&program, share, 0.2);
		program.look /= 100;
		run(&program, 0, 2000);
		share = run(&program, 0, 2000);
		assert_near(&program, share, 0.2);
	}
}

/* The host takes the CPU away, or the clock jumps: the share soon recovers. */
static void test_recovers(void **state)
{
	static const u64 absurd[] = { SECOND, 3600 * SECOND, UINT64_MAX };
	unsigned int i;

	for (i = 0; i < PROGRAMS / 10; i++) {
		struct program program = start(i, 10);
		double share;

		program.look = 50 * 1000;
		program.user = 100;
		run(&program, 0, 100);
		burst_account(&program.control, absurd[i % 3],
			      i % 2 ? MS : absurd[i % 3], 0);
		/*
		 * The absurd cost is paid by a pause, but only of some looks.
		 */
		run(&program, 0, 2000);
		share = run(&program, 0, 500);
		assert_near(&program, share, 0.2);
	}
}

/* Sometimes there are rows, which cost as much as a thousand samples. */
static void test_pays_for_rows(void **state)
{
	unsigned int i, j;

	for (i = 0; i < PROGRAMS / 10; i++) {
		struct program program = start(i, 5);
		u64 cost, time;

		program.interrupt = 3000;
		program.look = 2000;
		program.user = 100;
		burst_control_init(&program.control, 5, 5000);
		run(&program, SECOND, 0);
		time = program.time;
		cost = program.cost;
		for (j = 0; j < 5; j++) {
			burst_owe(&program.control, 5 * MS);
			program.cost += 5 * MS;
			run(&program, 3 * SECOND, 0);
		}
		assert_near(&program, (double)(program.cost - cost) /
				      (program.time - time), 0.05);
	}
}

/* A program that could not be looked at for long is not flooded afterwards. */
static void test_saves_little(void **state)
{
	struct program program = start(1, 10);
	double share;

	program.look = 50 * 1000;
	program.user = 100;
	run(&program, 0, 100);
	burst_account(&program.control, 0, 1000 * SECOND, 0);
	share = run(&program, SECOND, 0);
	assert_true(share <= 2.5 * asked(&program));
}

/*
 * If tasks are so short that each soon has its first tick, most ticks must
 * pass.
 */
static void test_refuses(void **state)
{
	struct program program = start(2, 10);
	unsigned int i;

	program.look = 500 * 1000;
	program.user = 100;
	for (i = 0; i < 20000; i++) {
		burst_account(&program.control, program.spent, MS, 0);
		program.time += MS;
		program.spent = 2000;
		if (!burst_must_pass(&program.control))
			program.spent += program.look;
		program.cost += program.spent;
	}
	assert_near(&program, (double)program.cost / program.time, 0.25);
}

/* Distances in a counter's units, for different rates. */
static void test_units(void **state)
{
	static const struct { u64 units, time; } rates[] = {
		{ 1, 100000 }, { 3, 7000 }, { 90000, 100000 }, { 5, 4 },
		{ 400000, 100000 }, { 19, 10 }, { 100000, 1000 },
	};
	unsigned int i, j;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct burst_control control;
		double distance = 4000.0 * rates[i].time;
		double units;

		burst_control_init(&control, 10, 1000);
		for (j = 0; j < 100; j++)
			burst_account(&control, 1000, rates[i].time * 1000,
				      rates[i].units * 1000);
		units = distance * rates[i].units / rates[i].time;
		assert_in_range(burst_units(&control, distance), units * 0.95,
				units * 1.05);
	}
}

/* A tick that seems to have left its program no time, and then others. */
static void test_rate_is_unknown(void **state)
{
	struct burst_control control;
	u64 next = 100003;		/* branches, one in ten ns */
	int i;

	burst_control_init(&control, 10, 100000);
	burst_account(&control, 1000000, 0, next);
	for (i = 0; i < 4; i++) {
		next = burst_units(&control,
				   burst_distance(&control, 1u << 31));
		assert_true(next <= 16 * control.units);
		burst_account(&control, 100000, next * 10, next);
	}
	/* One per cent: 100 us of cost every 10 ms, and some that is owed. */
	assert_in_range(next, 100000, 20000000);
}

/* Distances vary by a factor of three, and neither half is preferred. */
static void test_jitters(void **state)
{
	uint64_t random = 3;
	struct burst_control control;
	unsigned int i, low = 0;

	burst_control_init(&control, 10, 100 * 1000);	/* 10 ms */
	for (i = 0; i < 10000; i++) {
		u64 distance = burst_distance(&control, random_next(&random));

		assert_in_range(distance, 5 * MS - 1, 15 * MS);
		low += distance < 10 * MS;
	}
	assert_in_range(low, 4700, 5300);
}

/* Any values: distances stay in bounds, and UBSan finds nothing. */
static void test_bounds(void **state)
{
	uint64_t random = 4;
	struct burst_control control;
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		u64 value[4], distance;
		unsigned int j;

		for (j = 0; j < 4; j++)
			value[j] = random_next(&random) >>
				   random_below(&random, 64);
		if (!(i % 1000))
			burst_control_init(&control, value[0], value[1]);
		burst_owe(&control, value[3]);
		burst_account(&control, value[0], value[1], value[2]);
		distance = burst_distance(&control, value[3]);
		assert_in_range(distance, BURST_NEAREST, BURST_FARTHEST);
		assert_in_range(burst_units(&control, distance), 1, INT64_MAX);
		assert_true(burst_units(&control, value[3]) <= INT64_MAX);
	}
}

/*
 * Steps of 1 us, some interrupted by something long, and later steps of 20 us.
 */
static void test_own(void **state)
{
	uint64_t random = 5;
	u64 usual = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < 10000; i++)
		sum += burst_own(&usual, 900 + random_below(&random, 200) +
				 (random_below(&random, 50) ? 0 : 10 * MS));
	assert_in_range(sum, 9500000, 10500000);
	for (i = 0; i < 200; i++)
		burst_own(&usual, 20000);
	assert_int_equal(burst_own(&usual, 20000), 20000);
	assert_true(burst_own(&usual, UINT64_MAX) <= 20000);
	usual = 0;
	assert_int_equal(burst_own(&usual, 0), 0);
	for (i = 0; i < 1000; i++)
		burst_own(&usual, 500);
	assert_int_equal(burst_own(&usual, 500), 500);
}

/*
 * A budget that changes is held from then on, and so it is with other bursts,
 * whatever was owed or saved.
 */
static void test_changes(void **state)
{
	static const u32 budgets[] = { 5, 100, 10, 50 };
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		struct program program = start(i, budgets[i % 4]);
		u32 stretch = 1 + i % 10;

		program.look += 20000;
		program.spread = 20;
		program.user = 100;
		run(&program, SECOND, 200);
		burst_control_spend(&program.control, budgets[(i + 1) % 4]);
		assert_near(&program, run(&program, SECOND, 400), 0.2);
		program.look *= stretch;
		burst_control_stretch(&program.control, 100, 100 * stretch);
		assert_near(&program, run(&program, SECOND, 400), 0.2);
		program.look /= stretch;
		burst_control_stretch(&program.control, 100 * stretch, 100);
		assert_near(&program, run(&program, SECOND, 400), 0.2);
	}
}

/* Cost that is owed or saved is the same before and after. */
static void test_keeps_debts(void **state)
{
	struct burst_control control;

	burst_control_init(&control, 10, 1000);
	control.due = 5000;
	burst_control_spend(&control, 50);
	assert_int_equal(control.due, 1000);
	assert_int_equal(control.permille, 50);
	control.due = -5000;
	burst_control_spend(&control, 10);
	assert_int_equal(control.due, -25000);
	control.due = 1LL << 48;
	burst_control_spend(&control, 1000);
	burst_control_spend(&control, 1);
	/* At one permille, the same cost takes ten times as long to pay. */
	assert_in_range(control.due, 10 * (1LL << 48) - 1000, 10 * (1LL << 48));
	burst_control_spend(&control, 0);
	assert_int_equal(control.permille, 1);
}

/* Returns the cost of ten seconds, as a multiple of a budget of 0.5 %. */
static double share_of_late_looks(uint64_t random)
{
	const u64 length = 10 * SECOND;
	struct burst_control control;
	u64 time = 0, all = 0, ticks = 0, cost, distance;

	burst_control_init(&control, 5, 400000);
	while (time < length) {
		/* The loader is in the kernel, then has short lines. */
		cost = ticks < 22 ? 200 : ticks < 25 ? 250000 :
		       2400000 + random_below(&random, 400000);
		distance = ticks < 22 ? 200000 :
			   burst_distance(&control,
					  random_below(&random, UINT32_MAX));
		burst_account(&control, cost, distance, distance);
		all += cost;
		time += distance;
		ticks++;
	}
	return all * 200. / length;
}

/* Looks that cost far more than the first ticks are paid back in time. */
static void test_begins_late(void **state)
{
	uint64_t i;

	for (i = 1; i <= PROGRAMS; i++)
		assert_true(share_of_late_looks(i * 7919) < 1.2);
}

/* A window that saw no branch tells that lines are long. */
static void test_window_of_long_lines(void **state)
{
	struct burst_window window;

	burst_window_init(&window, true, 20, 0, 0, 0);
	assert_int_equal(window.most_steps, 20 * 8);
	burst_window_init(&window, true, 20, 0, 20 * 8, 0);
	assert_int_equal(window.most_steps, 20 * 64);
	burst_window_init(&window, true, 20, 100, 600, 0);
	assert_int_equal(window.most_steps, 20 * 6);
	burst_window_init(&window, true, 20, 1, 1000, 0);
	assert_int_equal(window.most_steps, 20 * 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_begins_well),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_recovers),
		cmocka_unit_test(test_pays_for_rows),
		cmocka_unit_test(test_saves_little),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_rate_is_unknown),
		cmocka_unit_test(test_jitters),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_keeps_debts),
		cmocka_unit_test(test_begins_late),
		cmocka_unit_test(test_window_of_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
