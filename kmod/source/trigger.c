// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

#include "../compat.h"
#include "arch.h"
#include "busy.h"
#include "cores.h"
#include "../session.h"
#include "source.h"
#include "trigger.h"

/* Perf takes a frequency of 0 for none. */
static bool trigger_has_frequency(const struct perf_event_attr *attr)
{
	return attr->freq && attr->sample_freq;
}

struct perf_event_attr trigger_counter_attr(const struct core_pmu *pmu,
					    u64 branch_sample_type)
{
	if (branch_sample_type)
		branch_sample_type |= ARCH_RECORD_KINDS;
	return (struct perf_event_attr) {
		.type = pmu->type,
		.size = sizeof(struct perf_event_attr),
		.config = pmu->event,
		.sample_period = TRIGGER_PERIOD,
		.sample_type = branch_sample_type ?
			       PERF_SAMPLE_BRANCH_STACK : 0,
		/*
		 * As many branches as a stack can have. Newer kernels use it.
		 */
		.sample_max_stack = branch_sample_type ?
				    PERF_MAX_STACK_DEPTH : 0,
		.branch_sample_type = branch_sample_type,
		/*
		 * Others are refused while a virtual machine has the counters.
		 */
		.exclude_guest = 1,
	};
}

struct perf_event_attr trigger_clock_attr(void)
{
	return (struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = TRIGGER_NS,
	};
}

static u64 trigger_first_period(const struct perf_event_attr *attr,
				bool branches)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return TRIGGER_FIRST_NS;
	return branches ? TRIGGER_FIRST_BRANCHES : TRIGGER_FIRST_PERIOD;
}

/*
 * Set period or frequency. A clock's frequency becomes a fixed period, so that
 * the module can change it from tick to tick.
 */
static void trigger_set_period(struct perf_event_attr *attr,
			       const struct root *root)
{
	const struct perf_event_attr *want = &root->event->attr;

	if (root->has_budget) {
		bool branches = root->session->config.branches_wanted;

		attr->sample_period = trigger_first_period(attr, branches);
		if (!want->freq && want->sample_period > attr->sample_period)
			attr->sample_period = want->sample_period;
		return;
	}
	if (trigger_has_frequency(want) && attr->type == PERF_TYPE_SOFTWARE) {
		attr->sample_period = div64_u64(NSEC_PER_SEC,
						want->sample_freq);
	} else if (want->sample_period) {
		attr->sample_period = want->sample_period;
		attr->freq = trigger_has_frequency(want);
	}
}

static void trigger_set_places(struct perf_event_attr *attr,
			       const struct root *root)
{
	const struct perf_event_attr *want = &root->event->attr;
	const struct session_config *config = &root->session->config;

	attr->inherit = want->inherit;
	attr->inherit_thread = want->inherit_thread;
	attr->exclude_user = want->exclude_user;
	attr->exclude_kernel = want->exclude_kernel || config->burst;
	/* Ticks in the kernel cost something, too. */
	if (config->clocked && config->budget_permille)
		attr->exclude_kernel = 0;
	attr->exclude_hv = want->exclude_hv;
	attr->exclude_idle = want->exclude_idle;
	attr->exclude_host = want->exclude_host;
	attr->exclude_guest = want->exclude_guest;
}

