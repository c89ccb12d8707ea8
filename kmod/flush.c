// SPDX-License-Identifier: GPL-2.0-only
/*
 * When tables become rows.
 *
 * A flush retires tables into the session's profile, and writes what has grown
 * there since the flush before. Flushes run in process context, one at a time
 * (flush_lock): at the end of an interval in which something was learnt, when a
 * process of the session execs or exits (see space_end.c), after
 * PERF_EVENT_IOC_DISABLE, and before a CPU goes offline. They hold profile_lock
 * for a step at a time, with interrupts on.
 *
 * Perf reports the exit of the last thread of a process before task works run,
 * and readers stop then. So one more flush runs in a softirq, after perf has
 * stopped the exiting task's events and before that report: flush_at_exit().
 *
 * The PMU's callbacks do not flush, because the locks that are held there are
 * not known.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/sched/clock.h>

#include "emit.h"
#include "flush.h"
#include "ring.h"
#include "space.h"

enum {
	TRY_MS		= 5,
	/* How often to try at the end of a process if a ring is full ... */
	RING_TRIES	= 50,
	TABLE_TRIES	= 200,	/* ... or if a CPU does not give its table */
	RETRY_MS	= 20,	/* after a ring was full; doubles, up to an */
	RETRY_MOST	= 1000,	/* interval, or this if that is shorter */
	LEFT_MS		= 20,	/* between flushes of ended processes, and */
	LEFT_MOST	= 64,	/* how many of them one takes, but */
	LEFT_BYTES	= 1 << 28,	/* no more than it can search tables */
};

/* --- news ----------------------------------------------------------------- */

/*
 * Return true if the next flush is due by @time already. One without a timer
 * waits for a worker.
 */
static bool flush_is_due_by(struct delayed_work *work, unsigned long time)
{
	return delayed_work_pending(work) &&
	       !(timer_pending(&work->timer) &&
		 time_after(data_race(work->timer.expires), time));
}

/*
 * Have the session flushed in @delay jiffies, or when it is due if that is
 * earlier. Return false if it was due anyway.
 */
static bool flush_queue(struct session *session, unsigned long delay)
{
	if (flush_is_due_by(&session->flush_work, jiffies + delay))
		return false;
	mod_delayed_work(hwprof_workqueue, &session->flush_work, delay);
	return true;
}

/*
 * If a flush is wanted before its time, have it begin and return true. Whoever
 * queues a flush calls this afterwards: while it was being queued, it looked
 * due to others, and they did not queue an earlier one.
 */
static bool flush_if_wanted(struct session *session)
{
	smp_mb();	/* pairs with xchg() in session_want_flush() */
	if (!READ_ONCE(session->flush_wanted))
		return false;
	flush_queue(session, READ_ONCE(session->wanted_pause));
	return true;
}

/* Have the session flushed when the interval is over. */
static void flush_queue_interval(struct session *session)
{
	queue_delayed_work(hwprof_workqueue, &session->flush_work,
			   READ_ONCE(session->pause));
	flush_if_wanted(session);
}

static void flush_kick(struct irq_work *work)
{
	struct session *session =
		container_of(work, struct session, flush_kick);

	if (session->engine->immediate || !session->rows)
		return;
	if (!flush_if_wanted(session))
		flush_queue_interval(session);
}

/* Return true if there is anything that no row has told. */
static bool flush_has_news(const struct session *session)
{
	int cpu;

	if (!bitmap_empty(session->table_dirty, session->table_count))
		return true;
	smp_rmb();	/* see table_merge_begin() in table_pool.c */
	/* Whoever fills the stage meanwhile flushes it, too. */
	if (READ_ONCE(session->kept) ||
	    data_race(!stage_is_empty(session->stage)))
		return true;
	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(session->lanes, cpu)->news))
			return true;
	return false;
}

/* --- into a session's own rings ------------------------------------------- */

struct put {
	struct session *session;
	struct ring *ring;
	u64 now;
	bool full;
};

/* An engine_emit that writes a row to the session's own ring. */
static bool flush_put_row(void *context, const void *engine_row, u64 ip,
			  u64 addr, u64 period)
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
	row_trace(&row, engine_row);
	session->delivered += period;
	return true;
}

