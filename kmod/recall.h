/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Task works that are not wanted any more. Such a work holds the module, and
 * its task may sleep in the kernel for good before it runs.
 */
#ifndef HWPROF_RECALL_H
#define HWPROF_RECALL_H

#include <linux/sched.h>
#include <linux/task_work.h>

/*
 * Take a work back. Return false if it runs, has run, or cannot be taken back.
 * The caller keeps the task's structure, but not from exiting.
 */
bool recall_work(struct task_struct *task, struct callback_head *work);

void recall_init(void);

#endif /* HWPROF_RECALL_H */
