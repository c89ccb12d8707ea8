// SPDX-License-Identifier: GPL-2.0-only
/*
 * From tables to rows: tables are retired into the session's profile, and
 * what grew there since its last row goes out as rows, into a perf ring of the
 * session.
 *
 * Who sets profile_busy owns profile and rows. In process context flushes come
 * one at a time (flush_lock). Where a task that exits and perf's interrupts may
 * flush, too, they own the profile for a step at a time (a table, some rows),
 * and are not preempted in it: so a task never finds that its own CPU is in the
 * middle of one, and what it finds on another one is soon over.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "arch.h"
#include "compat.h"
#include "ring.h"
#include "session.h"
#include "source/source.h"

enum {
	MERGE_ITEMS	= 1024,	/* at a time */
	EMIT_ROWS	= 64,	/* at a time, with interrupts off */
	FLUSH_PASSES	= 8,	/* until every table was seen */
	TRY_MS		= 5,
	RING_TRIES	= 50,	/* at the end of a process, if a ring is full, */
	TABLE_TRIES	= 200,	/* or a CPU stands still in the middle */
	RETRY_MS	= 20,	/* after a ring was full; doubles */
	CLEAR_BYTES	= 1 << 20,	/* at a time */
	HERE_MAX	= 16 << 20,	/* memory that an interrupt may walk */
	SETTLE_LOOKS	= 1 << 16,	/* at a time */
	LOOKS		= 2,		/* as much work as an item to merge */
	STEP_ITEMS	= 1 << 19,	/* while preemption is off: some milliseconds */
	STEP_NS		= 20 * 1000 * 1000,	/* another CPU's step takes less */
};

/* --- whose the profile is ------------------------------------------------------ */

/* May tasks that exit and interrupts flush it? See session_flush_here(). */
static bool is_flushed_here(const struct session *session)
{
	return !session->fetched && session->memory <= HERE_MAX &&
	       !READ_ONCE(session->slow);
}

static bool profile_own(struct session *session)
{
	return atomic_cmpxchg_acquire(&session->profile_busy, 0, 1) == 0;
}

static void profile_disown(struct session *session)
{
	atomic_set_release(&session->profile_busy, 0);
}

static void profile_wait(struct session *session)
{
	while (!profile_own(session))
		cpu_relax();
}

/* The profile is the caller's from now on. */
static void step_begin(struct session *session, bool pinned)
{
	session->pinned = pinned;
	session->step_items = 0;
}

/* So much more was done. False: that is all for one who is not preempted. */
static bool step_goes_on(struct session *session, u32 items)
{
	session->step_items += items;
	if (!session->pinned) {
		cond_resched();
		return true;
	}
	if (session->step_items < STEP_ITEMS)
		return true;
	WRITE_ONCE(session->slow, true);
	return false;
}

/* In process context. */
static void profile_take(struct session *session)
{
	bool pinned = is_flushed_here(session);

	if (pinned)
		preempt_disable();
	profile_wait(session);
	step_begin(session, pinned);
}

static void profile_give(struct session *session)
{
	bool pinned = session->pinned;

	session->flush_items += session->step_items;
	profile_disown(session);
	if (pinned)
		preempt_enable();
	smp_mb();	/* see profile_take_here() */
	if (READ_ONCE(session->flush_again))
		session_want_flush(session);
}

/*
 * Interrupts are off. Who does not wait for another CPU's step leaves a note: an
 * interrupt, which may have come into a step, and who holds locks that an interrupt
 * of that CPU may want.
 */
static bool profile_take_here(struct session *session, bool waits)
{
	u64 end = local_clock() + STEP_NS;

	do {
		if (profile_own(session))
			return true;
		cpu_relax();
	} while (waits && local_clock() < end);
	WRITE_ONCE(session->flush_again, true);
	smp_mb();	/* the note, or the end of the step: one of us sees it */
	return profile_own(session);
}

/* --- the pool of tables ------------------------------------------------------ */

static bool table_claim(struct session *session, unsigned int table)
{
	return test_bit(table, session->table_free) &&
	       test_and_clear_bit(table, session->table_free);
}

/* A free table, a clean one if there is one; -1: none. */
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
	smp_mb__before_atomic();	/* what was written comes first */
	set_bit(table, session->table_free);
}

