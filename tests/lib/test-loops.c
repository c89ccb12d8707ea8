// SPDX-License-Identifier: GPL-2.0-only
/* From rows to loops: sums, merging, parents, what is computed, and JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "reports/estimate.h"
#include "fixture.h"
#include "found.h"
#include "code/objects.h"

static void begin(struct fixture *fixture)
{
	fixture_begin(fixture, "loops,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	/* The file does not exist, so addresses are offsets in it. */
	fixture_map(fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
}

/* Increases add up. Other fields are those of the last row. */
static void test_increments(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  70, 5);
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	row.executions = 4;
	row.trips[4] = 4;
	row.trip_min = 16;
	row.trip_max = 20;
	row.trip_recent = 17 * 256;
	row.tolerance = 1;
	fixture_add_loop(&fixture, 10, &row);
	/* The region grew, and two entries turned out to be inside. */
	row.tail = 0x400180;
	row.back_edges = 30;
	row.entries = -2;
	row.executions = 1;
	row.trips[4] = 0;
	row.trips[0] = 0;
	row.trips[1] = 1;
	row.trip_min = 2;
	row.trip_recent = 15 * 256 + 128;
	row.tolerance = 2;
	fixture_add_loop(&fixture, 20, &row);
	fixture_add_totals(&fixture, 30, 1, 100);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 1);
	loop = hwprof_loops_get(loops, 0);
	assert_int_equal(loop->head, 0x100);
	assert_int_equal(loop->tail, 0x180);
	assert_int_equal(loop->entries, 3);
	assert_int_equal(loop->back_edges_seen, 100);
	assert_int_equal(loop->iterations, 103);
	assert_true(fabs(loop->trip - 103 / 3.0) < 1e-9);
	assert_true(loop->trip_low == loop->trip &&
		    loop->trip_high == loop->trip);
	assert_true(loop->trip_recent == 15.5);
	assert_int_equal(loop->trip_min, 2);
	assert_int_equal(loop->trip_max, 20);
	assert_int_equal(loop->histogram[4], 4);
	assert_int_equal(loop->histogram[1], 1);
	/* 3 entries, 5 executions: no execution of one trip remains. */
	assert_int_equal(loop->histogram[0], 0);
	assert_int_equal(loop->tolerance, 2);
	assert_int_equal(loop->basis, HWPROF_BASIS_EXACT);
	assert_true(loop->share == 1);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Rows out of order: the latest in time has the recent average. */
static void test_order(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  70, 5);
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	row.trip_recent = 20 * 256;
	fixture_add_loop(&fixture, 20, &row);
	row.trip_recent = 10 * 256;
	fixture_add_loop(&fixture, 10, &row);
	fixture_add_totals(&fixture, 30, 1, 140);
	fixture_add_totals(&fixture, 25, 1, 70);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_true(hwprof_loops_get(loops, 0)->trip_recent == 20);
	assert_int_equal(hwprof_profile_totals(loops)->produced, 140);
	assert_int_equal(hwprof_profile_totals(loops)->events, 420);
	assert_null(hwprof_profile_warning(loops, 1));
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Executions without a back edge are entries - executions - unclosed. */
static void test_single_trips(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  30, 20);
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	row.executions = 10;
	row.unclosed = 3;
	row.trips[2] = 10;
	row.trip_min = row.trip_max = 4;
	fixture_add_loop(&fixture, 10, &row);
	fixture_add_totals(&fixture, 30, 1, 30);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	loop = hwprof_loops_get(loops, 0);
	assert_int_equal(loop->histogram[0], 7);
	assert_int_equal(loop->histogram[2], 10);
	assert_int_equal(loop->trip_min, 1);
	assert_int_equal(loop->trip_max, 4);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Three processes run one object at three addresses. */
