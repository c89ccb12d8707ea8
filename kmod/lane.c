// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lane: a session on one CPU. It knows what is active, which table and cursor
 * are in use, and what becomes of an event. Interrupts are off in all
 * functions.
 */
#include <linux/rculist.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

#include "arch.h"
#include "compat.h"
#include "ending.h"
#include "engine/window.h"
#include "filter.h"
#include "flush.h"
#include "lane_sample.h"
#include "session.h"
#include "source/source.h"

enum { CURSOR_PROBES = 64 };

/* --- the cursor of the task that runs ------------------------------------ */

static u64 lane_task_key(struct task_struct *task)
{
	return (u64)task->pid << 42 ^ task->start_time;
}

static struct cursor *cursor_at(struct session *session, u32 i)
{
	return (void *)session->cursors + (size_t)i * session->cursor_size;
}

static bool cursor_claim(struct cursor *cursor)
{
	return atomic_cmpxchg_acquire(&cursor->busy, 0, 1) == 0;
}

/* Claim a cursor if it is current's. There may be a free record by now. */
static bool cursor_claim_own(struct session *session, struct cursor *cursor,
			     u64 key)
{
	if (READ_ONCE(cursor->key) != key || !cursor_claim(cursor))
		return false;
	if (cursor->key != key) {
		atomic_set_release(&cursor->busy, 0);
		return false;
	}
	if (unlikely(!cursor->space))
		cursor->space = space_of_current(session);
	return true;
}

static void cursor_init(struct lane *lane, struct cursor *cursor, u64 key)
{
	struct session *session = lane->session;

	/* its task may come back */
	lane_count(&lane->gaps, cursor->used != 0);
	WRITE_ONCE(cursor->key, key);
	cursor->space = space_of_current(session);
	cursor->exec = current->self_exec_id;
	cursor->task = session_task(session);
	cursor->seen = ~0ULL;
	cursor->outside = false;
	session->engine->cursor_init(cursor->engine,
				     task_pid_nr_ns(current, session->pid_ns));
}

/*
 * Return current's cursor: its own, or a free one, or the one that was idle for
 * longest. Return NULL if all are busy.
 */
static struct cursor *cursor_get(struct lane *lane)
{
	struct session *session = lane->session;
	u64 key = lane_task_key(current);
	u32 home = hsiphash(&key, sizeof(key), &session->secret) %
		   session->cursor_count;
	struct cursor *oldest = NULL;
	u32 i;

	for (i = 0; i < min_t(u32, session->cursor_count, CURSOR_PROBES); i++) {
		struct cursor *cursor =
			cursor_at(session, (home + i) % session->cursor_count);

		if (cursor_claim_own(session, cursor, key))
			return cursor;
		if (!atomic_read(&cursor->busy) &&
		    (!oldest || READ_ONCE(cursor->used) <
				READ_ONCE(oldest->used)))
			oldest = cursor;
	}
	if (!oldest || !cursor_claim(oldest))
		return NULL;
	cursor_init(lane, oldest, key);
	return oldest;
}

/* Current's code up to now ran unseen. It goes on at @at. */
void lane_gap(struct lane *lane, u64 at)
{
	struct stream_event gap = { .kind = STREAM_GAP, .to = at };

	lane_count(&lane->gaps, 1);
	lane_feed(lane, &gap, NULL);
}

/* An exec has replaced the program of the cursor's task. */
static void lane_follow_exec(struct lane *lane)
{
	struct cursor *cursor = lane->cursor;

	lane_gap(lane, 0);
	if (lane->session->engine->immediate)
		lane_emit(lane);
	cursor->exec = current->self_exec_id;
	cursor->task = session_task(lane->session);
	cursor->space = space_of_current(lane->session);
}

/*
 * Make the lane ready for events of current, which goes on at @at. @steps is a
 * count that grows with everything that could have been seen; if it has changed
 * since lane_unbind(), there is a gap.
 */