/*
 * The slot gives its table back and goes on with @table (-1: with none). What
 * was fed goes with the table, so that totals speak of all that was merged
 * and of nothing else: only so they add up while CPUs go on feeding. An NMI in
 * between finds no table.
 */
void slot_change_table(struct slot *slot, int table)
{
	struct session *session = slot->session;
	int old = slot->table;

	WRITE_ONCE(slot->table, -1);
	barrier();
	if (old >= 0) {
		session->tables[old].fed += slot->fed;
		slot->fed = 0;
		table_give(session, old, true);
		barrier();
	}
	WRITE_ONCE(slot->table, table);
}

/* What was fed counts at once, and what is still in the table is pending. */
static void merge_begin(struct session *session, unsigned int number)
{
	struct table *table = &session->tables[number];

	if (!test_bit(number, session->table_dirty))
		return;
	WRITE_ONCE(session->kept, true);
	smp_mb__before_atomic();	/* either tells: something is new */
	clear_bit(number, session->table_dirty);
	session->fed += table->fed;
	table->fed = 0;
	table->merging = true;
}

/*
 * Address space @over (0: none) is gone. A merged table still knows where its
 * loops are, which would push out those of programs that run. False: it is not
 * done.
 */
static bool merge_table(struct session *session, unsigned int number,
			u32 over)
{
	const struct engine_ops *engine = session->engine;
	struct table *table = &session->tables[number];

	merge_begin(session, number);
	while (table->merging) {
		table->merging = engine->merge(session->profile, table->memory,
					       MERGE_ITEMS) == MERGE_ITEMS;
		if (table->merging && !step_goes_on(session, MERGE_ITEMS))
			return false;
	}
	if (over)
		engine->forget(table->memory, over);
	table->pass = session->pass;
	return true;
}

/*
 * The profile is the caller's. A table that was begun stays with who owns that
 * until it is done. False: some other time.
 */
static bool merge_if_free(struct session *session, unsigned int table, u32 over)
{
	if (!session->tables[table].merging && !table_claim(session, table))
		return true;
	if (!merge_table(session, table, over))
		return false;
	table_give(session, table, false);
	return true;
}

static void merge_free_tables(struct session *session, u32 over)
{
	unsigned int table;

	for (table = 0; table < session->table_count; table++) {
		profile_take(session);
		merge_if_free(session, table, over);
		profile_give(session);
		cond_resched();
	}
}

/*
 * On the slot's CPU: its table makes room for one that was merged already; or it
 * gets one, where none was free when it began.
 */
static void exchange_table(void *context)
{
	struct session *session = context;
	struct slot *slot = this_cpu_ptr(session->slots);
	int table;

	if (slot->table < 0 && slot->active)
		slot_change_table(slot, table_take(session));
	if (slot->table < 0 ||
	    session->tables[slot->table].pass == session->pass)
		return;
	table = table_take(session);
	if (table < 0)
		return;
	if (test_bit(table, session->table_dirty)) {
		table_give(session, table, true);
		return;
	}
	slot_change_table(slot, table);
}

static bool pass_complete(struct session *session)
{
	unsigned int table;

	for (table = 0; table < session->table_count; table++)
		if (session->tables[table].pass != session->pass)
			return false;
	return true;
}

/*
 * All that was learnt before now gets into the profile. False: not all. In
 * process context, and the profile is nobody's.
 */
static bool retire_tables(struct session *session, u32 over)
{
	int pass, cpu;

	WRITE_ONCE(session->pass, session->pass + 1);
	for (pass = 0; pass < FLUSH_PASSES; pass++) {
		merge_free_tables(session, over);
		if (pass_complete(session))
			return true;
		for_each_online_cpu(cpu)
			if (READ_ONCE(per_cpu_ptr(session->slots, cpu)->active))
				smp_call_function_single(cpu, exchange_table,
							 session, true);
	}
	return false;
}

/* --- rows ---------------------------------------------------------------------- */

