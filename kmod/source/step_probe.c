// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints where #DB cannot follow a task. */
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <asm/syscall.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>

#include "../compat.h"
#include "../right.h"
#include "probe.h"
#include "source.h"
#include "step.h"
#include "x86/trap_flag.h"

enum { SYSCALL_LENGTH = 2 };	/* of syscall, sysenter, int 0x80 */

static bool step_whole_cpu_wanted(struct step_cpu *cpu)
{
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		if (lane->wide)
			return true;
	return false;
}

/*
 * Disarm a task that nobody wants to step, unless perf is about to find events
 * for it. Few tasks have the flag. To search the record of each task would be a
 * cost for all of them.
 */
static void step_disarm_stray(struct step_cpu *cpu, struct task_struct *task)
{
	struct step_task *record;

	if (likely(!tf_is_set(task)))
		return;
	record = step_task_find(task);
	if (!record || (!step_draining() && compat_task_has_perf(task)))
		return;
	cpu->next_was_armed = record->armed;
	step_disarm(record, task);
}

static void step_on_switch(void *data, bool preempt, struct task_struct *prev,
			   struct task_struct *next, unsigned int prev_state)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);
	struct step_task *record;

	cpu->next = next;
	cpu->next_was_armed = false;
	cpu->record = NULL;
	if (unlikely(prev_state & __TASK_TRACED)) {
		/* Its debugger may change anything. */
		record = step_task_find(prev);
		if (record)
			step_access_drop(record);
	}
	if (unlikely(cpu->bursts)) {
		bursts_end(cpu);
		record = step_task_find(prev);
		if (record && !step_wanted(cpu))
			step_disarm(record, prev);
	}
	if (unlikely(!list_empty(&cpu->left_out)))
		step_let_in(cpu);
	if (!step_wanted(cpu)) {
		step_disarm_stray(cpu, next);
		return;
	}
	step_unbind(cpu, step_task_find(prev));
	/*
	 * Perf may swap the contexts of prev and next instead of scheduling
	 * their events. Events of the whole CPU stay in place.
	 */
	if (compat_task_has_perf(next) || step_whole_cpu_wanted(cpu))
		step_arm(cpu, next);
}

static void step_on_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	struct step_task *record;
	unsigned long flags;

	local_irq_save(flags);
	record = step_current(this_cpu_ptr(&step_cpu));
	if (record) {
		tf_hide_r11(current);
		if (step_is_sigreturn(nr, !in_ia32_syscall())) {
			tf_clear(current);
			WRITE_ONCE(record->sigreturn, true);
		}
	}
	local_irq_restore(flags);
}

static void step_feed_call(struct step_cpu *cpu, struct step_task *record,
			   bool sigreturn, struct pt_regs *regs)
{
	u64 from = record->ip, to = regs->ip;

	record->ip = to;
	if (sigreturn)
		step_feed(cpu, STREAM_SIGRETURN, from, to, regs);
	else if (to - from - 1 < INSN_MAX)
		step_feed(cpu, STREAM_SYSCALL, from, to, regs);
	else if (to != from)
		step_gap(cpu, to, regs);
}

/*
 * A system call is done. After an exec the registers are new; a fork's child
 * comes here as well.
 */
static void step_on_sys_exit(void *data, struct pt_regs *regs, long result)
{
	struct step_task *record;
	bool sigreturn = false;
	struct step_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&step_cpu);
	record = step_current(cpu);
	if (record) {
		tf_hide_r11(current);
		sigreturn = READ_ONCE(record->sigreturn);
		WRITE_ONCE(record->sigreturn, false);
		record->calls = false;
	}
	if (step_wanted(cpu)) {
		step_arm(cpu, current);
		record = step_current(cpu);
		if (record && record->armed) {
			step_bind(cpu, record);
			step_check_maps(cpu);
			step_feed_call(cpu, record, sigreturn, regs);
			if (cpu->accesses)
				step_access_expect(record, regs);
		}
	} else if (record) {
		/*
		 * A later #DB would be attributed to the instruction before the
		 * call.
		 */
		step_disarm(record, current);
	}
	local_irq_restore(flags);
}

/*
 * A child has its parent's flags. The kernel has cleared TF in them if it was
 * not the parent's own, unless it was set while flags were copied.
 */
static void step_on_fork(void *data, struct task_struct *parent,
			 struct task_struct *child)
{
	if (tf_is_set(parent) && !tf_is_forced(parent))
		return;
	set_tsk_thread_flag(child, TIF_FORCED_TF);
	tf_hide_r11(child);
	tf_clear(child);
}

