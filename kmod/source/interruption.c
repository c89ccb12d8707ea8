// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

#include "arch.h"
#include "cores.h"
#include "../session.h"
#include "interruption.h"
#include "source.h"
#include "trigger.h"

enum {
	/*
	 * Interrupts that are measured; the least counts, as a busy host delays
	 * some.
	 */
	MEASURE_COUNT	= 16,
	MEASURE_NS	= 100 * 1000 * 1000,	/* longest time for that many */
	MEASURE_CLOCK	= 300 * 1000,		/* period of the clock, in ns */
	MEASURE_PERIOD	= 10007,		/* in taken branches */
	/* Ways back that are measured on each CPU. */
	WAYS_BACK	= 64,
};

enum interruption {
	BY_CLOCK,
	BY_COUNTER,
	WITH_BRANCHES,
	WITH_CALLS,
	INTERRUPTIONS,
};

/* Costs in the kernel, in ns; 0: not known. */
static struct {
	u64 cost;
	u64 way_back;
} in_kernel[INTERRUPTIONS];

/*
 * A CPU's way back from a handler to the interrupted code, and from there into
 * the next handler. An irq_work that is raised by the handler and waits until
 * then measures it. The way back to a program is longer than to the kernel,
 * often because of page tables and mitigations.
 */
struct way_back {
	struct irq_work next;
	enum interruption from;
	/* local_clock() at the end of the handler. */
	u64 begin;
	u64 took[INTERRUPTIONS];	/* average, in ns */
	/* Number of ways back that the average is over. */
	u32 seen[INTERRUPTIONS];
};

static DEFINE_PER_CPU(struct way_back, way_back);

static void interruption_way_back_ends(struct irq_work *work)
{
	struct way_back *way = container_of(work, struct way_back, next);
	u64 took = local_clock() - way->begin;

	/*
	 * It came too early: softirqs run on the way back and enable
	 * interrupts.
	 */
	if (in_serving_softirq())
		return;
	burst_own(&way->took[way->from], took);
	way->seen[way->from]++;
}

/* Begin to measure a way back, at the end of a handler. */
static void interruption_way_back_begins(enum interruption from)
{
	struct way_back *way = this_cpu_ptr(&way_back);

	if (way->seen[from] >= WAYS_BACK || !arch_irq_work_has_interrupt() ||
	    !irq_work_queue(&way->next))
		return;
	way->from = from;
	way->begin = local_clock();
}

/* The overflows of one measurement. */
struct overflows {
	unsigned int count;
	enum interruption by;
	bool go_back;
};

/* Any handler reads the clock before and after what it accounts for itself. */
static void interruption_note_overflow(struct perf_event *event,
				       struct perf_sample_data *data,
				       struct pt_regs *regs)
{
	struct overflows *overflows = event->overflow_handler_context;

	local_clock();
	WRITE_ONCE(overflows->count, overflows->count + 1);
	local_clock();
	if (overflows->go_back)
		interruption_way_back_begins(overflows->by);
}

/*
 * Return the least time that an interrupt takes away from a loop. That is the
 * longer of two times: between the two clock reads around the point where the
 * loop notices it, and between the two before.
 */
static u64 interruption_least_time(struct perf_event_attr *attr,
				   struct overflows *overflows)
{
	unsigned int seen = 0;
	u64 now, last, end, took = 0, least = 0;
	struct perf_event *counter;

	counter = perf_event_create_kernel_counter(attr, -1, current,
						   interruption_note_overflow,
						   overflows);
	if (IS_ERR(counter))
		return 0;
	last = local_clock();
	end = last + MEASURE_NS;
	while (seen < MEASURE_COUNT && last < end) {
		now = local_clock();
		if (took) {
			took = max(took, now - last);
			least = least ? min(least, took) : took;
			took = 0;
		}
		if (READ_ONCE(overflows->count) != seen) {
			seen = READ_ONCE(overflows->count);
			took = now - last;
		}
		last = now;
	}
	perf_event_release_kernel(counter);
	return least;
}

static void interruption_measure(struct perf_event_attr attr,
				 enum interruption by)
{
	struct overflows cost = { .by = by };
	struct overflows way_back_too = { .by = by, .go_back = true };
	struct way_back *way;

	migrate_disable();
	in_kernel[by].cost = interruption_least_time(&attr, &cost);
	interruption_least_time(&attr, &way_back_too);
	way = this_cpu_ptr(&way_back);
	irq_work_sync(&way->next);
	in_kernel[by].way_back = way->took[by];
	way->took[by] = way->seen[by] = 0;
	migrate_enable();
	pr_debug("tick %d costs %llu ns; its way back takes %llu ns\n", by,
		 in_kernel[by].cost, in_kernel[by].way_back);
}

static void interruption_measure_counter(u64 branch_sample_type,
					 enum interruption by)
{
	struct core_pmu pmus[CORE_PMUS_MAX];
	struct perf_event_attr attr;

	/* It would be waited for in vain. */
	if (!branch_sample_type && arch_counts_records())
		return;
	migrate_disable();
	if (cores_choose(raw_smp_processor_id(), 0, pmus)) {
		attr = trigger_counter_attr(pmus, branch_sample_type);
		attr.sample_period = MEASURE_PERIOD;
		interruption_measure(attr, by);
	}
	migrate_enable();
}

void interruptions_init(void)
{
	struct perf_event_attr attr = trigger_clock_attr();
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(way_back, cpu).next =
			IRQ_WORK_INIT_HARD(interruption_way_back_ends);
	attr.sample_period = MEASURE_CLOCK;
	interruption_measure(attr, BY_CLOCK);
	interruption_measure_counter(0, BY_COUNTER);
	interruption_measure_counter(TRIGGER_BRANCHES, WITH_BRANCHES);
	interruption_measure_counter(TRIGGER_CALLS, WITH_CALLS);
}

void interruptions_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(way_back, cpu).next);
}

static enum interruption interruption_by(const struct session *session)
{
	if (session->config.clocked)
		return BY_CLOCK;
	if (!(session->config.source_caps & SOURCE_RECORDS))
		return BY_COUNTER;
	return session->engine->feed_stack ? WITH_CALLS : WITH_BRANCHES;
}

u64 interruption_clock_cost(void)
{
	return in_kernel[BY_CLOCK].cost;
}

u64 interruption_cost(const struct session *session, struct pt_regs *regs)
{
	enum interruption by = interruption_by(session);
	u64 cost = in_kernel[by].cost, way_back_took;

	if (!user_mode(regs))
		return cost;
	way_back_took = this_cpu_read(way_back.took[by]);
	if (way_back_took > in_kernel[by].way_back)
		cost += min(way_back_took - in_kernel[by].way_back, cost);
	return cost;
}

void interruption_done(const struct session *session, struct pt_regs *regs)
{
	if (user_mode(regs))
		interruption_way_back_begins(interruption_by(session));
}
