// SPDX-License-Identifier: GPL-2.0-only
/* One event with several profiles: each takes its rows, and totals are sums. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "found.h"

enum {
	BASE = 0x400000,
	BACK_EDGES = 100, CALLS = 20, PATHS = 120, CONTEXT_CALLS = 20,
	ALL = BACK_EDGES + CALLS + PATHS + CONTEXT_CALLS,
};

static void begin(struct fixture *fixture, const char *event)
{
	fixture_begin(fixture, event);
	fixture_comm(fixture, 1, 100, "prog", true);
	/* The file does not exist, so addresses are offsets in it. */
	fixture_map(fixture, 2, 100, BASE, 0x10000, 0, "/no/prog", NULL);
}

static struct hwprof_row head_of(unsigned int type, size_t size)
{
	return (struct hwprof_row){
		.type = type, .size = size, .space = 100, .session = 1,
		.pid = 100,
	};
}

static void add_loop(struct fixture *fixture)
{
	struct hwprof_row_loop row = fixture_loop(100, 100, BASE + 0x100,
						  BASE + 0x110, BACK_EDGES, 20);

	fixture_add_loop(fixture, 10, &row);
}

static void add_call(struct fixture *fixture)
{
	const struct hwprof_row_call row = {
		.row = head_of(HWPROF_ROW_CALL, sizeof(row)),
		.site = BASE + 0x120, .callee = BASE + 0x200, .calls = CALLS,
		.basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, row.site, row.callee, CALLS, &row.row);
}

static void add_path(struct fixture *fixture)
{
	const struct hwprof_row_path row = {
		.row = head_of(HWPROF_ROW_PATH, sizeof(row)),
		.start = BASE + 0x100, .end = BASE + 0x110,
		.target = BASE + 0x100, .count = PATHS,
		.basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, row.start, row.end, PATHS, &row.row);
}

static void add_context(struct fixture *fixture)
{
	struct hwprof_row_context row = {
		.row = head_of(HWPROF_ROW_CONTEXT, sizeof(row)),
		.id = 1, .kind = HWPROF_CONTEXT_ROOT, .branches = 7,
		.basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, 0, 0, 0, &row.row);
	row.id = 2;
	row.parent = 1;
	row.kind = HWPROF_CONTEXT_CALL;
	row.callee = BASE + 0x200;
	row.site = BASE + 0x120;
	row.calls = CONTEXT_CALLS;
	fixture_row(fixture, 10, row.callee, row.site, CONTEXT_CALLS, &row.row);
}

static void add_all(struct fixture *fixture)
{
	begin(fixture, "loops,calls,paths,cct,step,rows");
	add_loop(fixture);
	add_call(fixture);
	add_path(fixture);
	add_context(fixture);
}

static struct hwprof_profile *profile_of(const struct fixture *fixture,
					 enum hwprof_kind kind)
{
	struct hwprof_profile *profile;
	struct hwprof_file *file;

	assert_int_equal(hwprof_file_open(&file, fixture->path), 0);
	assert_int_equal(hwprof_profile_read(&profile, kind, &file, 1, NULL),
			 0);
	hwprof_file_close(file);
	return profile;
}

/* Each profile is as if recorded alone, except for the totals. */
static void test_profiles(void **state)
{
	static const struct {
		enum hwprof_kind kind;
		unsigned int rows;
	} kinds[] = {
		{ HWPROF_KIND_LOOPS, 1 }, { HWPROF_KIND_CALLS, 1 },
		{ HWPROF_KIND_PATHS, 1 }, { HWPROF_KIND_CCT, 2 },
	};
	struct hwprof_profile *profiles[4];
	struct fixture fixture;
	unsigned int i;

	add_all(&fixture);
	fixture_add_totals(&fixture, 30, 1, ALL);
	fixture_end(&fixture);
	for (i = 0; i < 4; i++) {
		const struct hwprof_totals *totals;

		profiles[i] = profile_of(&fixture, kinds[i].kind);
		totals = hwprof_profile_totals(profiles[i]);
		assert_int_equal(totals->rows, kinds[i].rows);
		assert_int_equal(totals->sessions, 1);
		assert_int_equal(totals->produced, ALL);
		assert_int_equal(totals->kinds, 1 << HWPROF_KIND_LOOPS |
				 1 << HWPROF_KIND_CALLS |
				 1 << HWPROF_KIND_PATHS | 1 << HWPROF_KIND_CCT);
		assert_false(warns(profiles[i], "rows are missing"));
		assert_false(warns(profiles[i], "samples"));
	}
	assert_int_equal(hwprof_loops_count(profiles[0]), 1);
	assert_int_equal(hwprof_loops_get(profiles[0], 0)->iterations,
			 BACK_EDGES + 20);
	assert_int_equal(hwprof_calls_pair_count(profiles[1]), 1);
	assert_int_equal(hwprof_calls_pair(profiles[1], 0)->called.least,
			 CALLS);
	assert_int_equal(hwprof_paths_count(profiles[2]), 1);
	assert_int_equal(hwprof_paths_get(profiles[2], 0)->count, PATHS);
	assert_int_equal(hwprof_contexts_count(profiles[3]), 2);
	assert_int_equal(hwprof_contexts_get(profiles[3], 1)->calls,
			 CONTEXT_CALLS);
	for (i = 0; i < 4; i++)
		hwprof_profile_free(profiles[i]);
	fixture_remove(&fixture);
}

