// SPDX-License-Identifier: GPL-2.0-only
/* From rows to the values of loads: sums, places, classes, completeness. */
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
	fixture_begin(fixture, "values,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	/* The file does not exist, so addresses are offsets in it. */
	fixture_map(fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
}

/* Returns a row of @loads executions that returned one value, in one run. */
static struct hwprof_row_value row_of(uint32_t pid, uint64_t ip, uint64_t loads,
				      uint64_t value)
{
	return (struct hwprof_row_value) {
		.row.type = HWPROF_ROW_VALUE,
		.row.size = sizeof(struct hwprof_row_value),
		.row.session = 1,
		.row.space = pid,
		.row.pid = pid,
		.ip = ip,
		.loads = loads,
		.runs = 1,
		.breaks = 1,
		.width = 8,
		.basis = HWPROF_BASIS_EXACT,
		.count = 1,
		.values[0] = { .value = value, .hits = loads },
	};
}

static void add(struct fixture *fixture, struct hwprof_row_value row)
{
	fixture_row(fixture, 10, row.ip, 0, row.loads, &row.row);
}

static struct hwprof_profile *read_values(struct fixture *fixture,
					 unsigned int flags)
{
	struct hwprof_profile *values;

	assert_int_equal(fixture_try(fixture, HWPROF_KIND_VALUES,
				     &(struct hwprof_options){ .flags = flags },
				     &values), 0);
	return values;
}

static const struct hwprof_load *find(const struct hwprof_profile *values,
				      uint64_t address)
{
	size_t i;

	for (i = 0; i < hwprof_values_count(values); i++)
		if (hwprof_values_get(values, i)->address == address)
			return hwprof_values_get(values, i);
	return NULL;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/*
 * Executions of one row without a known value may have returned a value of
 * another row.
 */
static void test_sums(void **state)
{
	struct hwprof_row_value row;
	const struct hwprof_load *load;
	struct hwprof_profile *values;
	struct fixture fixture;

	begin(&fixture);
	row = row_of(100, 0x400100, 60, 7);
	row.runs = 30;
	row.values[0].hits = 40;
	row.values[0].missed = 2;
	add(&fixture, row);			/* 20 have no known value */
	row = row_of(100, 0x400100, 40, 9);
	row.values[0].hits = 30;
	row.runs = 3;
	add(&fixture, row);			/* and 10 here */
	row = row_of(100, 0x400100, 100, 7);
	row.row.session = 2;
	add(&fixture, row);
	add(&fixture, row_of(100, 0x400200, 800, 0));
	fixture_add_totals(&fixture, 30, 1, 900);
	fixture_add_totals(&fixture, 30, 2, 100);
	values = read_values(&fixture, 0);
	assert_int_equal(hwprof_values_count(values), 2);
	load = hwprof_values_get(values, 0);
	assert_int_equal(load->address, 0x200);
	assert_true(near(load->share, 0.8));
	assert_int_equal(load->kind, HWPROF_VALUE_ZERO);
	load = hwprof_values_get(values, 1);
	assert_int_equal(load->address, 0x100);
	assert_string_equal(load->object, "/no/prog");
	assert_int_equal(load->executions, 200);
	assert_int_equal(load->runs, 34);
	assert_int_equal(load->value_count, 2);
	assert_int_equal(load->values[0].value, 7);
	assert_int_equal(load->values[0].hits, 140);
	assert_true(near(load->values[0].invariance, 0.7));
	assert_true(near(load->values[0].low, 0.7));
	assert_true(near(load->values[0].high, (140 + 2 + 10) / 200.0));
	assert_int_equal(load->values[1].value, 9);
	assert_true(near(load->values[1].low, 0.15));
	assert_true(near(load->values[1].high, (30 + 20) / 200.0));
	assert_int_equal(load->basis, HWPROF_BASIS_EXACT);
	assert_true(near(hwprof_values_completeness(values), 1));
	assert_int_equal(hwprof_profile_totals(values)->rows, 4);
	/* The only warning is that the object does not exist. */
	assert_null(hwprof_profile_warning(values, 1));
	hwprof_profile_free(values);
}

/* Values beyond the kept ones are unknown, and may be any. */
static void test_many_values(void **state)
{
	const struct hwprof_load *load;
	struct hwprof_profile *values;
	struct fixture fixture;
	uint64_t i;

	begin(&fixture);
	for (i = 1; i <= 40; i++)
		add(&fixture, row_of(100, 0x400100, i, i));
	fixture_add_totals(&fixture, 30, 1, 820);
	values = read_values(&fixture, 0);
	load = find(values, 0x100);
	assert_int_equal(load->executions, 820);
	assert_int_equal(load->value_count, 16);
	for (i = 0; i < 16; i++) {
		assert_int_equal(load->values[i].value, 40 - i);
		assert_int_equal(load->values[i].hits, 40 - i);
		assert_true(load->values[i].high >= load->values[i].low);
	}
	hwprof_profile_free(values);
}

static void test_classes(void **state)
{
	static const struct {
		uint64_t loads, hits, value, runs, breaks, strides;
		enum hwprof_value_class kind;
	} cases[] = {
		{ 1000, 1000, 5, 1, 1, 0, HWPROF_VALUE_CONSTANT },
		{ 1000, 990, 5, 21, 1, 0, HWPROF_VALUE_CONSTANT },
		{ 1000, 995, 0, 11, 1, 0, HWPROF_VALUE_ZERO },
		{ 1000, 1, 5, 1000, 1, 999, HWPROF_VALUE_STRIDE },
		{ 1000, 1, 5, 1000, 200, 610, HWPROF_VALUE_STRIDE },
		{ 1000, 400, 5, 4, 1, 1, HWPROF_VALUE_GLACIAL },
		{ 1000, 400, 5, 500, 1, 100, HWPROF_VALUE_VARYING },
		{ 1000, 1, 5, 1000, 1, 10, HWPROF_VALUE_VARYING },
		{ 4, 2, 5, 3, 1, 2, HWPROF_VALUE_VARYING },
	};
	struct hwprof_profile *values;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwprof_row_value row = row_of(100, 0x400100,
						     cases[i].loads,
						     cases[i].value);

		row.values[0].hits = cases[i].hits;
		row.runs = cases[i].runs;
		row.breaks = cases[i].breaks;
		row.strides = cases[i].strides;
		row.stride = -8;
		begin(&fixture);
		add(&fixture, row);
		values = read_values(&fixture, 0);
		assert_int_equal(find(values, 0x100)->kind, cases[i].kind);
		if (cases[i].strides)
			assert_int_equal(find(values, 0x100)->stride, -8);
		hwprof_profile_free(values);
	}
}

/* The same code in two processes is merged. */
static void test_processes(void **state)
{
	struct hwprof_profile *values;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(&fixture);
		fixture_comm(&fixture, 3, 200, "prog", true);
		fixture_map(&fixture, 4, 200, 0x705000, 0x10000, 0, "/no/prog",
			    NULL);
		add(&fixture, row_of(100, 0x401000, 300, 1));
		add(&fixture, row_of(200, 0x706000, 100, 1));
		add(&fixture, row_of(100, 0x900000, 50, 1));	/* no known
					 * memory */
		fixture_add_totals(&fixture, 30, 1, 450);
		values = read_values(&fixture, i ? HWPROF_PER_PROCESS : 0);
		assert_int_equal(hwprof_values_count(values), i ? 3 : 2);
		assert_int_equal(find(values, 0x1000)->executions,
				 i ? 300 : 400);
		assert_int_equal(find(values, 0x1000)->pid, i ? 100 : 0);
		assert_string_equal(find(values, 0x900000)->object,
				    "[unknown]");
		assert_string_equal(find(values, 0x900000)->comm, "prog");
		hwprof_profile_free(values);
	}
}

