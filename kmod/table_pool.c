// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool of tables. A CPU takes a table when the session becomes active
 * there. It gives the table back when that ends, or when the table is exchanged
 * for an empty one. A table that was given back is merged into the session's
 * profile.
 */
#include <linux/cpu.h>
#include <linux/smp.h>

#include "session.h"

enum {
	MERGE_ITEMS	= 1024,	/* in one step, with the profile locked */
	RETIRE_PASSES	= 8,	/* most rounds until each table was seen */
};

static bool table_claim(struct session *session, unsigned int table)
{
	return test_bit(table, session->table_free) &&
	       test_and_clear_bit(table, session->table_free);
}

/* Return a free table, preferably a clean one; -1 if none is free. */
int table_take(struct session *session)
{
	unsigned int table;

	for (table = 0; table < session->table_count; table++)
		if (!test_bit(table, session->table_dirty) &&
		    table_claim(session, table))
			return table;
	for (table = 0; table < session->table_count; table++)
		if (table_claim(session, table))
			return table;
	return -1;
}

static void table_give(struct session *session, int table, bool dirty)
{
	if (dirty)
		set_bit(table, session->table_dirty);
	smp_mb__before_atomic();	/* publish the contents first */
	set_bit(table, session->table_free);
}

/*
 * Give the lane's table back and go on with @table (-1: with none). Units and
 * windows that were fed move with the table, so that totals always describe
 * exactly what was merged. An NMI in between finds no table. A table that was
 * fed nothing is not dirty, and causes no flush.
 */
void lane_change_table(struct lane *lane, int table)
{
	struct session *session = lane->session;
	int old = lane->table;
	bool dirty;

	WRITE_ONCE(lane->yielded, false);
	WRITE_ONCE(lane->table, -1);
	smp_wmb();	/* see table_skip_idle() */
	dirty = READ_ONCE(lane->news);
	WRITE_ONCE(lane->news, false);
	if (old >= 0) {
		session->tables[old].fed += lane->fed;
		lane->fed = 0;
		session->tables[old].windows += lane->windows;
		lane->windows = 0;
		table_give(session, old, dirty);
		if (dirty)
			session_note_news(session);
		barrier();
	}
	WRITE_ONCE(lane->table, table);
}

/*
 * Count everything that was fed to a table as merged, at once. What the table
 * still has is pending.
 */
static void table_merge_begin(struct session *session, unsigned int number)
{
	struct table *table = &session->tables[number];

	if (!test_bit(number, session->table_dirty))
		return;
	WRITE_ONCE(session->kept, true);
	smp_mb__before_atomic();	/* see flush_has_news() */
	clear_bit(number, session->table_dirty);
	session->fed += table->fed;
	table->fed = 0;
	session->windows += table->windows;
	table->windows = 0;
	table->merging = true;
}

/*
 * Merge a part of table @number, which nobody uses, into the profile. The
 * caller holds profile_lock. The table then forgets what has ended, one address
 * space at a time: it still knows loops that it has merged, and these would
 * push out those of running programs. Return true if there is more to do.
 */
bool table_merge_step(struct session *session, unsigned int number,
		      struct ended ended)
{
	const struct engine_ops *engine = session->engine;
	struct table *table = &session->tables[number];

	if (!table->taken) {
		if (!table_claim(session, number))
			return false;
		table->taken = true;
		table_merge_begin(session, number);
	}
	if (ended.count)
		table->forgets = true;
	if (table->merging) {
		session->profile_version++;
		table->merging = engine->merge(session->profile, table->memory,
					       MERGE_ITEMS) == MERGE_ITEMS;
		if (table->merging)
			return true;
	}
	if (table->forgets && !ended.count)
		return false;	/* the flush that goes on when we let it */
	if (table->forgot < ended.count) {
		if (engine->forget(table->memory, ended.ids[table->forgot],
				   &table->forgetting, PROFILE_LOOKS)) {
			table->forgetting = 0;
			table->forgot++;
		}
		if (table->forgot < ended.count)
			return true;
	}
	table->taken = false;
	table->forgets = false;
	table->forgot = 0;
	WRITE_ONCE(table->pass, READ_ONCE(session->pass));
	table_give(session, number, false);
	return false;
}