void lane_bind(struct lane *lane, u64 steps, u64 at)
{
	struct session *session = lane->session;
	int table;

	if (!session->rows)
		return;
	if (lane->table < 0) {
		table = table_take(session);
		/* Without one, the lane still has news of what it loses. */
		if (table >= 0)
			lane_change_table(lane, table);
	}
	if (!lane->cursor) {
		lane->cursor = cursor_get(lane);
		if (!lane->cursor)
			return;
		/* A burst begins with a gap of its own. */
		if (lane->cursor->seen != steps && !session->config.burst)
			lane_gap(lane, at);
	}
	if (unlikely(lane->cursor->exec != current->self_exec_id))
		lane_follow_exec(lane);
}

/*
 * Current leaves the CPU, or its events end. This may be called in a context
 * switch, with the run queue locked. An immediate engine has no profile, so the
 * thread's unfinished row is written now: docs/security.md has the bound. The
 * ring of a thread's event can only be written where the thread runs.
 */
void lane_unbind(struct lane *lane, u64 steps)
{
	struct cursor *cursor = lane->cursor;

	if (!cursor)
		return;
	if (lane->session->engine->immediate)
		lane_emit(lane);
	lane->cursor = NULL;
	/* Code that ran unseen is a gap when the task goes on. */
	cursor->seen = lane->missed ? ~0ULL : steps;
	lane->missed = false;
	/* An exiting task may be seen again, so it keeps its cursor. */
	WRITE_ONCE(cursor->used,
		   current->flags & PF_EXITING ? 0 : local_clock());
	atomic_set_release(&cursor->busy, 0);
}

/* --- events --------------------------------------------------------------- */

void lane_open(struct lane *lane)
{
	barrier();
	WRITE_ONCE(lane->open, true);
}

void lane_close(struct lane *lane)
{
	WRITE_ONCE(lane->open, false);
	barrier();
}

void lane_start(struct lane *lane, struct perf_event *event)
{
	struct session *session = lane->session;
	bool first = !lane->active;

	/* An NMI may be reading the list: see source/metrics.c. */
	INIT_LIST_HEAD(&event->hw.tp_list);
	if (lane->listed < LANE_EVENTS) {
		list_add_tail_rcu(&event->hw.tp_list, &lane->events);
		lane->listed++;
	}
	lane->wide += !event->hw.target;
	/* Perf may refuse an event after it was made, but not this one. */
	if (!event->hw.target)
		session_widen(session);
	else if (unlikely(event_root(event)->aloof) &&
		 !READ_ONCE(session->aloof))
		WRITE_ONCE(session->aloof, true);
	WRITE_ONCE(lane->active, lane->active + 1);
	if (!READ_ONCE(session->started))
		WRITE_ONCE(session->started, true);
	/*
	 * Either the record of its filter is noted as used here, or
	 * filter_event_closed() sees that the lane is active.
	 */
	smp_mb();
	if (first) {
		if (session->rows)
			lane_change_table(lane, table_take(session));
		session->source->start(lane);
	}
	/* There may be hundreds that are left out. */
	if (!lane->left_out)
		filter_check(lane);
}

/*
 * Perf does not say why it stops an event, nor which locks it holds. So nothing
 * is flushed here, except the row that an immediate engine has begun. News
 * cause a flush at the end of the interval. Whoever disables events, or exits,
 * flushes later without locks.
 */
void lane_stop(struct lane *lane, struct perf_event *event)
{
	struct session *session = lane->session;

	lane_sample_rest(lane, event);
	if (lane->active == 1) {
		session->source->stop(lane);
		lane_change_table(lane, -1);
	}
	lane->listed -= !list_empty(&event->hw.tp_list);
	list_del_rcu(&event->hw.tp_list);
	lane->wide -= !event->hw.target;
	WRITE_ONCE(lane->active, lane->active - 1);
	/*
	 * Perf stops a CPU's event for other reasons, also when current has
	 * exited and been released.
	 */
	if (!event->hw.target || !ending_is_due())
		return;
	if (lane->active == lane->wide)		/* it was the task's last */
		space_stopped(session);
	/*
	 * Perf is about to hang up, which stock perf takes for the end of the
	 * recording. A flush by task work may be too late.
	 */
	if (!lane->active && !atomic_read(&current->signal->live))
		lane_exits(lane);
}

/* --- feeding -------------------------------------------------------------- */