struct emit {
	struct session *session;
	struct slot *slot;		/* of this CPU: its row buffer */
	struct perf_event *event;	/* into whose ring */
	unsigned int budget;		/* rows that may go out now */
	bool full;			/* the ring was */
	bool stuck;			/* some ring was */
	bool late;			/* to work out what to say takes longer */
	bool done;
	u32 space;			/* rows of it only; 0: of all */
	u32 turn;			/* the profile's when it was settled */
	size_t at;			/* since then */
};

/* May this CPU write the event's ring now? Its own CPU or task only. */
static bool ring_is_here(const struct perf_event *event)
{
	int cpu = smp_processor_id();

	if (!READ_ONCE(event->rb) || !event->attr.sample_period)
		return false;
	if (event->cpu >= 0)
		return event->cpu == cpu;
	return READ_ONCE(event->oncpu) == cpu || event->hw.target == current;
}

/* Interrupts are off and roots_lock is held. */
static struct perf_event *ring_here(struct session *session)
{
	struct root *root;

	list_for_each_entry(root, &session->roots, link)
		if (ring_is_here(root->event))
			return root->event;
	return NULL;
}

/*
 * Writes down whose row it is. When that was over; 0: it is not. A late row must
 * not be taken for the next program's.
 */
u64 session_sign(struct session *session, struct hwprof_row *row)
{
	struct space *space = space_find(session, row->space);

	row->session = session->id;
	row->pid = space ? space->pid : 0;
	return space ? READ_ONCE(space->end) : 0;
}

static void set_owner(struct emit *emit, struct perf_sample_data *data,
		      struct hwprof_row *row)
{
	u64 end = session_sign(emit->session, row);

	data->tid_entry.pid = row->pid;
	data->tid_entry.tid = row->pid;
	if (row->type == HWPROF_ROW_BRANCHES)
		data->tid_entry.tid = ((struct hwprof_row_branches *)row)->tid;
	data->sample_flags |= PERF_SAMPLE_TID;
	if (end && !emit->event->attr.use_clockid) {
		data->time = end;
		data->sample_flags |= PERF_SAMPLE_TIME;
	}
}

/* An engine_emit. A row is no overflow: it must not throttle nor feed -F. */
static bool emit_row(void *context, const void *engine_row, u64 ip, u64 addr,
		     u64 period)
{
	struct emit *emit = context;
	struct hwprof_row *row = (void *)emit->slot->row;
	size_t size = ((const struct hwprof_row *)engine_row)->size;
	struct perf_raw_record raw = {
		.frag = { .data = row, .size = size + sizeof(u32) },
	};
	struct perf_sample_data data;
	struct pt_regs regs = arch_user_regs();
	s64 lost;

	if (!emit->budget)
		return false;
	memcpy(row, engine_row, size);
	*(u32 *)((void *)row + size) = 0;
	perf_sample_data_init(&data, addr, period);
	set_owner(emit, &data, row);
	compat_save_raw(&data, emit->event, &raw);
	instruction_pointer_set(&regs, ip);

	lost = atomic64_read(&emit->event->lost_samples);
	emit->event->overflow_handler(emit->event, &data, &regs);
	if (atomic64_read(&emit->event->lost_samples) != lost) {
		emit->full = true;
		emit->stuck = true;
		emit->budget = 0;
		return false;
	}
	emit->budget--;
	emit->session->delivered += period;
	return true;
}

/* What a table has that is not in the profile, though it was fed. */
static void count_table(const struct session *session,
			const struct table *table,
			struct hwprof_row_totals *row)
{
	row->evicted += table->evicted;
	if (!table->merging)
		return;
	row->evicted += session->engine->evicted(table->memory);
	row->pending += session->engine->pending(table->memory);
}

