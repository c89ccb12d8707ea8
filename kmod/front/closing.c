// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closing the triggers of events. See closing.h.
 *
 * A user may keep perf's lock of the target for as long as they like, with an
 * ioctl that copies from memory of theirs. So whoever has closed the event
 * waits for it, if that is possible. Kernel threads cannot wait, nor can tasks
 * that are past their last task work. They leave roots to a workqueue, in which
 * nothing but closings waits.
 *
 * The workqueue runs CLOSINGS of them at a time; since 6.9 a NUMA node has its
 * part of that. The sessions of one user get a few of these, and the user's
 * other closings wait until one of them is done. So a user delays closings of
 * others only together with many more users, or with as many user ids, and rows
 * of others never. A closing that waits holds memory, and no descriptor of the
 * user's is left to limit their number: with too many, no new event that would
 * need a closing is opened.
 */
#include <linux/capability.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "../compat.h"
#include "../session.h"
#include "../source/trigger.h"
#include "closing.h"

enum {
	CLOSINGS	= 512,
	USER_CLOSINGS	= CLOSINGS / 64,
	USER_WAITING	= 1000,
};

/**
 * struct closer - The closings of one user that a workqueue does
 * @link: on the list of all closers.
 * @user: whose sessions' events they close; a root's session holds it.
 * @roots: how many roots have this closer.
 * @running: how many closings the workqueue has.
 * @waiting: struct root.link: those that it does not have yet.
 * @waiting_count: number of these.
 */
struct closer {
	struct list_head link;
	const struct user_struct *user;
	unsigned int roots;
	unsigned int running;
	struct list_head waiting;
	unsigned int waiting_count;
};

static struct workqueue_struct *closing_workqueue;
static LIST_HEAD(closers);
static DEFINE_MUTEX(closers_lock);	/* protects closers and their list */

static struct closer *closer_find(const struct user_struct *user)
{
	struct closer *closer;

	list_for_each_entry(closer, &closers, link)
		if (closer->user == user)
			return closer;
	return NULL;
}

/* Memory is not looked for under the lock, which all users need. */
static struct closer *closer_get(const struct user_struct *user)
{
	struct closer *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	struct closer *closer;

	if (!new)
		return NULL;
	mutex_lock(&closers_lock);
	closer = closer_find(user);
	if (!closer) {
		closer = new;
		new = NULL;
		closer->user = user;
		INIT_LIST_HEAD(&closer->waiting);
		list_add(&closer->link, &closers);
	}
	closer->roots++;
	mutex_unlock(&closers_lock);
	kfree(new);
	return closer;
}

static void closer_put(struct closer *closer)
{
	mutex_lock(&closers_lock);
	if (--closer->roots)
		closer = NULL;
	else
		list_del(&closer->link);
	mutex_unlock(&closers_lock);
	kfree(closer);
}

int closing_prepare(struct root *root)
{
	struct closer *closer = closer_get(root->session->user);

	if (!closer)
		return -ENOMEM;
	root->closer = closer;
	if (READ_ONCE(closer->waiting_count) > USER_WAITING &&
	    !capable(CAP_SYS_RESOURCE))
		return -EMFILE;
	return 0;
}

static void root_free(struct root *root)
{
	if (root->closer)
		closer_put(root->closer);
	session_put(root->session);
	kfree_rcu(root, rcu);	/* forks look at events: see filter_space.c */
	module_put(THIS_MODULE);
}

static void closing_in_task(struct callback_head *work)
{
	struct root *root = container_of(work, struct root, task_work);

	trigger_close(root);
	root_free(root);
}

/* Give the user's next closing to the workqueue. The lock is held. */
static void closer_run_next(struct closer *closer)
{
	struct root *root;

	if (closer->running >= USER_CLOSINGS || list_empty(&closer->waiting))
		return;
	root = list_first_entry(&closer->waiting, struct root, link);
	list_del(&root->link);
	WRITE_ONCE(closer->waiting_count, closer->waiting_count - 1);
	closer->running++;
	queue_work(closing_workqueue, &root->close_work);
}

static void closing_in_worker(struct work_struct *work)
{
	struct root *root = container_of(work, struct root, close_work);
	struct closer *closer = root->closer;

	trigger_close(root);
	mutex_lock(&closers_lock);
	closer->running--;
	closer_run_next(closer);
	mutex_unlock(&closers_lock);
	root_free(root);
}

static void closing_leave_to_worker(struct root *root)
{
	struct closer *closer = root->closer;

	INIT_WORK(&root->close_work, closing_in_worker);
	mutex_lock(&closers_lock);
	list_add_tail(&root->link, &closer->waiting);
	WRITE_ONCE(closer->waiting_count, closer->waiting_count + 1);
	closer_run_next(closer);
	mutex_unlock(&closers_lock);
}

void root_put(struct root *root)
{
	if (!refcount_dec_and_test(&root->users))
		return;
	if (!trigger_is_open(root)) {
		root_free(root);
		return;
	}
	init_task_work(&root->task_work, closing_in_task);
	if (!compat_runs_task_works(current) ||
	    task_work_add(current, &root->task_work, TWA_RESUME))
		closing_leave_to_worker(root);
}

int closings_init(void)
{
	closing_workqueue = alloc_workqueue("hwprof_close", WQ_UNBOUND,
					    CLOSINGS);
	return closing_workqueue ? 0 : -ENOMEM;
}

/*
 * Each root has held the module, so all are closed. Wait for works that are
 * about to return.
 */
void closings_exit(void)
{
	destroy_workqueue(closing_workqueue);
}
