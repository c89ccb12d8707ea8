// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of a session without rows: each stands for a period of units, as
 * those of perf's own events do. Interrupts are off in all functions.
 */
#include <linux/jiffies.h>
#include <linux/rculist.h>
#include <linux/static_call.h>

#include "arch.h"
#include "compat.h"
#include "lane_sample.h"
#include "session.h"
#include "symbol.h"

/*
 * A step may be a unit of many events. Its samples are written with interrupts
 * off, so there are few of them; the other events have theirs at a later unit.
 */
enum {
	/* For a CPU at a step; else for a task in a tick. */
	SAMPLES_MOST	= 8,
	/* Events of a group that perf reads in the time of a sample. */
	GROUP_SAMPLE	= 8,
	LOOKS_MOST	= 4096,	/* at events, to find rests in that time */
};

struct allowance {
	unsigned int left;	/* samples that may be written */
	unsigned int looks;
	/* When it was renewed. */
	unsigned long tick;	/* jiffies */
	pid_t task;
};

static DEFINE_PER_CPU(struct allowance, allowance);

/*
 * perf_event_overflow() throttles, counts limits and runs BPF programs, but it
 * is not exported. It is looked up once. Without it, samples are not throttled.
 */
static int lane_sample_plain(struct perf_event *event,
			     struct perf_sample_data *data,
			     struct pt_regs *regs)
{
	event->overflow_handler(event, data, regs);
	return 0;
}

DEFINE_STATIC_CALL(overflow, lane_sample_plain);

void lane_sample_init(void)
{
	void *found = symbol_find(SYMBOL_perf_event_overflow);

	static_assert(__same_type(perf_event_overflow, lane_sample_plain));
	if (found)
		static_call_update(overflow,
				   (typeof(&lane_sample_plain))found);
}

/* --- how many ------------------------------------------------------------- */

bool lane_sample_renew(void)
{
	struct allowance *ours = this_cpu_ptr(&allowance);
	bool spent = !ours->left;

	ours->left = SAMPLES_MOST;
	ours->looks = LOOKS_MOST;
	ours->tick = jiffies;
	ours->task = current->pid;
	return spent;
}

/*
 * Return how many samples one of the event counts for. Perf reads the counts of
 * the event's group.
 */
static unsigned int lane_sample_weight(const struct perf_event *event)
{
	unsigned int weight = 1;

	if (event->attr.sample_type & PERF_SAMPLE_READ &&
	    event->attr.read_format & PERF_FORMAT_GROUP)
		weight += event->group_leader->nr_siblings / GROUP_SAMPLE;
	return min_t(unsigned int, weight, SAMPLES_MOST);
}

/* Return what this CPU's task still has in this tick. */
static struct allowance *lane_sample_allowance(void)
{
	struct allowance *ours = this_cpu_ptr(&allowance);

	if (ours->tick != jiffies || ours->task != current->pid)
		lane_sample_renew();
	return ours;
}

/* Return true if a sample of that weight may be written now. */
static bool lane_sample_allowed(unsigned int weight)
{
	struct allowance *ours = lane_sample_allowance();

	if (ours->left < weight) {
		ours->left = 0;
		return false;
	}
	ours->left -= weight;
	return true;
}

/* --- samples -------------------------------------------------------------- */

/*
 * Return the units since the event's last sample, which become the period of
 * the next one. So periods add up to the count, also if perf throttles the
 * event or changes its period. They are in a field of struct hw_perf_event that
 * a PMU is free to use, as is the event's last unit. It is 0 in a new event;
 * perf sets last_period in those of children.
 */
static u64 *lane_sample_units(struct perf_event *event)
{
	return &event->hw.branch_reg.config;
}

static void lane_sample_note(struct hw_perf_event *hwc,
			     const struct stream_event *unit)
{
	hwc->config_base = unit->from;
	hwc->event_base = unit->to;
	hwc->extra_reg.config = unit->value;
	hwc->extra_reg.idx = unit->width;
	hwc->idx = unit->kind;
}

static struct stream_event lane_sample_noted(const struct hw_perf_event *hwc)
{
	return (struct stream_event) {
		.from = hwc->config_base,
		.to = hwc->event_base,
		.value = hwc->extra_reg.config,
		.kind = hwc->idx,
		.width = hwc->extra_reg.idx,
	};
}

/*
 * Write a sample of the event's last unit. @rest: do not use perf's accounting,
 * because it is over.
 */
static void lane_sample_write(struct lane *lane, struct perf_event *event,
			      const struct pt_regs *regs, bool rest)
{
	struct engine_sample *sample = (void *)lane->row;
	struct stream_event unit = lane_sample_noted(&event->hw);
	u64 period = *lane_sample_units(event);
	struct perf_raw_record raw = {};
	struct perf_sample_data data;
	struct pt_regs there = *regs;

	lane->session->engine->sample(&lane->session->params, &unit, period,
				      sample);
	sample->row.session = lane->session->id;
	sample->row.pid = task_tgid_nr_ns(current, lane->session->pid_ns);
	*(u32 *)((void *)&sample->row + sample->row.size) = 0;
	raw.frag.data = &sample->row;
	raw.frag.size = sample->row.size + sizeof(u32);
	perf_sample_data_init(&data, sample->addr, period);
	compat_save_raw(&data, event, &raw);
	instruction_pointer_set(&there, sample->ip);
	lane_update(lane, event);	/* the sample may contain the count */
	event->hw.last_period = period;	/* perf chooses the next by it */
	*lane_sample_units(event) = 0;
	if (rest)
		compat_output_handler(event)(event, &data, &there);
	else
		local64_add(static_call(overflow)(event, &data, &there),
			    &lane->throttled);
	local64_set(&event->hw.period_left, event->hw.sample_period);
}

