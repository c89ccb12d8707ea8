// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows on their way into the rings of perf events.
 *
 * Rows leave the profile into the session's stage, with interrupts on. The CPU
 * that a ring belongs to then writes them from the stage, a piece at a time,
 * with interrupts off. A row that a ring has no room for stays in the stage.
 *
 * Which event a row may be written for is decided by what perf reads for it. An
 * event that is active on this CPU may be asked for all that its attributes
 * allow: nobody changes it or its group while interrupts are off. Of an
 * inactive event perf may read only what does not change: docs/rows.md has the
 * table, and config_check_event() refuses the rest. PERF_SAMPLE_READ is the
 * exception: perf reads the counts of all events of the group. So the lock of
 * their context is held while such an event gets rows and is not active.
 */
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tick.h>

#include "arch.h"
#include "compat.h"
#include "emit.h"
#include "session.h"

enum {
	PIECE_ROWS	= 16,		/* rows, with interrupts off */
	/* Bytes beyond which no further row begins. */
	PIECE_BYTES	= 8 << 10,
	/* Events looked at in search of a ring. */
	ROOT_LOOKS	= 128,
	/* Events of a group, whose counts perf reads in the time of a row. */
	GROUP_ROW	= 8,
	/* Most siblings of an event whose rows have the group's counts. */
	GROUP_MOST	= 64,
	/* Attempts of a flush to take a context's lock. */
	LOCK_TRIES	= 100,
	/* Changes of the profile after which a flush leaves the rest. */
	RESTARTS	= 64,
};

/* --- which event takes rows ----------------------------------------------- */

static bool emit_reads_group(const struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_READ &&
	       event->attr.read_format & PERF_FORMAT_GROUP;
}

/*
 * Return how many siblings perf reads for a row of the event. If others change
 * the group meanwhile, this is one more or less than perf will find.
 */
static unsigned int emit_siblings(const struct perf_event *event)
{
	if (!emit_reads_group(event))
		return 0;
	return data_race(READ_ONCE(event->group_leader)->nr_siblings);
}

/*
 * Return true if the event has a ring that this module may write. Perf reads
 * the counts of a group with interrupts off, for each row. It allows some 2,000
 * events in a group, so a large group gets no rows with counts. Children that
 * inherit an event of no one CPU would write its ring from several CPUs at
 * once. Perf lets nobody map such a ring, but it lets another event's ring be
 * set for the event. That ring is left alone.
 */
static bool emit_has_ring(const struct perf_event *event)
{
	const struct perf_event *root = event->parent ?: event;

	return READ_ONCE(root->rb) && event->attr.sample_period &&
	       event_fits(event) && emit_siblings(event) <= GROUP_MOST &&
	       (root->cpu >= 0 || !root->attr.inherit);
}

/* Return true if the event is in its context. It leaves when its task exits. */
static bool emit_is_attached(const struct perf_event *event)
{
	return READ_ONCE(event->attach_state) & PERF_ATTACH_CONTEXT;
}

/*
 * Return true if the inactive event @event may get a row from this CPU. A ring
 * of a CPU is written by that CPU alone, a ring of a task (cpu -1) where the
 * task runs.
 */
static bool emit_takes_inactive(const struct perf_event *event)
{
	return (event->cpu >= 0 || event->hw.target == current) &&
	       (!(event->attr.sample_type & PERF_SAMPLE_READ) ||
		emit_is_attached(event));
}

/*
 * Return an event that may get a row. Events without a ring move to the end, so
 * that the next search begins behind them.
 */
static struct perf_event *emit_find_root(struct list_head *roots)
{
	unsigned int looks = ROOT_LOOKS;
	struct root *root;

	list_for_each_entry(root, roots, link) {
		if (emit_has_ring(root->event) &&
		    emit_takes_inactive(root->event))
			return root->event;
		if (--looks)
			continue;
		list_rotate_to_front(&root->link, roots);
		break;
	}
	return NULL;
}