static void test_processes(void **state)
{
	struct fixture fixture;
	struct hwprof_profile *loops;
	unsigned int i;

	fixture_begin(&fixture, "loops,rows");
	for (i = 0; i < 3; i++) {
		uint64_t base = 0x400000 * (i + 1);
		struct hwprof_row_loop row =
			fixture_loop(i + 1, 100 + i, base + 0x100,
				     base + 0x140 + i, 10, 2);

		row.tolerance = 1;
		fixture_comm(&fixture, 1, 100 + i, "prog", true);
		fixture_map(&fixture, 2, 100 + i, base, 0x1000, 0x3000,
			    "/no/prog", NULL);
		fixture_add_loop(&fixture, 10 + i, &row);
	}
	fixture_add_totals(&fixture, 30, 1, 30);
	fixture_end(&fixture);

	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 1);
	assert_int_equal(hwprof_loops_get(loops, 0)->head, 0x3100);
	assert_int_equal(hwprof_loops_get(loops, 0)->tail, 0x3142);
	assert_int_equal(hwprof_loops_get(loops, 0)->entries, 6);
	assert_int_equal(hwprof_loops_get(loops, 0)->back_edges_seen, 30);
	assert_int_equal(hwprof_loops_get(loops, 0)->tolerance, 3);
	assert_int_equal(hwprof_loops_get(loops, 0)->pid, 0);
	hwprof_profile_free(loops);

	loops = fixture_loops(&fixture, HWPROF_PER_PROCESS);
	assert_int_equal(hwprof_loops_count(loops), 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(hwprof_loops_get(loops, i)->entries, 2);
		assert_int_equal(hwprof_loops_get(loops, i)->pid, 100 + i);
	}
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Code made at run time differs between processes. */
static void test_jit(void **state)
{
	struct fixture fixture;
	struct hwprof_profile *loops;
	unsigned int i;

	fixture_begin(&fixture, "loops,rows");
	for (i = 0; i < 2; i++) {
		struct hwprof_row_loop row =
			fixture_loop(i + 1, 100 + i, 0x5100, 0x5140, 10, 2);

		fixture_comm(&fixture, 1, 100 + i, "jit", true);
		fixture_map(&fixture, 2, 100 + i, 0x5000, 0x1000, 0, "//anon",
			    NULL);
		fixture_add_loop(&fixture, 10 + i, &row);
	}
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 2);
	assert_int_equal(hwprof_loops_get(loops, 0)->head, 0x5100);
	assert_int_not_equal(hwprof_loops_get(loops, 0)->pid,
			     hwprof_loops_get(loops, 1)->pid);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Regions [head, tail], and the head of the parent; 0: none. */
static const struct {
	uint64_t head, tail, parent;
	unsigned int depth;
} nest[] = {
	{ 0x100, 0x900, 0, 0 },
	{ 0x200, 0x500, 0x100, 1 },
	{ 0x210, 0x280, 0x200, 2 },
	{ 0x240, 0x240, 0x210, 3 },		/* a branch to itself */
	{ 0x300, 0x600, 0x100, 1 },		/* overlaps 0x200: no parent */
	{ 0x400, 0x480, 0x200, 2 },		/* in both, of one size: the
					 * lower one is the parent */
	{ 0x100 + 0x800, 0x900, 0x100, 1 },	/* ends with its parent */
	{ 0x901, 0x999, 0, 0 },
	{ 0x950, 0x9a0, 0, 0 },
};