/* In process context: merge a table if no CPU uses it. */
static void table_merge(struct session *session, unsigned int number,
			struct ended ended)
{
	bool more;

	do {
		spin_lock_bh(&session->profile_lock);
		more = table_merge_step(session, number, ended);
		spin_unlock_bh(&session->profile_lock);
		cond_resched();
	} while (more);
}

/* In process context: merge all tables that no CPU uses. */
void tables_merge_free(struct session *session, struct ended ended)
{
	unsigned int table;

	for (table = 0; table < session->table_count; table++)
		table_merge(session, table, ended);
}

/* Merge those of them that were fed. */
static void tables_merge_dirty(struct session *session, struct ended ended)
{
	unsigned int table;

	for_each_set_bit(table, session->table_dirty, session->table_count)
		table_merge(session, table, ended);
}

struct exchange {
	struct session *session;
	bool yields;		/* a table is given without another one */
};

/*
 * Exchange the table of the lane of this CPU for an empty one. A lane without a
 * table gets one now. A lane that yields its table loses what comes until it
 * gets another one.
 */
static void table_exchange(void *context)
{
	struct exchange *exchange = context;
	struct session *session = exchange->session;
	struct lane *lane = this_cpu_ptr(session->lanes);
	int table;

	if (lane->table >= 0 &&
	    READ_ONCE(session->tables[lane->table].pass) == session->pass)
		return;
	table = lane->active ? table_take(session) : -1;
	if (table >= 0 && lane->table >= 0 &&
	    test_bit(table, session->table_dirty)) {
		table_give(session, table, true);
		return;
	}
	if (table < 0 && lane->table >= 0 && !exchange->yields)
		return;
	lane_change_table(lane, table);
	WRITE_ONCE(lane->yielded, table < 0);
}

/*
 * Skip a table that was fed nothing since its lane took it clean. It need not
 * be merged, and its CPU not be interrupted.
 */
static void table_skip_idle(struct session *session, const struct lane *lane)
{
	int table = READ_ONCE(lane->table);

	smp_rmb();
	if (table < 0 || READ_ONCE(lane->news))
		return;
	smp_rmb();	/* lane_change_table() clears the table before news */
	if (READ_ONCE(lane->table) != table)
		return;
	smp_rmb();	/* It may have been given, and taken again dirty. */
	if (!test_bit(table, session->table_dirty))
		WRITE_ONCE(session->tables[table].pass, session->pass);
}

/* Return true if the lane may have something that is not merged. */
static bool table_is_wanted(const struct session *session,
			    const struct lane *lane)
{
	int table = READ_ONCE(lane->table);

	return READ_ONCE(lane->news) ||
	       (table >= 0 && test_bit(table, session->table_dirty));
}

bool tables_merge(const struct session *session)
{
	unsigned int i;

	for (i = 0; i < session->table_count; i++)
		if (session->tables[i].merging)
			return true;
	return false;
}

static bool table_pass_complete(struct session *session)
{
	unsigned int table;
	int cpu;

	for_each_possible_cpu(cpu)
		table_skip_idle(session, per_cpu_ptr(session->lanes, cpu));
	for (table = 0; table < session->table_count; table++)
		if (READ_ONCE(session->tables[table].pass) != session->pass)
			return false;
	return true;
}

/* Return true if the lane loses what it is fed. */
static bool table_is_missing(const struct lane *lane)
{
	return READ_ONCE(lane->table) < 0 && READ_ONCE(lane->active);
}

/* Return true if it has lost something since the last flush, or soon will. */
static bool table_is_missed(const struct lane *lane)
{
	return table_is_missing(lane) &&
	       (READ_ONCE(lane->news) || READ_ONCE(lane->yielded));
}

