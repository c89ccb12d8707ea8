// SPDX-License-Identifier: GPL-2.0-only
/* From rows to call pairs and methods: sums, places, bounds and intervals. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "found.h"

static void begin(struct fixture *fixture)
{
	fixture_begin(fixture, "calls,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	/* The files do not exist, so addresses are offsets in them. */
	fixture_map(fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
	fixture_map(fixture, 2, 100, 0x700000, 0x10000, 0, "/no/lib", NULL);
}

static struct hwprof_row_call row_of(uint32_t session, uint32_t pid,
				     uint64_t site, uint64_t callee,
				     uint64_t calls)
{
	return (struct hwprof_row_call){
		.row.type = HWPROF_ROW_CALL,
		.row.size = sizeof(struct hwprof_row_call),
		.row.session = session,
		.row.space = pid,
		.row.pid = pid,
		.site = site,
		.callee = callee,
		.calls = calls,
		.basis = HWPROF_BASIS_EXACT,
	};
}

static void put(struct fixture *fixture, const struct hwprof_row_call *row)
{
	fixture_row(fixture, 10, row->site, row->callee, row->calls,
		    &row->row);
}

static void add(struct fixture *fixture, uint32_t session, uint32_t pid,
		uint64_t site, uint64_t callee, uint64_t calls)
{
	const struct hwprof_row_call row = row_of(session, pid, site, callee,
						  calls);

	put(fixture, &row);
}

/* Adds totals of a session that evicted @evicted calls. */
static void add_totals(struct fixture *fixture, uint32_t session,
		       uint64_t delivered, uint64_t evicted)
{
	const struct hwprof_row_totals totals = {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(totals),
		.row.session = session,
		.produced = delivered + evicted,
		.delivered = delivered, .evicted = evicted,
		.events = 1000, .basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 30, 0, 0, 0, &totals.row);
}

static struct hwprof_profile *read_calls(struct fixture *fixture,
				       unsigned int flags)
{
	return fixture_read(fixture, 1, HWPROF_KIND_CALLS,
			    &(struct hwprof_options){ .flags = flags });
}

/* Returns `most` of the pair with @least calls. */
static uint64_t most_of(const struct hwprof_profile *calls, uint64_t least)
{
	size_t i;

	for (i = 0; i < hwprof_calls_pair_count(calls); i++) {
		const struct hwprof_called *called =
			&hwprof_calls_pair(calls, i)->called;

		if (called->least == least)
			return called->most;
	}
	return 0;
}

/* Sums over many intervals and sessions, and the methods made from them. */
static void test_sums(void **state)
{
	const struct hwprof_method *method;
	const struct hwprof_pair *pair;
	struct hwprof_profile *calls;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 1, 100, 0x400100, 0x700010, 300);
	add(&fixture, 1, 100, 0x400100, 0x700010, 100);
	add(&fixture, 2, 100, 0x400100, 0x700010, 100);
	add(&fixture, 1, 100, 0x400200, 0x700010, 200);
	add(&fixture, 1, 100, 0x400100, 0x700020, 300);
	fixture_add_totals(&fixture, 30, 1, 900);
	fixture_add_totals(&fixture, 30, 2, 100);
	calls = read_calls(&fixture, 0);
	assert_int_equal(hwprof_calls_pair_count(calls), 3);
	pair = hwprof_calls_pair(calls, 0);
	assert_string_equal(pair->site.object, "/no/prog");
	assert_string_equal(pair->callee.object, "/no/lib");
	assert_int_equal(pair->site.address, 0x100);
	assert_int_equal(pair->callee.address, 0x10);
	assert_int_equal(pair->called.least, 500);
	assert_int_equal(pair->called.most, 500);
	assert_true(fabs(pair->called.share - 0.5) < 1e-9);
	assert_true(isnan(pair->called.share_low));
	assert_int_equal(pair->called.basis, HWPROF_BASIS_EXACT);
	assert_int_equal(pair->called.pid, 0);
	assert_int_equal(hwprof_calls_pair(calls, 1)->called.least, 300);
	assert_int_equal(hwprof_calls_pair(calls, 2)->called.least, 200);
	assert_int_equal(hwprof_calls_method_count(calls), 2);
	method = hwprof_calls_method(calls, 0);
	assert_int_equal(method->entry.address, 0x10);
	assert_int_equal(method->called.least, 700);
	assert_int_equal(method->sites, 2);
	assert_true(fabs(method->called.share - 0.7) < 1e-9);
	assert_int_equal(hwprof_calls_method(calls, 1)->sites, 1);
	assert_int_equal(hwprof_profile_totals(calls)->produced, 1000);
	assert_int_equal(hwprof_profile_totals(calls)->rows, 5);
	/* Each object has one warning that it does not exist. */
	assert_true(warns(calls, "/no/prog"));
	assert_true(warns(calls, "/no/lib"));
	assert_null(hwprof_profile_warning(calls, 2));
	hwprof_profile_free(calls);
}

