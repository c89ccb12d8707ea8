// SPDX-License-Identifier: GPL-2.0-only
/* All sessions: a list, references, and the events that each has. */
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

#include "limit.h"
#include "session.h"
#include "unwind.h"

struct workqueue_struct *hwprof_workqueue;

static LIST_HEAD(sessions);
static LIST_HEAD(makings);		/* struct making */
static unsigned int makings_done;	/* how many */
static DECLARE_WAIT_QUEUE_HEAD(makings_wait);
static u32 next_id;
static atomic_t strangers = ATOMIC_INIT(0);	/* sessions that have some */
/*
 * Protects these. Everybody who opens an event needs it, so a session is made
 * without it: that takes memory, which may be long in coming, and may look up
 * files.
 */
static DEFINE_MUTEX(sessions_mutex);

/*
 * Return a number that is not 0 and that no listed session has. After 2^32
 * sessions numbers are used again.
 */
u32 session_next_id(void)
{
	struct session *session;
	bool taken;
	u32 id;

	mutex_lock(&sessions_mutex);
	do {
		id = ++next_id;
		taken = !id;
		list_for_each_entry(session, &sessions, link)
			taken |= session->id == id;
	} while (taken);
	mutex_unlock(&sessions_mutex);
	return id;
}

void session_list(struct session *session)
{
	mutex_lock(&sessions_mutex);
	list_add_rcu(&session->link, &sessions);
	mutex_unlock(&sessions_mutex);
}

void session_unlist(struct session *session)
{
	mutex_lock(&sessions_mutex);
	list_del_rcu(&session->link);
	mutex_unlock(&sessions_mutex);
	if (session_has_strangers(session))
		atomic_dec(&strangers);
}

/* An event of a CPU or a cgroup begins to feed the session. In any context. */
void session_widen(struct session *session)
{
	if (likely(READ_ONCE(session->wide)) || xchg(&session->wide, true))
		return;
	if (session->rows)
		atomic_inc(&strangers);
}

/* Return true if there is a session with processes of everybody. */
bool sessions_have_strangers(void)
{
	return atomic_read(&strangers);
}

static bool session_key_equal(const struct session_key *a,
			      const struct session_key *b)
{
	return opener_equal(&a->opener, &b->opener) && a->target == b->target &&
	       a->cgroup == b->cgroup &&
	       !memcmp(a->words, b->words, sizeof(a->words)) &&
	       a->exclude == b->exclude && a->inherit == b->inherit &&
	       a->sampling == b->sampling && a->period == b->period &&
	       a->freq == b->freq && a->clock == b->clock;
}

static struct session *session_by_key(const struct session_key *key)
{
	struct session *session;

	list_for_each_entry(session, &sessions, link)
		if (!session->fetched &&
		    session_key_equal(&session->key, key) &&
		    session_tryget(session))
			return session;
	return NULL;
}

static bool session_is_being_made(const struct session_key *key)
{
	struct making *making;

	list_for_each_entry(making, &makings, link)
		if (session_key_equal(making->key, key))
			return true;
	return false;
}

/*
 * Return an event's session with that key, and hold it. NULL: there is none,
 * and the caller makes it; session_made() must follow. Wait while another
 * thread of the opener makes it.
 */
struct session *session_find_or_make(struct making *making)
{
	struct session *session;
	unsigned int done;

	mutex_lock(&sessions_mutex);
	for (;;) {
		session = session_by_key(making->key);
		if (session || !session_is_being_made(making->key))
			break;
		done = makings_done;
		mutex_unlock(&sessions_mutex);
		if (wait_event_killable(makings_wait,
					READ_ONCE(makings_done) != done))
			return ERR_PTR(-EINTR);
		mutex_lock(&sessions_mutex);
	}
	if (!session)
		list_add(&making->link, &makings);
	mutex_unlock(&sessions_mutex);
	return session;
}

/* @session: what was made, or why it could not be. */
void session_made(struct making *making, struct session *session)
{
	mutex_lock(&sessions_mutex);
	list_del(&making->link);
	if (!IS_ERR(session))
		list_add_rcu(&session->link, &sessions);
	WRITE_ONCE(makings_done, makings_done + 1);
	mutex_unlock(&sessions_mutex);
	wake_up_all(&makings_wait);
}

