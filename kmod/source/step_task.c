// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of stepped tasks: a fixed set-associative array, since they are
 * wanted where nothing can be allocated. A task is freed from it when it
 * exits, so that a pointer in it is always a task. The array itself stays as
 * long as the module: the work of a task that sleeps may still point to it.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "step_task.h"

enum {
	RECORD_WAYS	= 16,
	RECORD_SETS	= 512,	/* a power of two; 8192 tasks */
};

static struct step_task *records;

int step_tasks_init(void)
{
	if (!records)
		records = vzalloc(array3_size(RECORD_SETS, RECORD_WAYS,
					      sizeof(*records)));
	return records ? 0 : -ENOMEM;
}

void step_tasks_exit(void)
{
	vfree(records);
}

static struct step_task *record_set(struct task_struct *task)
{
	return &records[hash_ptr(task, ilog2(RECORD_SETS)) * RECORD_WAYS];
}

struct step_task *step_task_find(struct task_struct *task)
{
	struct step_task *record = record_set(task);
	int way;

	for (way = 0; way < RECORD_WAYS; way++, record++)
		if (READ_ONCE(record->task) == task)
			return record;
	return NULL;
}

struct step_task *step_task_get(struct task_struct *task)
{
	struct step_task *record = step_task_find(task);
	int way;

	if (record)
		return record;
	record = record_set(task);
	for (way = 0; way < RECORD_WAYS; way++, record++)
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

void step_task_for_each(void (*visit)(struct step_task *record,
				      struct task_struct *task))
{
	int i;

	for (i = 0; i < RECORD_SETS * RECORD_WAYS; i++) {
		struct task_struct *task = READ_ONCE(records[i].task);

		if (task)
			visit(&records[i], task);
	}
}