/* Processes that ran the same objects at different addresses are merged. */
static void test_processes(void **state)
{
	const struct hwprof_pair *pair;
	struct hwprof_profile *calls;
	struct fixture fixture;
	unsigned int each;

	for (each = 0; each < 2; each++) {
		begin(&fixture);
		fixture_comm(&fixture, 3, 200, "other", true);
		fixture_map(&fixture, 4, 200, 0x800000, 0x10000, 0, "/no/prog",
			    NULL);
		add(&fixture, 1, 100, 0x400100, 0x400200, 10);
		add(&fixture, 1, 200, 0x800100, 0x800200, 30);
		calls = read_calls(&fixture, each ? HWPROF_PER_PROCESS : 0);
		assert_int_equal(hwprof_calls_pair_count(calls), 1 + each);
		assert_int_equal(hwprof_calls_method_count(calls), 1 + each);
		pair = hwprof_calls_pair(calls, 0);
		assert_int_equal(pair->called.least, each ? 30 : 40);
		assert_int_equal(pair->called.pid, each ? 200 : 0);
		if (each)
			assert_string_equal(pair->called.comm, "other");
		hwprof_profile_free(calls);
	}
}

/*
 * A pair may also have had the errors of its last row, and calls evicted since
 * then. The order of rows does not matter. The bound never exceeds all evicted
 * calls.
 */
static void test_bounds(void **state)
{
	struct hwprof_row_call first = row_of(1, 100, 0x400100, 0x400200, 50);
	struct hwprof_row_call last = row_of(1, 100, 0x400100, 0x400200, 5);
	struct hwprof_row_call other = row_of(1, 100, 0x400300, 0x400200, 40);
	struct hwprof_profile *calls;
	struct fixture fixture;

	first.error = 1;
	first.evicted = 2;
	last.error = 3;
	last.evicted = 19;
	other.error = 24;
	other.evicted = 20;
	begin(&fixture);
	put(&fixture, &last);
	put(&fixture, &first);
	put(&fixture, &other);
	add_totals(&fixture, 1, 95, 25);
	calls = read_calls(&fixture, 0);
	assert_int_equal(hwprof_calls_pair(calls, 0)->called.least, 55);
	assert_int_equal(hwprof_calls_pair(calls, 0)->called.most, 55 + 3 + 6);
	assert_int_equal(hwprof_calls_pair(calls, 1)->called.least, 40);
	assert_int_equal(hwprof_calls_pair(calls, 1)->called.most, 40 + 25);
	assert_int_equal(hwprof_calls_method(calls, 0)->called.least, 95);
	assert_int_equal(hwprof_calls_method(calls, 0)->called.most, 95 + 25);
	assert_true(warns(calls, "25 of 120 calls were given up"));
	hwprof_profile_free(calls);
}

/* No call of the pair was evicted, but its method may have had another pair. */
static void test_pairs_without_rows(void **state)
{
	const struct hwprof_called *method;
	struct hwprof_profile *calls;
	struct fixture fixture;
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, 50);

	row.evicted = 25;
	begin(&fixture);
	put(&fixture, &row);
	add_totals(&fixture, 1, 50, 25);
	calls = read_calls(&fixture, 0);
	assert_int_equal(most_of(calls, 50), 50);
	method = &hwprof_calls_method(calls, 0)->called;
	assert_int_equal(method->least, 50);
	assert_int_equal(method->most, 50 + 25);
	hwprof_profile_free(calls);
}

/* A session without a row of the pair may have evicted calls of the pair. */
static void test_sessions_without_rows(void **state)
{
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, 50);
	struct hwprof_profile *calls;
	struct fixture fixture;

	row.error = 2;
	row.evicted = 5;
	begin(&fixture);
	put(&fixture, &row);
	add(&fixture, 2, 100, 0x400300, 0x400200, 40);
	add_totals(&fixture, 1, 50, 5);
	add_totals(&fixture, 2, 40, 30);
	calls = read_calls(&fixture, 0);
	assert_int_equal(most_of(calls, 50), 50 + 2 + 30);
	/*
	 * Its own row is older than all evicted calls; the other session adds
	 * to them.
	 */
	assert_int_equal(most_of(calls, 40), 40 + 30 + 5);
	assert_int_equal(hwprof_calls_method(calls, 0)->called.most,
			 90 + 5 + 30);
	hwprof_profile_free(calls);
}

