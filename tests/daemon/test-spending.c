// SPDX-License-Identifier: GPL-2.0-only
/* Budgets of machines that are simulated. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "spending.h"

enum { MINUTE = 60, HOUR = 3600 };

/* A machine; seconds of CPU time. */
struct machine {
	double work;			/* a second: 0.05 for a load of 5 % */
	double window_cost;		/* of the collector, for a window */
	double reading_cost;		/* of hwprofd, which tells it late */
	double second_cost;		/* of both, always */
	double row_cost;		/* of both, for a second of looks */
	double looks;			/* their cost, as a share of what they
					 * are allowed */
	unsigned int blind;		/* of so many windows the work of one
					 * is not known; 0: of none */
};

/* Sums so far, in seconds. */
struct sums {
	double time, work, own, looks, longest;
	unsigned int windows, rests;
};

struct simulation {
	struct spending spending;
	struct sums sums;
	double late_own, late_looks;	/* of the window before */
	bool late;
};

static struct simulation begin(uint64_t permille, uint64_t window)
{
	struct simulation simulation = { .late = false };

	spending_init(&simulation.spending, permille, window);
	return simulation;
}

/*
 * A window or a rest, with @spike seconds of own time on top, and @files more
 * for new files.
 */
static void run_with(struct simulation *run, const struct machine *machine,
		     double spike, double files)
{
	struct spending_plan plan = spending_next(&run->spending);
	double work = machine->work * plan.seconds, looks = 0, own;
	struct spent spent = { .wall_ns = plan.seconds * 1e9 };

	assert_true(plan.rest || plan.permille > 0);
	assert_true(plan.permille <= 2 * run->spending.permille);
	own = machine->second_cost * plan.seconds + spike + files +
	      run->late_own;
	run->late_own = 0;
	spent.has_looks = run->late;
	spent.looks_ns = run->late_looks * 1e9;
	run->late = !plan.rest;
	if (!plan.rest) {
		looks = work * plan.permille / 1000 * machine->looks;
		own += machine->window_cost + looks * machine->row_cost / 3;
		run->late_own = machine->reading_cost +
				looks * machine->row_cost * 2 / 3;
		run->late_looks = looks;
		run->sums.windows++;
	}
	run->sums.rests += plan.rest;
	spent.own_ns = own * 1e9;
	own *= 1.15;			/* with what no account has */
	spent.files_ns = files * 1e9;
	spent.busy_ns = (work + own + looks) * 1e9;
	spent.busy_unknown = machine->blind &&
			     run->sums.windows % machine->blind == 0;
	spending_note(&run->spending, &spent);
	run->sums.time += plan.seconds;
	run->sums.work += work;
	run->sums.own += own;
	run->sums.looks += looks;
	run->sums.longest = fmax(run->sums.longest, plan.seconds);
}

static void run_once(struct simulation *run, const struct machine *machine,
		     double spike)
{
	run_with(run, machine, spike, 0);
}

static struct sums run_for(struct simulation *run,
			   const struct machine *machine, double seconds)
{
	run->sums = (struct sums){ .time = 0 };
	while (run->sums.time < seconds)
		run_once(run, machine, 0);
	return run->sums;
}

static double share_of(const struct sums *sums)
{
	return (sums->own + sums->looks) / sums->work;
}

static void show(const char *what, uint64_t permille, const struct sums *sums)
{
	printf("%-12s %2u permille: %.3f %%, own %.3f %%, %u windows, %u rests\n",
	       what, (unsigned int)permille, 100 * share_of(sums),
	       100 * sums->own / sums->work, sums->windows, sums->rests);
}

/* Whatever the machine, all of it costs what was asked for, within a fifth. */
static void test_share(void **state)
{
	static const struct { const char *name; struct machine machine; }
	machines[] = {
		{ "busy", { 0.7, 0.06, 0.04, 0.0001, 3, 1, 0 } },
		{ "32 CPUs", { 30, 0.3, 0.3, 0.001, 3, 1, 0 } },
		{ "5 %", { 0.05, 0.06, 0.04, 0.00005, 3, 1, 0 } },
		{ "hungry looks", { 0.7, 0.06, 0.04, 0.0001, 3, 1.5, 0 } },
		{ "looks alone", { 0.7, 0.06, 0.04, 0.0001, 0, 4, 0 } },
		{ "small looks", { 0.7, 0.06, 0.04, 0.0001, 3, 0.7, 0 } },
		{ "dear windows", { 0.7, 0.3, 0.3, 0.0001, 3, 1, 0 } },
		{ "no rows", { 0.7, 0.06, 0.04, 0.0001, 0, 1, 0 } },
		{ "dear rows", { 0.7, 0.06, 0.04, 0.0001, 6, 1, 0 } },
		{ "blind", { 0.7, 0.06, 0.04, 0.0001, 3, 1, 5 } },
	};
	static const uint64_t permilles[] = { 5, 10, 20, 50 };
	size_t i, j;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		for (j = 0; j < 4; j++) {
			struct simulation run = begin(permilles[j], 10);
			struct sums sums;

			run_for(&run, &machines[i].machine, 20 * MINUTE);
			sums = run_for(&run, &machines[i].machine, 6 * HOUR);
			show(machines[i].name, permilles[j], &sums);
			assert_true(fabs(share_of(&sums) * 1000 -
					 permilles[j]) < permilles[j] / 5.0);
		}
}

static const struct machine busy = { 0.7, 0.06, 0.04, 0.0001, 3, 1, 0 };
static const struct machine quiet = { 0.05, 0.06, 0.04, 0.00005, 3, 1, 0 };
static const struct machine asleep = { 0.0001, 0.0001, 0.0001, 0, 3, 1, 0 };
static const struct machine idle = { 0, 0.06, 0.04, 0.00005, 3, 1, 0 };

