// SPDX-License-Identifier: GPL-2.0-only
/*
 * #DB after each instruction: decode the instruction that ran, and set the flag
 * again. int3 is handled because of uprobes, which a foreign trap flag would
 * break.
 */
#include <linux/kdebug.h>
#include <linux/uaccess.h>
#include <asm/debugreg.h>
#include <asm/vsyscall.h>
#include <uapi/asm/vsyscall.h>

#include "../compat.h"
#include "../lane_sample.h"
#include "step.h"
#include "x86/trap_flag.h"

/*
 * Hide our TF in the flags that the program has pushed. It may see a debugger's
 * TF, as ever.
 */
static void step_hide_pushed_tf(struct pt_regs *regs)
{
	u16 __user *pushed = (u16 __user *)regs->sp;
	u16 flags;

	if (!tf_is_forced(current) || tf_is_debuggers(current) ||
	    copy_from_user_nofault(&flags, pushed, sizeof(flags)))
		return;
	flags &= ~X86_EFLAGS_TF;
	copy_to_user_nofault(pushed, &flags, sizeof(flags));
}

/*
 * Handle instructions that deal with the flag. Return what is left to be fed.
 */
static struct insn step_special(struct step_cpu *cpu, struct step_task *record,
				struct insn insn, struct pt_regs *regs,
				bool is64)
{
	if (insn.kind == INSN_SYSCALL)
		insn = step_call_pass(cpu, record, insn, regs);
	if (insn.kind == INSN_SS) {
		/* It delays #DB until after the next instruction. */
		if (regs->ip == record->ip + insn.length)
			return insn;
		record->ip += insn.length;
		insn = step_decode(record->ip, is64);
	}
	if (insn.kind == INSN_PUSHF)
		step_hide_pushed_tf(regs);
	else if (insn.kind == INSN_POPF || insn.kind == INSN_IRET)
		tf_written(current);
	return insn;
}

static bool step_in_vsyscall(u64 ip)
{
	return (ip & PAGE_MASK) == VSYSCALL_ADDR;
}

static void step_feed_insn(struct step_cpu *cpu, struct step_task *record,
			   struct insn insn, struct pt_regs *regs)
{
	u64 from = record->ip, to = regs->ip;

	switch (insn.kind) {
	case INSN_COND:
		if (to == from + insn.length)
			break;		/* not taken */
		fallthrough;
	case INSN_JUMP:
	case INSN_INDIRECT:
	case INSN_CALL:
	case INSN_RET:
	case INSN_IRET:
		step_feed(cpu, insn_stream_kind(insn.kind), from, to, regs);
		break;
	default:
		/* a repeated string instruction, or a straight line */
		if (to - from < INSN_MAX + 1)
			break;
		/*
		 * Something else moved it: the kernel emulates procedures
		 * there.
		 */
		if (step_in_vsyscall(from))
			step_feed(cpu, STREAM_RET, from, to, regs);
		else
			step_gap(cpu, to, regs);
	}
}

/* Take the instruction of current at record->ip, which was executed. */
static void trap_step(struct step_cpu *cpu, struct step_task *record,
		      struct pt_regs *regs)
{
	bool is64 = user_64bit_mode(regs);
	struct insn insn = step_decode(record->ip, is64);

	if (unlikely(insn.kind >= INSN_SPECIAL))
		insn = step_special(cpu, record, insn, regs, is64);
	if (likely(step_wanted(cpu))) {
		/* Each lane is the first one in turn to write samples. */
		if (unlikely(cpu->sampling) && lane_sample_renew())
			list_rotate_left(&cpu->lanes);
		step_bind(cpu, record);
		if (unlikely(cpu->accesses))
			step_access_feed(cpu, record, insn, regs);
		step_feed_insn(cpu, record, insn, regs);
		if (unlikely(cpu->bursts)) {
			bursts_step(cpu);
			step_call_expect(cpu, record, regs);
		}
	}
	if (likely(step_wanted_of(cpu, record)))
		tf_set(current);	/* popf may have cleared it */
	else
		step_disarm(record, current);
	record->steps++;
	record->ip = regs->ip;
	record->flags = regs->flags;
	if (unlikely(cpu->accesses))
		step_access_expect(record, regs);
}

static int step_on_debug(struct pt_regs *regs, unsigned long *dr6)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);
	struct step_task *record = step_current(cpu);
	bool awaited;

	if (!(*dr6 & DR_STEP) || !record || !record->armed)
		return NOTIFY_DONE;
	if (unlikely(compat_in_uprobe(current))) {
		step_hold(record);	/* arm again when it is done */
		return NOTIFY_DONE;
	}
	/* The program itself, or a debugger, also waits for this step. */
	awaited = !tf_is_forced(current) || tf_is_debuggers(current);
	trap_step(cpu, record, regs);
	if (unlikely(awaited))
		return NOTIFY_DONE;
	*dr6 &= ~DR_STEP;
	current->thread.virtual_dr6 &= ~DR_STEP;
	return *dr6 ? NOTIFY_DONE : NOTIFY_STOP;
}

/* A breakpoint or uprobe is about to be handled. */
static int step_on_int3(void)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);
	struct step_task *record = step_current(cpu);

	if (record)
		step_hold(record);
	return NOTIFY_DONE;
}

static int step_on_die(struct notifier_block *block, unsigned long why,
		       void *data)
{
	struct die_args *args = data;

	if (!args->regs || !user_mode(args->regs))
		return NOTIFY_DONE;
	if (why == DIE_DEBUG)
		return step_on_debug(args->regs, (unsigned long *)args->err);
	if (why == DIE_INT3)
		return step_on_int3();
	return NOTIFY_DONE;
}

/* Run before the notifier of uprobes, which would take our #DB and int3. */
static struct notifier_block die_block = {
	.notifier_call	= step_on_die,
	.priority	= INT_MAX,
};

int step_traps_register(void)
{
	return register_die_notifier(&die_block);
}

void step_traps_unregister(void)
{
	unregister_die_notifier(&die_block);
}