/*
 * The same holds for two recordings, except that a process is in one of them.
 */
static void test_files_without_rows(void **state)
{
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, 50);
	struct hwprof_profile *calls;
	unsigned int each;

	row.error = 2;
	row.evicted = 5;
	for (each = 0; each < 2; each++) {
		struct fixture fixtures[2];

		begin(&fixtures[0]);
		put(&fixtures[0], &row);
		add_totals(&fixtures[0], 1, 50, 5);
		begin(&fixtures[1]);
		add(&fixtures[1], 1, 100, 0x400300, 0x400200, 40);
		add_totals(&fixtures[1], 1, 40, 30);
		calls = fixture_read(fixtures, 2, HWPROF_KIND_CALLS,
				     &(struct hwprof_options){
					.flags = each ? HWPROF_PER_PROCESS : 0,
				     });
		assert_int_equal(most_of(calls, 50), 50 + 2 + (each ? 0 : 30));
		assert_int_equal(most_of(calls, 40), 40 + 30 + (each ? 0 : 5));
		assert_int_equal(hwprof_calls_method(calls, 0)->called.most,
				 each ? 50 + 5 : 90 + 35);
		hwprof_profile_free(calls);
	}
}

/*
 * A process without a row of the pair may have lost all evicted calls. A
 * process with a row has lost at most what the row says. If all have rows,
 * their sum is the bound.
 */
static void test_processes_without_rows(void **state)
{
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, 50);
	struct hwprof_row_call other = row_of(1, 200, 0x800100, 0x800200, 30);
	struct hwprof_profile *calls;
	struct fixture fixture;
	unsigned int each, both;

	row.error = 2;
	other.error = 3;
	row.evicted = other.evicted = 25;
	for (each = 0; each < 2; each++)
		for (both = 0; both < 2; both++) {
			begin(&fixture);
			fixture_comm(&fixture, 3, 200, "other", true);
			fixture_map(&fixture, 4, 200, 0x800000, 0x10000, 0,
				    "/no/prog", NULL);
			put(&fixture, &row);
			if (both)
				put(&fixture, &other);
			add_totals(&fixture, 1, both ? 80 : 50, 25);
			calls = read_calls(&fixture,
					   each ? HWPROF_PER_PROCESS : 0);
			if (each)
				assert_int_equal(most_of(calls, 50), 50 + 2);
			else if (both)
				assert_int_equal(most_of(calls, 80), 80 + 5);
			else
				assert_int_equal(most_of(calls, 50), 50 + 25);
			hwprof_profile_free(calls);
		}
}

static void begin_two_programs(struct fixture *fixture)
{
	begin(fixture);
	fixture_comm(fixture, 5, 100, "prog", true);
	fixture_map(fixture, 6, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
}

static void begin_recorder(struct fixture *fixture)
{
	fixture_begin(fixture, "calls,step,rows");
	fixture_comm(fixture, 1, 100, "perf-exec", false);
	fixture_comm(fixture, 2, 100, "prog", true);
	fixture_map(fixture, 3, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
}

/* Checks that the only pair with rows may have had @more calls. */
static void check_most(void (*begin_with)(struct fixture *fixture),
		       uint64_t more)
{
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, 50);
	struct hwprof_profile *calls;
	struct fixture fixture;
	unsigned int each;

	row.error = 2;
	row.evicted = 25;
	for (each = 0; each < 2; each++) {
		begin_with(&fixture);
		put(&fixture, &row);
		add_totals(&fixture, 1, 50, 25);
		calls = read_calls(&fixture, each ? HWPROF_PER_PROCESS : 0);
		assert_int_equal(most_of(calls, 50), 50 + more);
		hwprof_profile_free(calls);
	}
}

/*
 * A process that existed before and executed another program counts as two
 * programs.
 */
static void test_programs_without_rows(void **state)
{
	check_most(begin_two_programs, 25);
}

/*
 * A process whose first image has only a name was the recorder's, which does
 * not count.
 */
static void test_recorder_without_rows(void **state)
{
	check_most(begin_recorder, 2);
}

/* Without totals, rows give the number of evicted calls. */
static void test_no_totals(void **state)
{
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, 50);
	struct hwprof_profile *calls;
	struct fixture fixture;

	row.error = 2;
	row.evicted = 7;
	begin(&fixture);
	put(&fixture, &row);
	add(&fixture, 1, 100, 0x400300, 0x400200, 40);
	calls = read_calls(&fixture, 0);
	assert_int_equal(most_of(calls, 50), 50 + 2);
	assert_int_equal(most_of(calls, 40), 40 + 7);
	hwprof_profile_free(calls);
}