/* Loads seen in only one window stand for unseen ones. */
static void test_windows(void **state)
{
	const struct hwprof_load_value *value;
	struct hwprof_profile *values;
	struct hwprof_row_value row;
	struct fixture fixture;

	begin(&fixture);
	row = row_of(100, 0x400100, 900, 7);
	row.basis = HWPROF_BASIS_TIME;
	row.runs = row.breaks = 90;
	row.values[0].hits = 450;
	row.values[0].missed = 450;
	add(&fixture, row);
	row = row_of(100, 0x400200, 100, 7);
	row.basis = HWPROF_BASIS_TIME;
	add(&fixture, row);
	fixture_add_totals(&fixture, 30, 1, 1000);
	values = read_values(&fixture, 0);
	assert_true(near(hwprof_values_completeness(values), 0.9));
	value = find(values, 0x100)->values;
	assert_true(near(value->invariance, 0.5));
	assert_true(value->low < 0.42 && value->low > 0.35);
	assert_true(near(value->high, 1));
	hwprof_profile_free(values);
}

static void test_incomplete(void **state)
{
	struct hwprof_profile *values;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, row_of(100, 0x400010, 70, 1));
	fixture_add_totals(&fixture, 30, 1, 100);
	values = read_values(&fixture, 0);
	assert_true(near(hwprof_values_completeness(values), 0.7));
	assert_true(warns(values, "the file has 70 of the 100 loads"));
	hwprof_profile_free(values);
}

