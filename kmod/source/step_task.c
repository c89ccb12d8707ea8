// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of stepped tasks: a set-associative array of fixed size, because they
 * are needed where nothing can be allocated. A record is freed when its task
 * exits, so that its pointer is always that of a task. The array stays as long
 * as the module, because the work of a sleeping task may still point to it.
 *
 * A task may sleep for good, and keeps its record. So each user has a share of
 * each set, and root a reserve. A record belongs to the user that its task had
 * when it was first stepped, whoever steps it: then nobody's threads can use up
 * the share of whoever profiles them.
 */
#include <linux/cred.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>

#include "step.h"

/* All users share it until the module is unloaded, so no cgroup pays for it. */
static struct step_task *records;
/* Each record's owner is kept apart, because a record fills a cache line. */
static kuid_t *owners;
static DEFINE_RAW_SPINLOCK(records_lock);	/* one new record at a time */
/*
 * A thread that gets no record can tell that it shares a set with others. That
 * must say nothing of the addresses of their task_structs.
 */
static hsiphash_key_t secret;

int step_tasks_init(void)
{
	if (!records) {
		get_random_bytes(&secret, sizeof(secret));
		records = vzalloc(array_size(STEP_TASKS, sizeof(*records)));
	}
	if (!owners)
		owners = vzalloc(array_size(STEP_TASKS, sizeof(*owners)));
	return records && owners ? 0 : -ENOMEM;
}

void step_tasks_exit(void)
{
	vfree(records);
	vfree(owners);
}

static struct step_task *step_task_set(struct task_struct *task)
{
	u32 set = hsiphash(&task, sizeof(task), &secret) % STEP_TASK_SETS;

	return &records[set * STEP_TASK_WAYS];
}

struct step_task *step_task_find(struct task_struct *task)
{
	struct step_task *record = step_task_set(task);
	int way;

	for (way = 0; way < STEP_TASK_WAYS; way++, record++)
		if (READ_ONCE(record->task) == task)
			return record;
	return NULL;
}

/* Return true if the user may have one more record of the set. */
static bool step_task_is_allowed(const struct step_task *set, kuid_t user)
{
	const kuid_t *owner = &owners[set - records];
	unsigned int own = 0, others = 0;
	int way;

	for (way = 0; way < STEP_TASK_WAYS; way++) {
		if (!READ_ONCE(set[way].task))
			continue;
		if (uid_eq(READ_ONCE(owner[way]), user))
			own++;
		else if (!uid_eq(READ_ONCE(owner[way]), GLOBAL_ROOT_UID))
			others++;
	}
	return own < STEP_USER_WAYS &&
	       (uid_eq(user, GLOBAL_ROOT_UID) ||
		own + others < STEP_TASK_WAYS - STEP_ROOT_WAYS);
}

/* Take a free record of the set. The lock is held. */
static struct step_task *step_task_take(struct step_task *set,
					struct task_struct *task, kuid_t user)
{
	int way;

	for (way = 0; way < STEP_TASK_WAYS; way++) {
		/* Pairs with step_task_free(): the record is empty. */
		if (smp_load_acquire(&set[way].task))
			continue;
		WRITE_ONCE(owners[&set[way] - records], user);
		WRITE_ONCE(set[way].task, task);
		return &set[way];
	}
	return NULL;
}

struct step_task *step_task_add(struct task_struct *task)
{
	struct step_task *set = step_task_set(task), *record = NULL;
	kuid_t user = task_uid(task);

	/* Tasks without a record come here often. Leave the lock to others. */
	if (!step_task_is_allowed(set, user))
		return NULL;
	raw_spin_lock(&records_lock);
	if (step_task_is_allowed(set, user))
		record = step_task_take(set, task, user);
	raw_spin_unlock(&records_lock);
	return record;
}

void step_task_free(struct step_task *record)
{
	memset_after(record, 0, task);
	smp_store_release(&record->task, NULL);
}

unsigned int step_task_number(const struct step_task *record)
{
	return record - records;
}

void step_task_for_each(void (*visit)(struct step_task *record,
				      struct task_struct *task))
{
	int i;

	for (i = 0; i < STEP_TASKS; i++) {
		struct task_struct *task = READ_ONCE(records[i].task);

		if (task)
			visit(&records[i], task);
	}
}