/*
 * Return the session with this number that current has made with session_new().
 * Return -EPERM if there is none, -EACCES if current had other credentials
 * then.
 */
struct session *session_find(u32 id)
{
	struct session *session, *found = ERR_PTR(-EPERM);
	int err;

	mutex_lock(&sessions_mutex);
	list_for_each_entry(session, &sessions, link) {
		if (session->id != id || !READ_ONCE(session->reader))
			continue;
		err = opener_check(&session->key.opener);
		if (err)
			found = ERR_PTR(err);
		else if (session_tryget(session))
			found = session;
	}
	mutex_unlock(&sessions_mutex);
	return found;
}

/* Return the session with this number, and hold it; NULL: there is none. */
struct session *session_by_number(u32 id)
{
	struct session *session, *found = NULL;

	mutex_lock(&sessions_mutex);
	list_for_each_entry(session, &sessions, link)
		if (session->id == id && session_tryget(session))
			found = session;
	mutex_unlock(&sessions_mutex);
	return found;
}

/*
 * Give tables to session @only; if that is NULL, to the sessions of @opener's
 * perf events. A session that sees stacks of programs that @opener may not
 * attach to gets none.
 */
void sessions_unwind(struct unwind *unwind, const struct opener *opener,
		     struct session *only)
{
	struct session *session;

	mutex_lock(&sessions_mutex);
	list_for_each_entry(session, &sessions, link) {
		if (session->unwind || READ_ONCE(session->foreign) ||
		    !opener_equal(&session->key.opener, opener) ||
		    (only ? session != only : session->fetched))
			continue;
		/* Samples may come meanwhile. */
		smp_store_release(&session->unwind, unwind_get(unwind));
	}
	mutex_unlock(&sessions_mutex);
}

bool session_tryget(struct session *session)
{
	return kref_get_unless_zero(&session->ref);
}

static void session_last(struct kref *ref)
{
	struct session *session = container_of(ref, struct session, ref);

	queue_work(hwprof_workqueue, &session->end_work);
}

void session_put(struct session *session)
{
	kref_put(&session->ref, session_last);
}

void session_for_each(void (*visit)(struct session *session, void *context),
		      void *context)
{
	struct session *session;

	rcu_read_lock();
	list_for_each_entry_rcu(session, &sessions, link)
		visit(session, context);
	rcu_read_unlock();
}

/*
 * Call @visit for all sessions in process context; it may sleep. A session that
 * is held stays on the list, and so leads to the next one.
 */
void sessions_visit(void (*visit)(struct session *session, void *context),
		    void *context)
{
	struct session *session;

	rcu_read_lock();
	list_for_each_entry_rcu(session, &sessions, link) {
		if (!session_tryget(session))
			continue;
		rcu_read_unlock();
		visit(session, context);
		rcu_read_lock();
		session_put(session);
	}
	rcu_read_unlock();
}

void session_add_root(struct session *session, struct root *root)
{
	int cpu = root->event->cpu;
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_add_tail(&root->link, cpu < 0 ? &session->roots :
		      &per_cpu_ptr(session->lanes, cpu)->roots);
	WRITE_ONCE(session->root_count, session->root_count + 1);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

void session_remove_root(struct session *session, struct root *root)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_del(&root->link);
	WRITE_ONCE(root->event, NULL);
	WRITE_ONCE(session->root_count, session->root_count - 1);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

unsigned int session_count(void)
{
	return holding_sessions();
}

int sessions_init(void)
{
	limits_init();
	hwprof_workqueue = alloc_workqueue("hwprof", WQ_UNBOUND, 0);
	return hwprof_workqueue ? 0 : -ENOMEM;
}

/*
 * Wait for what events have left behind. No event is left, or the module could
 * not be unloaded.
 */
void sessions_wait(void)
{
	while (session_count())
		msleep(1);
	flush_workqueue(hwprof_workqueue);
}

void sessions_exit(void)
{
	destroy_workqueue(hwprof_workqueue);
	rcu_barrier();
	/* Wait for task works that are about to return. */
	synchronize_rcu_tasks();
}
