// SPDX-License-Identifier: GPL-2.0-only
/* The perf PMU `hwprof`: what perf asks, in terms of sessions and slots. */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "../compat.h"
#include "../field.h"
#include "../session.h"
#include "../source/source.h"
#include "../source/trigger.h"
#include "front.h"

static struct slot *this_slot(struct perf_event *event)
{
	return this_cpu_ptr(event_session(event)->slots);
}

/* --- who may ask for what -------------------------------------------------- */

/* Only step has them: the others' windows are as long as they are. */
static int check_burst(const struct perf_event_attr *attr)
{
	u64 burst = field_get(attr, FIELD_burst);

	return burst && (burst < HWPROF_BURST_MIN || burst > HWPROF_BURST_MAX ||
			 source_of(attr) != &step_source) ? -EINVAL : 0;
}

/*
 * Windows, or samples: they are summarised, or counted. Samples are of code, and
 * neither they nor branch records have loads and stores.
 */
static int check_windows(const struct perf_event_attr *attr)
{
	if (source_of(attr) == &sample_source ?
	    !field_engine(attr)->samples || field_get(attr, FIELD_range_of) :
	    !field_engine(attr)->feed_window)
		return -EOPNOTSUPP;
	if (source_of(attr) != &step_source && field_wants_accesses(attr))
		return -EOPNOTSUPP;
	if (field_engine(attr)->immediate ||
	    (attr->sample_period && !field_get(attr, FIELD_rows)))
		return -EOPNOTSUPP;
	return 0;
}

/* Only ranges have an error and a stream to choose. */
static int check_ranges(const struct perf_event_attr *attr)
{
	u64 epsilon = field_get(attr, FIELD_epsilon_ppm);
	u64 of = field_get(attr, FIELD_range_of);

	if (epsilon > HWPROF_EPSILON_PPM_MAX || of >= HWPROF_RANGES_OF_COUNT ||
	    ((epsilon || of) && field_engine(attr) != &range_engine))
		return -EINVAL;
	return 0;
}

/* Loads are no loops: there is nothing to span. */
static int check_values(const struct perf_event_attr *attr)
{
	return field_get(attr, FIELD_values) && field_get(attr, FIELD_span) ?
	       -EINVAL : 0;
}

static int check_fields(const struct perf_event_attr *attr)
{
	int word, err;

	if (compat_more_config(attr))
		return -EINVAL;
	for (word = 0; word < 3; word++)
		if (field_word(attr, word) & ~fields_of_word(word))
			return -EINVAL;
	if (hweight64(attr->config & field_bits(FIELD_branches, FIELD_cct)) != 1)
		return -EINVAL;	/* one thing an event */
	if (hweight64(attr->config & field_bits(FIELD_step, FIELD_mem)) > 1)
		return -EINVAL;	/* one source an event */
	if (!field_engine(attr) ||
	    field_get(attr, FIELD_mem) ||
	    field_get(attr, FIELD_budget_permille) ||
	    field_get(attr, FIELD_session))
		return -EOPNOTSUPP;
	err = check_burst(attr) ?: trigger_check(attr) ?: check_ranges(attr) ?:
	      check_values(attr);
	if (err)
		return err;
	if (source_of(attr)->missing())
		return -EOPNOTSUPP;
	return trigger_wanted(attr) ? check_windows(attr) : 0;
}

static int check_attr(const struct perf_event_attr *attr)
{
	if (attr->precise_ip || attr->sigtrap || attr->aux_output ||
	    attr->sample_type & (PERF_SAMPLE_BRANCH_STACK |
				 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
				 PERF_SAMPLE_REGS_INTR))
		return -EOPNOTSUPP;
	/* A row is about a process that need not be the one that runs. */
	if (field_get(attr, FIELD_rows) &&
	    attr->sample_type & (PERF_SAMPLE_PHYS_ADDR |
				 PERF_SAMPLE_DATA_PAGE_SIZE |
				 PERF_SAMPLE_CODE_PAGE_SIZE))
		return -EOPNOTSUPP;
	if (attr->exclude_user && source_of(attr) == &step_source)
		return -EOPNOTSUPP;	/* stepping sees nothing else */
	return 0;
}

/*
 * All branches of all programs, or what they have in memory and where, tell more
 * than perf's own -a does.
 */
