// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step source: every branch of a task, by the CPU's trap flag.
 *
 * TF is set in the task's saved user flags; each instruction then ends in #DB,
 * where the one before is decoded. The kernel's own stepping (TIF_SINGLESTEP)
 * is left alone, so debuggers and signals are not disturbed. What the program
 * could notice of TF is hidden:
 *
 *   pushf		the bit is cleared on the stack at the next #DB
 *   popf, sigreturn	may set the program's own TF, which then gets its SIGTRAPs
 *   syscall		r11 is cleaned when it returns
 *   signal frames	TF is clear while they are written, and set again after
 *   core dumps		likewise
 *   ptrace		TIF_FORCED_TF makes the kernel hide it
 *   uprobes		TF is off while they step
 *
 * A task has TF only while a slot of its CPU is active, that is while perf has
 * an event scheduled in for it: permission is perf's to give. TF that is found
 * set later is swallowed once and cleared.
 */
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/mutex.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/cpufeature.h>
#include <asm/debugreg.h>
#include <asm/syscall.h>
#include <uapi/asm/unistd_64.h>

#include "../compat.h"
#include "../session.h"
#include "source.h"
#include "step_task.h"
#include "x86/branch_decode.h"

enum {
	INSN_MAX		= 15,
	NR_COMPAT_SIGRETURN	= 119,
	NR_COMPAT_RT_SIGRETURN	= 173,
};

struct step_cpu {
	struct list_head slots;		/* that want events of this CPU */
	struct step_task *record;	/* of the task that runs, if known */
};

static DEFINE_PER_CPU(struct step_cpu, step_cpu);
static DEFINE_MUTEX(users_lock);
static unsigned int users;		/* sessions that step */
static bool draining;			/* no TF is to be left */
static atomic_t works;			/* rearm_work() queued */

/* --- the trap flag --------------------------------------------------------- */

static void set_tf(struct task_struct *task)
{
	set_bit(X86_EFLAGS_TF_BIT, &task_pt_regs(task)->flags);
	set_tsk_thread_flag(task, TIF_FORCED_TF);
}

/* Atomic: the task may be in the kernel, using its other flags. */
static void clear_tf(struct task_struct *task)
{
	clear_bit(X86_EFLAGS_TF_BIT, &task_pt_regs(task)->flags);
	clear_tsk_thread_flag(task, TIF_FORCED_TF);
}

static bool has_tf(struct task_struct *task)
{
	return task_pt_regs(task)->flags & X86_EFLAGS_TF;
}

static bool runs_a_program(struct task_struct *task)
{
	return task->mm && !(task->flags & (PF_KTHREAD | PF_EXITING));
}

/* The task must be current, or about to run on this CPU. */
static void arm(struct task_struct *task)
{
	struct step_task *record;

	if (!runs_a_program(task) || READ_ONCE(draining))
		return;
	record = step_task_get(task);
	if (!record || record->hold)
		return;
	if (!record->armed) {
		record->own = has_tf(task);
		record->ip = task_pt_regs(task)->ip;
		record->ax = ~0ULL;
		record->steps++;	/* what ran until now was not seen */
		record->armed = true;
	}
	set_tf(task);
}

/* From now on a TF that is found is the program's. */
static void disarm(struct step_task *record)
{
	if (!record->armed)
		return;
	record->armed = false;
	if (!record->own)
		clear_tf(record->task);
	else
		clear_tsk_thread_flag(record->task, TIF_FORCED_TF);
}

static bool anybody_here(void)
{
	return !list_empty(&this_cpu_ptr(&step_cpu)->slots);
}

/* Current's record, if it is stepped. Interrupts are off. */
static struct step_task *current_record(void)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);

	if (unlikely(!cpu->record || cpu->record->task != current))
		cpu->record = step_task_find(current);
	return cpu->record;
}

static void follow_move(struct step_task *record);

/* Runs before current returns to its program. */
static void rearm_work(struct callback_head *work)
{
	struct step_task *record = container_of(work, struct step_task, work);
	unsigned long flags;

	record->work_queued = false;
	if (current->flags & PF_EXITING) {
		step_task_free(record);
	} else if (!current->utask || !current->utask->active_uprobe) {
		record->hold = false;
		local_irq_save(flags);
		if (anybody_here()) {
			arm(current);
			follow_move(record);
		}
		local_irq_restore(flags);
	} /* else the uprobe's #DB brings us here again */
	atomic_dec(&works);
}

/* TF is off until current is about to return to its program. */
static void hold_tf(struct step_task *record)
{
	if (!record->own)
		clear_tf(current);
	record->hold = true;
	if (record->work_queued)
		return;
	init_task_work(&record->work, rearm_work);
	atomic_inc(&works);
	record->work_queued = !task_work_add(current, &record->work, TWA_RESUME);
	if (!record->work_queued)
		atomic_dec(&works);	/* it exits */
}

