// SPDX-License-Identifier: GPL-2.0-only
/* See recall.h. */
#include <linux/static_call.h>
#include <linux/task_work.h>

#include "recall.h"
#include "symbol.h"

/* The kernel's function, or none. */
static struct callback_head *
recall_nothing(struct task_struct *task,
	       bool (*match)(struct callback_head *work, void *data),
	       void *data)
{
	return NULL;
}

DEFINE_STATIC_CALL(recall, recall_nothing);

static bool recall_is(struct callback_head *work, void *data)
{
	return work == data;
}

bool recall_work(struct task_struct *task, struct callback_head *work)
{
	return static_call(recall)(task, recall_is, work);
}

void recall_init(void)
{
	void *found = symbol_find(SYMBOL_task_work_cancel_match);

	static_assert(__same_type(task_work_cancel_match, recall_nothing));
	if (found)
		static_call_update(recall, (typeof(&recall_nothing))found);
}
