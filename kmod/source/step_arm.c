// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks are stepped. A task gets the trap flag while a lane of its CPU is
 * active. That is while perf has an event scheduled in for the task, so perf
 * decides on permission. A task that is still armed when there is no lane takes
 * one more #DB.
 *
 * The flag is off while the kernel writes the program's flags to where the
 * program can see them (a signal's frame) or reads them from there (sigreturn).
 * The flag there is then clear, or the program's own.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "../compat.h"
#include "../recall.h"
#include "../right.h"
#include "step.h"
#include "x86/trap_flag.h"

static bool draining;		/* no task is to be armed */

bool step_draining(void)
{
	return READ_ONCE(draining);
}

static bool step_runs_a_program(struct task_struct *task)
{
	return task->mm && !(task->flags & (PF_KTHREAD | PF_EXITING));
}

static void step_arm_record(struct step_cpu *cpu, struct step_task *record,
			    struct task_struct *task)
{
	if (unlikely(step_task_is_hidden(record)) &&
	    !step_wanted_of(cpu, record)) {
		/* During a switch, lanes that may see it may follow. */
		if (task == current)
			step_disarm(record, task);
		return;
	}
	if (!record->armed) {
		if (task == current || !cpu->next_was_armed) {
			record->ip = task_pt_regs(task)->ip;
			record->steps++;	/* code has run unseen */
		}
		WRITE_ONCE(record->armed, true);
	}
	tf_arm(task);
	record->flags = task_pt_regs(task)->flags;
	step_call_expect(cpu, record, task_pt_regs(task));
	if (!step_wanted_of(cpu, record))
		step_disarm(record, task);
}

/*
 * Return true if the kernel may be in the middle of copying the task's flags.
 * System calls may last, but it is known which ones copy flags. Elsewhere the
 * kernel may be writing the frame of a signal, and a probe tells that only for
 * tasks that have a record.
 */
static bool step_may_copy_flags(const struct step_task *record, bool is_new,
				struct task_struct *task)
{
	const struct pt_regs *regs = task_pt_regs(task);

	if (record->armed)
		return false;
	/* not done yet */
	if ((long)regs->orig_ax >= 0 && regs->ax == -ENOSYS)
		return step_call_copies_flags(regs->orig_ax);
	return is_new;
}

/*
 * The task has no record and runs unseen. Nobody knows how many events that
 * will be, so count one as lost. If the task is about to run, perf has not
 * switched events yet, and lanes may be those of the task before: count for
 * those of the whole CPU only.
 */
static void step_count_unseen(struct step_cpu *cpu, struct task_struct *task)
{
	bool hidden = right_is_secure(task) || step_is_foreign(cpu, task);
	struct lane *lane;

	list_for_each_entry(lane, &cpu->lanes, link)
		if ((lane->wide || task == current) &&
		    (!hidden || lane->session->privileged))
			lane_count(&lane->lost_events, 1);
}

/* Return the task's record, which may be a new one: see @is_new. */
static struct step_task *step_get_record(struct task_struct *task, bool *is_new)
{
	struct step_task *record = step_task_find(task);

	*is_new = !record;
	if (record)
		return record;
	record = step_task_add(task);
	if (record)
		record->secure = right_is_secure(task);
	return record;
}

/* Arm a task, which is current or about to run on this CPU. */
void step_arm(struct step_cpu *cpu, struct task_struct *task)
{
	struct step_task *record;
	bool is_new;

	if (!step_runs_a_program(task) || compat_in_uprobe(task) ||
	    step_draining())
		return;
	record = step_get_record(task, &is_new);
	if (!record) {
		step_count_unseen(cpu, task);
		return;
	}
	/*
	 * During a switch, lanes may be those of the task before. Then either
	 * perf makes them those of the task, by a context swap, or each lane of
	 * the task asks again when it comes.
	 */
	record->foreign = step_is_foreign(cpu, task);
	if (record->hold || READ_ONCE(record->sigreturn))
		return;
	if (unlikely(step_may_copy_flags(record, is_new, task)))
		step_hold(record);
	else
		step_arm_record(cpu, record, task);
}

/* Hide the flag, and what a system call has made of it. */
static void step_hide_flag(struct step_task *record, struct task_struct *task)
{
	if (record->calls)
		step_call_hide(record, task);
	record->calls = false;
	tf_clear(task);
}

/*
 * step_drain() disarms tasks that do not run; this lock keeps their stacks.
 * Such a task is armed, so it comes here before it exits, and waits.
 */
static DEFINE_RAW_SPINLOCK(drain_lock);

/*
 * Clear the flag first: when a record is not armed, its task must not have the
 * flag, wherever anybody looks.
 */
static void step_disarm_record(struct step_task *record,
			       struct task_struct *task)
{
	if (!record->armed)
		return;
	step_hide_flag(record, task);
	WRITE_ONCE(record->armed, false);
}

void step_disarm(struct step_task *record, struct task_struct *task)
{
	unsigned long flags;

	if (!READ_ONCE(record->armed))
		return;
	if (likely(!step_draining())) {
		step_disarm_record(record, task);
		return;
	}
	raw_spin_lock_irqsave(&drain_lock, flags);
	step_disarm_record(record, task);
	raw_spin_unlock_irqrestore(&drain_lock, flags);
}

/* Free a record, and what is remembered of its task's accesses. */
void step_forget(struct step_task *record)
{
	step_access_drop(record);
	step_task_free(record);
}

/*
 * Arm current again. Runs before it returns to its program, or when it exits.
 */
static void step_arm_again(struct callback_head *work)
{
	struct step_task *record = container_of(work, struct step_task, work);
	struct step_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&step_cpu);
	cpu->record = record;
	WRITE_ONCE(record->work_queued, false);
	record->hold = false;
	if (current->flags & PF_EXITING || step_draining()) {
		step_disarm(record, current);
		step_forget(record);
	} else if (compat_in_uprobe(current) ||
		   READ_ONCE(record->sigreturn)) {
		;	/* the next #DB, or the call's end, leads here again */
	} else if (step_wanted(cpu)) {
		record->foreign = step_is_foreign(cpu, current);
		step_arm_record(cpu, record, current);
		if (record->armed)
			step_moved(cpu, record);
		if (record->armed && cpu->accesses)
			step_access_expect(record, task_pt_regs(current));
	} else {
		step_disarm(record, current);
	}
	local_irq_restore(flags);
	module_put(THIS_MODULE);
}