/* --- feeding ----------------------------------------------------------------- */

static void bind_slots(struct step_task *record)
{
	struct slot *slot;

	list_for_each_entry(slot, &this_cpu_ptr(&step_cpu)->slots, link)
		slot_bind(slot, record->steps, record->ip);
}

static void unbind_slots(struct step_task *record)
{
	struct slot *slot;

	list_for_each_entry(slot, &this_cpu_ptr(&step_cpu)->slots, link)
		slot_unbind(slot, record ? record->steps : ~0ULL);
}

static void feed(unsigned int kind, u64 from, u64 to, struct pt_regs *regs)
{
	struct stream_event event = { .kind = kind, .from = from, .to = to };
	struct slot *slot;

	list_for_each_entry(slot, &this_cpu_ptr(&step_cpu)->slots, link)
		slot_feed(slot, &event, regs);
}

/* From outside of #DB: current's record, its slots bound; NULL: not stepped. */
static struct step_task *bind_current(void)
{
	struct step_task *record = current_record();

	if (!record || !record->armed || !anybody_here())
		return NULL;
	bind_slots(record);
	return record;
}

/* Current goes on elsewhere than where it was seen last. */
static void follow_move(struct step_task *record)
{
	struct pt_regs *regs = task_pt_regs(current);

	if (record->ip == regs->ip)
		return;
	bind_slots(record);
	if (regs->ip - record->ip - 1 >= INSN_MAX)
		feed(STREAM_GAP, 0, regs->ip, regs);
	record->ip = regs->ip;
}

/* --- #DB ------------------------------------------------------------------------ */

static struct insn decode_at(u64 ip, bool is64)
{
	struct insn insn = { .kind = INSN_UNKNOWN };
	unsigned int count = INSN_MAX, left = PAGE_SIZE - offset_in_page(ip);
	u8 bytes[INSN_MAX];

	if (copy_from_user_nofault(bytes, (void __user *)ip, count)) {
		/* The next page need not be there. */
		if (left >= count ||
		    copy_from_user_nofault(bytes, (void __user *)ip, left))
			return insn;
		count = left;
	}
	return branch_decode(bytes, count, is64);
}

/* The program sees flags without our TF on its stack. */
static void hide_pushed_tf(struct step_task *record, struct pt_regs *regs)
{
	u16 __user *pushed = (u16 __user *)regs->sp;
	u16 flags;

	if (record->own || copy_from_user_nofault(&flags, pushed, sizeof(flags)))
		return;
	flags &= ~X86_EFLAGS_TF;
	copy_to_user_nofault(pushed, &flags, sizeof(flags));
}

/* popf: TF in what was popped is the program's own. */
static void note_popped_tf(struct step_task *record, struct pt_regs *regs,
			   struct insn insn)
{
	int size = insn.operand16 ? 2 : user_64bit_mode(regs) ? 8 : 4;
	u16 flags;

	if (!copy_from_user_nofault(&flags, (void __user *)(regs->sp - size),
				    sizeof(flags)))
		record->own = flags & X86_EFLAGS_TF;
}

static void feed_insn(struct step_task *record, struct insn insn,
		      struct pt_regs *regs)
{
	static const u8 stream_kinds[] = {
		[INSN_COND]	= STREAM_COND,
		[INSN_JUMP]	= STREAM_JUMP,
		[INSN_INDIRECT]	= STREAM_INDIRECT,
		[INSN_CALL]	= STREAM_CALL,
		[INSN_RET]	= STREAM_RET,
	};
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
		feed(stream_kinds[insn.kind], from, to, regs);
		break;
	case INSN_STRING:
		if (to == from)
			break;		/* repeats itself */
		fallthrough;
	default:
		if (to - from - 1 >= INSN_MAX)	/* something else moved it */
			feed(STREAM_GAP, 0, to, regs);
	}
	if (insn.kind == INSN_CALL)
		record->clock = local_clock();
}

/* One instruction of current, at record->ip, was executed. */
static void step(struct step_task *record, struct pt_regs *regs)
{
	bool is64 = user_64bit_mode(regs);
	struct insn insn = decode_at(record->ip, is64);

	if (unlikely(insn.kind == INSN_PUSHF))
		hide_pushed_tf(record, regs);
	else if (unlikely(insn.kind == INSN_POPF))
		note_popped_tf(record, regs, insn);

	if (anybody_here() && !record->hold) {
		bind_slots(record);
		feed_insn(record, insn, regs);
		set_tf(current);	/* popf may have cleared it */
	} else {
		disarm(record);
	}
	record->steps++;
	record->ip = regs->ip;
	record->ax = regs->ax;
}

