/* SPDX-License-Identifier: GPL-2.0-only */
/* The record of a stepped task: whether it is stepped, and where it is. */
#ifndef HWPROF_STEP_TASK_H
#define HWPROF_STEP_TASK_H

#include <linux/cache.h>
#include <linux/sched.h>
#include <linux/task_work.h>

/*
 * Written by its task, in #DB or in the kernel on its behalf. While the task is
 * off the CPU, the CPU that is about to run it writes it. Interrupts are off.
 */
struct step_task {
	struct task_struct *task;	/* NULL: the record is free */
	u64 ip;			/* of the instruction that runs next */
	/*
	 * User flags at that time, with our TF. `syscall` copies them to r11.
	 */
	u64 flags;
	/* Grows with everything that ran, seen or not. */
	u64 steps;
	struct callback_head work;
	bool work_queued;
	bool armed;		/* its #DBs are also ours */
	bool secure;		/* see right_is_secure() */
	bool foreign;		/* an opener that has a lane cannot reach it */
	bool hold;		/* not to be armed until the work has run */
	bool sigreturn;		/* in a sigreturn: not to be armed meanwhile */
	/*
	 * Bursts without call probes: the next instruction is a system call, or
	 * one was made since the last #DB.
	 */
	bool calls;
} ____cacheline_aligned;

enum {
	STEP_TASK_WAYS	= 16,
	STEP_TASK_SETS	= 512,		/* a power of two */
	STEP_TASKS	= STEP_TASK_WAYS * STEP_TASK_SETS,
	/* Most records of a set that one user has, and root's reserve. */
	STEP_USER_WAYS	= 8,
	STEP_ROOT_WAYS	= 4,
};

int step_tasks_init(void);
void step_tasks_exit(void);

/* Return true if only privileged sessions may see the task. */
static inline bool step_task_is_hidden(const struct step_task *record)
{
	return record->secure || record->foreign;
}

/* Return the task's record, or NULL if it has none. */
struct step_task *step_task_find(struct task_struct *task);

/*
 * Make a record for a task that has none. It belongs to the task's user. Return
 * NULL if that user's share is used up. Interrupts are off.
 */
struct step_task *step_task_add(struct task_struct *task);

/* Free a record. The task exits, or is not stepped any more. */
void step_task_free(struct step_task *record);

/* Return the record's number, from 0 to STEP_TASKS - 1. */
unsigned int step_task_number(const struct step_task *record);

/* Call @visit for all records, while tasks come and go. Under RCU. */
void step_task_for_each(void (*visit)(struct step_task *record,
				      struct task_struct *task));

#endif /* HWPROF_STEP_TASK_H */