/*
 * Return an active event of the lane that may get a row; NULL if there is none.
 * Interrupts are off, on the lane's CPU.
 */
static struct perf_event *emit_find_active(struct lane *lane)
{
	unsigned int looks = ROOT_LOOKS;
	struct perf_event *event;

	list_for_each_entry(event, &lane->events, hw.tp_list) {
		if (emit_has_ring(event))
			return event;
		if (!--looks)
			break;
	}
	return NULL;
}

/*
 * Return an inactive event of the session whose ring this CPU may write now, in
 * the same way. roots_lock is held.
 */
static struct perf_event *emit_find_inactive(struct session *session)
{
	struct lane *lane = this_cpu_ptr(session->lanes);

	return emit_find_root(&lane->roots) ?: emit_find_root(&session->roots);
}

/*
 * Return an event of the session whose ring this CPU may write now; NULL if
 * there is none. Interrupts are off and roots_lock is held.
 */
static struct perf_event *emit_event_here(struct session *session)
{
	return emit_find_active(this_cpu_ptr(session->lanes)) ?:
	       emit_find_inactive(session);
}

/*
 * Return true if one of the roots has a ring, or if there are too many to look
 * at all of them.
 */
static bool emit_some_have_ring(struct session *session,
				const struct list_head *roots)
{
	unsigned int looks = ROOT_LOOKS;
	const struct root *root;
	unsigned long flags;
	bool found = false;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_for_each_entry(root, roots, link) {
		found = emit_has_ring(root->event) || !--looks;
		if (found)
			break;
	}
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
	return found;
}

/*
 * Return true if an event of the session has a ring, although it may take no
 * row now.
 */
bool emit_has_rings(struct session *session)
{
	int cpu;

	if (emit_some_have_ring(session, &session->roots))
		return true;
	for_each_possible_cpu(cpu)
		if (emit_some_have_ring(session, &per_cpu_ptr(session->lanes,
							      cpu)->roots))
			return true;
	return false;
}

/*
 * Return true if perf reads counts for a row of the event that others may
 * change meanwhile. Counts of an event that is active here, and of its group,
 * stay as they are while interrupts are off.
 */
static bool emit_counts_may_change(const struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_READ &&
	       READ_ONCE(event->oncpu) != smp_processor_id();
}

/*
 * Hold the counts as they are. Return false if that is not possible now. Perf's
 * rule for a group is to hold the mutex or the lock of its context. An event
 * leaves its context before it is freed. Perf calls the PMU with the lock held,
 * so this function only tries to take it. Interrupts are off, and contexts are
 * freed by RCU: if the event was attached, the lock is still there.
 */
static bool emit_hold_counts(struct perf_event *event)
{
	struct perf_event_context *ctx;

	if (!emit_counts_may_change(event))
		return true;
	if (!emit_is_attached(event))
		return false;
	ctx = READ_ONCE(event->ctx);
	if (!ctx || !raw_spin_trylock(&ctx->lock))
		return false;
	if (READ_ONCE(event->ctx) == ctx && emit_is_attached(event)) {
		/* For sparse: see emit_release_counts(). */
		__release(&ctx->lock);
		return true;
	}
	raw_spin_unlock(&ctx->lock);
	return false;
}

static void emit_release_counts(struct perf_event *event)
{
	if (!emit_counts_may_change(event))
		return;
	__acquire(&event->ctx->lock);	/* for sparse */
	raw_spin_unlock(&event->ctx->lock);
}

/* --- one row -------------------------------------------------------------- */

/*
 * Set the process of an address space; 0: it has no record any more. Return
 * when it ended; 0: it has not, or nobody knows.
 */