/* Give back the table of this CPU's lane, unless it has learnt something. */
static void table_yield(void *context)
{
	struct session *session = context;
	struct lane *lane = this_cpu_ptr(session->lanes);

	if (lane->table >= 0 && !table_is_wanted(session, lane))
		lane_change_table(lane, -1);
}

/*
 * If no table is free, take one from a lane that learns nothing. @from: the CPU
 * to begin with, which becomes the next one.
 */
static void table_free_idle(struct session *session, unsigned int *from)
{
	const struct lane *lane;

	for (; *from < nr_cpu_ids; (*from)++) {
		if (!bitmap_empty(session->table_free, session->table_count))
			return;
		if (!cpu_online(*from))
			continue;
		lane = per_cpu_ptr(session->lanes, *from);
		if (READ_ONCE(lane->table) >= 0 &&
		    !table_is_wanted(session, lane))
			smp_call_function_single(*from, table_yield, session,
						 true);
	}
}

/* If no table is free for this CPU's lane, let it say again that it lost. */
static void table_get(void *context)
{
	struct session *session = context;
	struct lane *lane = this_cpu_ptr(session->lanes);
	int table;

	if (lane->table >= 0 || !lane->active)
		return;
	table = table_take(session);
	if (table >= 0) {
		lane_change_table(lane, table);
		return;
	}
	WRITE_ONCE(lane->yielded, false);
	WRITE_ONCE(lane->news, false);
}

/*
 * Give tables to lanes that have missed one: those that are free, and those of
 * lanes that learn nothing. Such a lane may miss it later.
 */
static void tables_move(struct session *session)
{
	unsigned int from = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		if (!table_is_missed(per_cpu_ptr(session->lanes, cpu)))
			continue;
		table_free_idle(session, &from);
		smp_call_function_single(cpu, table_get, session, true);
	}
}

/* Give tables that are free to lanes that have none. */
static void tables_hand_out(struct session *session)
{
	struct exchange exchange = { .session = session };
	int cpu;

	for_each_online_cpu(cpu)
		if (!bitmap_empty(session->table_free, session->table_count) &&
		    table_is_missing(per_cpu_ptr(session->lanes, cpu)))
			smp_call_function_single(cpu, table_exchange, &exchange,
						 true);
}

/* Have each CPU exchange its table that may have something to merge. */
static void tables_exchange(struct exchange *exchange, struct ended ended)
{
	struct session *session = exchange->session;
	unsigned int from = 0;
	int cpu;

	if (exchange->yields)
		table_free_idle(session, &from);
	for_each_online_cpu(cpu) {
		struct lane *lane = per_cpu_ptr(session->lanes, cpu);

		if (!table_is_wanted(session, lane))
			continue;
		smp_call_function_single(cpu, table_exchange, exchange, true);
		/* It is the empty table of the next CPU. */
		tables_merge_dirty(session, ended);
	}
}

/*
 * Merge everything that was learnt before now into the profile. The caller is
 * in process context and holds cpus_read_lock() and flush_lock. Return false if
 * some CPU did not give its table.
 *
 * A session with little memory may have no more tables than CPUs, and all may
 * be in use. Then a CPU yields its table to the next one, and so on: else
 * nobody would ever see what they have learnt. With fewer tables than CPUs,
 * CPUs that have missed one get one after each flush, first from CPUs that have
 * learnt nothing.
 */
bool tables_retire(struct session *session, struct ended ended)
{
	struct exchange exchange = { .session = session };
	int pass;

	WRITE_ONCE(session->pass, session->pass + 1);
	for (pass = 0; pass < RETIRE_PASSES; pass++) {
		tables_merge_free(session, ended);
		if (table_pass_complete(session))
			break;
		exchange.yields = pass &&
			session->table_count <= num_present_cpus();
		tables_exchange(&exchange, ended);
	}
	tables_move(session);
	if (exchange.yields)
		tables_hand_out(session);
	return pass < RETIRE_PASSES;
}
