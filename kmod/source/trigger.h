/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers: counters whose overflows make a source look. There is one for each
 * root event, for its task and CPU; perf gives children theirs.
 */
#ifndef HWPROF_TRIGGER_H
#define HWPROF_TRIGGER_H

#include <linux/perf_event.h>

struct core_pmu;
struct root;
struct session;

/* Periods, if the event names none. */
enum {
	TRIGGER_PERIOD	= 100003,
	TRIGGER_NS	= 10 * 1000 * 1000,
	/* The first ones with a budget, until it is known what a tick costs. */
	TRIGGER_FIRST_PERIOD	= 1000003,
	TRIGGER_FIRST_BRANCHES	= 100003,	/* taken ones, not one a ns */
	TRIGGER_FIRST_NS	= 1000 * 1000,
};

/* Which branch records one brings along; 0: none. */
enum {
	TRIGGER_BRANCHES = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
			   PERF_SAMPLE_BRANCH_KERNEL,
	TRIGGER_CALLS	= PERF_SAMPLE_BRANCH_CALL_STACK |
			  PERF_SAMPLE_BRANCH_USER,
};

/*
 * What counts the PMU's raw event, with these branch records or 0, and what the
 * CPU time, in ns. Their periods are those of an event that names none.
 */
struct perf_event_attr trigger_counter_attr(const struct core_pmu *pmu,
					    u64 branch_sample_type);
struct perf_event_attr trigger_clock_attr(void);

/* Does the event's source take windows, which something must trigger? */
bool trigger_wanted(const struct perf_event_attr *attr);

/* Of the fields that say what it counts: 0 or an errno. */
int trigger_check(const struct perf_event_attr *attr);

/*
 * Makes the root's counter, or one for each PMU of cores that its task may run on.
 * They do not run yet. They count where the event does (user, kernel), at the
 * event's period or frequency. @handler runs in NMI, or of a clock in its
 * interrupt; its event's overflow_handler_context is the session. In process
 * context, without perf's locks.
 */
int trigger_open(struct root *root, perf_overflow_handler_t handler,
		 u64 branch_sample_type);

/* From now on they run. In process context, without perf's locks. */
void trigger_begin(struct root *root);

/* In the handler: the next period is one half to one and a half of the own. */
void trigger_jitter(struct perf_event *event, u64 random);

/* In the handler: is this overflow one too many, so that perf takes a rest? */
bool trigger_is_throttled(const struct perf_event *event);

/* In the handler of a clock: the CPU time that it has counted, in ns. */
u64 trigger_clock_time(const struct perf_event *event);

/* Does the root have a counter, and is @counter one? */
bool trigger_is_open(const struct root *root);
bool trigger_is(const struct root *root, const struct perf_event *counter);

/* Waits until no handler runs. In a workqueue: not under perf's locks. */
void trigger_close(struct root *root);

/*
 * Does it count CPU time, and no hardware's event? The counter itself does not
 * tell: since 6.6 perf gives a clock another type than was asked for.
 */
bool trigger_is_clock(const struct perf_event_attr *attr);

/* Does the trigger count taken branches, so that windows are fair to them? */
bool trigger_counts_branches(const struct perf_event_attr *attr);

/* Why there can be none with these branch records: a sentence; NULL: it can. */
const char *trigger_missing(u64 branch_sample_type);

#endif /* HWPROF_TRIGGER_H */
