// SPDX-License-Identifier: GPL-2.0-only
/* The events that perf itself names. */
#include <linux/perf_event.h>

#include "base/event_names.h"
#include "check.h"

static void expect(const char *name, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { .type = ~0U, .config = ~0ULL };

	assert_true(event_by_name(name, &attr));
	assert_int_equal(attr.type, type);
	assert_int_equal(attr.config, config);
}

/* All up to the last one have a name, and are found by it. */
static void expect_all(uint32_t type, uint64_t last)
{
	uint64_t config;

	for (config = 0; config <= last; config++) {
		assert_non_null(event_name(type, config));
		expect(event_name(type, config), type, config);
	}
	assert_null(event_name(type, last + 1));
}

static void test_all(void **state)
{
	expect_all(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES);
	expect_all(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES);
}

static void test_names(void **state)
{
	expect("page-faults", PERF_TYPE_SOFTWARE, 2);
	expect("faults", PERF_TYPE_SOFTWARE, 2);
	expect("context-switches", PERF_TYPE_SOFTWARE, 3);
	expect("cs", PERF_TYPE_SOFTWARE, 3);
	expect("cpu-migrations", PERF_TYPE_SOFTWARE, 4);
	expect("minor-faults", PERF_TYPE_SOFTWARE, 5);
	expect("major-faults", PERF_TYPE_SOFTWARE, 6);
	expect("task-clock", PERF_TYPE_SOFTWARE, 1);
	expect("instructions", PERF_TYPE_HARDWARE, 1);
	expect("branch-instructions", PERF_TYPE_HARDWARE, 4);
	assert_string_equal(event_name(PERF_TYPE_HARDWARE, 4), "branches");
}

/* On CPUs with several kinds of cores, the upper half names one of them. */
static void test_kinds_of_cores(void **state)
{
	assert_string_equal(event_name(PERF_TYPE_HARDWARE, 8ULL << 32),
			    "cycles");
	assert_null(event_name(PERF_TYPE_SOFTWARE, 8ULL << 32));
}

static void test_unknown(void **state)
{
	struct perf_event_attr attr = { .type = 7, .config = 7 };

	assert_false(event_by_name("", &attr));
	assert_false(event_by_name("page-fault", &attr));
	assert_false(event_by_name("page-faults:u", &attr));
	assert_int_equal(attr.type, 7);
	assert_int_equal(attr.config, 7);
	assert_null(event_name(PERF_TYPE_RAW, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_kinds_of_cores),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