static void test_nesting(void **state)
{
	struct hwprof_profile *loops;
	struct fixture fixture;
	size_t i;

	begin(&fixture);
	for (i = sizeof(nest) / sizeof(nest[0]); i--;) {
		struct hwprof_row_loop row =
			fixture_loop(1, 100, 0x400000 + nest[i].head,
				     0x400000 + nest[i].tail, 10 + i, 2);

		fixture_add_loop(&fixture, 10, &row);
	}
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	for (i = 0; i < sizeof(nest) / sizeof(nest[0]); i++) {
		const struct hwprof_loop *loop = found_loop(loops,
							      nest[i].head);

		assert_non_null(loop);
		assert_int_equal(loop->parent ? loop->parent->head : 0,
				 nest[i].parent);
		assert_int_equal(loop->depth, nest[i].depth);
	}
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Finds the parent of random regions by the plain definition. */
static const struct hwprof_loop *
plain_parent(const struct hwprof_profile *loops, const struct hwprof_loop *loop)
{
	const struct hwprof_loop *best = NULL;
	size_t i;

	for (i = 0; i < hwprof_loops_count(loops); i++) {
		const struct hwprof_loop *outer = hwprof_loops_get(loops, i);
		uint64_t size = outer->tail - outer->head;

		if (outer == loop || outer->head > loop->head ||
		    outer->tail < loop->tail)
			continue;
		if (!best || size < best->tail - best->head ||
		    (size == best->tail - best->head &&
		     outer->head < best->head))
			best = outer;
	}
	return best;
}

static void test_random_nesting(void **state)
{
	unsigned int round, seed = 1;

	for (round = 0; round < 20; round++) {
		struct hwprof_profile *loops;
		struct fixture fixture;
		size_t i;

		begin(&fixture);
		for (i = 0; i < 60; i++) {
			uint64_t head = 0x400000 + rand_r(&seed) % 200;
			struct hwprof_row_loop row =
				fixture_loop(1, 100, head,
					     head + rand_r(&seed) % 100, 1, 1);

			fixture_add_loop(&fixture, 10, &row);
		}
		fixture_end(&fixture);
		loops = fixture_loops(&fixture, 0);
		for (i = 0; i < hwprof_loops_count(loops); i++) {
			const struct hwprof_loop *loop = hwprof_loops_get(loops,
									  i);

			assert_ptr_equal(loop->parent,
					 plain_parent(loops, loop));
		}
		hwprof_profile_free(loops);
		fixture_remove(&fixture);
	}
}

/* With windows there are no totals. Computes the interval by hand. */
static void check_interval(enum hwprof_basis basis, double widened)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  900, 100);
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;
	double se, reach;

	begin(&fixture);
	row.basis = basis;
	row.sum_back_sq = 20000;
	row.sum_entry_sq = 250;
	row.sum_cross = 1800;
	fixture_add_loop(&fixture, 10, &row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	loop = hwprof_loops_get(loops, 0);
	assert_false(loop->counted);
	assert_int_equal(loop->entries_seen, 100);
	assert_true(loop->trip == 10);
	/* 100²/250 = 40 windows at least. */
	se = sqrt(20000 / 810000.0 + 250 / 10000.0 - 2 * 1800 / 90000.0);
	reach = widened * (1.96 + 2.4 / 40) * sqrt(40 / 39.0) * se;
	/* One back edge less, one more. */
	assert_true(fabs(loop->trip_low - (1 + 8.99 * exp(-reach))) < 1e-9);
	assert_true(fabs(loop->trip_high - (1 + 9.01 * exp(reach))) < 1e-9);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

static void test_windows(void **state)
{
	check_interval(HWPROF_BASIS_BRANCHES, 1);
	check_interval(HWPROF_BASIS_TIME, 1.3);
}

static void add_time(struct fixture *fixture, uint32_t pid, uint64_t ip,
		     uint64_t windows)
{
	struct hwprof_row_time row = {
		.row.type = HWPROF_ROW_TIME, .row.size = sizeof(row),
		.row.session = 1, .row.space = pid, .row.pid = pid,
		.ip = ip, .windows = windows,
	};

	fixture_row(fixture, 9, ip, 0, 0, &row.row);
}

/*
 * Windows of time: shares are of time, and of code in no loop. They go to the
 * smallest loop, even if that is found later, or in another process.
 */
static void test_time(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  900, 100);
	struct hwprof_row_totals totals = {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(totals),
		.row.session = row.row.session,
		.produced = 990, .delivered = 990, .windows = 50,
		.basis = HWPROF_BASIS_TIME, .source = HWPROF_SOURCE_LBR,
	};
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	row.basis = HWPROF_BASIS_TIME;
	add_time(&fixture, 100, 0x400100, 10);
	add_time(&fixture, 100, 0x400120, 9);
	add_time(&fixture, 100, 0x400140, 1);
	add_time(&fixture, 100, 0x400141, 7);
	add_time(&fixture, 100, 0x400120, 1);
	fixture_map(&fixture, 2, 200, 0x500000, 0x10000, 0, "/no/prog", NULL);
	add_time(&fixture, 200, 0x500120, 5);
	fixture_add_loop(&fixture, 10, &row);
	row = fixture_loop(1, 100, 0x400110, 0x400130, 90, 10);
	row.basis = HWPROF_BASIS_TIME;
	fixture_add_loop(&fixture, 10, &row);
	fixture_row(&fixture, 12, 0, 0, 0, &totals.row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_profile_totals(loops)->windows, 50);
	assert_int_equal(hwprof_profile_totals(loops)->sources,
			 1 << HWPROF_SOURCE_LBR);
	assert_true(found_loop(loops, 0x100)->share == 0.22);
	assert_true(found_loop(loops, 0x110)->share == 0.3);
	assert_string_equal(found_loop(loops, 0x110)->share_of, "time");
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/*
 * The last totals of each session count. Rows of older modules have no
 * overhead.
 */
static void test_overhead(void **state)
{
	struct hwprof_row_totals row = {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(row),
		.row.session = 1,
		.produced = 10, .events = 10, .windows = 1,
		.cost_ns = 900, .task_ns = 9000, .budget_permille = 5,
	};
	const struct hwprof_totals *totals;
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	fixture_row(&fixture, 10, 0, 0, 0, &row.row);
	row.cost_ns = 1000;
	row.task_ns = 51000;
	fixture_row(&fixture, 11, 0, 0, 0, &row.row);
	row.row.session = 2;
	row.budget_permille = 20;
	fixture_row(&fixture, 12, 0, 0, 0, &row.row);
	row.row.session = 3;
	row.row.size = offsetof(struct hwprof_row_totals, cost_ns);
	fixture_row(&fixture, 13, 0, 0, 0, &row.row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	totals = hwprof_profile_totals(loops);
	assert_int_equal(totals->sessions, 3);
	assert_int_equal(totals->cost_ns, 2000);
	assert_int_equal(totals->task_ns, 102000);
	assert_int_equal(totals->budget_permille, 20);
	assert_true(hwprof_overhead(totals) == 0.02);
	assert_true(hwprof_overhead(&(struct hwprof_totals){ 0 }) < 0);
	assert_true(hwprof_overhead(&(struct hwprof_totals){
			.cost_ns = 2, .task_ns = 1 }) < 0);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* How often parameters changed, and when, whatever the order of rows is. */
static void test_changes(void **state)
{
	struct hwprof_row_totals row = {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(row),
		.row.session = 4,
		.events = 10, .windows = 1, .changes = 2,
	};
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	fixture_row(&fixture, 3000000000, 0, 0, 0, &row.row);
	fixture_row(&fixture, 4000000000, 0, 0, 0, &row.row);
	row.changes = 1;
	row.events = 5;
	fixture_row(&fixture, 2000000000, 0, 0, 0, &row.row);
	row.changes = 0;
	row.events = 1;
	fixture_row(&fixture, 1000000000, 0, 0, 0, &row.row);
	row.row.session = 5;
	fixture_row(&fixture, 1000000000, 0, 0, 0, &row.row);
	row.row.session = 6;
	row.changes = 1;
	fixture_row(&fixture, 1500000000, 0, 0, 0, &row.row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_string_equal(hwprof_profile_warning(loops, 0),
			    "parameters or the mask of session 4 have changed 2 times, from 2.000000 s to 3.000000 s: counts from before and after add up, however often windows and samples were taken and whatever was left out");
	assert_string_equal(hwprof_profile_warning(loops, 1),
			    "parameters or the mask of session 6 have changed once, by 1.500000 s: counts from before and after add up, however often windows and samples were taken and whatever was left out");
	assert_null(hwprof_profile_warning(loops, 2));
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/*
 * Without sums, or with one window, there is no interval; without entries, no
 * trip count.
 */
static void test_unknown(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  900, 0);
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	row.basis = HWPROF_BASIS_BRANCHES;
	fixture_add_loop(&fixture, 10, &row);
	row = fixture_loop(1, 100, 0x400200, 0x400240, 90, 10);
	row.basis = HWPROF_BASIS_BRANCHES;
	fixture_add_loop(&fixture, 10, &row);
	row = fixture_loop(1, 100, 0x400300, 0x400340, 9, 10);
	row.basis = HWPROF_BASIS_BRANCHES;
	row.sum_back_sq = 81;
	row.sum_entry_sq = 100;
	row.sum_cross = 90;
	fixture_add_loop(&fixture, 10, &row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	loop = found_loop(loops, 0x300);
	assert_true(loop->trip == 1.9 && isnan(loop->trip_low));
	loop = found_loop(loops, 0x100);
	assert_true(isnan(loop->trip) && isnan(loop->trip_low));
	assert_false(loop->counted);
	loop = found_loop(loops, 0x200);
	assert_true(loop->trip == 10 && isnan(loop->trip_low));
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Samples count with their periods, by head, and give a warning. */
static void test_samples(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  0, 0);
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;

	fixture_begin(&fixture, "loops,step");
	fixture_comm(&fixture, 1, 100, "prog", true);
	fixture_map(&fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
	fixture_row(&fixture, 10, row.head, row.tail, 500, &row.row);
	fixture_row(&fixture, 11, row.head, row.tail, 700, &row.row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 1);
	loop = hwprof_loops_get(loops, 0);
	assert_int_equal(loop->back_edges_seen, 1200);
	assert_int_equal(loop->basis, 0);
	assert_int_equal(loop->tail, 0x140);
	assert_false(loop->counted);
	assert_true(isnan(loop->trip));
	assert_non_null(found_warning(loops, "samples, not rows"));
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* perf record without -R: rows lack their raw data. */
static void test_bare_rows(void **state)
{
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	fixture_bare(&fixture, 10, 100, 0x400100, 0x400140, 500);
	fixture_bare(&fixture, 20, 100, 0x400100, 0x400140, 700);
	fixture_bare(&fixture, 30, 0, 0, 0, 0);		/* totals */
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 1);
	loop = hwprof_loops_get(loops, 0);
	assert_int_equal(loop->head, 0x100);
	assert_int_equal(loop->tail, 0x140);
	assert_int_equal(loop->back_edges_seen, 1200);
	assert_false(loop->counted);
	assert_non_null(found_warning(loops, "perf record -R"));
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

static void test_warnings(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  50, 5);
	struct hwprof_row_totals totals = {
		.row = { .type = HWPROF_ROW_TOTALS, .size = sizeof(totals),
			 .session = 1 },
		.produced = 100, .delivered = 60, .lost = 10, .evicted = 20,
		.pending = 10, .basis = HWPROF_BASIS_EXACT,
		.source = 9,	/* of a future module */
	};
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	fixture_add_loop(&fixture, 10, &row);
	fixture_lost(&fixture, 11, 7);
	fixture_row(&fixture, 12, 0, 0, 0, &totals.row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_non_null(found_warning(loops, "10 of 100 back edges were lost"));
	assert_non_null(
		found_warning(loops, "20 of 100 back edges were given up"));
	assert_non_null(
		found_warning(loops, "10 of 100 back edges were in no row"));
	assert_non_null(found_warning(loops, "7 records were lost"));
	assert_non_null(found_warning(loops, "50 of the 60 back edges"));
	assert_non_null(found_warning(loops, "/no/prog"));
	assert_int_equal(hwprof_profile_totals(loops)->lost_records, 7);
	assert_int_equal(hwprof_profile_totals(loops)->sources, 0);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

static void expect_heads(struct hwprof_profile *loops, const char *keys,
			 uint64_t first, uint64_t second, uint64_t third)
{
	assert_int_equal(hwprof_loops_sort(loops, keys), 0);
	assert_int_equal(hwprof_loops_get(loops, 0)->head, first);
	assert_int_equal(hwprof_loops_get(loops, 1)->head, second);
	assert_int_equal(hwprof_loops_get(loops, 2)->head, third);
}

static void test_sort(void **state)
{
	struct hwprof_row_loop row;
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture);
	row = fixture_loop(1, 100, 0x400100, 0x400140, 50, 50);
	fixture_add_loop(&fixture, 10, &row);
	row = fixture_loop(1, 100, 0x400200, 0x400240, 90, 5);
	fixture_add_loop(&fixture, 10, &row);
	row = fixture_loop(1, 100, 0x400300, 0x400340, 10, 5);
	fixture_add_loop(&fixture, 10, &row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	expect_heads(loops, "share", 0x100, 0x200, 0x300);
	expect_heads(loops, "iterations", 0x100, 0x200, 0x300);
	expect_heads(loops, "trip", 0x200, 0x300, 0x100);
	expect_heads(loops, "entries,trip", 0x100, 0x200, 0x300);
	expect_heads(loops, "entries", 0x100, 0x200, 0x300);
	expect_heads(loops, "object,head", 0x100, 0x200, 0x300);
	assert_int_equal(hwprof_loops_sort(loops, "share,size"), -EINVAL);
	assert_non_null(strstr(hwprof_profile_error(loops), "'size'"));
	assert_non_null(strstr(hwprof_profile_error(loops), "iterations"));
	assert_int_equal(hwprof_loops_sort(loops, ""), -EINVAL);
	assert_int_equal(hwprof_loops_sort(loops, "share,"), -EINVAL);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Names that are not valid text, and missing numbers. */
static void test_json(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  900, 0);
	struct hwprof_profile *loops;
	struct fixture fixture;
	char path[] = "/tmp/hwprof-test-XXXXXX", output[4096];
	FILE *file;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "a\"b\\c\n\x01\xff", true);
	fixture_map(
		&fixture, 2, 100, 0x400000, 0x10000, 0,
		"/no/\"quoted\"\t\xc3\xa9\xc3\x28\xed\xa0\x80\xf0\x9f\x98\x80",
		NULL);
	fixture_add_loop(&fixture, 10, &row);
	row = fixture_loop(1, 100, 0x400080, 0x400200, 1, 3);
	fixture_add_loop(&fixture, 10, &row);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, HWPROF_PER_PROCESS);
	file = fdopen(mkstemp(path), "w");
	assert_int_equal(hwprof_profile_json(loops, NULL, file), 0);
	fclose(file);
	assert_int_equal(
		fixture_shell(
			output, sizeof(output),
			"python3 -c '\n"
			"import json\n"
			"d = json.load(open(\"%s\", encoding=\"utf-8\"))\n"
			"l, m = d[\"loops\"]\n"
			"assert l[\"head\"] == \"0x100\" and l[\"parent\"] == "
			"\"0x80\", l\n"
			"assert l[\"trip\"] is None and l[\"line\"] is None, "
			"l\n"
			"assert l[\"object\"].endswith(\"\\U0001f600\"), l\n"
			"assert chr(34) in l[\"object\"] and chr(9) in "
			"l[\"object\"]\n"
			"assert chr(0xe9) in l[\"object\"] and chr(0xfffd) in "
			"l[\"object\"]\n"
			"assert l[\"comm\"].startswith(\"a\" + chr(34) + \"b\" "
			"+ chr(92)), l\n"
			"assert l[\"pid\"] == 100 and len(l[\"histogram\"]) == "
			"24\n"
			"assert m[\"entries\"] == 3 and m[\"iterations\"] == "
			"4\n"
			"assert abs(l[\"share\"] + m[\"share\"] - 1) < 1e-9\n"
			"assert d[\"totals\"][\"sessions\"] == 1\n"
			"assert any(\"no totals\" in w for w in "
			"d[\"warnings\"])\n"
			"' 2>&1",
			path),
		0);
	unlink(path);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Makes a program in the folder. Returns the address of its main(). */
static uint64_t make_program(const char *folder)
{
	char output[4096];
	uint64_t head;

	assert_int_equal(
		fixture_shell(
			output, sizeof(output),
			"cd %s && printf '\\n\\nint main(void) { return 0; "
			"}\\n' > prog.c &&"
			"cc -g -no-pie -Wl,--build-id=sha1 -o prog %s/prog.c &&"
			"nm prog | awk '$3 == \"main\" { print \"0x\" $1 }'",
			folder, folder),
		0);
	head = strtoull(output, NULL, 0);
	assert_in_range(head, 0x400000, 0x40ffff);
	return head;
}

/* Checks JSON in a folder, of a loop whose address it is given twice. */
static const char check_json[] =
	"cd %s && python3 -c '\n"
	"import json, os, subprocess\n"
	"d = json.load(open(\"json\"))\n"
	"assert set(d) == {\"loops\", \"totals\", "
	"\"masks\", \"warnings\"}, d\n"
	"assert d[\"masks\"] == [\"width=8\", \"kind=call\"], d\n"
	"notes = subprocess.check_output([\"readelf\", \"-n\", "
	"\"prog\"], text=True)\n"
	"assert d[\"loops\"] == [{\n"
	"    \"object\": os.path.abspath(\"prog\"),\n"
	"    \"build_id\": notes.split(\"Build ID: "
	"\")[1].split()[0],\n"
	"    \"function\": \"main\", \"function_offset\": 0,\n"
	"    \"head\": hex(%#lx), \"tail\": hex(%#lx + 4),\n"
	"    \"file\": os.path.abspath(\"prog.c\"), \"line\": "
	"3,\n"
	"    \"entries\": 5, \"iterations\": 100,\n"
	"    \"entries_seen\": 5, \"back_edges_seen\": 95,\n"
	"    \"trip\": 20, \"trip_low\": 20, \"trip_high\": "
	"20,\n"
	"    \"trip_recent\": 17.5, \"trip_min\": 16, "
	"\"trip_max\": 24,\n"
	"    \"histogram\": [0] * 4 + [5] + [0] * 19,\n"
	"    \"share\": 1, \"share_low\": 1, \"share_high\": "
	"1,\n"
	"    \"share_of\": \"iterations\", \"basis\": "
	"\"exact\",\n"
	"    \"instructions\": None,\n"
	"    \"parent\": None, \"depth\": 0, \"tolerance\": "
	"3,\n"
	"}], d[\"loops\"]\n"
	"assert d[\"totals\"] == {\n"
	"    \"events\": 420, \"lost\": 10, \"evicted\": 15,\n"
	"    \"lost_events\": 9, \"gaps\": 7, \"sessions\": "
	"1,\n"
	"    \"produced\": 140, \"delivered\": 95, "
	"\"pending\": 20,\n"
	"    \"windows\": 4, \"unmeasured\": 0, "
	"\"lost_records\": 6,\n"
	"    \"rows\": 1, \"samples\": 0,\n"
	"    \"sources\": [\"step\"], \"kinds\": [],\n"
	"    \"overhead\": {\"share\": 0.025, \"cost_ns\": "
	"25,\n"
	"                 \"task_ns\": 1025, "
	"\"budget_permille\": 30},\n"
	"    \"distances\": None,\n"
	"}, d[\"totals\"]\n"
	"' 2>&1";

/* Every field, for a program with symbols and lines. */
static void test_json_fields(void **state)
{
	struct hwprof_row_totals totals = {
		.row = { .type = HWPROF_ROW_TOTALS, .size = sizeof(totals),
			 .session = 1 },
		.produced = 140, .delivered = 95, .lost = 10, .evicted = 15,
		.pending = 20, .events = 420, .gaps = 7, .lost_events = 9,
		.windows = 4, .basis = HWPROF_BASIS_EXACT,
		.source = HWPROF_SOURCE_STEP, .cost_ns = 25, .task_ns = 1025,
		.budget_permille = 30,
	};
	char folder[] = "/tmp/hwprof-test-XXXXXX", path[64], output[4096];
	struct hwprof_row_loop row;
	struct hwprof_profile *loops;
	struct fixture fixture;
	struct build_id id;
	uint64_t head;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	head = make_program(folder);
	snprintf(path, sizeof(path), "%s/prog", folder);
	assert_true(object_read_build_id(path, &id));

	fixture_begin(&fixture, "loops,step,rows");
	fixture_comm(&fixture, 1, 100, "prog", true);
	fixture_map(&fixture, 2, 100, 0x400000, 0x10000, 0, path, &id);
	row = fixture_loop(1, 100, head, head + 4, 95, 5);
	row.executions = 5;
	row.trips[4] = 5;
	row.trip_min = 16;
	row.trip_max = 24;
	row.trip_recent = 17 * 256 + 128;
	row.tolerance = 3;
	fixture_add_loop(&fixture, 10, &row);
	fixture_lost(&fixture, 11, 6);
	fixture_row(&fixture, 12, 0, 0, 0, &totals.row);
	fixture_mask(&fixture, "width=8");
	fixture_mask(&fixture, "kind=call");
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	snprintf(path, sizeof(path), "%s/json", folder);
	file = fopen(path, "w");
	assert_int_equal(hwprof_profile_json(loops, NULL, file), 0);
	fclose(file);
	assert_int_equal(
		fixture_shell(output, sizeof(output), check_json, folder,
			      (long)head, (long)head),
		0);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
	fixture_shell(output, sizeof(output), "rm -r %s", folder);
}

static void test_empty(void **state)
{
	struct hwprof_profile *loops;
	struct fixture fixture;
	FILE *full;

	begin(&fixture);
	fixture_add_totals(&fixture, 10, 1, 0);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 0);
	assert_int_equal(hwprof_profile_totals(loops)->sessions, 1);
	full = fopen("/dev/full", "w");
	assert_int_equal(hwprof_profile_json(loops, NULL, full), -EIO);
	fclose(full);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/*
 * Two files: loops of one place are merged, whatever their processes are
 * called, and totals add up. Things of one process stay apart, even if the pids
 * are equal.
 */
static void test_files(void **state)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x400100, 0x400140,
						  70, 5);
	struct hwprof_row_loop other = fixture_loop(1, 100, 0x900100, 0x900140,
						    10, 1);
	struct fixture fixtures[2];
	struct hwprof_profile *loops;
	unsigned int i, apart = 0;

	for (i = 0; i < 2; i++) {
		begin(&fixtures[i]);
		row.trip_recent = (10 + i) * 256;
		fixture_add_loop(&fixtures[i], 10, &row);
		fixture_add_loop(&fixtures[i], 11, &other);
		fixture_add_totals(&fixtures[i], 30, 1, 80);
	}
	loops = fixture_read(fixtures, 2, HWPROF_KIND_LOOPS, NULL);
	assert_int_equal(hwprof_loops_count(loops), 3);
	assert_int_equal(hwprof_loops_get(loops, 0)->head, 0x100);
	assert_int_equal(hwprof_loops_get(loops, 0)->entries, 10);
	assert_int_equal(hwprof_loops_get(loops, 0)->iterations, 150);
	for (i = 1; i < 3; i++)
		apart += hwprof_loops_get(loops, i)->iterations == 11 &&
			 hwprof_loops_get(loops, i)->pid == 100;
	assert_int_equal(apart, 2);
	assert_int_equal(hwprof_profile_totals(loops)->produced, 160);
	assert_int_equal(hwprof_profile_totals(loops)->sessions, 2);
	assert_int_equal(hwprof_profile_totals(loops)->rows, 4);
	assert_null(hwprof_profile_warning(loops, 1));
	hwprof_profile_free(loops);
}

/* Only the second file is damaged, and only it has the message. */
static void test_files_damaged(void **state)
{
	struct hwprof_file *files[2];
	struct fixture fixtures[2];
	struct hwprof_profile *loops;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(&fixtures[i]);
		fixture_add_totals(&fixtures[i], 30, 1, 0);
		fixture_end(&fixtures[i]);
		assert_int_equal(hwprof_file_open(&files[i], fixtures[i].path),
				 0);
	}
	assert_int_equal(truncate(fixtures[1].path, 300), 0);
	assert_int_equal(hwprof_profile_read(&loops, HWPROF_KIND_LOOPS, files,
					     2, NULL), 0);
	assert_null(hwprof_file_warning(files[0], 0));
	assert_non_null(hwprof_file_warning(files[1], 0));
	assert_non_null(hwprof_profile_warning(loops, 0));
	hwprof_profile_free(loops);
	for (i = 0; i < 2; i++) {
		hwprof_file_close(files[i]);
		fixture_remove(&fixtures[i]);
	}
}

/*
 * Returns true if the loop's true share @truth is in its interval. @windows
 * were taken, each in the loop or elsewhere; in the loop with some iterations
 * more or fewer.
 */
static bool is_covered(double truth, unsigned int windows)
{
	struct collected_loop sums = { .origin.basis = HWPROF_BASIS_BRANCHES };
	struct hwprof_loop loop = { .basis = HWPROF_BASIS_BRANCHES };
	double total = 0;
	unsigned int i;

	for (i = 0; i < windows; i++) {
		unsigned int length = 24 + random() % 17;

		total += length;
		if (random() > truth * RAND_MAX)
			continue;
		loop.entries_seen++;
		loop.back_edges_seen += length - 1;
		sums.sum_back_sq += (length - 1) * (length - 1.);
		sums.sum_entry_sq++;
		sums.sum_cross += length - 1;
	}
	loop.share = (loop.entries_seen + loop.back_edges_seen) / total;
	estimate_loop_share(&loop, &sums, &(struct share_facts){ 0 });
	return loop.share_low <= truth && truth <= loop.share_high;
}

static void test_share_interval(void **state)
{
	static const double truths[] = { .05, .3, .7, .95 };
	unsigned int i, run, covered;

	srandom(1);
	for (i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		for (run = covered = 0; run < 1000; run++)
			covered += is_covered(truths[i], 400);
		print_message("# %g: in %u of 1000 intervals\n", truths[i],
			      covered);
		assert_in_range(covered, 930, 985);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_increments),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_single_trips),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_jit),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_random_nesting),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_bare_rows),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_fields),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_files_damaged),
		cmocka_unit_test(test_share_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