/*
 * Write rows of @space (0: of all) to the session's own ring, and totals after
 * them. Return true if all were written.
 */
static bool flush_put_rows(struct session *session, u32 space)
{
	struct put put = {
		session, rings_here(session->rings), session_now(session),
	};
	struct hwprof_row_totals totals;
	size_t at = 0;
	bool done;

	session_settle(session, space);
	do {
		done = session->engine->rows(session->profile, space, &at,
					     PROFILE_LOOKS, flush_put_row,
					     &put);
		cond_resched();
	} while (!done && !put.full);
	if (done) {
		session_totals(session, &totals);
		if (memcmp(&totals, &session->told, sizeof(totals))) {
			done = flush_put_row(&put, &totals, 0, 0, 0);
			if (done)
				session->told = totals;
		}
	}
	rings_wake(session->rings, put.ring, put.full);
	return done;
}

/* Set the session's rings. NULL: it has none. */
void session_set_rings(struct session *session, struct rings *rings)
{
	mutex_lock(&session->flush_lock);
	session->rings = rings;
	mutex_unlock(&session->flush_lock);
}

/* --- one flush ------------------------------------------------------------ */

enum flushed {
	FLUSH_DONE,	/* all rows were written */
	FLUSH_NO_RING,	/* there is none, so nobody takes them */
	FLUSH_NO_EVENT,	/* no event of a ring takes them now */
	FLUSH_HELD,	/* a reader will fetch them */
	FLUSH_LATER,	/* a ring was full, or rows changed too often */
	FLUSH_UNREACHED,	/* a CPU did not give its table */
};

/*
 * Write rows of @space (0: of all). @last: events of the session are stopped,
 * so there may be no later flush. The caller holds cpus_read_lock() and
 * flush_lock.
 */
static enum flushed flush_rows(struct session *session, u32 space, bool last)
{
	struct emit emit = {
		.session = session, .space = space, .last = last,
	};
	bool done;

	if (!session->fetched) {
		if (emit_all(&emit))
			return FLUSH_DONE;
		if (emit.stuck)
			return FLUSH_LATER;
		return emit_has_rings(session) ? FLUSH_NO_EVENT : FLUSH_NO_RING;
	}
	done = session->rings && flush_put_rows(session, space);
	if (done)
		return FLUSH_DONE;
	if (session->rings && !space)
		return FLUSH_LATER;	/* try again soon */
	return READ_ONCE(session->reader) ? FLUSH_HELD : FLUSH_NO_RING;
}

static void flush_begin(struct session *session)
{
	cpus_read_lock();
	mutex_lock(&session->flush_lock);
}

static void flush_end(struct session *session)
{
	mutex_unlock(&session->flush_lock);
	cpus_read_unlock();
}

static enum flushed flush_once(struct session *session, u32 space)
{
	struct ended ended = { &space, !!space };
	enum flushed flushed;
	bool retired;

	session_note_left(session);
	retired = session->engine->immediate || tables_retire(session, ended);
	if (!retired)
		session_keep_left(session);
	flushed = flush_rows(session, space, false);
	return retired ? flushed : FLUSH_UNREACHED;
}

/*
 * Have the rest flushed soon, or when that is due anyway. A ring that is full
 * may stay full; a CPU gives its table soon.
 */
static void flush_retry_later(struct session *session, enum flushed flushed)
{
	unsigned int most = jiffies_to_msecs(session->interval), ms;

	if (flushed == FLUSH_LATER)
		most = max_t(unsigned int, most, RETRY_MOST);
	ms = min(READ_ONCE(session->retry_ms), most);

	/* Flushes of two processes that end may come here at once. */
	if (flush_queue(session, msecs_to_jiffies(ms)))
		WRITE_ONCE(session->retry_ms, min(2 * ms, most));
	flush_if_wanted(session);
}

/* Return the CPU time of current in ns, until now. */
static u64 flush_time_of_current(void)
{
	unsigned long flags;
	u64 time;

	local_irq_save(flags);
	time = current->se.sum_exec_runtime + local_clock() -
	       current->se.exec_start;
	local_irq_restore(flags);
	return time;
}

