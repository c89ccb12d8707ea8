/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trap flag of a task, and its owner. The kernel uses TIF_FORCED_TF to say
 * that the flag is not the program's own. It then hides the flag from debuggers
 * and core dumps, and does not give it to children. hwprof marks its own flag
 * in the same way. A flag without TIF_FORCED_TF is the program's (set by popf,
 * iret, sigreturn, or a debugger on its behalf), and is never touched.
 */
#ifndef HWPROF_TRAP_FLAG_H
#define HWPROF_TRAP_FLAG_H

#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/thread_info.h>
#include <asm/cpufeature.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "fred.h"

static inline bool tf_has_fred(void)
{
#ifdef X86_FEATURE_FRED
	return boot_cpu_has(X86_FEATURE_FRED);
#else
	return false;
#endif
}

static inline bool tf_is_set(struct task_struct *task)
{
	return task_pt_regs(task)->flags & X86_EFLAGS_TF;
}

static inline bool tf_is_forced(struct task_struct *task)
{
	return test_tsk_thread_flag(task, TIF_FORCED_TF);
}

/* Return true if a debugger steps the task. */
static inline bool tf_is_debuggers(struct task_struct *task)
{
	return test_tsk_thread_flag(task, TIF_SINGLESTEP);
}

static inline void tf_set(struct task_struct *task)
{
	if (likely(tf_is_set(task)))
		return;
	set_tsk_thread_flag(task, TIF_FORCED_TF);
	set_bit(X86_EFLAGS_TF_BIT, &task_pt_regs(task)->flags);
}

/*
 * The flag was set in a system call: let the first trap come after an
 * instruction, as it does without FRED.
 */
static inline void tf_forget_call(struct task_struct *task)
{
#ifdef X86_FEATURE_FRED
	struct pt_regs *regs = task_pt_regs(task);

	if (tf_has_fred() && !tf_is_debuggers(task))
		regs->ssx = fred_ss_without_call(regs->ssx);
#endif
}

/*
 * Let the task's next instruction in its program trap. The task is current, or
 * about to run on this CPU.
 */
static inline void tf_arm(struct task_struct *task)
{
	tf_set(task);
	tf_forget_call(task);
}

/*
 * Clean r11 in a system call. `syscall` has left the flags in r11, and the
 * program's next address in rcx. Other ways in do not.
 */
static inline void tf_hide_r11(struct task_struct *task)
{
	struct pt_regs *regs = task_pt_regs(task);

	if (!tf_has_fred() && regs->cx == regs->ip && tf_is_forced(task) &&
	    !tf_is_debuggers(task))
		clear_bit(X86_EFLAGS_TF_BIT, &regs->r11);
}

/*
 * Clear our flag. This is atomic, because the task may be in the kernel and use
 * its other flags.
 */
static inline void tf_clear(struct task_struct *task)
{
	if (!tf_is_forced(task) || tf_is_debuggers(task))
		return;
	clear_bit(X86_EFLAGS_TF_BIT, &task_pt_regs(task)->flags);
	clear_tsk_thread_flag(task, TIF_FORCED_TF);
}

/*
 * The program itself has just written all its flags; TF is its own if it is
 * set.
 */
static inline void tf_written(struct task_struct *task)
{
	if (tf_is_set(task) && !tf_is_debuggers(task))
		clear_tsk_thread_flag(task, TIF_FORCED_TF);
}

#endif /* HWPROF_TRAP_FLAG_H */
