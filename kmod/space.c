// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces of a session. A row belongs to a process between two execs.
 * The record of an address space outlives the process until all its rows are
 * written.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

#include "session.h"

enum {
	SPACE_PROBES	= 64,
	EXIT_WAIT_MS	= 100,
};

/* Flag in a key: the process is gone, and its number may be reused. */
#define SPACE_ENDED	(1ULL << 63)

static u64 space_key(struct task_struct *task, u64 exec)
{
	return (u64)task->tgid << 32 | (u32)(exec + 1);
}

static struct space *space_at(struct session *session, u64 key, int probe)
{
	u32 home = hash_64(key, 32) % session->space_count;

	return &session->spaces[(home + probe) % session->space_count];
}

/* Find a record by its key, from probe *@probe on. */
static struct space *space_by_key(struct session *session, u64 key, int *probe)
{
	for (; *probe < SPACE_PROBES; ++*probe) {
		struct space *space = space_at(session, key, *probe);

		if (READ_ONCE(space->key) == key)
			return space;
	}
	return NULL;
}

struct space *space_find(struct session *session, u32 id)
{
	struct space *space;

	if (!id)
		return NULL;
	space = &session->spaces[(id - 1) % session->space_count];
	return READ_ONCE(space->id) == id ? space : NULL;
}

static u32 space_fill(struct session *session, struct space *space)
{
	u32 turns = U32_MAX / session->space_count;
	u32 turn = (u32)atomic_inc_return(&session->space_ids) % turns;
	u32 id = turn * session->space_count + (space - session->spaces) + 1;

	space->pid = task_tgid_nr_ns(current, session->pid_ns);
	space->end = 0;
	space->seen = 0;
	space->session = session;
	space->left = false;
	smp_store_release(&space->id, id);
	return id;
}

/*
 * Return the number of the address space that current runs in; 0 if no record
 * is free. Interrupts are off, so a record that another CPU just claimed is
 * filled soon.
 */
u32 space_of_current(struct session *session)
{
	u64 key = space_key(current, current->self_exec_id);
	int probe = 0;
	struct space *space = space_by_key(session, key, &probe);
	u32 id;

	for (probe = 0; !space && probe < SPACE_PROBES; probe++) {
		struct space *at = space_at(session, key, probe);

		if (cmpxchg64(&at->key, 0, key) == 0)
			return space_fill(session, at);
		if (READ_ONCE(at->key) == key)
			space = at;
	}
	if (!space)
		return 0;
	while (!(id = smp_load_acquire(&space->id))) {
		if (READ_ONCE(space->key) != key)
			return 0;	/* it was freed meanwhile */
		cpu_relax();
	}
	return id;
}

/* Free a record. Its rows are written and its process is gone. */
void space_free(struct space *space)
{
	WRITE_ONCE(space->id, 0);
	smp_store_release(&space->key, 0);
}

/*
 * Return the same for a program that a sample has found. The space ends no
 * earlier than now. Sessions that only count do not tell spaces apart.
 */
u32 space_sampled(struct session *session)
{
	struct space *space;
	u32 id;

	if (!session->rows)
		return 1;
	id = space_of_current(session);
	space = id ? space_find(session, id) : NULL;
	if (space)
		WRITE_ONCE(space->seen, local_clock());
	return id;
}

/*
 * Return true if current's process has another thread that may still be seen.
 */
static bool others_run(void)
{
	struct task_struct *thread;
	bool found = false;

	rcu_read_lock();
	for_each_thread(current, thread)
		found |= thread != current && READ_ONCE(thread->mm);
	rcu_read_unlock();
	return found;
}

/*
 * Threads that exit together lose their events before their memory. Wait until
 * then, as their last steps may be rows.
 */
static void wait_for_others(void)
{
	int tries = EXIT_WAIT_MS;

	while (others_run() && tries--)
		msleep(1);
}

static void space_flush(struct callback_head *work)
{
	struct space *space = container_of(work, struct space, work);
	struct session *session = space->session;

	wait_for_others();
	session_flush(session, space->id);
	session_put(session);
}

struct space_end {
	const struct source_ops *source;
	struct task_struct *task;
	u64 exec;
	u64 time;		/* 0: when it was last seen */
	enum task_work_notify_mode notify;
};

static void end_space(struct session *session, void *context)
{
	struct space_end *end = context;
	u64 key = space_key(end->task, end->exec);
	struct space *space;
	int probe = 0;

	if (!session->rows || session->source != end->source)
		return;
	/* Two threads that came at once may have made two records. */
	while ((space = space_by_key(session, key, &probe))) {
		/* If both exit now, one of them ends it. */
		if (cmpxchg64(&space->key, key, key | SPACE_ENDED) != key)
			continue;
		if (!session_tryget(session))
			return;		/* it goes with all its spaces */
		WRITE_ONCE(space->end, end->time ?: READ_ONCE(space->seen) ?:
				       local_clock());
		init_task_work(&space->work, space_flush);
		if (!task_work_add(end->task, &space->work, end->notify))
			continue;
		WRITE_ONCE(space->left, true);	/* the flush of the interval
						 * comes */
		session_put(session);
	}
}

/*
 * Current has exec'ed: in sessions of @source, end the address space that it
 * had. @time is when; 0: when it was last seen.
 */
void spaces_exec(const struct source_ops *source, u64 time)
{
	struct space_end end = {
		source, current, current->self_exec_id - 1, time, TWA_RESUME
	};

	session_for_each(end_space, &end);
}

/*
 * Current exits: end its address space if it is the last thread of its process.
 */
void spaces_exit(const struct source_ops *source)
{
	struct space_end end = {
		source, current, current->self_exec_id, local_clock(), TWA_NONE
	};

	if (!atomic_read(&current->signal->live))
		session_for_each(end_space, &end);
}