/*
 * Add what a flush has cost that began at @begin, when current had run for @ran
 * ns. CPUs differ in what they subtract as their own time, such as interrupts.
 * Return it, in ns.
 */
static u64 flush_count_cost(struct session *session, u64 begin, u64 ran)
{
	s64 took = flush_time_of_current() - ran;

	took = max_t(s64, min_t(s64, took, local_clock() - begin), 0);
	atomic64_add(took, &session->flush_cost);
	return took;
}

/*
 * Return true if the address space @space of current has ended (0: none has),
 * and current must not wait for the session's opener. The opener could not
 * attach to a program that had an event, or cannot attach to current: that is
 * the program that ends, or the one that comes after it.
 */
static bool flush_is_aloof(const struct session *session, u32 space)
{
	return space && (READ_ONCE(session->aloof) ||
			 !opener_reaches(&session->key.opener, current_cred()));
}

/*
 * Take flush_lock, which the opener may hold. Return false if current must not
 * wait for it.
 */
static bool flush_take_lock(struct session *session, u32 space)
{
	if (flush_is_aloof(session, space))
		return mutex_trylock(&session->flush_lock);
	mutex_lock(&session->flush_lock);
	return true;
}

/* Flush once, and take care of processes that have ended. */
static enum flushed flush_locked(struct session *session, u32 space)
{
	enum flushed flushed;

	if (!flush_take_lock(session, space))
		return FLUSH_UNREACHED;
	flushed = flush_once(session, space);
	if (flushed == FLUSH_HELD && space)
		space_leave(space_find(session, space));
	else if (flushed < FLUSH_LATER && space)
		session_forget(session, space_find(session, space));
	else if (flushed <= FLUSH_NO_RING)
		session_forget_left(session);
	if (flushed < FLUSH_LATER)
		WRITE_ONCE(session->retry_ms, RETRY_MS);
	mutex_unlock(&session->flush_lock);
	return flushed;
}

/* Return true if all rows were written, or wait for a reader or an event. */
static bool flush_until_done(struct session *session, u32 space)
{
	bool aloof = flush_is_aloof(session, space), waits = space && !aloof;
	int ring_tries = waits ? RING_TRIES : 1;
	int table_tries = waits ? TABLE_TRIES : 1;
	enum flushed flushed;

	for (;;) {
		cpus_read_lock();
		flushed = flush_locked(session, space);
		cpus_read_unlock();
		if (flushed < FLUSH_LATER)
			return flushed != FLUSH_NO_RING;
		if (!--*(flushed == FLUSH_LATER ? &ring_tries : &table_tries))
			break;
		msleep(TRY_MS);
	}
	if (space)
		space_leave(space_find(session, space));
	if (aloof)
		session_flush_left(session);
	else
		flush_retry_later(session, flushed);
	return false;
}

/*
 * Write what tables have given back, and totals; an immediate engine has only
 * totals. Try again later if a ring is full. @last: see flush_rows().
 */
static void flush_rest(struct session *session, bool last)
{
	if (flush_rows(session, 0, last) == FLUSH_LATER)
		flush_retry_later(session, FLUSH_LATER);
	else
		WRITE_ONCE(session->retry_ms, RETRY_MS);
}

/* Flush an immediate engine. It has no profile. */
static void flush_immediate(struct session *session, u32 space)
{
	cpus_read_lock();
	if (!flush_take_lock(session, space)) {
		cpus_read_unlock();
		space_leave(space_find(session, space));
		session_flush_left(session);
		return;
	}
	session_note_left(session);
	flush_rest(session, false);
	if (space)
		session_forget(session, space_find(session, space));
	session_forget_left(session);
	flush_end(session);
}

/*
 * Flush in process context. @space 0: the interval is over. Otherwise that
 * address space is over, and the caller owns its record. Wait for its rows, but
 * not for ever, where flush_until_done() does. Return true if all rows were
 * written, or wait for a reader or an event; always for an immediate engine.
 */