static void lane_feed_engine(struct lane *lane, struct stream_event *stream,
			     unsigned int units)
{
	struct session *session = lane->session;
	const struct engine_ops *engine = session->engine;
	struct cursor *cursor = lane->cursor;

	lane_note_news(lane);
	if (unlikely(!cursor || lane->table < 0 || !cursor->space)) {
		lane_count(&lane->lost, units);
		lane_count(&lane->lost_events, 1);
		lane->missed = true;
		return;
	}
	if (unlikely(lane->missed)) {
		lane->missed = false;
		lane_gap(lane, stream->from);
	}
	stream->space = cursor->space;
	lane->fed += units;
	if (likely(engine->feed(session->tables[lane->table].memory,
				cursor->engine, stream)))
		return;
	if (engine->immediate)
		lane_emit(lane);
	else
		session_want_flush(session);
}

/* Feed an event that passes the filter. */
static __always_inline void lane_feed_passed(struct lane *lane,
					     struct stream_event *stream,
					     struct pt_regs *regs)
{
	struct session *session = lane->session;
	unsigned int units;

	if (programs_want(&session->programs, stream->kind) &&
	    programs_feed(lane, stream))
		return;
	units = session->engine->unit(&session->params, stream);
	lane_count(&lane->units, units);
	lane_count(&lane->events_seen, 1);
	if (session->rows)
		lane_feed_engine(lane, stream, units);
	else if (units)
		lane_sample_events(lane, stream, units, regs);
}

/*
 * Feed an event that passes the filter, if it passes the mask, too. Then the
 * engine may have to know that a branch was left out.
 */
static noinline void lane_feed_by_mask(struct lane *lane,
				       struct stream_event *stream,
				       struct pt_regs *regs)
{
	const struct mask *mask = mask_now(lane->session);

	if (!mask || mask_passes(mask, stream))
		lane_feed_passed(lane, stream, regs);
	else if (lane->session->lines && !stream_is_access(stream->kind))
		lane->missed = true;
}

/* Feed an arrival, which is no unit. */
static void lane_feed_arrival(struct lane *lane, struct stream_event *arrival)
{
	if (lane->session->rows)
		lane_feed_engine(lane, arrival, 0);
}

/* Feed what passes of an event. Other lanes get the same event. */
static noinline void lane_feed_by_filter(struct lane *lane,
					 const struct filter_set *set,
					 const struct stream_event *stream,
					 struct pt_regs *regs)
{
	struct stream_event event = *stream, arrival;
	struct stream_event gap = { .kind = STREAM_GAP, .to = stream->from };

	switch (filter_judge(lane, set, &event)) {
	case FILTER_DROPS:
		return;
	case FILTER_CALLS:
		lane_feed_arrival(lane, &gap);
		lane_feed_arrival(lane, &event);
		return;
	case FILTER_ARRIVES:
		lane_feed_arrival(lane, &event);
		return;
	case FILTER_FELL:
		arrival = filter_fall(lane, set, stream);
		lane_feed_arrival(lane, &arrival);
		break;
	case FILTER_PASSES:
		break;
	}
	lane_feed_by_mask(lane, &event, regs);
}

static __always_inline void lane_feed_in_ranges(struct lane *lane,
						const struct filter_set *set,
						struct stream_event *stream,
						struct pt_regs *regs)
{
	if (!filter_drops(set, stream))
		lane_feed_by_filter(lane, set, stream, regs);
}

/* Search for the ranges before anything is fed. */
static noinline void lane_feed_searching(struct lane *lane,
					 struct stream_event *stream,
					 struct pt_regs *regs)
{
	const struct mask *mask = mask_now(lane->session);
	u32 events = stream->kind != STREAM_GAP &&
		     (!mask || mask_passes(mask, stream));

	lane_feed_in_ranges(lane, filter_of(lane, events), stream, regs);
}

/* Most events are left out here, which takes no stack. */
void lane_feed_narrowed(struct lane *lane, struct stream_event *stream,
			struct pt_regs *regs)
{
	const struct filter_space *space = READ_ONCE(lane->filter);

	if (unlikely(!filter_is_set(lane->session)))
		lane_feed_by_mask(lane, stream, regs);
	else if (unlikely(!filter_is_valid(space, lane)))
		lane_feed_searching(lane, stream, regs);
	else
		lane_feed_in_ranges(lane, READ_ONCE(space->set), stream, regs);
}