static double width_of(uint32_t basis, uint64_t calls, uint64_t sum_sq)
{
	struct hwprof_row_call row = row_of(1, 100, 0x400100, 0x400200, calls);
	const struct hwprof_called *called;
	struct hwprof_profile *result;
	struct fixture fixture;
	double width;

	row.basis = basis;
	row.sum_sq = sum_sq;
	begin(&fixture);
	put(&fixture, &row);
	add(&fixture, 1, 100, 0x400300, 0x400200, 1000 * 1000);
	result = read_calls(&fixture, 0);
	called = &hwprof_calls_pair(result, 1)->called;
	assert_int_equal(called->basis, basis);
	width = log(called->share_high / called->share_low);
	if (!isnan(width)) {
		assert_true(called->share_low < called->share);
		assert_true(called->share < called->share_high);
	}
	hwprof_profile_free(result);
	return width;
}

/* 400 windows with a call each: 10 %, 1.96 to each side, and a little more. */
static void test_intervals(void **state)
{
	double width = width_of(HWPROF_BASIS_BRANCHES, 400, 400);

	assert_true(width > 0.196 && width < 0.2);
	/* 100 windows of four calls each are as certain as 100 calls. */
	assert_true(fabs(width_of(HWPROF_BASIS_BRANCHES, 400, 1600) -
			 width_of(HWPROF_BASIS_BRANCHES, 100, 100)) < 1e-6);
	assert_true(width_of(HWPROF_BASIS_TIME, 400, 400) > 1.2 * width);
	/* One window has no interval, nor have samples. */
	assert_true(isnan(width_of(HWPROF_BASIS_BRANCHES, 4, 16)));
	assert_true(isnan(width_of(HWPROF_BASIS_BRANCHES, 4, 0)));
}

/* Samples count with their periods; beside rows they add nothing. */
static void test_samples(void **state)
{
	const struct hwprof_row_call row =
		row_of(1, 100, 0x400100, 0x400200, 7);
	const struct hwprof_called *called;
	struct hwprof_profile *calls;
	struct fixture fixture;

	fixture_begin(&fixture, "calls,step");
	fixture_comm(&fixture, 1, 100, "prog", true);
	fixture_map(&fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
	put(&fixture, &row);
	put(&fixture, &row);
	calls = read_calls(&fixture, 0);
	assert_int_equal(hwprof_calls_pair_count(calls), 1);
	called = &hwprof_calls_pair(calls, 0)->called;
	assert_int_equal(called->least, 14);
	assert_int_equal(called->basis, 0);
	assert_int_equal(hwprof_calls_pair(calls, 0)->callee.address, 0x200);
	assert_int_equal(hwprof_profile_totals(calls)->samples, 2);
	hwprof_profile_free(calls);
}

/* Hostile numbers may wrap sums, but do no other harm. */
static void test_extremes(void **state)
{
	struct hwprof_row_call row = row_of(1, 100, UINT64_MAX, 0, UINT64_MAX);
	struct hwprof_profile *calls;
	struct fixture fixture;

	row.error = row.evicted = row.sum_sq = UINT64_MAX;
	row.basis = 77;
	begin(&fixture);
	put(&fixture, &row);
	put(&fixture, &row);
	add(&fixture, 1, 0, 0, UINT64_MAX, 0);
	calls = read_calls(&fixture, 0);
	assert_int_equal(hwprof_calls_pair_count(calls), 2);
	assert_int_equal(hwprof_calls_pair(calls, 0)->called.basis,
			 HWPROF_BASIS_TIME);
	hwprof_profile_free(calls);
}

static void test_json(void **state)
{
	struct hwprof_profile *calls;
	struct fixture fixture;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	begin(&fixture);
	add(&fixture, 1, 100, 0x400100, 0x400200, 3);
	add(&fixture, 1, 100, 0x400100, 0x400300, 1);
	calls = read_calls(&fixture, 0);
	assert_int_equal(
		hwprof_profile_json(
			calls, &(struct hwprof_json_options){.limit = 1}, out),
		0);
	fclose(out);
	assert_non_null(strstr(text, "\"pair_count\": 2"));
	assert_non_null(strstr(text, "\"least\": 3"));
	assert_null(strstr(text, "\"least\": 1"));
	assert_non_null(strstr(text, "\"share_low\": null"));
	assert_non_null(strstr(text, "\"address\": \"0x200\""));
	free(text);
	hwprof_profile_free(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_pairs_without_rows),
		cmocka_unit_test(test_sessions_without_rows),
		cmocka_unit_test(test_files_without_rows),
		cmocka_unit_test(test_processes_without_rows),
		cmocka_unit_test(test_programs_without_rows),
		cmocka_unit_test(test_recorder_without_rows),
		cmocka_unit_test(test_no_totals),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
