// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flush after events were disabled. Whoever disables its events reads its
 * rings next. Perf does not tell the PMU if the event's task does not run. So a
 * probe at the entry of perf_ioctl() queues a work of the caller. The work runs
 * when the ioctl is done and the caller is about to return to its program,
 * without locks.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/task_work.h>

#include "compat.h"
#include "flush.h"
#include "session.h"
#include "symbol.h"

/* The work of a caller. */
struct disable_work {
	struct callback_head work;
	atomic_t used;
};

/* If more threads disable events at once, they wait for the interval. */
static struct disable_work disable_works[64];

static void flush_of_opener(struct session *session, void *opener)
{
	const struct opener *caller = opener;

	if (session->rows && !session->fetched &&
	    session->key.opener.tgid == caller->tgid)
		session_flush_disabled(session);
}

static void flush_after_disable(struct callback_head *work)
{
	struct disable_work *disable =
		container_of(work, struct disable_work, work);
	struct opener opener = opener_of_current();

	atomic_set_release(&disable->used, 0);
	sessions_visit(flush_of_opener, &opener);
	module_put(THIS_MODULE);
}

struct find_opener {
	pid_t tgid;
	bool found;
};

static void flush_has_rows(struct session *session, void *context)
{
	struct find_opener *find = context;

	find->found |= session->rows && !session->fetched &&
		       session->key.opener.tgid == find->tgid;
}

static void flush_queue_disable_work(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(disable_works); i++) {
		struct disable_work *disable = &disable_works[i];

		if (atomic_cmpxchg_acquire(&disable->used, 0, 1))
			continue;
		init_task_work(&disable->work, flush_after_disable);
		if (try_module_get(THIS_MODULE)) {
			if (!task_work_add(current, &disable->work,
					   compat_resume))
				return;
			module_put(THIS_MODULE);
		}
		atomic_set_release(&disable->used, 0);
		return;
	}
}

static int flush_on_perf_ioctl(struct kprobe *probe, struct pt_regs *regs)
{
	struct find_opener find = { .tgid = current->tgid };

	/* Other commands do not matter. */
	if ((u32)regs_get_kernel_argument(regs, 1) != PERF_EVENT_IOC_DISABLE)
		return 0;
	session_for_each(flush_has_rows, &find);
	if (find.found)
		flush_queue_disable_work();
	return 0;
}

static struct kprobe perf_ioctl = {
	.symbol_name	= "perf_ioctl",
	.pre_handler	= flush_on_perf_ioctl,
};

static bool has_perf_ioctl;

/*
 * Without the probe, rows are only written at the ends of intervals and of
 * processes.
 */
void flush_disable_probe(void)
{
	has_perf_ioctl = !register_kprobe(&perf_ioctl);
	symbol_note(SYMBOL_perf_ioctl, has_perf_ioctl);
}

void flush_disable_unprobe(void)
{
	if (has_perf_ioctl)
		unregister_kprobe(&perf_ioctl);
}