/* Take the flag off until the task is about to return to its program. */
void step_hold(struct step_task *record)
{
	struct task_struct *task = record->task;

	step_hide_flag(record, task);
	step_access_drop(record);
	record->hold = true;
	/* If the module goes, nobody is to be armed again. */
	if (record->work_queued || !try_module_get(THIS_MODULE))
		return;
	init_task_work(&record->work, step_arm_again);
	WRITE_ONCE(record->work_queued, true);
	if (task_work_add(task, &record->work, compat_resume)) {
		WRITE_ONCE(record->work_queued, false);	/* it exits */
		module_put(THIS_MODULE);
	}
}

static void step_disarm_current(void *unused)
{
	struct step_task *record = step_task_find(current);

	if (record)
		step_disarm(record, current);
}

/* Disarm a task that does not run, or that waits in step_disarm(). */
static void step_drain_task(struct step_task *record, struct task_struct *task)
{
	unsigned long flags;

	local_irq_save(flags);
	step_disarm(record, task);
	local_irq_restore(flags);
}

/*
 * Free an idle record. If work is queued and cannot be taken back, only the
 * work may free it.
 */
static void step_arm_forget(struct step_task *record, struct task_struct *task)
{
	if (READ_ONCE(record->work_queued)) {
		if (!recall_work(task, &record->work))
			return;
		module_put(THIS_MODULE);
	}
	step_forget(record);
}

/*
 * Take our flag off all tasks. Those on a CPU are interrupted. Those that get
 * on a CPU from now on lose it in the sched_switch probe, and nobody is armed
 * any more. So the others do not run, and can lose it from here.
 *
 * The interrupt goes to all CPUs: it also waits for a CPU that has seen
 * @draining unset, and is about to arm a task. It comes once, when the last
 * session that steps has ended. The kernel then interrupts all CPUs anyway, as
 * it patches the code of the tracepoints that lose their probes.
 */
void step_drain_begin(void)
{
	WRITE_ONCE(draining, true);
	on_each_cpu(step_disarm_current, NULL, true);
	rcu_read_lock();	/* holds tasks; drain_lock holds their stacks */
	step_task_for_each(step_drain_task);
	rcu_read_unlock();
}

/* Free all records. No probe and no trap finds a task any more. */
void step_drain_end(void)
{
	synchronize_rcu();	/* waits for a step_arm_again() that does not
				 * drain yet */
	rcu_read_lock();
	step_task_for_each(step_arm_forget);
	rcu_read_unlock();
	synchronize_rcu();	/* waits for one that does, and frees its
				 * record */
}

void step_undrain(void)
{
	WRITE_ONCE(draining, false);
}