/* Of the session so far: the caller owns the profile. */
void session_totals(struct session *session, struct hwprof_row_totals *row)
{
	const struct engine_ops *engine = session->engine;
	const struct hwprof_row_totals *base = &session->base;
	u64 units = 0;
	unsigned int i;
	int cpu;

	*row = (struct hwprof_row_totals) {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(*row),
		.delivered = session->delivered,
		.lost = -base->lost,
		.events = -base->events,
		.lost_events = -base->lost_events,
		.gaps = -base->gaps,
		.windows = -base->windows,
		.cost_ns = -base->cost_ns,
		.task_ns = -base->task_ns,
		.unmeasured = -base->unmeasured,
		.memory = session->memory,
		.basis = session->params.basis,
		.source = session->source->number,
		.budget_permille = session->budget_permille,
	};
	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		row->metrics[i] = -base->metrics[i];
	if (session->params.basis != HWPROF_BASIS_EXACT)
		row->cost_ns += atomic64_read(&session->flush_cost);
	for_each_possible_cpu(cpu) {
		const struct slot *slot = per_cpu_ptr(session->slots, cpu);

		units += READ_ONCE(slot->units);
		row->lost += READ_ONCE(slot->lost);
		row->events += READ_ONCE(slot->events_seen);
		row->lost_events += READ_ONCE(slot->lost_events);
		row->gaps += READ_ONCE(slot->gaps);
		row->windows += READ_ONCE(slot->windows);
		row->cost_ns += local64_read(&slot->budget.cost);
		row->task_ns += local64_read(&slot->budget.time);
		row->unmeasured += READ_ONCE(slot->unmeasured);
		for (i = 0; i < HWPROF_METRICS_MAX; i++)
			row->metrics[i] += READ_ONCE(slot->metrics[i]);
	}
	row->produced = session->rows ? session->fed + row->lost : units;
	for (i = 0; i < session->table_count; i++)
		count_table(session, &session->tables[i], row);
	if (session->profile) {
		row->evicted += engine->evicted(session->profile);
		row->pending += engine->pending(session->profile);
	}
}

/* False: there was no room for them. */
static bool emit_totals(struct emit *emit)
{
	struct session *session = emit->session;
	struct hwprof_row_totals row;

	session_totals(session, &row);
	if (!memcmp(&row, &session->told, sizeof(row)))
		return true;
	if (!emit_row(emit, &row, 0, 0, 0))
		return false;
	session->told = row;
	return true;
}

/* False: that takes too long for the owner of the profile, who is pinned. */
static bool settle(struct session *session, u32 space)
{
	const struct engine_ops *engine = session->engine;
	size_t at = 0;

	while (engine->settle &&
	       !engine->settle(session->profile, space, &at, SETTLE_LOOKS))
		if (!step_goes_on(session, SETTLE_LOOKS / LOOKS))
			return false;
	return true;
}

static bool has_ring_here(struct session *session)
{
	unsigned long flags;
	bool has;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	has = ring_here(session);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
	return has;
}

/*
 * Some rows of the profile, into a ring of this CPU. The profile is the caller's,
 * who is not preempted. Where others had a turn since, it begins anew: what they
 * told is told.
 */
