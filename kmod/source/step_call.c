// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls in bursts. Full stepping uses probes at each call, which cost
 * every program of the machine a good part of the time of a short call, also
 * between bursts. In bursts, a call is recognised at the #DB before it instead,
 * and its end at the #DB behind it.
 *
 * The latter comes late. The return to the program does not trap; only the
 * instruction behind the call does. Until then r11, where `syscall` has left
 * the flags, contains ours. A burst therefore ends before a call if the
 * instruction behind it might see r11, or is not known.
 */
#include <asm/ptrace.h>
#include <uapi/asm/unistd_64.h>

#include "code.h"
#include "step.h"
#include "x86/trap_flag.h"

enum {
	NR_IA32_FORK		= 2,
	NR_IA32_SIGRETURN	= 119,
	NR_IA32_CLONE		= 120,
	NR_IA32_RT_SIGRETURN	= 173,
	NR_IA32_VFORK		= 190,
};

/* Probes of system calls are there, so bursts need not look for calls. */
bool step_calls_probed;

bool step_is_sigreturn(long nr, bool is64)
{
	if (is64)
		return nr == __NR_rt_sigreturn;
	return nr == NR_IA32_SIGRETURN || nr == NR_IA32_RT_SIGRETURN;
}

/*
 * Return true if the call copies flags to a child, or from a signal's frame. If
 * stepping ended before the child exists, a child whose parent got our flag
 * meanwhile would keep it. Numbers are those of both call tables. If a number
 * means another call in its table, the task is stepped a bit later, nothing
 * worse.
 */
bool step_call_copies_flags(u32 nr)
{
	switch (nr & ~__X32_SYSCALL_BIT) {
	case __NR_fork:
	case __NR_vfork:
	case __NR_clone:
	case __NR_clone3:
	case __NR_rt_sigreturn:
	case NR_IA32_FORK:
	case NR_IA32_VFORK:
	case NR_IA32_CLONE:
	case NR_IA32_SIGRETURN:
	case NR_IA32_RT_SIGRETURN:
		return true;
	}
	return false;
}

/*
 * Return true if the code before the next #DB, the one behind the call, may see
 * r11.
 */
static bool step_call_may_show_r11(u64 ip, bool is64)
{
	u8 bytes[INSN_MAX];
	unsigned int count = code_read_user(bytes, sizeof(bytes), ip);

	switch (branch_decode(bytes, count, is64).kind) {
	case INSN_SYSCALL:
	case INSN_SS:		/* neither traps before another one has run */
	case INSN_UNKNOWN:
		return true;
	}
	return is64 && branch_may_name_r11(bytes, count);
}

/*
 * Current is about to run the instruction at regs->ip in a burst. Return false
 * if the burst must end: a sigreturn would take our flag away unseen.
 */
static bool step_call_can_be_stepped(struct step_task *record,
				     const struct pt_regs *regs)
{
	bool is64 = user_64bit_mode((struct pt_regs *)regs);
	struct insn insn = step_decode(regs->ip, is64);

	if (insn.kind == INSN_SYSCALL) {
		record->calls = true;
		return !step_is_sigreturn((u32)regs->ax, is64) &&
		       !step_call_may_show_r11(regs->ip + insn.length, is64);
	}
	/*
	 * A call may follow an instruction that loads SS, which delays the
	 * trap, or code that cannot be read.
	 */
	return insn.kind != INSN_SS && insn.kind != INSN_UNKNOWN;
}

void step_call_expect(struct step_cpu *cpu, struct step_task *record,
		      const struct pt_regs *regs)
{
	record->calls = false;
	if (cpu->bursts && !READ_ONCE(step_calls_probed) &&
	    !step_call_can_be_stepped(record, regs))
		bursts_end(cpu);
}

/* Clean r11 of what `syscall` has left there, from the call to the next #DB. */
void step_call_hide(const struct step_task *record, struct task_struct *task)
{
	struct pt_regs *regs = task_pt_regs(task);

	if (!tf_has_fred() && regs->r11 == record->flags &&
	    tf_is_forced(task) && !tf_is_debuggers(task))
		clear_bit(X86_EFLAGS_TF_BIT, &regs->r11);
}

struct insn step_call_pass(struct step_cpu *cpu, struct step_task *record,
			   struct insn call, struct pt_regs *regs)
{
	u64 to = record->ip + call.length;

	step_call_hide(record, current);
	/* The call may have changed its ids. */
	record->foreign = step_is_foreign(cpu, current);
	if (step_wanted(cpu)) {
		step_bind(cpu, record);
		step_feed(cpu, STREAM_SYSCALL, record->ip, to, regs);
	}
	record->ip = to;
	if (fred_is_return(tf_has_fred(), regs->ip, to))
		return call;	/* nothing behind it has run */
	return step_decode(to, user_64bit_mode(regs));
}
