// SPDX-License-Identifier: GPL-2.0-only
/*
 * A step is tried before the step source says that it works: one instruction of
 * the module itself runs with the trap flag set, and its #DB must reach a
 * notifier. The kernel hands a program's #DB to the same notifiers.
 */
#include <linux/kdebug.h>
#include <linux/sched.h>
#include <asm/debugreg.h>
#include <asm/processor-flags.h>

#include "step.h"

struct step_trial {
	struct notifier_block block;
	struct task_struct *task;	/* that tries the step */
	unsigned int steps;
};

/*
 * Take the trial's #DB. Other traps in the kernel are not ours: kprobes may
 * step on this CPU, too.
 */
static int step_trial_on_die(struct notifier_block *block, unsigned long why,
			     void *data)
{
	struct step_trial *trial = container_of(block, struct step_trial,
						block);
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	if (why != DIE_DEBUG || !args->regs || user_mode(args->regs) ||
	    current != trial->task || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	trial->steps++;
	args->regs->flags &= ~X86_EFLAGS_TF;
	*dr6 &= ~DR_STEP;
	return *dr6 ? NOTIFY_DONE : NOTIFY_STOP;
}

/*
 * #DB comes behind the instruction that follows popf. If no notifier takes it,
 * the kernel warns, and clears the flag. If it never comes, the flag is cleared
 * here.
 */
static void step_trial_run(void)
{
	asm volatile("pushf\n\t"
		     "orl %0, (%%rsp)\n\t"
		     "popf\n\t"
		     "nop\n\t"
		     "pushf\n\t"
		     "andl %1, (%%rsp)\n\t"
		     "popf"
		     : : "i" (X86_EFLAGS_TF), "i" (~X86_EFLAGS_TF)
		     : "memory", "cc");
}

const char *step_trial(void)
{
	struct step_trial trial = {
		.block	= {
			.notifier_call	= step_trial_on_die,
			.priority	= INT_MAX,
		},
		.task	= current,
	};

	if (register_die_notifier(&trial.block))
		return "the kernel refuses to tell of traps";
	step_trial_run();
	unregister_die_notifier(&trial.block);
	return trial.steps == 1 ? NULL :
	       "the kernel does not tell of the trap behind a step";
}
