// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces of a session. A row belongs to a process as it was between
 * two execs; its record outlives the process until all its rows are out.
 */
#include <linux/hash.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

#include "session.h"

enum { SPACE_PROBES = 16 };

static u64 space_key(struct task_struct *task, u64 exec)
{
	return (u64)task->tgid << 32 | (u32)(exec + 1);
}

static struct space *space_at(struct session *session, u64 key, int probe)
{
	u32 home = hash_64(key, 32) % session->space_count;

	return &session->spaces[(home + probe) % session->space_count];
}

static struct space *space_by_key(struct session *session, u64 key)
{
	int probe;

	for (probe = 0; probe < SPACE_PROBES; probe++) {
		struct space *space = space_at(session, key, probe);

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
	u32 turn = atomic_inc_return(&session->space_ids);
	u32 id = turn * session->space_count + (space - session->spaces) + 1;

	space->pid = task_tgid_nr_ns(current, session->pid_ns);
	space->end = 0;
	space->session = session;
	space->work_queued = false;
	space->left = false;
	smp_store_release(&space->id, id ?: 1);
	return space->id;
}

/*
 * The number of the address space that current runs in; 0: no record is free.
 * Interrupts are off, so a record that somebody just claimed is filled soon.
 */
u32 space_of_current(struct session *session)
{
	u64 key = space_key(current, current->self_exec_id);
	struct space *space = space_by_key(session, key);
	u32 id;
	int probe;

	for (probe = 0; !space && probe < SPACE_PROBES; probe++) {
		struct space *at = space_at(session, key, probe);

		if (cmpxchg64(&at->key, 0, key) == 0)
			return space_fill(session, at);
		if (READ_ONCE(at->key) == key)
			space = at;
	}
	if (!space)
		return 0;
	while (!(id = smp_load_acquire(&space->id)))
		cpu_relax();
	return id;
}

/* The record's rows are out and its process is gone. */
void space_free(struct space *space)
{
	WRITE_ONCE(space->id, 0);
	smp_store_release(&space->key, 0);
}

static void space_flush(struct callback_head *work)
{
	struct space *space = container_of(work, struct space, work);
	struct session *session = space->session;

	session_flush(session, space->id);
	session_put(session);
}

struct space_end {
	struct task_struct *task;
	u64 exec;
	u64 time;
	enum task_work_notify_mode notify;
};

static void end_space(struct session *session, void *context)
{
	struct space_end *end = context;
	struct space *space;

	if (!session->rows)
		return;
	space = space_by_key(session, space_key(end->task, end->exec));
	if (!space || space->work_queued || !session_tryget(session))
		return;
	space->work_queued = true;
	space->end = end->time;
	init_task_work(&space->work, space_flush);
	if (task_work_add(end->task, &space->work, end->notify))
		session_put(session);	/* the interval's flush will do */
}

/* Current has exec'ed: what it was before is over since @time. */
void spaces_exec(u64 time)
{
	struct space_end end = {
		current, current->self_exec_id - 1, time, TWA_RESUME
	};

	session_for_each(end_space, &end);
}

/* Current, the last thread of its process, exits. */
void spaces_exit(void)
{
	struct space_end end = {
		current, current->self_exec_id, local_clock(), TWA_NONE
	};

	session_for_each(end_space, &end);
}
