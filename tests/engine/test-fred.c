// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of FRED that can be tested without such a CPU: the bit of the saved SS,
 * as in the kernel's struct fred_ss, and the trap directly behind a system
 * call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kmod/source/x86/fred.h"

/* As in the kernel's <asm/ptrace.h>, up to the relevant fields. */
union saved_ss {
	struct {
		uint64_t selector : 16, sti : 1, is_call : 1, is_nmi : 1, : 13,
			 vector : 8, : 8, type : 4, : 4, enclave : 1,
			 is_long : 1, nested : 1, : 1, length : 4;
	};
	uint64_t word;
};

static void test_call_is_forgotten(void **state)
{
	union saved_ss ss = { .selector = 0x2b, .sti = 1, .is_call = 1,
			      .type = 7, .is_long = 1, .length = 2 };
	union saved_ss wanted = ss;

	wanted.is_call = 0;
	ss.word = fred_ss_without_call(ss.word);
	assert_true(ss.word == wanted.word);
}

static void test_all_else_stays(void **state)
{
	union saved_ss all = { .word = ~0ULL };

	all.is_call = 0;
	assert_true(fred_ss_without_call(~0ULL) == all.word);
	assert_true(fred_ss_without_call(all.word) == all.word);
	assert_true(fred_ss_without_call(0) == 0);
}

static void test_return_of_a_call(void **state)
{
	assert_true(fred_is_return(1, 0x401002, 0x401002));
	assert_false(fred_is_return(1, 0x401003, 0x401002));
	/* Without FRED, an instruction behind the call jumps to itself. */
	assert_false(fred_is_return(0, 0x401002, 0x401002));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_is_forgotten),
		cmocka_unit_test(test_all_else_stays),
		cmocka_unit_test(test_return_of_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
