// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flush after events were disabled. Whoever disables its events reads its
 * rings next. Perf does not tell the PMU if the event's task does not run. So a
 * probe at the entry of perf_ioctl() adds a task work of the session. The work
 * runs when the ioctl is done and the caller is about to return to its program,
 * without locks.
 */
#include <linux/module.h>
#include <linux/task_work.h>

#include "compat.h"
#include "flush.h"
#include "session.h"
#include "symbol.h"

static void flush_after_disable(struct callback_head *work)
{
	struct session *session =
		container_of(work, struct session, disable_work);

	/* Threads that disable events from now on ask anew. */
	atomic_set_release(&session->disable_asked, 0);
	session_flush_disabled(session);
	session_put(session);
	module_put(THIS_MODULE);
}

/* Return false if current cannot run the session's work. */
static bool flush_add_work(struct session *session)
{
	if (!session_tryget(session))
		return false;
	if (try_module_get(THIS_MODULE)) {
		init_task_work(&session->disable_work, flush_after_disable);
		if (!task_work_add(current, &session->disable_work,
				   compat_resume))
			return true;
		module_put(THIS_MODULE);
	}
	session_put(session);
	return false;
}

/*
 * Each session has one work, so that nobody can use up those of others. It is
 * added once at a time: if threads of one opener disable events of a session at
 * once, the last rows may wait for the interval.
 */
static void flush_ask(struct session *session, void *context)
{
	if (!session->rows || session->fetched ||
	    session->key.opener.tgid != current->tgid ||
	    atomic_cmpxchg_acquire(&session->disable_asked, 0, 1))
		return;
	if (!flush_add_work(session))
		atomic_set_release(&session->disable_asked, 0);
}

static const struct pmu *own_pmu;

/*
 * Return true if the event is of this PMU, and in no group. Another PMU may be
 * gone already, so it is not looked into; groups may change meanwhile.
 */
static bool flush_is_single(const struct perf_event *event)
{
	return READ_ONCE(event->pmu) == own_pmu &&
	       READ_ONCE(event->group_leader) == event &&
	       !READ_ONCE(event->nr_siblings);
}

/*
 * Ask for the event's session, or for all of the caller if others may be
 * disabled with the event. The ioctl may wait for a lock of the event's target,
 * and sessions of other targets should not.
 */
static int flush_on_perf_ioctl(struct kprobe *probe, struct pt_regs *regs)
{
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	const struct perf_event *event = file->private_data;

	/* Other commands do not matter. */
	if ((u32)regs_get_kernel_argument(regs, 1) != PERF_EVENT_IOC_DISABLE)
		return 0;
	if (flush_is_single(event))
		flush_ask(event_session(event), NULL);
	else
		session_for_each(flush_ask, NULL);
	return 0;
}

/*
 * Without the probe, rows are only written at the ends of intervals and of
 * processes.
 */
void flush_disable_probe(const struct pmu *pmu)
{
	own_pmu = pmu;
	symbol_probe(SYMBOL_perf_ioctl, flush_on_perf_ioctl);
}

void flush_disable_unprobe(void)
{
	symbol_unprobe(SYMBOL_perf_ioctl);
}