bool session_flush(struct session *session, u32 space)
{
	u64 begin = local_clock(), ran = flush_time_of_current();
	bool done = true;

	if (session->engine->immediate)
		flush_immediate(session, space);
	else
		done = flush_until_done(session, space);
	flush_count_cost(session, begin, ran);
	return done;
}

/*
 * Write all rows, call @change, and tell the new totals. Nobody else flushes
 * meanwhile. Return false without a change if some rows cannot be written now.
 */
bool session_flush_around(struct session *session,
			  void (*change)(struct session *session,
					 void *context),
			  void *context)
{
	bool done = true;

	flush_begin(session);
	if (session->rows)
		done = flush_once(session, 0) < FLUSH_LATER;
	if (done)
		change(session, context);
	if (session->rows)
		flush_rest(session, false);
	flush_end(session);
	return done;
}

/*
 * Flush what CPUs have given back already, after the session's opener has
 * disabled its events. Wait for a flush that is under way.
 */
void session_flush_disabled(struct session *session)
{
	bool immediate = session->engine->immediate;

	if (!immediate && !flush_has_news(session) &&
	    !mutex_is_locked(&session->flush_lock))
		return;
	flush_begin(session);
	if (!immediate)
		tables_merge_free(session, (struct ended) {});
	flush_rest(session, true);
	flush_end(session);
}

static void flush_interval(struct work_struct *work)
{
	struct session *session =
		container_of(to_delayed_work(work), struct session, flush_work);
	u64 begin = local_clock();
	unsigned long took;
	bool done;

	WRITE_ONCE(session->flush_wanted, false);
	WRITE_ONCE(session->news, false);
	smp_mb();	/* news from now on ask for the next flush */
	done = session_flush(session, 0);
	took = nsecs_to_jiffies64(max_t(s64, local_clock() - begin, 0));
	/* Leave half of the time to others, however short the interval is. */
	WRITE_ONCE(session->pause,
		   max_t(unsigned long, session->interval, took));
	/* Do not spin if tables fill at once and no ring takes their rows. */
	WRITE_ONCE(session->wanted_pause, done ? 0 : took + 1);
	/* This pause may be shorter than the one before. */
	flush_if_wanted(session);
}

/* --- processes whose end the workqueue flushes ---------------------------- */

/* Records of processes that have ended, and their numbers. */
struct left {
	struct space *spaces[LEFT_MOST];
	u32 ids[LEFT_MOST];
	unsigned int count, done;
};

/*
 * Return how many ended processes one flush takes. All tables are searched for
 * each of them while others wait for the locks.
 */
static unsigned int flush_left_most(const struct session *session)
{
	return clamp_t(size_t, LEFT_BYTES / session->memory, 1, LEFT_MOST);
}

/* Own records of processes that have ended and were left to a flush. */
static void flush_claim(struct session *session, struct left *left)
{
	unsigned int i, most = flush_left_most(session);
	/* The reader will fetch those that were retired. */
	bool fetched = session->fetched && !session->rings;
	u32 id;

	for (i = 0; i < session->space_count && left->count < most; i++) {
		struct space *space = &session->spaces[i];

		id = space_left(space);
		if (!id || (fetched &&
			    READ_ONCE(space->left) == SPACE_RETIRED))
			continue;
		WRITE_ONCE(space->left, SPACE_KEPT);
		left->ids[left->count] = id;
		left->spaces[left->count++] = space;
	}
}

/*
 * Own what ended processes have left. CPUs give their tables once for all of
 * them. Return false if one does not.
 */
static bool flush_retire_left(struct session *session, struct left *left)
{
	bool retired;

	flush_begin(session);
	flush_claim(session, left);
	retired = !left->count || session->engine->immediate ||
		  tables_retire(session,
				(struct ended) { left->ids, left->count });
	flush_end(session);
	return retired;
}

/*
 * Write the rows of a process that has ended, and forget it. A process whose
 * rows a reader will fetch is forgotten when all are fetched. Return false if
 * they found no room, or if they are a thread's that may run again and take
 * them.
 */
