// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session on one CPU: what is active, which table and cursor are in use,
 * and what becomes of an event. All of it with interrupts off.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/static_call.h>

#include "arch.h"
#include "compat.h"
#include "engine/window.h"
#include "flush.h"
#include "session.h"
#include "source/budget.h"
#include "source/source.h"
#include "symbol.h"

enum { CURSOR_PROBES = 64 };

/*
 * perf_event_overflow() throttles, counts limits and runs BPF programs, but is
 * not exported: it is looked up once. Without it samples go out unthrottled.
 */
static int overflow_plain(struct perf_event *event,
			  struct perf_sample_data *data, struct pt_regs *regs)
{
	event->overflow_handler(event, data, regs);
	return 0;
}

DEFINE_STATIC_CALL(overflow, overflow_plain);

int slots_init(void)
{
	void *found = symbol_find(SYMBOL_perf_event_overflow);

	if (found)
		static_call_update(overflow, (typeof(&overflow_plain))found);
	return 0;
}

/* --- the cursor of the task that runs ------------------------------------ */

static u64 task_key(struct task_struct *task)
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

static void cursor_init(struct slot *slot, struct cursor *cursor, u64 key)
{
	struct session *session = slot->session;

	slot->gaps += cursor->used != 0;	/* its task may come back */
	cursor->key = key;
	cursor->space = space_of_current(session);
	cursor->exec = current->self_exec_id;
	cursor->seen = ~0ULL;
	session->engine->cursor_init(cursor->engine,
				     task_pid_nr_ns(current, session->pid_ns));
}

/* Current's cursor: its own, a free one, or the one that was idle longest. */
static struct cursor *cursor_get(struct slot *slot)
{
	struct session *session = slot->session;
	u64 key = task_key(current);
	u32 home = hash_64(key, 32) % session->cursor_count;
	struct cursor *oldest = NULL;
	u32 i;

	for (i = 0; i < min_t(u32, session->cursor_count, CURSOR_PROBES); i++) {
		struct cursor *cursor =
			cursor_at(session, (home + i) % session->cursor_count);

		if (READ_ONCE(cursor->key) == key && cursor_claim(cursor)) {
			if (cursor->key == key)
				return cursor;
			atomic_set_release(&cursor->busy, 0);
		}
		if (!atomic_read(&cursor->busy) &&
		    (!oldest || cursor->used < oldest->used))
			oldest = cursor;
	}
	if (!oldest || !cursor_claim(oldest))
		return NULL;
	cursor_init(slot, oldest, key);
	return oldest;
}

/* Current's code that ran until now was not seen; it goes on at @at. */
void slot_gap(struct slot *slot, u64 at)
{
	struct stream_event gap = { .kind = STREAM_GAP, .to = at };

	slot->gaps++;
	slot_feed(slot, &gap, NULL);
}

/* An exec has replaced what the cursor's task runs. */
static void follow_exec(struct slot *slot)
{
	struct cursor *cursor = slot->cursor;

	slot_gap(slot, 0);
	if (slot->session->engine->immediate)
		slot_emit(slot);
	cursor->exec = current->self_exec_id;
	cursor->space = space_of_current(slot->session);
}

/*
 * Makes the slot ready for events of current, which has made @steps steps
 * (any count that grows with what could have been seen) and goes on at @at.
 */
void slot_bind(struct slot *slot, u64 steps, u64 at)
{
	struct session *session = slot->session;

	if (!session->rows)
		return;
	if (slot->table < 0)
		slot_change_table(slot, table_take(session));
	if (!slot->cursor) {
		slot->cursor = cursor_get(slot);
		if (!slot->cursor)
			return;
		/* A burst begins with a gap of its own. */
		if (slot->cursor->seen != steps && !session->burst)
			slot_gap(slot, at);
	}
	if (unlikely(slot->cursor->exec != current->self_exec_id))
		follow_exec(slot);
}

void slot_unbind(struct slot *slot, u64 steps)
{
	struct cursor *cursor = slot->cursor;

	if (!cursor)
		return;
	if (slot->session->engine->immediate)
		slot_emit(slot);
	slot->cursor = NULL;
	cursor->seen = steps;
	/* Who exits may be seen again until that is done: it keeps its cursor. */
	cursor->used = current->flags & PF_EXITING ? 0 : local_clock();
	atomic_set_release(&cursor->busy, 0);
}

/* --- events ---------------------------------------------------------------- */

void slot_start(struct slot *slot, struct perf_event *event)
{
	struct session *session = slot->session;

	/* An NMI may be reading the list: see source/metrics.c. */
	list_add_tail_rcu(&event->hw.tp_list, &slot->events);
	slot->wide += !event->hw.target;
	if (slot->active++)
		return;
	if (session->rows)
		slot_change_table(slot, table_take(session));
	if (session->params.basis != HWPROF_BASIS_EXACT)
		budget_start(slot);
	session->source->start(slot);
}

static void emit_rest(struct slot *slot, struct perf_event *event);

/*
 * The last thread of its process exits. Perf is about to hang up, which stock
 * perf takes for the end of the recording: a flush by task work may be too late.
 */
