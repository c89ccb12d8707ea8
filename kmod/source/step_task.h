/* SPDX-License-Identifier: GPL-2.0-only */
/* What single stepping knows of a task: whether it is stepped, where it is. */
#ifndef HWPROF_STEP_TASK_H
#define HWPROF_STEP_TASK_H

#include <linux/sched.h>
#include <linux/task_work.h>

/*
 * Written by its task, in #DB, in the kernel on its behalf, or, while it is
 * off its CPU, by the CPU that is about to run it. Interrupts are off.
 */
struct step_task {
	struct task_struct *task;	/* NULL: free */
	u64 ip;			/* of the instruction that runs next */
	u64 flags;		/* then, with ours: what `syscall` copies to r11 */
	u64 steps;		/* grows with all that ran, seen or not */
	u64 clock;		/* local_clock() at the last call */
	struct callback_head work;
	bool work_queued;
	bool armed;		/* its #DBs are ours, too */
	bool secure;		/* see right_is_secure() */
	bool hold;		/* not to be armed before `work` ran */
	bool sigreturn;		/* in that system call: nor then */
	bool calls;		/* without a probe: runs next, or since the #DB */
};

enum {
	STEP_TASK_WAYS	= 16,
	STEP_TASK_SETS	= 512,		/* a power of two */
	STEP_TASKS	= STEP_TASK_WAYS * STEP_TASK_SETS,
};

int step_tasks_init(void);
void step_tasks_exit(void);

/* The task's record; NULL: it has none. */
struct step_task *step_task_find(struct task_struct *task);

/* The same, or a new one, as @is_new says; NULL: all are in use. */
struct step_task *step_task_get(struct task_struct *task, bool *is_new);

/* The task exits, or is not to be known any more. */
void step_task_free(struct step_task *record);

/* Which of the STEP_TASKS records it is, from 0 on. */
unsigned int step_task_number(const struct step_task *record);

/* All records, while tasks come and go. Under RCU. */
void step_task_for_each(void (*visit)(struct step_task *record,
				      struct task_struct *task));

#endif /* HWPROF_STEP_TASK_H */