static void lane_sample_add(struct perf_event *event,
			    const struct stream_event *stream,
			    unsigned int units)
{
	lane_sample_note(&event->hw, stream);
	*lane_sample_units(event) += units;
	local64_sub(units, &event->hw.period_left);
}

/* Return true if a sample of the event is due, and may be written now. */
static bool lane_sample_is_due(const struct perf_event *event)
{
	return !(event->hw.state & PERF_HES_STOPPED) &&
	       local64_read(&event->hw.period_left) <= 0 &&
	       event->hw.interrupts != ~0ULL &&	/* not throttled */
	       lane_sample_allowed(lane_sample_weight(event));
}

/*
 * Events that have had a sample go to the end of the list, so each has its
 * turn. No NMI reads the list of a lane of steps. A sample may throttle all
 * events of its group, so each learns of the unit before one is written.
 */
static void lane_sample_write_due(struct lane *lane, const struct pt_regs *regs)
{
	struct perf_event *event, *next;
	LIST_HEAD(written);

	list_for_each_entry_safe(event, next, &lane->events, hw.tp_list) {
		if (!lane_sample_is_due(event))
			continue;
		lane_sample_write(lane, event, regs, false);
		list_move_tail(&event->hw.tp_list, &written);
	}
	list_splice_tail(&written, &lane->events);
}

void lane_sample_events(struct lane *lane, const struct stream_event *stream,
			unsigned int units, const struct pt_regs *regs)
{
	struct perf_event *event;

	if (!lane->session->key.sampling)
		return;
	if (unlikely(lane->active > lane->listed))
		lane_count(&lane->lost_events, 1);
	list_for_each_entry(event, &lane->events, hw.tp_list)
		if (!(event->hw.state & PERF_HES_STOPPED))
			lane_sample_add(event, stream, units);
	lane_sample_write_due(lane, regs);
}

static bool lane_sample_leads(const struct perf_event *event)
{
	return event->group_leader == event;
}

/*
 * Return true if @other counts the same on another CPU. A session may have
 * events of several periods and kinds.
 */
static bool lane_sample_is_twin(const struct perf_event *event,
				struct perf_event *other)
{
	return other->pmu == event->pmu && other->cpu >= 0 &&
	       other->cpu != event->cpu &&
	       event_session(other) == event_session(event) &&
	       lane_sample_leads(other) == lane_sample_leads(event) &&
	       other->attr.sample_type == event->attr.sample_type &&
	       other->attr.read_format == event->attr.read_format &&
	       other->attr.sample_period == event->attr.sample_period &&
	       other->attr.freq == event->attr.freq;
}

/*
 * Add the rests of the task's events of other CPUs. These have seen a part of
 * their period, and may never run again. Perf holds the context's lock, and
 * they are not active. Return false if there are too many events to look at.
 */
static bool lane_sample_gather(struct perf_event *event)
{
	struct allowance *ours = lane_sample_allowance();
	struct perf_event *other;
	struct stream_event unit;

	list_for_each_entry(other, &event->ctx->event_list, event_entry) {
		if (!ours->looks)
			return false;
		ours->looks--;
		if (!lane_sample_is_twin(event, other) ||
		    !*lane_sample_units(other))
			continue;
		unit = lane_sample_noted(&other->hw);
		if (!*lane_sample_units(event))
			lane_sample_note(&event->hw, &unit);
		*lane_sample_units(event) += *lane_sample_units(other);
		*lane_sample_units(other) = 0;
	}
	return true;
}

/*
 * Write a last sample for the rest of the period, if samples contain their
 * period. Without that, a reader would take the rest for a whole period. It is
 * written when the task exits, or when the event is disabled. Disabling can
 * only be recognised by being in an interrupt. Perf also rotates events in
 * interrupts; then there is one more sample, and the sum of the periods is the
 * same. Perf may stop many events at once. An event that is not allowed a
 * sample then keeps what rest it may have, which counts as a lost event, as do
 * rests that are not found. A CPU-wide event no longer has a known owner.
 */
void lane_sample_rest(struct lane *lane, struct perf_event *event)
{
	/* The true ones are long gone. */
	struct pt_regs regs = arch_user_regs();
	bool complete;

	if (!in_hardirq() && !(current->flags & PF_EXITING))
		return;
	if (!is_sampling_event(event) || lane->session->rows ||
	    !event->hw.target ||
	    !(event->attr.sample_type & PERF_SAMPLE_PERIOD))
		return;
	complete = event->cpu < 0 || lane_sample_gather(event);
	if (*lane_sample_units(event)) {
		if (lane_sample_allowed(lane_sample_weight(event)))
			lane_sample_write(lane, event, &regs, true);
		else
			complete = false;
	}
	if (!complete)
		lane_count(&lane->lost_events, 1);
}