void lane_feed_everything(struct lane *lane, struct stream_event *stream,
			  struct pt_regs *regs)
{
	lane_feed_passed(lane, stream, regs);
}

/* --- windows -------------------------------------------------------------- */

/* Count a window from which nobody learns. */
static void lane_count_window(struct lane *lane, struct window *window,
			      struct window_counts *counts)
{
	struct session *session = lane->session;
	const struct stream_event *event;

	while ((event = window_next(window))) {
		counts->events++;
		counts->units += session->engine->unit(&session->params, event);
	}
}

/*
 * Feed all events of a window. It stands for itself, and needs no cursor. This
 * may run in NMI.
 */
void lane_feed_window(struct lane *lane, struct window *window)
{
	struct session *session = lane->session;
	struct window_counts counts = { 0 };

	if (session->rows)
		lane_note_news(lane);
	if (session->rows && likely(lane->table >= 0)) {
		void *table = session->tables[lane->table].memory;

		if (!session->engine->feed_window(table, window, &counts))
			session_want_flush(session);
		lane->fed += counts.units;
	} else {
		lane_count_window(lane, window, &counts);
		if (session->rows) {
			lane_count(&lane->lost, counts.units);
			lane_count(&lane->lost_events, counts.events);
		}
	}
	lane_count(&lane->units, counts.units);
	lane_count(&lane->events_seen, counts.events);
	lane_count(&lane->gaps, counts.gaps);
}

/*
 * A window that was taken at @ip was fed. If time chose it, the time goes to
 * the loop there.
 */
void lane_window(struct lane *lane, u64 ip, u32 space)
{
	struct session *session = lane->session;

	if (!session->rows || lane->table < 0)
		return;
	lane_note_news(lane);	/* also if no event of it passed */
	lane->windows++;
	if (session->params.basis == HWPROF_BASIS_TIME &&
	    session->engine->taken && filter_passes(lane, ip, 0))
		session->engine->taken(session->tables[lane->table].memory, ip,
				       space);
}

/*
 * Feed a sample. It stands for itself, too. A sample of the kernel has space 0;
 * so has a sample of a program that has no record, which is lost.
 */
void lane_feed_sample(struct lane *lane, struct stream_event *sample)
{
	struct session *session = lane->session;
	const struct engine_ops *engine = session->engine;
	unsigned int units;

	if (!filter_passes(lane, sample->from, 1))
		return;
	if (programs_want(&session->programs, STREAM_SAMPLE) &&
	    programs_feed_sample(lane, sample->from, sample->value,
				 sample->space, NULL))
		return;
	units = engine->unit(&session->params, sample);
	lane_count(&lane->units, units);
	lane_count(&lane->events_seen, 1);
	if (!session->rows)
		return;
	lane_note_news(lane);
	if (unlikely(lane->table < 0 ||
		     (!sample->space && !window_in_kernel(sample->from)))) {
		lane_count(&lane->lost, units);
		lane_count(&lane->lost_events, 1);
		return;
	}
	lane->fed += units;
	if (!engine->feed(session->tables[lane->table].memory, NULL, sample))
		session_want_flush(session);
}

/* Feed a sample with its stack of calls. */
void lane_feed_stack(struct lane *lane, struct stream_stack *stack)
{
	const struct stream_event sample = {
		.kind = STREAM_SAMPLE, .value = stack->weight,
	};
	struct session *session = lane->session;
	const struct engine_ops *engine = session->engine;
	unsigned int units;
	void *table;

	if (programs_want(&session->programs, STREAM_SAMPLE) &&
	    programs_feed_sample(lane, stack->procedure, stack->weight,
				 stack->space, stack))
		return;
	units = engine->unit(&session->params, &sample);
	lane_count(&lane->units, units);
	lane_count(&lane->events_seen, 1);
	if (!session->rows)
		return;
	lane_note_news(lane);
	if (unlikely(lane->table < 0 ||
		     (!stack->space && !window_in_kernel(stack->procedure)))) {
		lane_count(&lane->lost, units);
		lane_count(&lane->lost_events, 1);
		return;
	}
	lane->fed += units;
	stack->weight = units;
	table = session->tables[lane->table].memory;
	if (!engine->count_stack(table, stack) &&
	    !engine->feed_stack(table, stack))
		session_want_flush(session);
}