/* A profile that no event has is refused. */
static void test_others(void **state)
{
	struct hwprof_profile *values;
	struct hwprof_file *file;
	struct fixture fixture;

	add_all(&fixture);
	fixture_add_totals(&fixture, 30, 1, ALL);
	fixture_end(&fixture);
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(hwprof_profile_read(&values, HWPROF_KIND_VALUES, &file,
					     1, NULL), -ENOENT);
	assert_null(values);
	assert_non_null(strstr(hwprof_file_error(file),
			       "was recorded with loops, calls, cct and paths, not with values"));
	hwprof_file_close(file);
	fixture_remove(&fixture);
}

/* All profiles warn about a missing row, whatever its kind. */
static void test_missing(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;

	add_all(&fixture);
	fixture_add_totals(&fixture, 30, 1, ALL + 5);
	fixture_end(&fixture);
	paths = profile_of(&fixture, HWPROF_KIND_PATHS);
	assert_true(warns(paths, "the file has 260 of the 265 units of loops, calls, cct and paths that"));
	hwprof_profile_free(paths);
	fixture_remove(&fixture);
}

/* Samples without rows do not tell their kind. */
static void test_samples(void **state)
{
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture, "loops,calls,step");
	fixture_bare(&fixture, 3, 100, BASE, BASE + 8, 100);
	add_call(&fixture);
	add_loop(&fixture);
	fixture_end(&fixture);
	loops = profile_of(&fixture, HWPROF_KIND_LOOPS);
	assert_int_equal(hwprof_loops_count(loops), 1);
	assert_int_equal(hwprof_loops_get(loops, 0)->back_edges_seen,
			 BACK_EDGES);
	assert_true(warns(loops, "1 samples without raw data are left out: of which of loops and calls"));
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* An event with one profile has totals of that alone. */
static void test_alone(void **state)
{
	struct hwprof_profile *loops;
	struct fixture fixture;

	begin(&fixture, "loops,step,rows");
	add_loop(&fixture);
	fixture_add_totals(&fixture, 30, 1, BACK_EDGES);
	fixture_end(&fixture);
	loops = profile_of(&fixture, HWPROF_KIND_LOOPS);
	assert_int_equal(hwprof_profile_totals(loops)->kinds, 0);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

static void test_json(void **state)
{
	struct hwprof_profile *calls;
	struct fixture fixture;
	char *text;
	size_t size;
	FILE *out;

	begin(&fixture, "loops,calls,step,rows");
	add_call(&fixture);
	add_loop(&fixture);
	fixture_add_totals(&fixture, 30, 1, CALLS + BACK_EDGES);
	fixture_end(&fixture);
	calls = profile_of(&fixture, HWPROF_KIND_CALLS);
	out = open_memstream(&text, &size);
	assert_int_equal(hwprof_profile_json(calls, NULL, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"produced\": 120"));
	assert_non_null(strstr(strstr(text, "\"kinds\": ["), "\"loops\""));
	free(text);
	hwprof_profile_free(calls);
	fixture_remove(&fixture);
}

/* Checks the kinds from which `hwprof report` chooses without a subject. */
static void check_kinds(const char *event, int result, unsigned int expected)
{
	struct hwprof_file *file;
	struct fixture fixture;
	unsigned int kinds = ~0U;

	fixture_begin(&fixture, event);
	fixture_end(&fixture);
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(hwprof_file_kinds(file, &kinds), result);
	assert_int_equal(kinds, expected);
	if (result)
		assert_non_null(strstr(hwprof_file_error(file),
				       "has no profile: "));
	hwprof_file_close(file);
	fixture_remove(&fixture);
}

static void test_kinds(void **state)
{
	check_kinds("hwprof/loops,rows/u", 0, 1 << HWPROF_KIND_LOOPS);
	check_kinds("hwprof/values,rows/u", 0, 1 << HWPROF_KIND_VALUES);
	check_kinds("hwprof/ranges,rows/u", 0, 1 << HWPROF_KIND_RANGES);
	check_kinds("hwprof/loops,calls,paths,cct,rows/u", 0,
		    1 << HWPROF_KIND_LOOPS | 1 << HWPROF_KIND_CALLS |
		    1 << HWPROF_KIND_PATHS | 1 << HWPROF_KIND_CCT);
	check_kinds("hwprof/branches,rows/u", -ENOENT, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