static u64 emit_read_space(struct session *session, u32 id, u32 *pid)
{
	struct space *space = space_find(session, id);
	u32 space_pid;
	u64 end;

	*pid = 0;
	if (!space)
		return 0;
	space_pid = READ_ONCE(space->pid);
	end = READ_ONCE(space->end);
	smp_rmb();	/* pairs with space_free() */
	if (READ_ONCE(space->id) != id)
		return 0;	/* it was freed meanwhile */
	*pid = space_pid;
	return end;
}

/*
 * Note in a row whose it is. Return when that process ended, or 0 if it has
 * not: a late row must not be taken for one of the next program's.
 */
u64 session_sign(struct session *session, struct hwprof_row *row)
{
	row->session = session->id;
	return emit_read_space(session, row->space, &row->pid);
}

/* Rows of any type begin with a struct hwprof_row. */
static void *emit_row_of(struct staged *staged)
{
	return (void *)staged + offsetof(struct staged, row);
}

static u32 emit_thread_of(const struct hwprof_row *row)
{
	return row->type == HWPROF_ROW_BRANCHES ?
	       ((const struct hwprof_row_branches *)row)->tid : row->pid;
}

/* A row that perf is asked to write. */
struct outgoing {
	const void *row;
	bool copied;		/* into a ring */
};

/* A perf_copy_f: perf calls it for each part of the ring that it has taken. */
static unsigned long emit_copy_row(void *to, const void *from,
				   unsigned long offset, unsigned long size)
{
	struct outgoing *outgoing = (void *)from;

	memcpy(to, outgoing->row + offset, size);
	outgoing->copied = true;
	return 0;		/* bytes are left */
}

/*
 * Write a row to the event's ring. @now: session_now() before the process was
 * seen to be alive. Everything that perf would take from the current task is
 * preset. perf_event_overflow() is not used, because rows must neither throttle
 * the event nor retune its frequency. Return false if the row is in no ring.
 *
 * Perf does not say so. It counts a sample as lost if a ring is full or paused,
 * and counts nothing if a ring has no data pages, or was just taken away. It
 * copies the raw data of a sample if it writes it. Without raw data nobody can
 * tell that a ring has no data pages.
 */
static bool emit_write_row(struct perf_event *event,
			   const struct staged *staged, u64 now)
{
	static struct perf_callchain_entry no_chain;
	struct perf_event *root = event->parent ?: event;
	const struct hwprof_row *row = &staged->row;
	struct outgoing outgoing = { .row = row };
	struct perf_raw_record raw = {
		.frag = { .copy = emit_copy_row,
			  .data = &outgoing,
			  .size = row->size + sizeof(u32) },
	};
	struct perf_sample_data data;
	struct pt_regs regs = arch_user_regs();
	s64 lost;

	perf_sample_data_init(&data, staged->addr, staged->period);
	data.tid_entry.pid = row->pid;
	data.tid_entry.tid = emit_thread_of(row);
	data.sample_flags |= PERF_SAMPLE_TID;
	compat_save_callchain(&data, event, &no_chain);
	data.time = staged->end ?: now;
	data.sample_flags |= PERF_SAMPLE_TIME;
	compat_save_raw(&data, event, &raw);
	instruction_pointer_set(&regs, staged->ip);

	lost = atomic64_read(&root->lost_samples);
	compat_output_handler(event)(event, &data, &regs);
	if (event->attr.sample_type & PERF_SAMPLE_RAW)
		return outgoing.copied;
	return READ_ONCE(root->rb) &&
	       atomic64_read(&root->lost_samples) == lost;
}

/* --- the stage ------------------------------------------------------------ */

static size_t emit_staged_size(const struct hwprof_row *row)
{
	return ALIGN(offsetof(struct staged, row) + row->size + sizeof(u32), 8);
}

/* room for several rows, and for the largest one */
enum {
	STAGE_BYTES = (16 << 10) + STAGED_MAX,
};

struct stage *stage_new(void)
{
	struct stage *stage = kvzalloc(struct_size(stage, bytes, STAGE_BYTES),
				       GFP_KERNEL_ACCOUNT);

	return stage;
}