static void emit_profile(struct emit *emit)
{
	struct session *session = emit->session;
	unsigned long flags;

	if (!has_ring_here(session))
		return;
	if (emit->turn != session->turn) {
		if (!settle(session, emit->space)) {
			emit->late = true;
			return;
		}
		emit->turn = session->turn;
		emit->at = 0;
	}
	emit->slot = this_cpu_ptr(session->slots);
	raw_spin_lock_irqsave(&session->roots_lock, flags);
	emit->event = ring_here(session);
	if (emit->event) {
		emit->done = session->engine->rows(session->profile,
						   emit->space, &emit->at,
						   emit_row, emit);
		if (emit->done)
			emit->done = emit->budget && emit_totals(emit);
		if (emit->done && !emit->space)
			WRITE_ONCE(session->kept, false);
	}
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

/* On the CPU of the ring, at the instance of a flush in process context. */
static void emit_here(void *context)
{
	struct emit *emit = context;

	emit->budget = EMIT_ROWS;
	emit->full = false;
	emit->event = NULL;
	profile_wait(emit->session);
	step_begin(emit->session, true);
	emit_profile(emit);
	profile_disown(emit->session);
}

/* Where that takes long, it is done the second time, by who may be preempted. */
static void settle_first(struct emit *emit)
{
	struct session *session = emit->session;
	bool settled;

	do {
		profile_take(session);
		settled = settle(session, emit->space);
		emit->turn = session->turn;
		profile_give(session);
	} while (!settled);
}

/* CPUs one by one until the rows are out or no ring takes more. */
static void emit_everywhere(struct emit *emit)
{
	int cpu;

	settle_first(emit);
	do {
		preempt_disable();
		emit_here(emit);
		preempt_enable();
		cond_resched();
	} while (emit->event && !emit->done && !emit->full);

	for_each_online_cpu(cpu) {
		while (!emit->done && !emit->late) {
			smp_call_function_single(cpu, emit_here, emit, true);
			if (!emit->event || emit->full)
				break;
		}
	}
}

/* --- into a session's own rings ------------------------------------------------ */

struct put {
	struct session *session;
	struct ring *ring;
	u64 now;
	bool full;
};

/* An engine_emit. */
static bool put_row(void *context, const void *engine_row, u64 ip, u64 addr,
		    u64 period)
{
	struct put *put = context;
	struct session *session = put->session;
	struct hwprof_row row = *(const struct hwprof_row *)engine_row;
	u64 end = session_sign(session, &row);

	if (!ring_write(put->ring, end ?: put->now, &row,
			engine_row + sizeof(row))) {
		put->full = true;
		return false;
	}
	session->delivered += period;
	cond_resched();		/* there may be many */
	return true;
}

/* Rows of @space (0: of all), and totals behind them. The profile is settled. */
static bool put_rows(struct session *session, u32 space)
{
	struct put put = {
		session, rings_here(session->rings), local_clock(),
	};
	struct hwprof_row_totals totals;
	size_t at = 0;
	bool done = session->engine->rows(session->profile, space, &at,
					  put_row, &put);

	if (done) {
		session_totals(session, &totals);
		if (memcmp(&totals, &session->told, sizeof(totals))) {
			done = put_row(&put, &totals, 0, 0, 0);
			if (done)
				session->told = totals;
		}
	}
	rings_wake(session->rings, put.ring, put.full);
	return done;
}

/* From now on it has these; NULL: none. */
void session_set_rings(struct session *session, struct rings *rings)
{
	mutex_lock(&session->flush_lock);
	session->rings = rings;
	mutex_unlock(&session->flush_lock);
}

/* --- flushing ---------------------------------------------------------------------- */

enum flushed {
	FLUSH_DONE,	/* all rows are out */
	FLUSH_NO_RING,	/* nobody is there to take them */
	FLUSH_HELD,	/* somebody will come and fetch them */
	FLUSH_LATER,	/* a ring was full */
	FLUSH_UNREACHED,	/* a CPU did not give its table */
};

/* Rows of @space; 0: of all. */
static enum flushed flush_once(struct session *session, u32 space)
{
	struct emit emit = { .session = session, .space = space };
	bool retired;

	WRITE_ONCE(session->flush_again, false);
	session->flush_items = 0;
	retired = retire_tables(session, space);
	if (!session->fetched) {
		emit_everywhere(&emit);
	} else if (session->rings) {
		profile_take(session);
		settle(session, space);
		emit.done = put_rows(session, space);
		emit.stuck = !emit.done && !space;	/* soon again */
		profile_give(session);
	}
	smp_mb();	/* see profile_take_here() */
	if (READ_ONCE(session->flush_again))
		session_want_flush(session);
	if (session->flush_items < STEP_ITEMS && !emit.late)
		WRITE_ONCE(session->slow, false);
	if (!retired)
		return FLUSH_UNREACHED;
	if (emit.done)
		return FLUSH_DONE;
	if (emit.late)
		return FLUSH_LATER;
	if (session->fetched && !emit.stuck && READ_ONCE(session->reader))
		return FLUSH_HELD;
	return emit.stuck ? FLUSH_LATER : FLUSH_NO_RING;
}

/*
 * Rows of a process that is gone went out, or never will: its records can go.
 * What they still hold counts as evicted.
 */
static void forget_space(struct session *session, struct space *space)
{
	profile_take(session);
	session->engine->forget(session->profile, space->id);
	profile_give(session);
	space_free(space);
}

/* The same, of those whose rows found no room when they ended. */
static void forget_left(struct session *session)
{
	unsigned int i;

	for (i = 0; i < session->space_count; i++)
		if (READ_ONCE(session->spaces[i].left))
			forget_space(session, &session->spaces[i]);
}

/* On this CPU: the totals of an immediate engine. */
void session_totals_here(struct session *session)
{
	struct emit emit = { .session = session, .budget = 1 };
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	emit.slot = this_cpu_ptr(session->slots);
	emit.event = ring_here(session);
	if (emit.event)
		emit_totals(&emit);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

static void retry_later(struct session *session)
{
	mod_delayed_work(hwprof_workqueue, &session->flush_work,
			 msecs_to_jiffies(session->retry_ms));
	session->retry_ms = min(2 * session->retry_ms,
				jiffies_to_msecs(session->interval));
}

/* CPU time of current in ns, until now. */
static u64 time_of_current(void)
{
	unsigned long flags;
	u64 time;

	local_irq_save(flags);
	time = current->se.sum_exec_runtime + local_clock() -
	       current->se.exec_start;
	local_irq_restore(flags);
	return time;
}

static void flush_until_done(struct session *session, u32 space)
{
	int ring_tries = space ? RING_TRIES : 1;
	int table_tries = space ? TABLE_TRIES : 1;
	enum flushed flushed;

	if (session->engine->immediate) {
		session_totals_here(session);
		space_free(space_find(session, space));
		return;
	}
	for (;;) {
		mutex_lock(&session->flush_lock);
		cpus_read_lock();
		flushed = flush_once(session, space);
		cpus_read_unlock();
		if (flushed == FLUSH_HELD && space)
			space_find(session, space)->left = true;
		else if (flushed < FLUSH_LATER && space)
			forget_space(session, space_find(session, space));
		else if (flushed == FLUSH_DONE)
			forget_left(session);
		if (flushed == FLUSH_DONE)
			session->retry_ms = RETRY_MS;
		mutex_unlock(&session->flush_lock);
		if (flushed < FLUSH_LATER)
			return;
		if (!--*(flushed == FLUSH_LATER ? &ring_tries : &table_tries))
			break;
		msleep(TRY_MS);
	}
	if (space)
		WRITE_ONCE(space_find(session, space)->left, true);
	retry_later(session);
}

/*
 * Process context. @space 0: the interval is over. Else: that address space
 * is, and its rows are waited for, but not for ever.
 */
void session_flush(struct session *session, u32 space)
{
	u64 begin = local_clock(), ran = time_of_current();
	s64 took;

	flush_until_done(session, space);
	/* What CPUs take for theirs, such as interrupts, is not the same on all. */
	took = time_of_current() - ran;
	atomic64_add(clamp_t(s64, took, 0, local_clock() - begin),
		     &session->flush_cost);
}

/* --- fetching ------------------------------------------------------------------ */

/*
 * Process context: the profile is the caller's until session_fetched(), with all
 * in it that was learnt before now; or, if that is not @fresh, with what was
 * there when it was last fetched, and what flushes have brought since. False: a
 * CPU did not give its table.
 */
bool session_fetch(struct session *session, bool fresh)
{
	bool retired = true;

	mutex_lock(&session->flush_lock);
	if (fresh) {
		cpus_read_lock();
		retired = retire_tables(session, 0);
		cpus_read_unlock();
	}
	profile_take(session);
	if (session->settled != session->pass)
		settle(session, 0);
	session->settled = session->pass;
	return retired;
}

/* @all: nothing is left, so that processes that are gone can be forgotten. */
void session_fetched(struct session *session, bool all)
{
	profile_give(session);
	if (all)
		forget_left(session);
	mutex_unlock(&session->flush_lock);
}

/* In process context: of what was merged until now. */
int session_totals_now(struct session *session, struct hwprof_row_totals *row)
{
	unsigned long flags;

	if (mutex_lock_killable(&session->flush_lock))
		return -EINTR;
	if (session->engine->immediate) {
		raw_spin_lock_irqsave(&session->roots_lock, flags);
		session_totals(session, row);
		raw_spin_unlock_irqrestore(&session->roots_lock, flags);
	} else {
		profile_take(session);
		session_totals(session, row);
		profile_give(session);
	}
	mutex_unlock(&session->flush_lock);
	return 0;
}

static void clear(void *memory, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += CLEAR_BYTES) {
		memset(memory + at, 0, min_t(size_t, CLEAR_BYTES, size - at));
		cond_resched();
	}
}

/*
 * All is as if the session began now. -EAGAIN: a CPU did not give its table, and
 * some of what was before comes after.
 */
int session_reset(struct session *session)
{
	bool retired = session_fetch(session, true);

	clear(session->profile, session->profile_size);
	session->engine->table_init(session->profile, session->profile_size,
				    &session->params);
	session->fed = 0;
	session->delivered = 0;
	memset(&session->base, 0, sizeof(session->base));
	session_totals(session, &session->base);
	session_fetched(session, retired);
	return retired ? 0 : -EAGAIN;
}

/* --- from where perf is about to read --------------------------------------------- */

/* Has it what no row has told? Tables that are in use are not looked at. */
static bool has_news(const struct session *session)
{
	if (!bitmap_empty(session->table_dirty, session->table_count))
		return true;
	smp_rmb();	/* see merge_table() */
	return READ_ONCE(session->kept);
}

/* The profile is the caller's. */
static void flush_step(struct session *session)
{
	struct emit emit = { .session = session, .budget = ~0U };
	unsigned int table;

	for (table = 0; table < session->table_count; table++)
		if (!merge_if_free(session, table, 0))
			return;
	emit.turn = session->turn++;	/* not settled yet */
	emit_profile(&emit);
}

/*
 * On this CPU, with interrupts off: all that slots gave back so far. How much that
 * was. @waits: see profile_take_here().
 */
u32 session_flush_here(struct session *session, bool waits)
{
	u32 items;

	if (session->fetched || !has_news(session))
		return 0;
	if (!is_flushed_here(session)) {
		session_want_flush(session);
		return 0;
	}
	if (!profile_take_here(session, waits))
		return 0;
	step_begin(session, true);
	flush_step(session);
	items = session->step_items;
	profile_disown(session);
	if (READ_ONCE(session->slow))
		session_want_flush(session);
	return items;
}

/* @context: how much may be done before the others are left for later. */
static void flush_of_current(struct session *session, void *context)
{
	s64 *items = context;

	if (!session->rows || session->key.opener.tgid != current->tgid)
		return;
	if (session->engine->immediate)
		session_totals_here(session);
	else if (*items > 0)
		*items -= session_flush_here(session, true);
	else if (!session->fetched && has_news(session))
		session_want_flush(session);
}

/* The same, of all that current has opened; it holds no locks. */
void sessions_flush_here(void)
{
	s64 items = STEP_ITEMS;

	session_for_each(flush_of_current, &items);
}

void session_flush_work(struct work_struct *work)
{
	struct session *session =
		container_of(to_delayed_work(work), struct session, flush_work);
	u64 begin = local_clock();
	unsigned long took;

	WRITE_ONCE(session->flush_wanted, false);
	session_flush(session, 0);
	took = nsecs_to_jiffies64(max_t(s64, local_clock() - begin, 0));
	/* However short the interval: half of the time is for others. */
	queue_delayed_work(hwprof_workqueue, &session->flush_work,
			   max_t(unsigned long, session->interval, took));
}

void session_flush_kick(struct irq_work *work)
{
	struct session *session = container_of(work, struct session, flush_kick);

	mod_delayed_work(hwprof_workqueue, &session->flush_work, 0);
}

/*
 * Not at an interval's end, but soon; from anywhere. One kick will do: where the
 * kernel's branches are profiled, those of the kick itself may fill a window,
 * which finds the table as crowded as before.
 */
void session_want_flush(struct session *session)
{
	if (!READ_ONCE(session->flush_wanted) &&
	    !xchg(&session->flush_wanted, true))
		irq_work_queue(&session->flush_kick);
}

/* The slot's table goes out as it is: see engine_ops.immediate. */
void slot_emit(struct slot *slot)
{
	struct session *session = slot->session;
	const struct engine_ops *engine = session->engine;
	struct emit emit = { .session = session, .slot = slot, .budget = ~0U };
	struct table *table;
	size_t at = 0;

	if (slot->table < 0)
		return;
	table = &session->tables[slot->table];
	raw_spin_lock(&session->roots_lock);
	emit.event = ring_here(session);
	if (!emit.event ||
	    !engine->rows(table->memory, 0, &at, emit_row, &emit))
		engine->forget(table->memory, 0);
	session->fed += slot->fed;
	slot->fed = 0;
	table->evicted = engine->evicted(table->memory);
	raw_spin_unlock(&session->roots_lock);
}
