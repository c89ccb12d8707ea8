// SPDX-License-Identifier: GPL-2.0-only
/* What may be asked for: of a session and of an event. */
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "../compat.h"
#include "../field.h"
#include "../source/budget.h"
#include "../source/source.h"
#include "../source/trigger.h"
#include "front.h"

/* Only step has them: the others' windows are as long as they are. */
static int check_burst(const struct perf_event_attr *attr)
{
	u64 burst = field_get(attr, FIELD_burst);

	return burst && (burst < HWPROF_BURST_MIN || burst > HWPROF_BURST_MAX ||
			 source_of(attr) != &step_source) ? -EINVAL : 0;
}

/* Can its engine learn from what its source sees? Samples are of code. */
static bool is_fed(const struct perf_event_attr *attr)
{
	const struct engine_ops *engine = field_engine(attr);

	if (source_of(attr) == &sample_source)
		return engine->samples && !field_get(attr, FIELD_range_of);
	/* A window says nothing of contexts. */
	if (engine == &joint_engine && field_get(attr, FIELD_cct))
		return false;
	return engine->feed_window || engine->accesses ||
	       (engine->feed_stack && source_of(attr) == &lbr_source);
}

/*
 * Windows, or samples: they are summarised, or counted. Neither samples nor branch
 * records have loads and stores.
 */
static int check_windows(const struct perf_event_attr *attr)
{
	if (!is_fed(attr))
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

/* Stacks of calls that samples find have them. */
static int check_metrics(const struct perf_event_attr *attr)
{
	u64 metrics = field_get(attr, FIELD_metrics);

	return metrics && (metrics > HWPROF_METRICS_MAX ||
			   source_of(attr) == &step_source ||
			   !field_engine(attr)->feed_stack) ? -EINVAL : 0;
}

/* Bits that belong to no field. */
static int check_words(const struct perf_event_attr *attr)
{
	int word;

	if (compat_more_config(attr))
		return -EINVAL;
	for (word = 0; word < 3; word++)
		if (field_word(attr, word) & ~fields_of_word(word))
			return -EINVAL;
	return 0;
}

/* One thing an event, or several of those that a joint engine is made of. */
static int check_things(const struct perf_event_attr *attr)
{
	u64 things = attr->config & field_bits(FIELD_branches, FIELD_edges);

	return !things || (hweight64(things) > 1 &&
			   hweight64(things) != hweight32(field_parts(attr))) ?
	       -EINVAL : 0;
}

int attr_check_session(const struct perf_event_attr *attr)
{
	int err = check_words(attr);

	if (err)
		return err;
	err = check_things(attr);
	if (err)
		return err;
	if (hweight64(attr->config & field_bits(FIELD_step, FIELD_mem)) > 1)
		return -EINVAL;	/* one source an event */
	if (!field_engine(attr) ||
	    field_get(attr, FIELD_mem))
		return -EOPNOTSUPP;
	err = check_burst(attr) ?: trigger_check(attr) ?: budget_check(attr) ?:
	      check_ranges(attr) ?: check_values(attr) ?: check_metrics(attr);
	if (err)
		return err;
	if (source_of(attr)->missing())
		return -EOPNOTSUPP;
	if (attr->exclude_user && source_of(attr) == &step_source)
		return -EOPNOTSUPP;	/* stepping sees nothing else */
	return trigger_wanted(attr) ? check_windows(attr) : 0;
}

/*
 * An event that feeds a session made before says again what the session sees,
 * and how often, because perf checks only what the event says; it may leave out
 * the rest.
 */
int attr_check_feeder(const struct perf_event_attr *attr,
		      const struct perf_event_attr *session)
{
	enum field field;

	if (check_words(attr) || attr_exclude(attr) != attr_exclude(session) ||
	    attr->sample_period != session->sample_period ||
	    attr->freq != session->freq)
		return -EINVAL;
	for (field = 0; field < FIELD_COUNT; field++)
		if (field != FIELD_session && field_get(attr, field) &&
		    field_get(attr, field) != field_get(session, field))
			return -EINVAL;
	return 0;
}

/*
 * What a row may carry: what perf can write for an event that is not active, see
 * docs/rows.md, and PERF_SAMPLE_READ, see emit.c.
 */
static const u64 row_samples =
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
	PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT_TYPE |
	PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |
	PERF_SAMPLE_TRANSACTION;

/* What no event of ours can have. */
int attr_check_event(const struct perf_event_attr *attr)
{
	if (attr->precise_ip || attr->sigtrap || attr->aux_output ||
	    attr->sample_type & (PERF_SAMPLE_BRANCH_STACK |
				 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
				 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX))
		return -EOPNOTSUPP;
	if (field_get(attr, FIELD_rows) && attr->sample_type & ~row_samples)
		return -EOPNOTSUPP;
	return 0;
}

/* The opener's process, or a child of it: what perf starts is one. */
static bool is_own(struct task_struct *target)
{
	bool own;

	rcu_read_lock();
	own = same_thread_group(target, current) ||
	      same_thread_group(rcu_dereference(target->real_parent), current);
	rcu_read_unlock();
	return own;
}

/*
 * Stepping makes a program thousands of times slower, so an event that names no
 * source may do that only to what its opener has started. It is refused, not
 * given bursts: a count that covers a small part of a run would look like one
 * that covers all of it. @target: NULL for all that runs on a CPU.
 */
int attr_check_target(const struct perf_event_attr *attr,
		      struct task_struct *target)
{
	return source_steps_unasked(attr) && !(target && is_own(target)) ?
	       -EINVAL : 0;
}