static void step_on_prepare_exec(void *data, struct task_struct *task,
				 compat_prepare_argument)
{
	if (compat_execs(task))
		spaces_prepare_exec(SOURCE_step);
}

static void step_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *binprm)
{
	struct step_task *record;
	struct step_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&step_cpu);
	record = step_current(cpu);
	bursts_end(cpu);
	if (record) {
		record->ip = 0;		/* not known yet */
		step_bind(cpu, record);	/* follows the exec */
		step_disarm(record, current);
		record->secure = right_is_secure(current);
		record->foreign = step_is_foreign(cpu, current);
	}
	local_irq_restore(flags);
	spaces_exec(SOURCE_step);
}

static void step_on_exit(void *data,
			 struct task_struct *task compat_exit_arguments)
{
	struct step_task *record;
	struct step_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&step_cpu);
	record = step_current(cpu);
	bursts_end(cpu);
	if (record && record->armed && step_wanted(cpu)) {
		step_bind(cpu, record);
		/* nothing comes after it */
		step_gap(cpu, 0, NULL);
	}
	step_unbind(cpu, record);
	cpu->record = NULL;
	if (record) {
		step_disarm(record, current);
		if (!record->work_queued)
			step_forget(record);
	}
	local_irq_restore(flags);
	spaces_exit(SOURCE_step);
}

/*
 * Return where current goes on after the handler. A system call may be
 * repeated.
 */
static u64 step_resume_ip(const struct pt_regs *regs,
			  const struct k_sigaction *action)
{
	if ((long)regs->orig_ax < 0)
		return regs->ip;	/* not in a system call */
	switch ((long)regs->ax) {
	case -ERESTARTSYS:
		if (!(action->sa.sa_flags & SA_RESTART))
			break;
		fallthrough;
	case -ERESTARTNOINTR:
		return regs->ip - SYSCALL_LENGTH;
	}
	return regs->ip;
}

/*
 * The kernel writes the signal's frame or a core dump next: our flag must not
 * be in it. A stop writes nothing and may last. An ignored signal is none.
 */
static void step_on_signal(void *data, int sig, struct kernel_siginfo *info,
			   struct k_sigaction *action)
{
	struct pt_regs *regs = task_pt_regs(current);
	u64 handler = (__force u64)action->sa.sa_handler;
	bool handled = action->sa.sa_handler != SIG_DFL;
	struct step_task *record;
	struct step_cpu *cpu;
	unsigned long flags;

	if (action->sa.sa_handler == SIG_IGN ||
	    (!handled && (sig_kernel_stop(sig) || sig_kernel_ignore(sig))))
		return;
	local_irq_save(flags);
	cpu = this_cpu_ptr(&step_cpu);
	record = step_current(cpu);
	if (record && record->armed && handled && step_wanted(cpu)) {
		step_bind(cpu, record);
		step_feed(cpu, STREAM_SIGNAL, step_resume_ip(regs, action),
			  handler, regs);
		record->ip = handler;
	}
	if (record)
		step_hold(record);
	local_irq_restore(flags);
}

static struct probe probes[] = {
	PROBE(sched_switch, step_on_switch),
	PROBE(sched_process_fork, step_on_fork),
	COMPAT_PREPARE_EXEC(step_on_prepare_exec),
	PROBE(sched_process_exec, step_on_exec),
	PROBE(sched_process_exit, step_on_exit),
	PROBE(signal_deliver, step_on_signal),
	{ }
};

static struct probe call_probes[] = {
	PROBE(sys_enter, step_on_sys_enter),
	PROBE(sys_exit, step_on_sys_exit),
	{ }
};

const char *step_probes_find(void)
{
	const char *absent = probes_find(probes);

	return probes_find(call_probes) ?: absent;
}

/* Protected by the lock of source_get(). */
static unsigned int call_users;

int step_calls_get(void)
{
	int err = call_users ? 0 : probes_register(call_probes);

	if (!err)
		WRITE_ONCE(step_calls_probed, ++call_users);
	return err;
}

/* No probe will tell that a sigreturn is done. */
static void step_forget_sigreturn(struct step_task *record,
				  struct task_struct *task)
{
	WRITE_ONCE(record->sigreturn, false);
}

void step_calls_put(void)
{
	WRITE_ONCE(step_calls_probed, --call_users);
	if (call_users)
		return;
	probes_unregister(call_probes);
	rcu_read_lock();
	step_task_for_each(step_forget_sigreturn);
	rcu_read_unlock();
}

int step_probes_register(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(step_cpu, cpu).next = NULL;	/* not known */
	return probes_register(probes);
}

void step_probes_unregister(void)
{
	probes_unregister(probes);
}
