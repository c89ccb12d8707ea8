// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces of a session. A row belongs to a process between two execs.
 * The record of an address space outlives the process until all its rows are
 * written.
 */
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/siphash.h>

#include "compat.h"
#include "ending.h"
#include "space.h"

enum {
	SPACE_PROBES	= 32,
	ID_LOOKS	= 1000,		/* at a record that another CPU fills */
};

u64 space_key(struct task_struct *task, u64 exec)
{
	return (u64)task->tgid << 32 | (u32)(exec + 1);
}

/*
 * Return where to look first for the record of @key; it is there, or is one of
 * the next. Programs choose their numbers, and must not choose those that meet.
 */
static struct space *space_home(const struct session *session, u64 key)
{
	u32 hash;

	key &= ~SPACE_ENDED;
	hash = hsiphash(&key, sizeof(key), &session->secret);
	return session->spaces +
	       reciprocal_scale(hash, session->space_count - SPACE_PROBES + 1);
}

/*
 * Note how far from home a record may be. This comes before it is claimed, so
 * that whoever has claimed one finds it.
 */
static void space_reach(struct session *session, int probe)
{
	int reach = atomic_read(&session->space_reach);

	while (reach <= probe &&
	       !atomic_try_cmpxchg(&session->space_reach, &reach, probe + 1))
		;
}

struct space *space_by_key(struct session *session, u64 key, int *probe)
{
	int reach = atomic_read(&session->space_reach);
	struct space *home = space_home(session, key);
	int i;

	for (i = *probe; i < reach; i++) {
		if (READ_ONCE(home[i].key) == key) {
			*probe = i;
			return &home[i];
		}
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

static u32 space_fill(struct session *session, struct space *space, u64 key)
{
	u64 since = ending_since(key, session->key.clock);
	u32 laps = U32_MAX / session->space_count;
	u32 id;

	/* No number comes again before the record has had all of its own. */
	space->lap = (space->lap + 1) % laps;
	id = space->lap * session->space_count + (space - session->spaces) + 1;
	WRITE_ONCE(space->pid, task_tgid_nr_ns(current, session->pid_ns));
	if (since)
		cmpxchg64(&space->end, 0, since);
	smp_store_release(&space->id, id);
	return id;
}

/*
 * Date the end of the record @space of @key, unless it is known. @now: the time
 * by the session's clock. The record may be freed meanwhile; then its next
 * process must not get the date. Either space_free() clears it, or its key is
 * seen to be another one here.
 */
void space_date(struct space *space, u64 key, u64 now)
{
	if (!cmpxchg64(&space->end, 0, now) &&
	    (READ_ONCE(space->key) & ~SPACE_ENDED) != key)
		cmpxchg64(&space->end, now, 0);
}

/*
 * Return true if current's process has ended, or is about to, and still has
 * memory: a record that it gets now might never be freed.
 */
static bool space_exits(void)
{
	return COMPAT_EXIT_HAS_MM && !atomic_read(&current->signal->live);
}

/*
 * Fill a record that current has just claimed. The last thread of its process
 * may have looked for records to end before the claim, and then this one leaves
 * the record to the flush of the interval. Return its number; 0: it has ended.
 */
static u32 space_fill_claimed(struct session *session, struct space *space,
			      u64 key)
{
	u32 id = space_fill(session, space, key);

	if (!space_exits())
		return id;
	space_date(space, key, session_now(session));
	if (cmpxchg64(&space->key, key, key | SPACE_ENDED) == key)
		space_leave(space);
	return 0;
}

/* Return the number of the record of a process that has ended; 0: none. */
static u32 space_ended(struct session *session, u64 key)
{
	int probe = 0;
	struct space *space = space_by_key(session, key | SPACE_ENDED, &probe);
	u32 id = space ? smp_load_acquire(&space->id) : 0;

	/* It may have been freed, and have another process. */
	return id && READ_ONCE(space->key) == (key | SPACE_ENDED) ? id : 0;
}

/*
 * Return the number of a record that another CPU may just have claimed, and
 * fills with interrupts off. Return 0 if it was freed meanwhile, or if that CPU
 * takes long: a virtual one may not run.
 */
static u32 space_await_id(const struct space *space, u64 key)
{
	unsigned int looks;
	u32 id;

	for (looks = 0; looks < ID_LOOKS; looks++) {
		id = smp_load_acquire(&space->id);
		if (id)
			return id;
		if (READ_ONCE(space->key) != key)
			break;
		cpu_relax();
	}
	return 0;
}

/*
 * Return the number of the address space that current runs in; 0 if it gets
 * none now. Interrupts are off.
 */
u32 space_of_current(struct session *session)
{
	u64 key = space_key(current, current->self_exec_id);
	struct space *home = space_home(session, key);
	int probe = 0;
	struct space *space = space_by_key(session, key, &probe);

	if (!space && space_exits())
		return space_ended(session, key);
	for (probe = 0; !space && probe < SPACE_PROBES; probe++) {
		struct space *at = &home[probe];

		if (!READ_ONCE(at->key)) {
			space_reach(session, probe);
			if (!cmpxchg64(&at->key, 0, key))
				return space_fill_claimed(session, at, key);
		}
		if (READ_ONCE(at->key) == key)
			space = at;
	}
	return space ? space_await_id(space, key) : 0;
}

/*
 * Free a record. Its rows are written and its process is gone. It must not be
 * freed again: another process may have it at any time.
 */
void space_free(struct space *space)
{
	WRITE_ONCE(space->left, SPACE_KEPT);
	WRITE_ONCE(space->id, 0);
	WRITE_ONCE(space->key, SPACE_ENDED);	/* no process has this key */
	smp_mb();	/* see space_date() and emit_read_space() */
	WRITE_ONCE(space->end, 0);
	smp_store_release(&space->key, 0);
}

/*
 * Return the same for a program that a sample has found. Sessions that only
 * count do not tell spaces apart.
 */
u32 space_sampled(struct session *session)
{
	return session->rows ? space_of_current(session) : 1;
}

/*
 * Perf is about to report an exec of current, or has stopped an event of it and
 * is about to report its exit. Rows must not be later than that, or readers
 * take them for another program's. Two threads that came at once may have made
 * two records. Sessions without rows have none.
 */
void space_stopped(struct session *session)
{
	u64 since, key = space_key(current, current->self_exec_id);
	struct space *space;
	int probe;

	if (!session->rows)
		return;
	since = ending_note(key, session->key.clock);
	for (probe = 0; (space = space_by_key(session, key, &probe)); probe++)
		space_date(space, key, since);
}