/* The first window has the configured length, and looks at once. */
static void test_first(void **state)
{
	static const uint64_t permilles[] = { 2, 10, 1000 };
	size_t i;

	for (i = 0; i < 3; i++) {
		struct simulation run = begin(permilles[i], 7);
		struct spending_plan plan = spending_next(&run.spending);

		assert_false(plan.rest);
		assert_int_equal(plan.seconds, 7);
		assert_in_range(plan.permille, 1, permilles[i]);
	}
}

/* Short windows stay, as long as they are cheap enough. */
static void test_length(void **state)
{
	struct machine machine = busy;
	struct simulation run = begin(10, 10);
	struct sums sums;

	machine.window_cost = machine.reading_cost = 0.005;
	run_for(&run, &machine, 20 * MINUTE);
	sums = run_for(&run, &machine, HOUR);
	assert_int_equal(sums.rests, 0);
	assert_true(sums.longest <= 11);
	run = begin(10, 60);
	sums = run_for(&run, &machine, HOUR);
	assert_true(sums.longest == 60);
}

/*
 * An idle machine has a window in ten minutes: it may have become busy. All
 * that it has saved is not spent at once.
 */
static void test_idle(void **state)
{
	struct simulation run = begin(5, 10);
	struct sums sums = run_for(&run, &idle, 10 * HOUR);

	assert_in_range(sums.windows, 57, 62);
	sums = run_for(&run, &busy, 10 * MINUTE);
	assert_in_range(sums.windows, 4, 60);
	run_for(&run, &asleep, 10 * HOUR);
}

/* Looks, and what comes after them, get as much as the windows cost. */
static void test_worth(void **state)
{
	struct simulation run = begin(10, 10);
	struct sums sums;

	run_for(&run, &quiet, HOUR);
	sums = run_for(&run, &quiet, 10 * HOUR);
	assert_true(sums.looks * (1 + quiet.row_cost) >
		    0.9 * sums.windows *
		    (quiet.window_cost + quiet.reading_cost));
}

/* Work that comes and goes does not make windows come and go. */
static void test_uneven(void **state)
{
	struct machine machine = busy;
	struct simulation run = begin(20, 10);
	unsigned int i;

	run_for(&run, &machine, 20 * MINUTE);
	run.sums = (struct sums){ .time = 0 };
	for (i = 0; i < 200; i++) {
		machine.work = i % 2 ? 0.1 : 1.3;
		run_once(&run, &machine, 0);
	}
	assert_int_equal(run.sums.rests, 0);
	assert_true(fabs(share_of(&run.sums) - 0.02) < 0.001);
}

/* A day of idleness saves nothing for a rush. */
static void test_rush(void **state)
{
	struct machine machine = busy;
	struct simulation run = begin(10, 10);
	struct sums sums;

	machine.looks = 0;
	run_for(&run, &machine, 24 * HOUR);
	machine.looks = 1;
	sums = run_for(&run, &machine, 20 * MINUTE);
	show("rush", 10, &sums);
	assert_true(share_of(&sums) < 0.012);
}

/*
 * The cost of starting, or of a question, is paid back, but stops the windows
 * for some minutes at most.
 */
static void test_spike(void **state)
{
	struct simulation run = begin(10, 10);
	struct sums sums;
	double paid;

	run_for(&run, &busy, 20 * MINUTE);
	run_once(&run, &busy, 0.5);
	sums = run_for(&run, &busy, 10 * MINUTE);
	paid = 0.01 * sums.work - sums.own - sums.looks;
	show("spike", 10, &sums);
	assert_true(paid > 0.45 && paid < 0.7);
	run_once(&run, &busy, 100);
	sums = run_for(&run, &busy, 4 * MINUTE);
	assert_true(sums.windows > 0);
	sums = run_for(&run, &busy, HOUR);
	assert_true(share_of(&sums) > 0.0095);
}

/* New files, even in two windows, do not make windows look dear. */
static void test_files(void **state)
{
	struct simulation run = begin(10, 10);
	struct sums sums;

	run_for(&run, &busy, 20 * MINUTE);
	run_with(&run, &busy, 0, 0.5);
	run_with(&run, &busy, 0, 0.5);
	assert_true(run.spending.cost < 0.15e9);
	sums = run_for(&run, &busy, 10 * MINUTE);
	assert_true(0.01 * sums.work - sums.own - sums.looks > 0.5);
}

/* Another budget and length hold from the next window on. */
static void test_configure(void **state)
{
	struct simulation run = begin(5, 10);
	struct sums sums;

	run_for(&run, &busy, HOUR);
	spending_configure(&run.spending, 20, 30);
	run_for(&run, &busy, 5 * MINUTE);
	sums = run_for(&run, &busy, HOUR);
	assert_true(fabs(share_of(&sums) - 0.02) < 0.0004);
	spending_configure(&run.spending, 100, 30);
	run_for(&run, &busy, 5 * MINUTE);
	sums = run_for(&run, &busy, HOUR);
	assert_true(fabs(share_of(&sums) - 0.1) < 0.002);
	assert_true(sums.time / (sums.windows + sums.rests) >= 30);
}

/* The module can be asked for no more than everything. */
static void test_most(void **state)
{
	struct simulation run = begin(1000, 10);
	struct machine machine = busy;
	unsigned int i;

	machine.looks = 0;
	for (i = 0; i < 100; i++) {
		run_once(&run, &machine, 0);
		assert_in_range(run.spending.plan.permille, 1, 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_worth),
		cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_rush),
		cmocka_unit_test(test_spike),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_configure),
		cmocka_unit_test(test_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
