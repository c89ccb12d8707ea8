// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile of a session: it is settled, read, reset, and forgets processes
 * that are gone. The caller of these is in process context.
 */
#include <linux/cpu.h>
#include <linux/sched.h>

#include "emit.h"
#include "space.h"

enum { CLEAR_BYTES = 1 << 20 };	/* cleared at a time */

/*
 * Forget a process that is gone. Its rows were written or wait in the stage, or
 * never will be written; what is left of them counts as evicted.
 */
void session_forget(struct session *session, struct space *space)
{
	bool done = !session->profile;
	size_t at = 0;

	while (!done) {
		spin_lock_bh(&session->profile_lock);
		session->profile_version++;
		done = session->engine->forget(session->profile, space->id,
					       &at, PROFILE_LOOKS);
		if (done)
			stage_date(session);
		spin_unlock_bh(&session->profile_lock);
		cond_resched();
	}
	space_free(space);
}

/*
 * Note which processes are gone by now, before tables are retired. The flush or
 * the reader that gets the profile then has all their rows. A process that ends
 * meanwhile may have fed tables that are in use again. The caller holds
 * flush_lock.
 */
void session_note_left(struct session *session)
{
	unsigned int i;

	for (i = 0; i < session->space_count; i++)
		if (space_left(&session->spaces[i]))
			WRITE_ONCE(session->spaces[i].left, SPACE_RETIRED);
}

/*
 * Take the notes back: a CPU did not give its table, which may have units of
 * these processes. The caller holds flush_lock.
 */
void session_keep_left(struct session *session)
{
	unsigned int i;

	for (i = 0; i < session->space_count; i++)
		if (READ_ONCE(session->spaces[i].left) == SPACE_RETIRED)
			WRITE_ONCE(session->spaces[i].left, SPACE_LEFT);
}

/*
 * Forget the processes that were noted and whose rows were written, or never
 * will be. The caller holds flush_lock. There may be many, and a large profile.
 */
void session_forget_left(struct session *session)
{
	unsigned int i;

	for (i = 0; i < session->space_count; i++) {
		struct space *space = &session->spaces[i];

		if (READ_ONCE(space->left) != SPACE_RETIRED)
			continue;
		session_forget(session, space);
		cond_resched();
	}
}

void session_settle(struct session *session, u32 space)
{
	const struct engine_ops *engine = session->engine;
	size_t at = 0;

	while (engine->settle &&
	       !engine->settle(session->profile, space, &at, PROFILE_LOOKS))
		cond_resched();
}

/*
 * Give the profile to the caller until session_fetched(), in process context.
 * If @fresh, it has everything that was learnt before now. Otherwise it has
 * what was there when it was last fetched, and what flushes have added since.
 * Return false if a CPU did not give its table.
 */
bool session_fetch(struct session *session, bool fresh)
{
	bool retired = true;

	if (fresh)
		cpus_read_lock();
	mutex_lock(&session->flush_lock);
	if (fresh) {
		session_note_left(session);
		retired = tables_retire(session, (struct ended) {});
		if (!retired)
			session_keep_left(session);
		cpus_read_unlock();
	}
	if (session->settled != session->pass)
		session_settle(session, 0);
	session->settled = session->pass;
	return retired;
}

/*
 * Take the profile back. @all: nothing is left to fetch, so processes that are
 * gone can be forgotten.
 */
void session_fetched(struct session *session, bool all)
{
	if (all)
		session_forget_left(session);
	mutex_unlock(&session->flush_lock);
}

/*
 * Return 0 and the totals of what was merged so far, or -EINTR. In process
 * context.
 */
int session_totals_now(struct session *session, struct hwprof_row_totals *row)
{
	if (mutex_lock_killable(&session->flush_lock))
		return -EINTR;
	spin_lock_bh(&session->profile_lock);
	session_totals(session, row);
	spin_unlock_bh(&session->profile_lock);
	mutex_unlock(&session->flush_lock);
	return 0;
}

static void profile_clear(void *memory, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += CLEAR_BYTES) {
		memset(memory + at, 0, min_t(size_t, CLEAR_BYTES, size - at));
		cond_resched();
	}
}

/*
 * Reset the session to how it began. Return -EAGAIN if a CPU did not give its
 * table, and something from before may come after.
 */
int session_reset(struct session *session)
{
	bool retired = session_fetch(session, true);
	struct hwprof_row_totals totals;

	profile_clear(session->profile, session->profile_size);
	session->engine->table_init(session->profile, session->profile_size,
				    &session->params);
	session->fed = 0;
	session->windows = 0;
	session->delivered = 0;
	memset(&session->base, 0, sizeof(session->base));
	session_totals(session, &totals);
	session->base = totals;
	session_fetched(session, retired);
	return retired ? 0 : -EAGAIN;
}