static int on_debug(struct pt_regs *regs, unsigned long *dr6)
{
	struct step_task *record = current_record();
	bool own;

	if (!(*dr6 & DR_STEP) || !record || !record->armed)
		return NOTIFY_DONE;
	if (current->utask && current->utask->active_uprobe) {
		hold_tf(record);	/* it steps; we go on when it is done */
		return NOTIFY_DONE;
	}
	own = record->own;
	step(record, regs);
	if (own || (current->ptrace && test_thread_flag(TIF_SINGLESTEP)))
		return NOTIFY_DONE;	/* somebody else waits for this step */

	*dr6 &= ~DR_STEP;
	current->thread.virtual_dr6 &= ~DR_STEP;
	return *dr6 ? NOTIFY_DONE : NOTIFY_STOP;
}

/* A breakpoint or uprobe is about to be handled; uprobes die of a foreign TF. */
static int on_int3(void)
{
	struct step_task *record = current_record();

	if (record && record->armed)
		hold_tf(record);
	return NOTIFY_DONE;
}

static int on_die(struct notifier_block *block, unsigned long why, void *data)
{
	struct die_args *args = data;

	if (!args->regs || !user_mode(args->regs))
		return NOTIFY_DONE;
	if (why == DIE_DEBUG)
		return on_debug(args->regs, (unsigned long *)args->err);
	if (why == DIE_INT3)
		return on_int3();
	return NOTIFY_DONE;
}

/* Before uprobes' notifier, which would take our #DB and int3. */
static struct notifier_block die_block = {
	.notifier_call	= on_die,
	.priority	= INT_MAX,
};

/* --- probes: they follow the task where #DB cannot ------------------------------ */

static bool whole_cpu_here(void)
{
	struct slot *slot;

	list_for_each_entry(slot, &this_cpu_ptr(&step_cpu)->slots, link)
		if (slot->wide)
			return true;
	return false;
}

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);

	if (unlikely(READ_ONCE(draining))) {
		struct step_task *record = step_task_find(next);

		if (record)
			disarm(record);
	}
	cpu->record = NULL;
	if (list_empty(&cpu->slots))
		return;
	unbind_slots(step_task_find(prev));
	/*
	 * Perf may swap the contexts of prev and next instead of scheduling
	 * their events; of the whole CPU, they stay anyway.
	 */
	if (compat_task_has_perf(next) || whole_cpu_here())
		arm(next);
}

static bool is_sigreturn(struct pt_regs *regs, u64 nr)
{
	if (user_64bit_mode(regs))
		return nr == __NR_rt_sigreturn;
	return nr == NR_COMPAT_SIGRETURN || nr == NR_COMPAT_RT_SIGRETURN;
}

/* A system call is done; an exec has replaced the registers, a fork is here. */
static void on_sys_exit(void *data, struct pt_regs *regs, long result)
{
	bool tf = regs->flags & X86_EFLAGS_TF;
	struct step_task *record;
	unsigned long flags;
	u64 from, nr;

	local_irq_save(flags);
	if (anybody_here())
		arm(current);
	record = bind_current();
	if (!record)
		goto out;
	nr = record->ax;
	from = record->ip;
	record->ip = regs->ip;
	record->ax = regs->ax;
	if (is_sigreturn(regs, nr)) {
		record->own = tf;	/* what the frame said */
		feed(STREAM_SIGRETURN, from, regs->ip, regs);
		goto out;
	}
	if (!record->own)
		regs->r11 &= ~(u64)X86_EFLAGS_TF;
	if (regs->ip - from - 1 < INSN_MAX)
		feed(STREAM_SYSCALL, from, regs->ip, regs);
	else if (regs->ip != from)
		feed(STREAM_GAP, 0, regs->ip, regs);
out:
	local_irq_restore(flags);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *binprm)
{
	struct step_task *record;
	unsigned long flags;
	u64 time = 0;

	local_irq_save(flags);
	record = current_record();
	if (record) {
		time = record->clock;
		if (anybody_here())
			bind_slots(record);	/* follows the exec */
		record->own = false;
	}
	local_irq_restore(flags);
	spaces_exec(time ?: local_clock());
}

static void on_exit(void *data, struct task_struct *task)
{
	struct step_task *record;
	unsigned long flags;

	local_irq_save(flags);
	record = bind_current();
	if (record)
		feed(STREAM_GAP, 0, 0, NULL);	/* nothing comes after */
	record = current_record();
	unbind_slots(record);
	this_cpu_ptr(&step_cpu)->record = NULL;
	if (record) {
		disarm(record);
		if (!record->work_queued)
			step_task_free(record);
	}
	local_irq_restore(flags);
	if (!atomic_read(&current->signal->live))
		spaces_exit();
}