static bool flush_ended(struct session *session, struct space *space)
{
	enum flushed flushed = FLUSH_DONE;
	bool done;

	flush_begin(session);
	if (session->engine->immediate)
		flush_rest(session, false);
	else
		flushed = flush_rows(session, space->id, false);
	done = flushed < FLUSH_NO_EVENT ||
	       (flushed == FLUSH_NO_EVENT && session_has_strangers(session));
	if (done) {
		/* A snapshot that is under way begins anew. */
		if (session->fetched)
			WRITE_ONCE(session->pass, session->pass + 1);
		session_forget(session, space);
	} else if (flushed == FLUSH_HELD && !session->rings) {
		WRITE_ONCE(space->left, SPACE_RETIRED);
		done = true;
	}
	flush_end(session);
	cond_resched();
	return done;
}

/*
 * Write what ended processes have left, until rows find no room. Return true if
 * there may be more that can be written now.
 */
static bool flush_some_left(struct session *session)
{
	struct left left = { .count = 0 };

	if (flush_retire_left(session, &left))
		while (left.done < left.count &&
		       flush_ended(session, left.spaces[left.done]))
			left.done++;
	if (left.done == left.count)
		return left.count == flush_left_most(session);
	while (left.done < left.count)
		space_leave(left.spaces[left.done++]);
	flush_queue_interval(session);	/* to try again */
	return false;
}

/* Leave half of the time to others, however many processes end. */
static void flush_left(struct work_struct *work)
{
	struct session *session =
		container_of(to_delayed_work(work), struct session, left_work);
	u64 begin = local_clock(), ran = flush_time_of_current();
	bool more = flush_some_left(session);
	u64 took = flush_count_cost(session, begin, ran);

	WRITE_ONCE(session->left_pause, nsecs_to_jiffies64(took) + 1);
	if (more)
		queue_delayed_work(hwprof_workqueue, &session->left_work,
				   session->left_pause);
}

/*
 * Have ended processes flushed that space_leave() was called for. Those of some
 * milliseconds are flushed together.
 */
void session_flush_left(struct session *session)
{
	queue_delayed_work(hwprof_workqueue, &session->left_work,
			   max(READ_ONCE(session->left_pause),
			       msecs_to_jiffies(LEFT_MS)));
}

/* --- when a CPU goes offline ---------------------------------------------- */

/*
 * Flush a session that has rings of the CPU. Only this CPU can write them, as
 * long as it is there.
 */
static void flush_of_cpu(struct session *session, void *context)
{
	const unsigned int *cpu = context;

	if (!session->rows || session->fetched || session->engine->immediate ||
	    list_empty(&per_cpu_ptr(session->lanes, *cpu)->roots))
		return;
	flush_locked(session, 0);
}

/*
 * Runs on that CPU, before perf stops its events. Nobody holds
 * cpus_read_lock().
 */
static int flush_cpu_goes(unsigned int cpu)
{
	sessions_visit(flush_of_cpu, &cpu);
	return 0;
}

static int cpu_state;

int flush_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					      "hwprof:online", NULL,
					      flush_cpu_goes);

	if (state < 0)
		return state;
	cpu_state = state;
	return 0;
}

void flush_exit(void)
{
	cpuhp_remove_state_nocalls(cpu_state);
}

/* --- from begin to end ---------------------------------------------------- */

void session_flush_init(struct session *session)
{
	mutex_init(&session->flush_lock);
	spin_lock_init(&session->profile_lock);
	INIT_DELAYED_WORK(&session->flush_work, flush_interval);
	INIT_DELAYED_WORK(&session->left_work, flush_left);
	session->flush_kick = IRQ_WORK_INIT(flush_kick);
	session->retry_ms = RETRY_MS;
	session->pause = session->interval;
}

/* No lane of the session is active any more. In process context. */
void session_flush_end(struct session *session)
{
	int cpu;

	for_each_possible_cpu(cpu)
		lane_flush_end(per_cpu_ptr(session->lanes, cpu));
	cancel_delayed_work_sync(&session->left_work);
	cancel_delayed_work_sync(&session->flush_work);
	irq_work_sync(&session->flush_kick);	/* either may queue the other */
	cancel_delayed_work_sync(&session->flush_work);
}
