// SPDX-License-Identifier: GPL-2.0-only
/* The perf PMU "hwprof": perf's callbacks, in terms of sessions and lanes. */
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "../compat.h"
#include "../filter.h"
#include "../flush.h"
#include "../right.h"
#include "../session.h"
#include "../source/budget.h"
#include "../source/source.h"
#include "../source/trigger.h"
#include "closing.h"
#include "front.h"

static struct lane *pmu_this_lane(struct perf_event *event)
{
	return this_cpu_ptr(event_session(event)->lanes);
}

/* --- events --------------------------------------------------------------- */

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
	closing_put_root(root);
}

/*
 * Start the trigger. The opener's system call is done; if perf has refused the
 * event, the event is gone. Another thread may close it meanwhile.
 */
static void pmu_root_begin(struct callback_head *work)
{
	struct root *root = container_of(work, struct root, task_work);
	const struct perf_event *event;
	bool fits;

	rcu_read_lock();
	event = READ_ONCE(root->event);
	fits = event && event_fits(event);
	rcu_read_unlock();
	if (fits)
		trigger_begin(root);
	closing_put_root(root);
}

/*
 * Perf checks rights only after event_init(). The trigger must not run until
 * then, so it is started when the opener is about to return to its program.
 */
static int pmu_root_begin_later(struct root *root)
{
	int err;

	init_task_work(&root->task_work, pmu_root_begin);
	refcount_inc(&root->users);
	err = task_work_add(current, &root->task_work, TWA_RESUME);
	if (err)
		refcount_dec(&root->users);
	return err;
}

/* Sources of windows have triggers. */
static int pmu_root_prepare(struct root *root)
{
	if (!root->session->config.windows)
		return 0;
	return closing_prepare(root) ?: pmu_root_begin_later(root);
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
	refcount_set(&root->users, 1);
	/* This comes before the source begins. */
	if (!event->hw.target && !root->session->privileged)
		WRITE_ONCE(root->session->foreign, true);
	err = pmu_root_prepare(root) ?: root->session->source->open(root);
	if (err) {
		WRITE_ONCE(root->event, NULL);
		closing_put_root(root);
		return err;
	}
	/* The kernel logs refusals. It is not asked once such an event ran. */
	root->aloof = event->hw.target &&
		      (READ_ONCE(root->session->aloof) ||
		       !right_delay(&root->session->config, event->hw.target));
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
	    event->state != PERF_EVENT_STATE_ACTIVE || !event_fits(event))
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
	if (event_fits(event)) {
		perf_event_addr_filters_sync(event);
		lane_start(pmu_this_lane(event), event);
	}
	if (flags & PERF_EF_START)
		pmu_start(event, PERF_EF_RELOAD);
	perf_event_update_userpage(event);
	return 0;
}

static void pmu_del(struct perf_event *event, int flags)
{
	pmu_stop(event, PERF_EF_UPDATE);
	if (event_fits(event))
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
	int err = closings_init();

	if (err)
		return err;
	flush_disable_probe(&hwprof_pmu);
	spaces_probe();
	err = perf_pmu_register(&hwprof_pmu, HWPROF_PMU_NAME, -1);
	if (err) {
		spaces_unprobe();
		flush_disable_unprobe();
		closings_exit();
	}
	return err;
}

void pmu_exit(void)
{
	perf_pmu_unregister(&hwprof_pmu);
	spaces_unprobe();
	flush_disable_unprobe();
	closings_exit();
}
