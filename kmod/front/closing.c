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
 * struct closing_queue - The closings of one user that a workqueue does
 * @link: on the list of all queues.
 * @user: whose sessions' events they close; a root's session holds it.
 * @roots: how many roots have it.
 * @running: how many closings the workqueue has.
 * @waiting: struct root.link: those that it does not have yet.
 * @waiting_count: number of these.
 */
struct closing_queue {
	struct list_head link;
	const struct user_struct *user;
	unsigned int roots;
	unsigned int running;
	struct list_head waiting;
	unsigned int waiting_count;
};

static struct workqueue_struct *closing_workqueue;
static LIST_HEAD(closing_queues);
static DEFINE_MUTEX(closing_lock);	/* protects all queues */

static struct closing_queue *closing_find_queue(const struct user_struct *user)
{
	struct closing_queue *queue;

	list_for_each_entry(queue, &closing_queues, link)
		if (queue->user == user)
			return queue;
	return NULL;
}

/* Memory is not looked for under the lock, which all users need. */
static struct closing_queue *closing_get_queue(const struct user_struct *user)
{
	struct closing_queue *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	struct closing_queue *queue;

	if (!new)
		return NULL;
	mutex_lock(&closing_lock);
	queue = closing_find_queue(user);
	if (!queue) {
		queue = new;
		new = NULL;
		queue->user = user;
		INIT_LIST_HEAD(&queue->waiting);
		list_add(&queue->link, &closing_queues);
	}
	queue->roots++;
	mutex_unlock(&closing_lock);
	kfree(new);
	return queue;
}

static void closing_put_queue(struct closing_queue *queue)
{
	mutex_lock(&closing_lock);
	if (--queue->roots)
		queue = NULL;
	else
		list_del(&queue->link);
	mutex_unlock(&closing_lock);
	kfree(queue);
}

int closing_prepare(struct root *root)
{
	struct closing_queue *queue = closing_get_queue(root->session->user);

	if (!queue)
		return -ENOMEM;
	root->closing_queue = queue;
	if (READ_ONCE(queue->waiting_count) > USER_WAITING &&
	    !capable(CAP_SYS_RESOURCE))
		return -EMFILE;
	return 0;
}

static void closing_free_root(struct root *root)
{
	if (root->closing_queue)
		closing_put_queue(root->closing_queue);
	session_put(root->session);
	kfree_rcu(root, rcu);	/* forks look at events: see filter_space.c */
	module_put(THIS_MODULE);
}

static void closing_in_task(struct callback_head *work)
{
	struct root *root = container_of(work, struct root, task_work);

	trigger_close(root);
	closing_free_root(root);
}

/* Give the user's next closing to the workqueue. The lock is held. */
static void closing_run_next(struct closing_queue *queue)
{
	struct root *root;

	if (queue->running >= USER_CLOSINGS || list_empty(&queue->waiting))
		return;
	root = list_first_entry(&queue->waiting, struct root, link);
	list_del(&root->link);
	WRITE_ONCE(queue->waiting_count, queue->waiting_count - 1);
	queue->running++;
	queue_work(closing_workqueue, &root->close_work);
}

static void closing_in_worker(struct work_struct *work)
{
	struct root *root = container_of(work, struct root, close_work);
	struct closing_queue *queue = root->closing_queue;

	trigger_close(root);
	mutex_lock(&closing_lock);
	queue->running--;
	closing_run_next(queue);
	mutex_unlock(&closing_lock);
	closing_free_root(root);
}

static void closing_leave_to_worker(struct root *root)
{
	struct closing_queue *queue = root->closing_queue;

	INIT_WORK(&root->close_work, closing_in_worker);
	mutex_lock(&closing_lock);
	list_add_tail(&root->link, &queue->waiting);
	WRITE_ONCE(queue->waiting_count, queue->waiting_count + 1);
	closing_run_next(queue);
	mutex_unlock(&closing_lock);
}

void closing_put_root(struct root *root)
{
	if (!refcount_dec_and_test(&root->users))
		return;
	if (!trigger_is_open(root)) {
		closing_free_root(root);
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