static bool is_last_exit(void)
{
	return current->flags & PF_EXITING &&
	       !atomic_read(&current->signal->live);
}

/*
 * Perf does not say why it stops an event, nor which locks it holds. So nothing is
 * flushed here: news make for a flush at the end of the interval, and whoever
 * disables events or exits flushes later, without locks.
 */
void slot_stop(struct slot *slot, struct perf_event *event)
{
	struct session *session = slot->session;

	emit_rest(slot, event);
	if (slot->active == 1) {
		session->source->stop(slot);
		if (session->params.basis != HWPROF_BASIS_EXACT)
			budget_stop(slot);
		slot_change_table(slot, -1);
	}
	list_del_rcu(&event->hw.tp_list);
	slot->wide -= !event->hw.target;
	slot->active--;
	if (!slot->active && is_last_exit())
		slot_exits(slot);
}

void slot_update(struct slot *slot, struct perf_event *event)
{
	u64 now = READ_ONCE(slot->units);	/* an NMI may go on counting */
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

/* --- samples ---------------------------------------------------------------- */

/*
 * Of perf's fields of an event, those that a PMU is free to use: last_period
 * has the units since the last sample, which are the next one's period, so
 * that periods always add up to the count, also when perf throttles the event
 * or changes its period. What the last unit was:
 */
static void note_unit(struct hw_perf_event *hwc,
		      const struct stream_event *unit)
{
	hwc->config_base = unit->from;
	hwc->event_base = unit->to;
	hwc->extra_reg.config = unit->value;
	hwc->idx = unit->kind;
}

static struct stream_event noted_unit(const struct hw_perf_event *hwc)
{
	return (struct stream_event) {
		.from = hwc->config_base,
		.to = hwc->event_base,
		.value = hwc->extra_reg.config,
		.kind = hwc->idx,
	};
}

/* A sample of the event's last unit. @rest: perf's accounting is over. */
static void emit_sample(struct slot *slot, struct perf_event *event,
			const struct pt_regs *regs, bool rest)
{
	struct engine_sample *sample = (void *)slot->row;
	struct stream_event unit = noted_unit(&event->hw);
	u64 period = event->hw.last_period;
	struct perf_raw_record raw = {};
	struct perf_sample_data data;
	struct pt_regs there = *regs;

	slot->session->engine->sample(&slot->session->params, &unit, period,
				      sample);
	sample->row.session = slot->session->id;
	sample->row.pid = task_tgid_nr_ns(current, slot->session->pid_ns);
	*(u32 *)((void *)&sample->row + sample->row.size) = 0;
	raw.frag.data = &sample->row;
	raw.frag.size = sample->row.size + sizeof(u32);
	perf_sample_data_init(&data, sample->addr, period);
	compat_save_raw(&data, event, &raw);
	instruction_pointer_set(&there, sample->ip);
	slot_update(slot, event);	/* the sample may tell the count */
	if (rest)
		event->overflow_handler(event, &data, &there);
	else
		slot->throttled += static_call(overflow)(event, &data, &there);
	local64_set(&event->hw.period_left, event->hw.sample_period);
	event->hw.last_period = 0;
}

static void sample_events(struct slot *slot, const struct stream_event *stream,
			  unsigned int units, const struct pt_regs *regs)
{
	struct perf_event *event;

	list_for_each_entry(event, &slot->events, hw.tp_list) {
		struct hw_perf_event *hwc = &event->hw;

		if (!is_sampling_event(event) || hwc->state & PERF_HES_STOPPED)
			continue;
		note_unit(hwc, stream);
		hwc->last_period += units;
		if (local64_sub_return(units, &hwc->period_left) <= 0 &&
		    hwc->interrupts != ~0ULL)	/* not throttled */
			emit_sample(slot, event, regs, false);
	}
}

/*
 * The task's events of other CPUs have seen a part of their period, and may
 * never run again. Perf holds the context's lock, and they are not active.
 */
static void gather_rests(struct perf_event *event)
{
	struct session *session = event_session(event);
	struct perf_event *other;
	struct stream_event unit;

	list_for_each_entry(other, &event->ctx->event_list, event_entry) {
		if (other->pmu != event->pmu || other->cpu == event->cpu ||
		    !is_sampling_event(other) ||
		    event_session(other) != session || !other->hw.last_period)
			continue;
		unit = noted_unit(&other->hw);
		if (!event->hw.last_period)
			note_unit(&event->hw, &unit);
		event->hw.last_period += other->hw.last_period;
		other->hw.last_period = 0;
	}
}

/*
 * A last sample carries what is left of the period, if samples tell their period;
 * else its reader would take it for a whole one. It is written when the task exits
 * or, as far as can be told, when the event is disabled: by an interrupt. Perf also
 * rotates events in interrupts; then there is one sample more, and the sum of the
 * periods is the same. A CPU-wide event no longer has a known owner.
 */
static void emit_rest(struct slot *slot, struct perf_event *event)
{
	struct pt_regs regs = arch_user_regs();	/* long gone */

	if (!in_hardirq() && !(current->flags & PF_EXITING))
		return;
	if (!is_sampling_event(event) || slot->session->rows ||
	    !event->hw.target || !(event->attr.sample_type & PERF_SAMPLE_PERIOD))
		return;
	gather_rests(event);
	if (event->hw.last_period)
		emit_sample(slot, event, &regs, true);
}

/* --- feeding ------------------------------------------------------------------ */

static void feed_engine(struct slot *slot, struct stream_event *stream,
			unsigned int units)
{
	struct session *session = slot->session;
	const struct engine_ops *engine = session->engine;
	struct cursor *cursor = slot->cursor;

	slot_note_news(slot);
	if (unlikely(!cursor || slot->table < 0 || !cursor->space)) {
		slot->lost += units;
		slot->lost_events++;
		slot->missed = true;
		return;
	}
	if (unlikely(slot->missed)) {
		slot->missed = false;
		slot_gap(slot, stream->from);
	}
	stream->space = cursor->space;
	slot->fed += units;
	if (likely(engine->feed(session->tables[slot->table].memory,
				cursor->engine, stream)))
		return;
	if (engine->immediate)
		slot_emit(slot);
	else
		session_want_flush(session);
}

/* One event of current. @regs: its user registers; needed only for a unit. */
void slot_feed(struct slot *slot, struct stream_event *stream,
	       struct pt_regs *regs)
{
	struct session *session = slot->session;
	unsigned int units = session->engine->unit(&session->params, stream);

	slot->units += units;
	slot->events_seen++;
	if (session->rows)
		feed_engine(slot, stream, units);
	else if (units)
		sample_events(slot, stream, units, regs);
}

/* --- windows ------------------------------------------------------------------ */

/* Nobody learns from them: what they would have counted. */
static void count_window(struct slot *slot, struct window *window,
			 struct window_counts *counts)
{
	struct session *session = slot->session;
	const struct stream_event *event;

	while ((event = window_next(window))) {
		counts->events++;
		counts->units += session->engine->unit(&session->params, event);
	}
}

/*
 * All events of a window, which stands for itself: it needs no cursor. May be
 * an NMI.
 */
void slot_feed_window(struct slot *slot, struct window *window)
{
	struct session *session = slot->session;
	struct window_counts counts = { 0 };

	if (session->rows)
		slot_note_news(slot);
	if (session->rows && likely(slot->table >= 0)) {
		void *table = session->tables[slot->table].memory;

		if (!session->engine->feed_window(table, window, &counts))
			session_want_flush(session);
		slot->fed += counts.units;
	} else {
		count_window(slot, window, &counts);
		if (session->rows) {
			slot->lost += counts.units;
			slot->lost_events += counts.events;
		}
	}
	slot->units += counts.units;
	slot->events_seen += counts.events;
	slot->gaps += counts.gaps;
}

/*
 * A window was fed, which was taken at @ip. If that was chosen by time, the
 * time goes to the loop that is there.
 */
void slot_window(struct slot *slot, u64 ip, u32 space)
{
	struct session *session = slot->session;

	if (!session->rows || slot->table < 0)
		return;
	slot->windows++;
	if (session->params.basis == HWPROF_BASIS_TIME &&
	    session->engine->taken)
		session->engine->taken(session->tables[slot->table].memory, ip,
				       space);
}

/*
 * A sample stands for itself, too. Its space is 0 where it is the kernel's, and
 * of a program where there was no room for its record.
 */
void slot_feed_sample(struct slot *slot, struct stream_event *sample)
{
	struct session *session = slot->session;
	const struct engine_ops *engine = session->engine;
	unsigned int units = engine->unit(&session->params, sample);

	slot->units += units;
	slot->events_seen++;
	if (!session->rows)
		return;
	slot_note_news(slot);
	if (unlikely(slot->table < 0 ||
		     (!sample->space && !window_in_kernel(sample->from)))) {
		slot->lost += units;
		slot->lost_events++;
		return;
	}
	slot->fed += units;
	if (!engine->feed(session->tables[slot->table].memory, NULL, sample))
		session_want_flush(session);
}

/* The same of a sample's stack of calls. */
void slot_feed_stack(struct slot *slot, struct stream_stack *stack)
{
	const struct stream_event sample = {
		.kind = STREAM_SAMPLE, .value = stack->weight,
	};
	struct session *session = slot->session;
	const struct engine_ops *engine = session->engine;
	unsigned int units = engine->unit(&session->params, &sample);
	void *table;

	slot->units += units;
	slot->events_seen++;
	if (!session->rows)
		return;
	slot_note_news(slot);
	if (unlikely(slot->table < 0 ||
		     (!stack->space && !window_in_kernel(stack->procedure)))) {
		slot->lost += units;
		slot->lost_events++;
		return;
	}
	slot->fed += units;
	stack->weight = units;
	table = session->tables[slot->table].memory;
	if (!engine->count_stack(table, stack) &&
	    !engine->feed_stack(table, stack))
		session_want_flush(session);
}