static int trigger_open_counter(struct root *root, struct perf_event_attr attr,
				perf_overflow_handler_t handler)
{
	const struct perf_event *event = root->event;
	struct perf_event *counter;

	attr.disabled = 1;	/* perf has not checked any rights yet */
	trigger_set_period(&attr, root);
	trigger_set_places(&attr, root);
	if (attr.inherit &&
	    (attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		attr.sample_type |= compat_unswapped;
	counter = perf_event_create_kernel_counter(&attr, event->cpu,
						   event->hw.target, handler,
						   root->session);
	if (IS_ERR(counter)) {
		int err = PTR_ERR(counter);

		/*
		 * Perf would take ENOENT to mean that another PMU has the
		 * event.
		 */
		return err == -ENOENT ? -EOPNOTSUPP : err;
	}
	root->triggers[root->trigger_count++] = counter;
	return 0;
}

/*
 * Make a counter on each PMU that needs one; it only counts on the PMU's own
 * cores. A kind of core that cannot have one is left out, if another one can.
 */
static int trigger_open_counters(struct root *root,
				 perf_overflow_handler_t handler,
				 u64 branch_sample_type)
{
	struct core_pmu pmus[CORE_PMUS_MAX];
	u32 i, count = cores_choose(root->event->cpu,
				    root->session->config.raw_event, pmus);
	int err = -EOPNOTSUPP;

	for (i = 0; i < count; i++) {
		struct perf_event_attr attr =
			trigger_counter_attr(&pmus[i], branch_sample_type);

		err = trigger_open_counter(root, attr, handler);
		if (err && err != -EOPNOTSUPP)
			return err;
	}
	return root->trigger_count ? 0 : err;
}

int trigger_open(struct root *root, perf_overflow_handler_t handler,
		 u64 branch_sample_type)
{
	struct task_struct *target = root->event->hw.target;
	int err;

	if (!target) {
		err = busy_get();
		if (err)
			return err;
		root->wide = true;
	}
	err = root->session->config.clocked ?
	      trigger_open_counter(root, trigger_clock_attr(), handler) :
	      trigger_open_counters(root, handler, branch_sample_type);
	if (err)
		trigger_close(root);
	return err;
}

/*
 * Start the counters. A child forked between perf's checks and this call has
 * none that runs.
 */
void trigger_begin(struct root *root)
{
	unsigned int i;

	for (i = 0; i < root->trigger_count; i++)
		perf_event_enable(root->triggers[i]);
}

/* See trigger.h. Perf keeps a frequency where it keeps a period. */
void trigger_tune(struct perf_event *event, u64 distance)
{
	if (event->attr.sample_period == distance)
		return;
	WRITE_ONCE(event->attr.sample_period, distance);
	if (!event->attr.freq)
		event->hw.sample_period = distance;
}

/* See trigger.h. */
void trigger_jitter(struct perf_event *event, u64 random)
{
	u64 period = event->attr.sample_period;

	/* Perf takes no period that is 0 or negative. */
	if (!event->attr.freq && period > 1 && period < S64_MAX / 2)
		event->hw.sample_period = period / 2 +
			mul_u64_u32_shr(period, random >> 32, 32);
}

/* See trigger.h. */
u64 trigger_period(const struct session *session,
		   const struct perf_event *event,
		   const struct perf_sample_data *data)
{
	return session->config.clocked ? event->hw.sample_period : data->period;
}

/*
 * Until the next tick of the kernel, hw.interrupts of a throttled event is
 * MAX_INTERRUPTS, a constant of kernel/events/core.c.
 */
bool trigger_is_throttled(const struct perf_event *event)
{
	return event->hw.interrupts == ~0ULL;
}

/* event->count has the time until perf started the event last. */
u64 trigger_clock_time(const struct perf_event *event)
{
	return local64_read(&event->count) + local_clock() -
	       local64_read(&event->hw.prev_count);
}

bool trigger_is_open(const struct root *root)
{
	return root->trigger_count;
}

bool trigger_is(const struct root *root, const struct perf_event *counter)
{
	unsigned int i;

	for (i = 0; i < root->trigger_count; i++)
		if (root->triggers[i] == counter)
			return true;
	return false;
}

void trigger_close(struct root *root)
{
	while (root->trigger_count)
		perf_event_release_kernel(
			root->triggers[--root->trigger_count]);
	if (root->wide)
		busy_put();
	root->wide = false;
}

/* Return NULL if the PMU of @cpu can have such a counter, else why not. */
static const char *trigger_missing_on(int cpu, const struct core_pmu *pmu,
				      u64 branch_sample_type)
{
	struct perf_event_attr attr =
		trigger_counter_attr(pmu, branch_sample_type);
	struct perf_event *counter;

	attr.disabled = 1;
	counter = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL,
						   NULL);
	if (IS_ERR(counter)) {
		if (PTR_ERR(counter) == -ENOENT)
			return "no hardware counters";
		if (PTR_ERR(counter) == -EOPNOTSUPP)
			return "the hardware counters keep no branch records";
		return "the hardware counters are in use, or refuse";
	}
	perf_event_release_kernel(counter);
	return NULL;
}

/* One kind of core that can have it is enough. */
const char *trigger_missing(u64 branch_sample_type)
{
	const char *why = ARCH_NO_TAKEN_BRANCHES;
	struct core_pmu pmus[CORE_PMUS_MAX];
	int cpu;

	for_each_online_cpu(cpu) {
		if (!cores_choose(cpu, 0, pmus))
			continue;
		why = trigger_missing_on(cpu, pmus, branch_sample_type);
		if (!why || cores_are_alike())
			break;
	}
	return why;
}
