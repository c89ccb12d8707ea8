/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rights beyond those that perf checks. Perf asks for the right to read a task's
 * state (PTRACE_MODE_READ). Stepping changes the task's registers and reads its
 * memory, and tables for unwinding choose what is read of it: both take the right
 * to attach as a debugger (PTRACE_MODE_ATTACH), which Yama and other security
 * modules keep apart.
 */
#ifndef HWPROF_RIGHT_H
#define HWPROF_RIGHT_H

#include <linux/types.h>

struct source_ops;
struct task_struct;

/*
 * May current attach to @task with its real credentials, as ptrace() would let
 * it? 0; EACCES: no; ESRCH: the task is gone. May sleep.
 */
int right_attach(struct task_struct *task);

/* May it attach to whatever runs? 0 or EACCES. May sleep. */
int right_attach_all(void);

/* What an event of @source on @task takes, besides what perf checks; NULL: all. */
int right_watch(const struct source_ops *source, struct task_struct *task);

/*
 * Did the task's last exec give it rights that who started it does not have
 * (setuid, file capabilities, a security module's transition)? Forks inherit the
 * answer. The task is current, or is about to run on this CPU. Any context.
 */
bool right_is_secure(const struct task_struct *task);

#endif /* HWPROF_RIGHT_H */
