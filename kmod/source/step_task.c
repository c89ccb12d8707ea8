// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of stepped tasks: a set-associative array of fixed size, because they
 * are needed where nothing can be allocated. A record is freed when its task
 * exits, so that its pointer is always that of a task. The array stays as long
 * as the module, because the work of a sleeping task may still point to it.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "step.h"

/* All users share it until the module is unloaded, so no cgroup pays for it. */
static struct step_task *records;

int step_tasks_init(void)
{
	if (!records)
		records = vzalloc(array_size(STEP_TASKS, sizeof(*records)));
	return records ? 0 : -ENOMEM;
}

void step_tasks_exit(void)
{
	vfree(records);
}

static struct step_task *step_task_set(struct task_struct *task)
{
	return &records[hash_ptr(task, ilog2(STEP_TASK_SETS)) * STEP_TASK_WAYS];
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

struct step_task *step_task_get(struct task_struct *task, bool *is_new)
{
	struct step_task *record = step_task_find(task);
	int way;

	*is_new = !record;
	if (record)
		return record;
	record = step_task_set(task);
	for (way = 0; way < STEP_TASK_WAYS; way++, record++)
		if (!READ_ONCE(record->task) &&
		    cmpxchg(&record->task, NULL, task) == NULL)
			return record;
	return NULL;
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
