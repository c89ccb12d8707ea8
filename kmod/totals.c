// SPDX-License-Identifier: GPL-2.0-only
/* The totals of a session: sums over its CPUs, since it was last reset. */
#include "emit.h"
#include "session.h"
#include "tuning.h"

/* Add what a table still has, and the profile does not. */
static void totals_count_table(const struct session *session,
			       const struct table *table,
			       struct hwprof_row_totals *row)
{
	if (!table->merging)
		return;
	row->evicted += session->engine->evicted(table->memory);
	row->pending += session->engine->pending(table->memory);
}

static void totals_count_lane(const struct lane *lane,
			      struct hwprof_row_totals *row)
{
	int i;

	row->lost += READ_ONCE(lane->lost);
	row->events += READ_ONCE(lane->events_seen);
	row->lost_events += READ_ONCE(lane->lost_events);
	row->gaps += READ_ONCE(lane->gaps);
	row->cost_ns += local64_read(&lane->budget.cost);
	row->task_ns += local64_read(&lane->budget.time);
	row->unmeasured += READ_ONCE(lane->unmeasured);
	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		row->metrics[i] += READ_ONCE(lane->metrics[i]);
}

static void totals_subtract(struct hwprof_row_totals *row,
			    const struct hwprof_row_totals *base)
{
	int i;

	row->lost -= base->lost;
	row->events -= base->events;
	row->lost_events -= base->lost_events;
	row->gaps -= base->gaps;
	row->cost_ns -= base->cost_ns;
	row->task_ns -= base->task_ns;
	row->unmeasured -= base->unmeasured;
	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		row->metrics[i] -= base->metrics[i];
}

static void totals_note_tuning(const struct session *session,
			       struct hwprof_row_totals *row)
{
	const struct tuning *tuning;

	rcu_read_lock();
	tuning = rcu_dereference(session->tuning);
	row->budget_permille = tuning->budget_permille;
	row->changes = tuning->changes;
	rcu_read_unlock();
}

static void totals_copy_units(const struct session *session,
			      struct hwprof_row_totals *row)
{
	row->produced = session->fed;
	row->delivered = session->delivered;
	row->evicted = session->evicted;
}

/* Take units that belong together. An immediate engine counts them anywhere. */
static void totals_take_units(struct session *session,
			      struct hwprof_row_totals *row)
{
	unsigned long flags;

	if (!session->engine->immediate) {
		totals_copy_units(session, row);
		return;
	}
	raw_spin_lock_irqsave(&session->roots_lock, flags);
	totals_copy_units(session, row);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

/*
 * Fill @row with the session's totals. The caller holds profile_lock; if rows
 * of the session are fetched, flush_lock.
 */
void session_totals(struct session *session, struct hwprof_row_totals *row)
{
	const struct engine_ops *engine = session->engine;
	unsigned int i;
	u64 units = 0;
	int cpu;

	*row = (struct hwprof_row_totals) {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(*row),
		.windows = session->windows,
		.pending = session->stage ? session->stage->units : 0,
		.memory = session->memory,
		.basis = session->params.basis,
		.source = source_infos[session->config.source].number,
	};
	totals_take_units(session, row);
	totals_note_tuning(session, row);
	if (session->params.basis != HWPROF_BASIS_EXACT)
		row->cost_ns = atomic64_read(&session->flush_cost);
	for_each_possible_cpu(cpu) {
		const struct lane *lane = per_cpu_ptr(session->lanes, cpu);

		units += READ_ONCE(lane->units);
		totals_count_lane(lane, row);
	}
	totals_subtract(row, &session->base);
	row->produced = session->rows ? row->produced + row->lost : units;
	for (i = 0; i < session->table_count; i++)
		totals_count_table(session, &session->tables[i], row);
	if (session->profile) {
		row->evicted += engine->evicted(session->profile);
		row->pending += engine->pending(session->profile);
	}
}
