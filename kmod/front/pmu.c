// SPDX-License-Identifier: GPL-2.0-only
/* The perf PMU "hwprof": perf's callbacks, in terms of sessions and lanes. */
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "../compat.h"
#include "../filter.h"
#include "../right.h"
#include "../session.h"
#include "../source/budget.h"
#include "../source/source.h"
#include "../source/trigger.h"
#include "front.h"

static struct lane *pmu_this_lane(struct perf_event *event)
{
	return this_cpu_ptr(event_session(event)->lanes);
}

/* --- events --------------------------------------------------------------- */

static void pmu_root_free(struct root *root)
{
	session_put(root->session);
	kfree_rcu(root, rcu);	/* forks look at events: see filter_space.c */
	module_put(THIS_MODULE);
}

static void pmu_root_close_in_task(struct callback_head *work)
{
	struct root *root = container_of(work, struct root, task_work);

	trigger_close(root);
	pmu_root_free(root);
}

/*
 * Kernel threads cannot wait, nor can tasks that are past their last task work.
 * They leave roots to a workqueue, in which nothing but closings waits.
 *
 * A closing may wait for as long as a user likes. The workqueue runs
 * WQ_MAX_ACTIVE of them at a time; since 6.9 a NUMA node has its part of that.
 * The sessions of one user get a few of these, and take turns at them. So a
 * user delays closings of others only together with many more users, or with
 * as many user ids, and rows of others never.
 */
enum { USER_CLOSINGS = WQ_MAX_ACTIVE / 64 };

static struct workqueue_struct *pmu_workqueue;
static LIST_HEAD(pmu_closings);			/* struct root.link */
/* Their users have USER_CLOSINGS in pmu_closings. */
static LIST_HEAD(pmu_waiting_closings);
static DEFINE_MUTEX(pmu_closings_lock);

/* Return true if one more closing of the user's may run. The lock is held. */
static bool pmu_user_may_close(const struct user_struct *user)
{
	unsigned int count = 0;
	struct root *root;

	list_for_each_entry(root, &pmu_closings, link)
		count += root->session->user == user;
	return count < USER_CLOSINGS;
}

/* The lock is held. */
static void pmu_start_waiting_closing(const struct user_struct *user)
{
	struct root *root;

	list_for_each_entry(root, &pmu_waiting_closings, link) {
		if (root->session->user == user) {
			list_move_tail(&root->link, &pmu_closings);
			queue_work(pmu_workqueue, &root->close_work);
			return;
		}
	}
}

static void pmu_root_close_in_worker(struct work_struct *work)
{
	struct root *root = container_of(work, struct root, close_work);
	const struct user_struct *user = root->session->user;

	trigger_close(root);
	mutex_lock(&pmu_closings_lock);
	/*
	 * The list of waiting closings has no bound. Only a user who has
	 * closings in it walks it.
	 */
	if (!pmu_user_may_close(user))
		pmu_start_waiting_closing(user);
	list_del(&root->link);
	mutex_unlock(&pmu_closings_lock);
	pmu_root_free(root);
}

static void pmu_root_leave_to_worker(struct root *root)
{
	mutex_lock(&pmu_closings_lock);
	if (pmu_user_may_close(root->session->user)) {
		list_add_tail(&root->link, &pmu_closings);
		queue_work(pmu_workqueue, &root->close_work);
	} else {
		list_add_tail(&root->link, &pmu_waiting_closings);
	}
	mutex_unlock(&pmu_closings_lock);
}

/*
 * Release the triggers later, because perf may hold locks here that this needs.
 * A user may keep perf's lock of the target for as long as they like, with an
 * ioctl that copies from memory of theirs. So whoever has closed the event
 * waits for it, if that is possible.
 */
static void pmu_root_close_later(struct root *root)
{
	init_task_work(&root->task_work, pmu_root_close_in_task);
	if (!compat_runs_task_works(current) ||
	    task_work_add(current, &root->task_work, TWA_RESUME))
		pmu_root_leave_to_worker(root);
}

/* Drop a reference. */
static void pmu_root_put(struct root *root)
{
	if (!refcount_dec_and_test(&root->users))
		return;
	if (trigger_is_open(root))
		pmu_root_close_later(root);
	else
		pmu_root_free(root);
}

/*
 * Perf waited for the event's irq_work before. A row that was written since may
 * have queued it again.
 */
static void pmu_event_destroy(struct perf_event *event)
{
	struct root *root = event->pmu_private;

	session_remove_root(root->session, root);
	filter_event_closed(root->session);
	irq_work_sync(&event->pending_irq);
	pmu_root_put(root);
}

/*
 * Start the trigger. The opener's system call is done; if perf has refused the
 * event, the event is gone.
 */
static void pmu_root_begin(struct callback_head *work)
{
	struct root *root = container_of(work, struct root, task_work);

	if (READ_ONCE(root->event))
		trigger_begin(root);
	pmu_root_put(root);
}

/*
 * Perf checks rights only after event_init(). The trigger must not run until
 * then, so it is started when the opener is about to return to its program.
 */
static int pmu_root_begin_later(struct root *root)
{
	int err;

	if (!root->session->config.windows)
		return 0;
	init_task_work(&root->task_work, pmu_root_begin);
	refcount_inc(&root->users);
	err = task_work_add(current, &root->task_work, TWA_RESUME);
	if (err)
		refcount_dec(&root->users);
	return err;
}

