/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers: the counters or clocks whose overflows make a source look. Each
 * root event has one, for its task and CPU. Perf makes those of children.
 */
#ifndef HWPROF_TRIGGER_H
#define HWPROF_TRIGGER_H

#include <linux/perf_event.h>

struct core_pmu;
struct root;
struct session;

/* Default periods. */
enum {
	TRIGGER_PERIOD	= 100003,
	TRIGGER_NS	= 10 * 1000 * 1000,
	/*
	 * First periods if there is a budget, until the cost of a tick is
	 * known.
	 */
	TRIGGER_FIRST_PERIOD	= 1000003,
	/* Taken branches: fewer than one per ns. */
	TRIGGER_FIRST_BRANCHES	= 100003,
	TRIGGER_FIRST_NS	= 1000 * 1000,
};

/* Branch records to ask for: perf's branch_sample_type. 0: none. */
enum {
	TRIGGER_BRANCHES = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
			   PERF_SAMPLE_BRANCH_KERNEL,
	TRIGGER_CALLS	= PERF_SAMPLE_BRANCH_CALL_STACK |
			  PERF_SAMPLE_BRANCH_USER,
};

/**
 * trigger_counter_attr() - Describe a trigger that counts a PMU's event
 * @pmu: the PMU and its raw event.
 * @branch_sample_type: the branch records that come with an overflow, or 0.
 *
 * trigger_clock_attr() describes one that counts CPU time, in ns.
 *
 * A counter leaves guests out. Others are refused while a virtual machine has
 * the counters to itself (a mediated vPMU, Linux 7.0), which is no lack of the
 * CPU's.
 *
 * Return: the attributes, with the default period.
 */
struct perf_event_attr trigger_counter_attr(const struct core_pmu *pmu,
					    u64 branch_sample_type);
struct perf_event_attr trigger_clock_attr(void);

/**
 * trigger_open() - Make the trigger of a root event
 * @root: the root event.
 * @handler: called at each overflow, in NMI or, for a clock, in its interrupt.
 *	Its event's overflow_handler_context is the session.
 * @branch_sample_type: branch records to ask for, or 0.
 *
 * The trigger is one counter; a task that may run on cores with different PMUs
 * has one counter for each. Counters count where the event does (user, kernel),
 * at its period or frequency. They do not run yet. Whether a trigger counts CPU
 * time, struct session_config tells and not the counter: since 6.6 perf gives a
 * clock another type than it was asked for.
 *
 * Context: process context, without perf's locks.
 * Return: 0 or an errno.
 */
int trigger_open(struct root *root, perf_overflow_handler_t handler,
		 u64 branch_sample_type);

/**
 * trigger_begin() - Start the counters of a root event
 * @root: the root event.
 *
 * Context: process context, without perf's locks.
 */
void trigger_begin(struct root *root);

/**
 * trigger_jitter() - Choose the next period, in the handler
 * @event: the counter.
 * @random: a random number.
 *
 * The period is 50 to 150 % of the nominal one, so that the trigger does not
 * stay in step with a loop of the program.
 */
void trigger_jitter(struct perf_event *event, u64 random);

/**
 * trigger_tune() - Change the nominal period or frequency, in the handler
 * @event: the counter, which has no budget.
 * @distance: the new one; that of a clock is in ns.
 */
void trigger_tune(struct perf_event *event, u64 distance);

/**
 * trigger_period() - What the counter has counted for this overflow
 * @session: its session.
 * @event: the counter, before budget_tick() has chosen its next period.
 * @data: what perf says of the overflow. It does not tell a clock's period that
 *	was chosen in the handler.
 *
 * Return: the period.
 */
u64 trigger_period(const struct session *session,
		   const struct perf_event *event,
		   const struct perf_sample_data *data);

/**
 * trigger_is_throttled() - Ask whether perf throttles the counter, in the
 * handler
 * @event: the counter.
 *
 * Return: true if this was one overflow too many, and no other follows until
 *	the next tick of the kernel.
 */
bool trigger_is_throttled(const struct perf_event *event);

/**
 * trigger_clock_time() - Read a clock, in its handler
 * @event: the clock.
 *
 * Return: the CPU time that it has counted, in ns.
 */
u64 trigger_clock_time(const struct perf_event *event);

/* Return true if the root has a counter; if @counter is one of its counters. */
bool trigger_is_open(const struct root *root);
bool trigger_is(const struct root *root, const struct perf_event *counter);

/**
 * trigger_close() - Release the counters of a root event
 * @root: the root event.
 *
 * No handler runs when this returns.
 *
 * Context: a workqueue, without perf's locks.
 */
void trigger_close(struct root *root);

/**
 * trigger_missing() - Ask whether this machine has triggers
 * @branch_sample_type: the branch records that they should have, or 0.
 *
 * Return: NULL if it has; else a sentence that says why not.
 */
const char *trigger_missing(u64 branch_sample_type);

#endif /* HWPROF_TRIGGER_H */