/* The child has its parent's flags. It is armed when its events are there. */
static void on_fork(void *data, struct task_struct *parent,
		    struct task_struct *child)
{
	struct step_task *record = step_task_find(parent);

	if (record && record->armed && !record->own && child->mm)
		clear_tf(child);
}

/*
 * The signal's frame is written next: no TF in it, nor in a core dump. A stop
 * writes none, and may last.
 */
static void on_signal(void *data, int sig, struct kernel_siginfo *info,
		      struct k_sigaction *action)
{
	u64 handler = (u64)action->sa.sa_handler;
	struct pt_regs *regs = task_pt_regs(current);
	bool is_handled = handler != (u64)SIG_DFL && handler != (u64)SIG_IGN;
	struct step_task *record;
	unsigned long flags;

	if (!is_handled && sig_kernel_stop(sig))
		return;
	local_irq_save(flags);
	record = current_record();
	if (record && record->armed) {
		if (is_handled && bind_current()) {
			feed(STREAM_SIGNAL, regs->ip, handler, regs);
			record->ip = handler;
		}
		hold_tf(record);
		if (is_handled)
			record->own = false;
	}
	local_irq_restore(flags);
}

struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
};

static struct probe probes[] = {
	{ "sched_switch",		on_switch },
	{ "sched_process_fork",		on_fork },
	{ "sched_process_exec",		on_exec },
	{ "sched_process_exit",		on_exit },
	{ "signal_deliver",		on_signal },
	{ "sys_exit",			on_sys_exit },
};

static void find_probe(struct tracepoint *tracepoint, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

static void unregister_probes(int count)
{
	while (count--)
		tracepoint_probe_unregister(probes[count].tracepoint,
					    probes[count].function, NULL);
	tracepoint_synchronize_unregister();
}

static int register_probes(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!probes[i].tracepoint)
			return -EOPNOTSUPP;
		err = tracepoint_probe_register(probes[i].tracepoint,
						probes[i].function, NULL);
		if (err) {
			unregister_probes(i);
			return err;
		}
	}
	return 0;
}

/* --- the source ------------------------------------------------------------------ */

static const char *step_missing(void)
{
#ifdef X86_FEATURE_FRED
	if (boot_cpu_has(X86_FEATURE_FRED))
		return "not tried on CPUs with FRED";
#endif
	return NULL;
}

static int step_on(void)
{
	int err = step_tasks_init();

	if (err)
		return err;
	WRITE_ONCE(draining, false);
	err = register_die_notifier(&die_block);
	if (err)
		goto no_notifier;
	err = register_probes();
	if (err)
		goto no_probes;
	return 0;

no_probes:
	unregister_die_notifier(&die_block);
no_notifier:
	step_tasks_exit();
	return err;
}

static void disarm_current(void *unused)
{
	struct step_task *record = step_task_find(current);

	if (record)
		disarm(record);
}

/*
 * No task may keep our TF. Those on a CPU are interrupted; those that get on
 * one from now on lose it in on_switch(); so the rest do not run, and can lose
 * it from here.
 */
static void step_off(void)
{
	WRITE_ONCE(draining, true);
	on_each_cpu(disarm_current, NULL, true);
	rcu_read_lock();	/* tasks, and their stacks */
	step_task_for_each(disarm);
	rcu_read_unlock();
	while (atomic_read(&works))
		msleep(1);
	unregister_probes(ARRAY_SIZE(probes));
	unregister_die_notifier(&die_block);
	step_tasks_exit();
}

static int step_get(void)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users)
		err = step_on();
	if (!err)
		users++;
	mutex_unlock(&users_lock);
	return err;
}

static void step_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		step_off();
	mutex_unlock(&users_lock);
}

static void step_start(struct slot *slot)
{
	list_add_tail(&slot->link, &this_cpu_ptr(&step_cpu)->slots);
	arm(current);
}

static void step_stop(struct slot *slot)
{
	struct step_task *record = current_record();

	if (current->flags & PF_EXITING && record && record->armed) {
		slot_bind(slot, record->steps, record->ip);
		slot_gap(slot, 0);	/* nothing comes after */
	}
	slot_unbind(slot, record ? record->steps : ~0ULL);
	list_del_init(&slot->link);
}

int step_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu(step_cpu, cpu).slots);
	for_each_kernel_tracepoint(find_probe, NULL);
	return 0;
}

const struct source_ops step_source = {
	.name		= "step",
	.missing	= step_missing,
	.get		= step_get,
	.put		= step_put,
	.start		= step_start,
	.stop		= step_stop,
};