bool stage_is_empty(const struct stage *stage)
{
	return stage->taken == stage->used;
}

/* An engine_emit for rows of the profile. Return false if the stage is full. */
static bool emit_stage_row(void *context, const void *engine_row, u64 ip,
			   u64 addr, u64 period)
{
	struct session *session = context;
	struct stage *stage = session->stage;
	size_t row_size = ((const struct hwprof_row *)engine_row)->size;
	size_t size = emit_staged_size(engine_row);
	struct staged *staged = (void *)stage->bytes + stage->used;

	if (STAGE_BYTES - stage->used < size)
		return false;
	memset(staged, 0, size);
	staged->ip = ip;
	staged->addr = addr;
	staged->period = period;
	memcpy(emit_row_of(staged), engine_row, row_size);
	staged->end = session_sign(session, &staged->row);
	row_trace(&staged->row, &staged->row);
	stage->used += size;
	stage->units += period;
	return true;
}

/* Note in a row when its process ended, if it has by now. */
static void emit_date(struct session *session, struct staged *staged)
{
	u32 pid;

	if (!staged->end)
		staged->end = emit_read_space(session, staged->row.space, &pid);
}

/*
 * Note in the rows of the stage when their processes ended, as the records of
 * these are about to be freed. The profile is held.
 */
void stage_date(struct session *session)
{
	struct stage *stage = session->stage;
	struct staged *staged;
	u32 at;

	if (!stage)
		return;
	for (at = stage->taken; at < stage->used;
	     at += emit_staged_size(&staged->row)) {
		staged = (void *)stage->bytes + at;
		emit_date(session, staged);
	}
}

/* Return how many rows' time a row of the event takes: perf reads its group. */
static unsigned int emit_cost_of_row(const struct perf_event *event)
{
	return 1 + emit_siblings(event) / GROUP_ROW;
}

/*
 * Write some rows of the stage. Interrupts are off, roots_lock is held, and
 * emit_hold_counts() was true. Return false if the ring had no room.
 */
static bool emit_write_piece(struct session *session, struct perf_event *event)
{
	struct stage *stage = session->stage;
	unsigned int rows, cost = emit_cost_of_row(event);
	u32 begin = stage->taken;

	for (rows = 0; rows < PIECE_ROWS && !stage_is_empty(stage) &&
	     stage->taken - begin < PIECE_BYTES; rows += cost) {
		struct staged *staged = (void *)stage->bytes + stage->taken;
		u64 now = session_now(session);

		/* It may have waited for room while the process ended. */
		emit_date(session, staged);
		if (!emit_write_row(event, staged, now))
			return false;
		stage->taken += emit_staged_size(&staged->row);
		stage->units -= staged->period;
		session->delivered += staged->period;
	}
	if (stage_is_empty(stage))
		stage->taken = stage->used = 0;
	return true;
}

/*
 * Write some rows on this CPU. The profile is held, here or by the sender of
 * the interrupt.
 */