static int pmu_check_target(const struct session_config *config,
			    struct task_struct *target)
{
	return right_watch(config, target) ?:
	       config_check_target(config, target);
}

/*
 * Return the session that the event names or, if it names none, the one that
 * its opener has or gets.
 */
static struct session *pmu_session_of(struct perf_event *event,
				      const struct session_config *config)
{
	struct task_struct *target = event->hw.target;
	struct session *session;
	int err;

	if (!config->session) {
		err = config_check_session(config) ?:
		      pmu_check_target(config, target);
		return err ? ERR_PTR(err) : session_get(event, config);
	}
	session = session_find(config->session);
	if (IS_ERR(session))
		return session;
	err = config_check_feeder(config, &session->config) ?:
	      pmu_check_target(&session->config, target);
	if (!err)
		return session;
	session_put(session);
	return ERR_PTR(err);
}

static int pmu_make_root(struct perf_event *event,
			 const struct session_config *config)
{
	struct root *root = kzalloc(sizeof(*root), GFP_KERNEL_ACCOUNT);
	int err;

	if (!root)
		return -ENOMEM;
	root->session = pmu_session_of(event, config);
	if (IS_ERR(root->session)) {
		err = PTR_ERR(root->session);
		kfree(root);
		return err;
	}
	/* Perf holds the module for the event, which may be gone earlier. */
	__module_get(THIS_MODULE);
	root->event = event;
	root->has_budget = config->budget_permille;
	INIT_WORK(&root->close_work, pmu_root_close_in_worker);
	refcount_set(&root->users, 1);
	/* This comes before the source begins. */
	if (!event->hw.target && !root->session->privileged)
		WRITE_ONCE(root->session->foreign, true);
	err = pmu_root_begin_later(root) ?: root->session->source->open(root);
	if (err) {
		WRITE_ONCE(root->event, NULL);
		pmu_root_put(root);
		return err;
	}
	event->pmu_private = root;
	event->destroy = pmu_event_destroy;
	session_add_root(root->session, root);
	return 0;
}

static int pmu_event_init(struct perf_event *event)
{
	struct session_config config;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	event->hw.last_period = 0;	/* see lane.c */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (event->parent)	/* a fork: the session exists */
		return 0;
	config_of_attr(&config, &event->attr);
	return config_check_event(&config, &event->attr) ?:
	       pmu_make_root(event, &config);
}

static void pmu_start(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	/* 6.16 also starts events of a group that are disabled. */
	if (!(hwc->state & PERF_HES_STOPPED) ||
	    event->state != PERF_EVENT_STATE_ACTIVE)
		return;
	/* pmu_add() has just done it if perf reloads. */
	if (!(flags & PERF_EF_RELOAD))
		perf_event_addr_filters_sync(event);
	hwc->state = 0;
	/* Perf has set a new one. */
	if (local64_read(&hwc->period_left) <= 0)
		local64_set(&hwc->period_left, hwc->sample_period);
	local64_set(&hwc->prev_count, pmu_this_lane(event)->units);
}

static void pmu_stop(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (hwc->state & PERF_HES_STOPPED)
		return;
	/*
	 * Perf throttles the event's group, since 6.16. Tables go on learning,
	 * so the count goes on, too: it is the sum of the rows.
	 */
	if (!(flags & PERF_EF_UPDATE) && event_session(event)->rows)
		return;
	lane_update(pmu_this_lane(event), event);
	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int pmu_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	perf_event_addr_filters_sync(event);
	lane_start(pmu_this_lane(event), event);
	if (flags & PERF_EF_START)
		pmu_start(event, PERF_EF_RELOAD);
	perf_event_update_userpage(event);
	return 0;
}

static void pmu_del(struct perf_event *event, int flags)
{
	pmu_stop(event, PERF_EF_UPDATE);
	lane_stop(pmu_this_lane(event), event);
	perf_event_update_userpage(event);
}

static void pmu_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		lane_update(pmu_this_lane(event), event);
}

static struct pmu hwprof_pmu = {
	.module		= THIS_MODULE,
	/*
	 * Adding never fails, so the event can be grouped with those of any
	 * PMU.
	 */
	.task_ctx_nr	= perf_sw_context,
	.attr_groups	= hwprof_pmu_groups,
	.event_init	= pmu_event_init,
	.add		= pmu_add,
	.del		= pmu_del,
	.start		= pmu_start,
	.stop		= pmu_stop,
	.read		= pmu_read,
	.nr_addr_filters	= FILTER_RANGES,
	.addr_filters_validate	= filter_validate,
	.addr_filters_sync	= filter_sync,
};

int pmu_init(void)
{
	int err;

	pmu_workqueue = alloc_workqueue("hwprof_close", WQ_UNBOUND,
					WQ_MAX_ACTIVE);
	if (!pmu_workqueue)
		return -ENOMEM;
	err = perf_pmu_register(&hwprof_pmu, HWPROF_PMU_NAME, -1);
	if (err)
		destroy_workqueue(pmu_workqueue);
	return err;
}

void pmu_exit(void)
{
	perf_pmu_unregister(&hwprof_pmu);
	/*
	 * Each root has held the module, so all are closed. Wait for works that
	 * are about to return.
	 */
	destroy_workqueue(pmu_workqueue);
}
