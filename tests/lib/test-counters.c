// SPDX-License-Identifier: GPL-2.0-only
/*
 * A refusal of hardware counters, as the doctor names it. The kernel that takes
 * them away for a virtual machine cannot be had in the rig.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/counters.h"
#include "tools/doctor.h"

static void test_of_guests(void **state)
{
	assert_int_equal(counters_judge(EOPNOTSUPP, 0), COUNTERS_OF_GUESTS);
}

static void test_ours(void **state)
{
	assert_int_equal(counters_judge(0, 0), COUNTERS_OURS);
}

/* Guests have nothing to do with it. */
static void test_refused(void **state)
{
	assert_int_equal(counters_judge(EOPNOTSUPP, EOPNOTSUPP), COUNTERS_OURS);
	assert_int_equal(counters_judge(ENOENT, ENOENT), COUNTERS_OURS);
	assert_int_equal(counters_judge(EACCES, EACCES), COUNTERS_OURS);
	assert_int_equal(counters_judge(EBUSY, 0), COUNTERS_OURS);
	assert_int_equal(counters_judge(EINVAL, 0), COUNTERS_OURS);
}

/*
 * The sentence speaks of the virtual machine, and of nothing that is missing.
 */
static void test_sentence(void **state)
{
	struct finding finding = {
		.state = FINDING_OK, .text = "the PMU 'cpu'",
	};

	doctor_add_counters(&finding, COUNTERS_OURS);
	assert_int_equal(finding.state, FINDING_OK);
	assert_string_equal(finding.text, "the PMU 'cpu'");
	assert_string_equal(finding.advice, "");

	doctor_add_counters(&finding, COUNTERS_OF_GUESTS);
	assert_int_equal(finding.state, FINDING_WARN);
	assert_non_null(strstr(finding.text, "the PMU 'cpu'; "));
	assert_non_null(strstr(finding.text, "virtual machine"));
	assert_null(strstr(finding.text, "no branch records"));
	assert_non_null(strstr(finding.advice, "H"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_guests),
		cmocka_unit_test(test_ours),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