static int check_right(const struct perf_event *event)
{
	if (!event->hw.target && !perfmon_capable() &&
	    (field_get(&event->attr, FIELD_branches) ||
	     field_wants_accesses(&event->attr)))
		return -EACCES;
	return 0;
}

/* --- events ------------------------------------------------------------------ */

static void root_free(struct root *root)
{
	session_put(root->session);
	kfree(root);
}

static void root_close(struct work_struct *work)
{
	struct root *root = container_of(work, struct root, close_work);

	trigger_close(root);
	root_free(root);
}

/* Perf holds locks here that a trigger needs to go. */
static void event_destroy(struct perf_event *event)
{
	struct root *root = event->pmu_private;
	struct session *session = root->session;
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_del(&root->link);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
	if (root->trigger)
		queue_work(hwprof_workqueue, &root->close_work);
	else
		root_free(root);
}

static int make_root(struct perf_event *event)
{
	struct root *root = kzalloc(sizeof(*root), GFP_KERNEL);
	unsigned long flags;
	int err;

	if (!root)
		return -ENOMEM;
	root->session = session_get(event);
	if (IS_ERR(root->session)) {
		err = PTR_ERR(root->session);
		kfree(root);
		return err;
	}
	root->event = event;
	INIT_WORK(&root->close_work, root_close);
	err = root->session->source->open(root);
	if (err) {
		root_free(root);
		return err;
	}
	event->pmu_private = root;
	event->destroy = event_destroy;
	raw_spin_lock_irqsave(&root->session->roots_lock, flags);
	list_add_tail(&root->link, &root->session->roots);
	raw_spin_unlock_irqrestore(&root->session->roots_lock, flags);
	return 0;
}

static int hwprof_event_init(struct perf_event *event)
{
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	event->hw.last_period = 0;	/* see slot.c */
	if (event->parent)	/* a fork: the session is there already */
		return 0;
	err = check_fields(&event->attr);
	if (!err)
		err = check_attr(&event->attr);
	if (!err)
		err = check_right(event);
	if (!err)
		err = make_root(event);
	return err;
}

static void hwprof_start(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!(hwc->state & PERF_HES_STOPPED))
		return;
	hwc->state = 0;
	if (local64_read(&hwc->period_left) <= 0)	/* perf has a new one */
		local64_set(&hwc->period_left, hwc->sample_period);
	local64_set(&hwc->prev_count, this_slot(event)->units);
}

static void hwprof_stop(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (hwc->state & PERF_HES_STOPPED)
		return;
	slot_update(this_slot(event), event);
	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int hwprof_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	slot_start(this_slot(event), event);
	if (flags & PERF_EF_START)
		hwprof_start(event, PERF_EF_RELOAD);
	perf_event_update_userpage(event);
	return 0;
}

static void hwprof_del(struct perf_event *event, int flags)
{
	hwprof_stop(event, PERF_EF_UPDATE);
	slot_stop(this_slot(event), event);
	perf_event_update_userpage(event);
}

static void hwprof_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		slot_update(this_slot(event), event);
}

/*
 * Perf changes something; interrupts are off. Where that is the opener who
 * disables an event of a task that does not run just now, no other callback
 * comes, and it reads its rings next.
 */
static void hwprof_pmu_disable(struct pmu *pmu)
{
	if (!in_hardirq())
		sessions_flush_here();
}

/* Perf wants both. */
static void hwprof_pmu_enable(struct pmu *pmu)
{
}

static struct pmu hwprof_pmu = {
	.module		= THIS_MODULE,
	/* Never fails to add, so it can be grouped with any hardware PMU. */
	.task_ctx_nr	= perf_sw_context,
	.attr_groups	= hwprof_pmu_groups,
	.pmu_enable	= hwprof_pmu_enable,
	.pmu_disable	= hwprof_pmu_disable,
	.event_init	= hwprof_event_init,
	.add		= hwprof_add,
	.del		= hwprof_del,
	.start		= hwprof_start,
	.stop		= hwprof_stop,
	.read		= hwprof_read,
};

int pmu_init(void)
{
	return perf_pmu_register(&hwprof_pmu, HWPROF_PMU_NAME, -1);
}

void pmu_exit(void)
{
	perf_pmu_unregister(&hwprof_pmu);
}