static void test_samples(void **state)
{
	struct hwprof_row_value row = row_of(100, 0x400010, 70, 5);
	struct hwprof_profile *values;
	struct fixture fixture;

	fixture_begin(&fixture, "values,step");
	fixture_map(&fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
	row.values[0].hits = 0;
	add(&fixture, row);
	row.values[0].value = 6;
	add(&fixture, row);
	fixture_bare(&fixture, 10, 100, 0x400020, 0, 30);
	values = read_values(&fixture, 0);
	assert_int_equal(find(values, 0x10)->executions, 140);
	assert_int_equal(find(values, 0x10)->value_count, 2);
	assert_true(near(find(values, 0x10)->values[1].invariance, 0.5));
	assert_int_equal(find(values, 0x10)->basis, 0);
	assert_int_equal(find(values, 0x20)->executions, 30);
	assert_int_equal(find(values, 0x20)->value_count, 0);
	assert_true(isnan(hwprof_values_completeness(values)));
	hwprof_profile_free(values);
}

static void test_bare_rows(void **state)
{
	struct hwprof_profile *values;
	struct fixture fixture;

	begin(&fixture);
	fixture_bare(&fixture, 10, 100, 0x400010, 0, 70);
	values = read_values(&fixture, 0);
	assert_int_equal(find(values, 0x10)->executions, 70);
	assert_true(warns(values, "perf record -R"));
	hwprof_profile_free(values);
}

static void test_damaged(void **state)
{
	struct hwprof_profile *values;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		struct hwprof_row_value row = row_of(100, 0x400010, 70, 1);

		if (i == 0)
			row.count = 5;
		else if (i == 1)
			row.values[0].hits = 71;
		else if (i == 2)
			row.unseen = 71;
		else if (i == 3)
			row.breaks = 2;
		else if (i == 4)
			row.strides = 1;
		else
			row.runs = 71;
		begin(&fixture);
		add(&fixture, row);
		assert_int_equal(fixture_try(&fixture, HWPROF_KIND_VALUES, NULL,
					     &values), -EBADMSG);
		assert_null(values);
	}
}

static void test_json(void **state)
{
	char path[] = "/tmp/hwprof-test-XXXXXX", output[4096];
	struct hwprof_profile *values;
	struct hwprof_row_value row;
	struct fixture fixture;
	FILE *file;

	begin(&fixture);
	add(&fixture, row_of(100, 0x400000, 600, 0));
	row = row_of(100, 0x900000, 400, ~0ULL);
	row.runs = 400;
	row.strides = 399;
	row.stride = -16;
	row.values[0].hits = 1;
	add(&fixture, row);
	values = read_values(&fixture, 0);
	file = fdopen(mkstemp(path), "w");
	assert_int_equal(hwprof_profile_json(values, NULL, file), 0);
	fclose(file);
	assert_int_equal(
		fixture_shell(
			output, sizeof(output),
			"python3 -c '\n"
			"import json\n"
			"d = json.load(open(\"%s\"))\n"
			"a, b = d[\"loads\"]\n"
			"assert a[\"class\"] == \"zero\" and a[\"share\"] == "
			"0.6, a\n"
			"assert a[\"stride\"] is None and a[\"seen\"] == 600, "
			"a\n"
			"assert a[\"values\"][0][\"invariance\"] == 1, a\n"
			"assert b[\"class\"] == \"stride\" and b[\"stride\"] "
			"== -16, b\n"
			"assert b[\"values\"][0][\"value\"] == "
			"\"0xffffffffffffffff\", b\n"
			"assert b[\"pid\"] == 100 and b[\"comm\"] == \"prog\", "
			"b\n"
			"assert any(\"no totals\" in w for w in "
			"d[\"warnings\"])\n"
			"' 2>&1",
			path),
		0);
	unlink(path);
	hwprof_profile_free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_bare_rows),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
