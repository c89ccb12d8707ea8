// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

#include "arch.h"
#include "busy.h"
#include "../field.h"
#include "../session.h"
#include "source.h"
#include "trigger.h"

bool trigger_wanted(const struct perf_event_attr *attr)
{
	return source_of(attr) != &step_source || field_get(attr, FIELD_burst);
}

/* The raw event that it names; 0: none. */
static u64 named_event(const struct perf_event_attr *attr)
{
	u64 event = 0;

#define X(name, low)	event |= field_get(attr, FIELD_##name) << (low);
	HWPROF_TRIGGER(X)
#undef X
	return event;
}

int trigger_check(const struct perf_event_attr *attr)
{
	u64 event = named_event(attr);

	if (event && !trigger_wanted(attr))
		return -EINVAL;
	if (event && !field_get(attr, FIELD_trigger))
		return -EINVAL;		/* how to count, but not what */
	return event & ~arch_raw_events() ? -EOPNOTSUPP : 0;
}

/* The raw event; 0: the clock. */
static u64 trigger_event(const struct perf_event_attr *attr)
{
	u64 event = named_event(attr);

	return event || source_of(attr) != &lbr_source ? event :
							 arch_taken_branches();
}

bool trigger_is_clock(const struct perf_event_attr *attr)
{
	return !trigger_event(attr);
}

/* A frequency of 0 is none. */
static bool has_frequency(const struct perf_event_attr *attr)
{
	return attr->freq && attr->sample_freq;
}

bool trigger_counts_branches(const struct perf_event_attr *attr)
{
	u64 event = trigger_event(attr);

	return event && event == arch_taken_branches() &&
	       !has_frequency(attr) && !field_get(attr, FIELD_budget_permille);
}

struct perf_event_attr trigger_counter_attr(u64 event, u64 branch_sample_type)
{
	return (struct perf_event_attr) {
		.type = PERF_TYPE_RAW,
		.size = sizeof(struct perf_event_attr),
		.config = event,
		.sample_period = TRIGGER_PERIOD,
		.sample_type = branch_sample_type ?
			       PERF_SAMPLE_BRANCH_STACK : 0,
		/* The most branches of a stack, on newer kernels. */
		.sample_max_stack = branch_sample_type ?
				    PERF_MAX_STACK_DEPTH : 0,
		.branch_sample_type = branch_sample_type,
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

static u64 first_period(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return TRIGGER_FIRST_NS;
	return attr->config == arch_taken_branches() ? TRIGGER_FIRST_BRANCHES :
						       TRIGGER_FIRST_PERIOD;
}

/* The clock's period does not change, so that it can be ours to change. */
static void set_period(struct perf_event_attr *attr,
		       const struct perf_event_attr *want)
{
	if (field_get(want, FIELD_budget_permille)) {
		attr->sample_period = first_period(attr);
		if (!want->freq && want->sample_period > attr->sample_period)
			attr->sample_period = want->sample_period;
		return;
	}
	if (has_frequency(want) && attr->type == PERF_TYPE_SOFTWARE) {
		attr->sample_period = div64_u64(NSEC_PER_SEC,
						want->sample_freq);
	} else if (want->sample_period) {
		attr->sample_period = want->sample_period;
		attr->freq = has_frequency(want);
	}
}

int trigger_open(struct root *root, perf_overflow_handler_t handler,
		 u64 branch_sample_type)
{
	const struct perf_event *event = root->event;
	const struct perf_event_attr *want = &event->attr;
	u64 what = trigger_event(&root->session->attr);
	struct perf_event_attr attr = what ?
		trigger_counter_attr(what, branch_sample_type) :
		trigger_clock_attr();
	struct perf_event *counter;
	int err;

	if (!what && branch_sample_type)
		return -EOPNOTSUPP;
	attr.disabled = 1;	/* perf has not checked any right yet */
	set_period(&attr, want);
	attr.inherit = want->inherit;
	attr.inherit_thread = want->inherit_thread;
	attr.exclude_user = want->exclude_user;
	attr.exclude_kernel = want->exclude_kernel || root->session->burst;
	if (!what && root->session->budget_permille)
		attr.exclude_kernel = 0;	/* such ticks cost something, too */
	attr.exclude_hv = want->exclude_hv;
	attr.exclude_idle = want->exclude_idle;
	attr.exclude_host = want->exclude_host;
	attr.exclude_guest = want->exclude_guest;
	if (!event->hw.target) {
		err = busy_get();
		if (err)
			return err;
	}
	counter = perf_event_create_kernel_counter(&attr, event->cpu,
						   event->hw.target, handler,
						   root->session);
	if (IS_ERR(counter)) {
		if (!event->hw.target)
			busy_put();
		err = PTR_ERR(counter);
		/* To perf, ENOENT says that the PMU is another one. */
		return err == -ENOENT ? -EOPNOTSUPP : err;
	}
	root->wide = !event->hw.target;
	root->trigger = counter;
	return 0;
}

/* What the task forks between perf's checks and this has no trigger that runs. */
void trigger_begin(struct root *root)
{
	perf_event_enable(root->trigger);
}

/* So that what recurs in the program is not met at the same place each time. */
void trigger_jitter(struct perf_event *event, u64 random)
{
	u64 period = event->attr.sample_period;

	/* Perf takes neither 0 nor what is negative. */
	if (!event->attr.freq && period > 1 && period < S64_MAX / 2)
		event->hw.sample_period = period / 2 +
			mul_u64_u32_shr(period, random >> 32, 32);
}

/* MAX_INTERRUPTS of kernel/events/core.c says so until the next tick. */
bool trigger_is_throttled(const struct perf_event *event)
{
	return event->hw.interrupts == ~0ULL;
}

/* Perf adds up what was counted until the event was last started. */
u64 trigger_clock_time(const struct perf_event *event)
{
	return local64_read(&event->count) + local_clock() -
	       local64_read(&event->hw.prev_count);
}

void trigger_close(struct root *root)
{
	perf_event_release_kernel(root->trigger);
	if (root->wide)
		busy_put();
}

const char *trigger_missing(u64 branch_sample_type)
{
	struct perf_event_attr attr =
		trigger_counter_attr(arch_taken_branches(), branch_sample_type);
	struct perf_event *counter;

	if (!attr.config)
		return "the event of taken branches is not known of this CPU";
	attr.disabled = 1;
	counter = perf_event_create_kernel_counter(&attr,
						   raw_smp_processor_id(),
						   NULL, NULL, NULL);
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
