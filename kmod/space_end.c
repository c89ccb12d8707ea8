// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of an address space, at an exec or an exit: its rows are written, and
 * then its record is free.
 *
 * The process itself writes them if only events of tasks feed the session. If
 * the opener may delay it, it waits for room in the ring, but not for ever:
 * perf's readers stop when their process has ended.
 *
 * A session of CPUs or of a cgroup sees processes of everybody, and these must
 * not wait for its reader. The workqueue writes their rows.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "ending.h"
#include "space.h"
#include "symbol.h"

enum { EXIT_WAIT_MS = 100, FILL_WAIT_MS = 100 };

/*
 * Return true if current's process has another thread that may still be seen.
 */
static bool space_others_run(void)
{
	struct task_struct *thread;
	bool found = false;

	rcu_read_lock();
	for_each_thread(current, thread)
		found |= thread != current && READ_ONCE(thread->mm);
	rcu_read_unlock();
	return found;
}

/*
 * Threads that exit together lose their events before their memory. Wait until
 * then, as their last steps may be rows.
 */
static void space_wait_for_others(void)
{
	int tries = EXIT_WAIT_MS;

	while (space_others_run() && tries--)
		msleep(1);
}

/*
 * Return the number of a record that has ended. Another CPU may have claimed it
 * just before that; it fills it with interrupts off. Return 0 if that takes too
 * long, as when the host does not run that CPU.
 */
static u32 space_wait_for_id(const struct space *space)
{
	int tries = FILL_WAIT_MS;
	u32 id;

	while (!(id = smp_load_acquire(&space->id)) && tries--)
		msleep(1);
	return id;
}

static void space_write_rows(struct session *session, struct space *space)
{
	u32 id;

	if (session_has_strangers(session)) {
		space_leave(space);
		session_flush_left(session);
		return;
	}
	id = space_wait_for_id(space);
	if (id)
		session_flush(session, id);
	else
		space_leave(space);
}

static void space_flush(struct callback_head *work)
{
	struct space *space = container_of(work, struct space, work);
	struct session *session = space->session;

	space_wait_for_others();
	space_write_rows(session, space);
	session_put(session);
	module_put(THIS_MODULE);
}

/*
 * Let the task flush before it goes on, or exits. It may sleep for good before
 * that, as when it closes a file of a server that does not answer. The module
 * stays until then: unloading waits for all sessions, and this one is held.
 * Return false if the task cannot.
 */
static bool space_flush_later(struct space *space, struct task_struct *task,
			      enum task_work_notify_mode notify)
{
	init_task_work(&space->work, space_flush);
	if (!try_module_get(THIS_MODULE))
		return false;
	if (!task_work_add(task, &space->work, notify))
		return true;
	module_put(THIS_MODULE);
	return false;
}

struct space_end {
	unsigned int source;	/* enum source_id */
	struct task_struct *task;
	u64 exec;
	struct moment now;
	bool failed_exec;	/* the one before @exec may not have ended */
	enum task_work_notify_mode notify;
};

static void space_end_exec(struct session *session,
			   const struct space_end *end, u64 exec)
{
	u64 key = space_key(end->task, exec);
	struct space *space;
	int probe = 0;

	/* Two threads that came at once may have made two records. */
	while ((space = space_by_key(session, key, &probe))) {
		/*
		 * It may have begun before: see space_stopped(). Nobody may see
		 * an ended record without its date.
		 */
		space_date(space, key, end->now.by[session->key.clock]);
		/* If both exit now, one of them ends it. */
		if (cmpxchg64(&space->key, key, key | SPACE_ENDED) != key)
			continue;
		if (!session_tryget(session))
			return;		/* it goes with all its spaces */
		if (space_flush_later(space, end->task, end->notify))
			continue;
		space_leave(space);	/* the flush of the interval comes */
		session_put(session);
	}
}

static void space_end_one(struct session *session, void *context)
{
	const struct space_end *end = context;

	if (!session->rows || session->config.source != end->source)
		return;
	space_end_exec(session, end, end->exec);
	if (end->failed_exec)
		space_end_exec(session, end, end->exec - 1);
}

static void space_prepare_exec(struct session *session, void *context)
{
	const unsigned int *source = context;

	if (session->config.source == *source)
		space_stopped(session);
}

/*
 * Current's exec is at the point of no return. Whether it succeeds or fails, no
 * row of the old program is later than now. This does not sleep.
 */
void spaces_prepare_exec(unsigned int source)
{
	session_for_each(space_prepare_exec, &source);
}

/*
 * Current has exec'ed: in sessions of @source, end the address space that it
 * had.
 */
void spaces_exec(unsigned int source)
{
	struct space_end end = {
		.source = source,
		.task = current,
		.exec = current->self_exec_id - 1,
		.now = moment_now(),
		.notify = TWA_RESUME,
	};

	session_for_each(space_end_one, &end);
}

/*
 * Current exits: end its address space if it is the last thread of its process.
 * An exec that fails behind the point of no return has counted, and kills the
 * process, but nobody was told of it. So the one before is ended, too. Perf may
 * have reported the exit already, and noted it.
 */
void spaces_exit(unsigned int source)
{
	struct space_end end = {
		.source = source,
		.task = current,
		.exec = current->self_exec_id,
		.failed_exec = true,
		.notify = TWA_NONE,
	};

	if (atomic_read(&current->signal->live))
		return;
	end.now = ending_moment(space_key(current, end.exec));
	session_for_each(space_end_one, &end);
}

/* Whoever claims the first record of a session from now on finds the note. */
static void space_stop_strangers(struct session *session, void *context)
{
	if (session_has_strangers(session) &&
	    atomic_read(&session->space_reach))
		space_stopped(session);
}

/*
 * Perf is about to report the exit of current. Its own events tell of that, but
 * those of CPUs and cgroups do not. The probe of exits comes later on some
 * kernels, and on all of them for the first thread only if it is the last.
 *
 * There may be thousands of sessions. If the kprobe keeps interrupts off, rows
 * that are written before the probe of exits may be too late.
 */
static int spaces_stop(struct kprobe *probe, struct pt_regs *regs)
{
	if (!sessions_have_strangers() || !ending_is_due() ||
	    current->flags & PF_KTHREAD)
		return 0;
	ending_note(space_key(current, current->self_exec_id), MOMENT_LOCAL);
	if (!irqs_disabled())
		session_for_each(space_stop_strangers, NULL);
	return 0;
}

/*
 * Without the probe, rows of sessions with strangers may be later than perf's
 * report of the exit.
 */
void spaces_probe(void)
{
	symbol_probe(SYMBOL_perf_event_exit_task, spaces_stop);
}

void spaces_unprobe(void)
{
	symbol_unprobe(SYMBOL_perf_event_exit_task);
}
