// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of FRED that can be tested without such a CPU: who may step there, the
 * bit of the saved SS, as in the kernel's struct fred_ss, and the trap directly
 * behind a system call. The trap flag's functions run on a task in plain memory
 * (kernel/linux/sched.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kmod/source/x86/trap_flag.h"

/* As in the kernel's <asm/ptrace.h>, up to the relevant fields. */
union saved_ss {
	struct {
		uint64_t selector : 16, sti : 1, is_call : 1, is_nmi : 1, : 13,
			 vector : 8, : 8, type : 4, : 4, enclave : 1,
			 is_long : 1, nested : 1, : 1, length : 4;
	};
	uint64_t word;
};

static void test_refusal(void **state)
{
	const char *why = fred_refusal(true, false);

	assert_non_null(why);
	assert_non_null(strstr(why, "allow_untested=fred"));
	assert_null(fred_refusal(true, true));
	assert_null(fred_refusal(false, false));
	assert_null(fred_refusal(false, true));
}

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

/* --- a task --------------------------------------------------------------- */

struct task_struct fake_task;

static const union saved_ss in_a_call = {
	.selector = 0x2b, .is_call = 1, .type = 7, .is_long = 1, .length = 2,
};

/* Arms a task that is in a system call. Returns what it has for SS then. */
static union saved_ss arm(bool has_fred, unsigned long flags,
			  unsigned long thread_flags)
{
	fake_task = (struct task_struct){
		.thread_flags = thread_flags, .has_fred = has_fred,
		.regs = { .flags = flags, .ssx = in_a_call.word },
	};
	tf_arm(&fake_task);
	return (union saved_ss){ .word = fake_task.regs.ssx };
}

static void test_armed_in_a_call(void **state)
{
	union saved_ss ss = arm(true, 0, 0), wanted = in_a_call;

	wanted.is_call = 0;
	assert_true(ss.word == wanted.word);
	assert_true(tf_is_set(&fake_task));
	assert_true(tf_is_forced(&fake_task));
}

/* Each call has an SS of its own, also if the flag is still set. */
static void test_armed_again_in_a_call(void **state)
{
	assert_false(arm(true, X86_EFLAGS_TF, 1 << TIF_FORCED_TF).is_call);
	assert_true(tf_is_forced(&fake_task));
}

static void test_armed_without_fred(void **state)
{
	assert_true(arm(false, 0, 0).word == in_a_call.word);
	assert_true(tf_is_set(&fake_task));
}

/* A debugger that steps the program gets its trap where it expects it. */
static void test_armed_for_a_debugger(void **state)
{
	assert_true(arm(true, X86_EFLAGS_TF, 1 << TIF_SINGLESTEP).is_call);
}

/* `syscall` leaves rcx and r11 alone: bit 8 of r11 is the program's. */
static void test_r11(void **state)
{
	arm(true, 0, 0);
	fake_task.regs.r11 = X86_EFLAGS_TF;
	tf_hide_r11(&fake_task);
	assert_true(fake_task.regs.r11 == X86_EFLAGS_TF);
	fake_task.has_fred = false;
	tf_hide_r11(&fake_task);
	assert_true(fake_task.regs.r11 == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_call_is_forgotten),
		cmocka_unit_test(test_all_else_stays),
		cmocka_unit_test(test_return_of_a_call),
		cmocka_unit_test(test_armed_in_a_call),
		cmocka_unit_test(test_armed_again_in_a_call),
		cmocka_unit_test(test_armed_without_fred),
		cmocka_unit_test(test_armed_for_a_debugger),
		cmocka_unit_test(test_r11),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