static void emit_drain_piece(void *context)
{
	struct emit *emit = context;
	struct session *session = emit->session;
	struct perf_event *event;
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	event = emit_event_here(session);
	emit->ring = event;
	emit->full = false;
	if (event && emit_hold_counts(event)) {
		emit->full = !emit_write_piece(session, event);
		emit_release_counts(event);
	} else if (event) {
		emit->ring = emit->lock_tries++ < LOCK_TRIES;
	}
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

static bool emit_drain_here(struct emit *emit)
{
	emit->ring = true;
	emit->full = false;
	while (emit->ring && !emit->full &&
	       !stage_is_empty(emit->session->stage))
		emit_drain_piece(emit);
	emit->stuck |= emit->full;
	return stage_is_empty(emit->session->stage);
}

/*
 * Write all rows on @cpu; -1: on the current one. The profile is held for a
 * piece at a time. Return true if the stage is empty.
 */
static bool emit_drain_on(struct emit *emit, int cpu)
{
	struct session *session = emit->session;
	bool empty;

	emit->ring = true;
	emit->full = false;
	do {
		spin_lock_bh(&session->profile_lock);
		empty = stage_is_empty(session->stage);
		if (!empty && cpu < 0)
			emit_drain_piece(emit);
		else if (!empty &&
			 smp_call_function_single(cpu, emit_drain_piece,
						  emit, true))
			emit->ring = false;
		empty = stage_is_empty(session->stage);
		spin_unlock_bh(&session->profile_lock);
		cond_resched();
	} while (!empty && emit->ring && !emit->full);
	emit->stuck |= emit->full;
	return empty;
}

/*
 * Return a CPU where an event with a ring runs that has no CPU of its own; -1
 * if none was found.
 */
static int emit_cpu_of_task_events(struct session *session)
{
	unsigned int looks = ROOT_LOOKS;
	struct root *root;
	unsigned long flags;
	int cpu = -1;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_for_each_entry(root, &session->roots, link) {
		cpu = emit_has_ring(root->event) ?
			READ_ONCE(root->event->oncpu) : -1;
		if (cpu >= 0 || !--looks)
			break;
	}
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
	return cpu;
}

/*
 * Write all of the stage on CPUs that have a ring, either those with or those
 * without a tick. Return true if the stage is empty.
 */
static bool emit_drain_others(struct emit *emit, bool nohz_full)
{
	struct session *session = emit->session;
	int cpu;

	for_each_online_cpu(cpu)
		if (tick_nohz_full_cpu(cpu) == nohz_full &&
		    emit_some_have_ring(session,
					&per_cpu_ptr(session->lanes,
						     cpu)->roots) &&
		    emit_drain_on(emit, cpu))
			return true;
	return false;
}

/*
 * Write all of the stage, on this CPU if it has a ring, else on others that
 * have one. In process context, under cpus_read_lock(). Return false if no ring
 * took the rest.
 *
 * A CPU without a tick is interrupted only if no other one has a ring. If some
 * ring was full, the rest waits until its reader has made room, unless this is
 * the last flush.
 */
static bool emit_drain(struct emit *emit)
{
	int cpu;

	if (emit_drain_on(emit, -1) || emit_drain_others(emit, false))
		return true;
	if ((!emit->stuck || emit->last) && emit_drain_others(emit, true))
		return true;
	cpu = emit_cpu_of_task_events(emit->session);
	return cpu >= 0 && cpu_online(cpu) && emit_drain_on(emit, cpu);
}

/* --- from the profile to the stage ---------------------------------------- */

/*
 * Work out what there is to say, for a while. If the profile has changed since
 * the last step, begin anew. The profile is held. Return true when it is done.
 */
static bool emit_settle_step(struct emit *emit)
{
	struct session *session = emit->session;
	const struct engine_ops *engine = session->engine;

	if (emit->version != session->profile_version) {
		emit->version = session->profile_version;
		emit->settled = false;
		emit->settled_at = emit->at = 0;
		emit->done = emit->told = false;
		emit->restarts++;
	}
	if (!emit->settled)
		emit->settled = !engine->settle ||
			engine->settle(session->profile, emit->space,
				       &emit->settled_at, PROFILE_LOOKS);
	return emit->settled;
}

static void emit_stage_totals(struct emit *emit)
{
	struct session *session = emit->session;
	struct hwprof_row_totals row;

	session_totals(session, &row);
	emit->told = true;
	if (memcmp(&row, &session->told, sizeof(row)) &&
	    emit_stage_row(session, &row, 0, 0, 0))
		session->told = row;
}

/*
 * Fill the stage, which is empty, with what comes next: rows, and totals when
 * all rows were written. The profile is held. Return false if nothing was left.
 */
static bool emit_fill(struct emit *emit)
{
	struct session *session = emit->session;

	if (session->engine->immediate) {
		emit->done = true;
	} else if (!emit_settle_step(emit)) {
		return true;
	} else if (!emit->done) {
		emit->done = session->engine->rows(session->profile,
						   emit->space, &emit->at,
						   PROFILE_LOOKS,
						   emit_stage_row, session);
		return true;
	}
	if (emit->told)
		return false;
	if (!emit->space && !tables_merge(session))
		WRITE_ONCE(session->kept, false);
	emit_stage_totals(emit);
	return true;
}

/*
 * Write all rows of address space emit->space, or of all, that have grown. In
 * process context, under cpus_read_lock() and flush_lock. Return true when all
 * are written. Processes that end change the profile meanwhile; a later flush
 * goes on if they do so too often.
 */
bool emit_all(struct emit *emit)
{
	struct session *session = emit->session;
	bool more = true;

	while (emit_drain(emit)) {
		if (!more)
			return true;
		if (emit->restarts > RESTARTS) {
			emit->stuck = true;
			return false;
		}
		spin_lock_bh(&session->profile_lock);
		if (stage_is_empty(session->stage))
			more = emit_fill(emit);
		spin_unlock_bh(&session->profile_lock);
		cond_resched();
	}
	return false;
}

/*
 * Do the same in a softirq, on this CPU alone; the profile is held. The time is
 * bounded by @steps. Rows that cannot be written now stay for a flush in
 * process context.
 */
bool emit_all_here(struct emit *emit, unsigned int steps)
{
	while (steps-- && emit_drain_here(emit))
		if (!emit_fill(emit))
			return true;
	return false;
}

/* --- immediate engines ---------------------------------------------------- */

struct emit_now {
	struct lane *lane;
	struct perf_event *event;
	u64 delivered;		/* units of the rows that were written */
};

/* An engine_emit that writes straight into a ring of this CPU. */
static bool emit_write_now(void *context, const void *engine_row, u64 ip,
			   u64 addr, u64 period)
{
	struct emit_now *now = context;
	struct session *session = now->lane->session;
	size_t size = ((const struct hwprof_row *)engine_row)->size;
	struct staged *staged = (void *)now->lane->row;
	u64 time = session_now(session);

	*staged = (struct staged) { .ip = ip, .addr = addr, .period = period };
	memcpy(emit_row_of(staged), engine_row, size);
	*(u32 *)(emit_row_of(staged) + size) = 0;
	staged->end = session_sign(session, &staged->row);
	if (!emit_write_row(now->event, staged, time))
		return false;
	now->delivered += period;
	return true;
}

/* Write what the table has, if there is an event for it. */
static void emit_table(struct emit_now *now, struct table *table)
{
	size_t at = 0;

	if (!now->event || !emit_hold_counts(now->event))
		return;
	now->lane->session->engine->rows(table->memory, 0, &at, ~0UL,
					 emit_write_now, now);
	emit_release_counts(now->event);
}

/*
 * Emit the lane's table as it is: see engine_ops.immediate. Nobody but this CPU
 * stops an event that is active here, so other CPUs need not wait for its row.
 */
void lane_emit(struct lane *lane)
{
	struct session *session = lane->session;
	struct emit_now now = { .lane = lane };
	const struct engine_ops *engine = session->engine;
	struct table *table;
	u64 evicted;

	if (lane->table < 0)
		return;
	table = &session->tables[lane->table];
	now.event = emit_find_active(lane);
	emit_table(&now, table);
	raw_spin_lock(&session->roots_lock);
	if (!now.event) {
		now.event = emit_find_inactive(session);
		emit_table(&now, table);
	}
	/* The table evicts what did not go out. */
	engine_forget(engine, table->memory, 0);
	evicted = engine->evicted(table->memory);
	session->evicted += evicted - table->evicted;
	table->evicted = evicted;
	session->delivered += now.delivered;
	session->fed += lane->fed;
	lane->fed = 0;
	raw_spin_unlock(&session->roots_lock);
}
