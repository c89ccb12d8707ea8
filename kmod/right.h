/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rights beyond those that perf checks. Perf requires the right to read a
 * task's state (PTRACE_MODE_READ). Stepping changes the task's registers and
 * reads its memory, and unwind tables choose what is read of its memory. Both
 * require the right to attach as a debugger (PTRACE_MODE_ATTACH), which Yama
 * and other security modules treat differently.
 */
#ifndef HWPROF_RIGHT_H
#define HWPROF_RIGHT_H

#include <linux/types.h>

struct session_config;
struct task_struct;

/**
 * right_attach() - Check that current may attach to a task
 * @task: the task.
 *
 * The check is that of ptrace(), with current's real credentials. A kernel
 * thread takes the right to attach to every task: it starts programs, which
 * inherit its events.
 *
 * Context: may sleep.
 * Return: 0; -EACCES if not; -ESRCH if the task is gone; or another errno.
 */
int right_attach(struct task_struct *task);

/*
 * Check that current may attach to every task. Return 0, -EACCES if not, or
 * another errno. May sleep.
 */
int right_attach_all(void);

/*
 * Ask whether current may read all memory anyway, by BPF programs: CAP_BPF and
 * CAP_PERFMON. Takes no lock.
 */
bool right_read_all(void);

/**
 * right_watch() - Check the rights that an event needs beyond perf's checks
 * @config: the decoded words of the event.
 * @task: its target; NULL: all tasks.
 *
 * Return: as right_attach().
 */
int right_watch(const struct session_config *config, struct task_struct *task);

/**
 * right_is_own() - Ask whether a task belongs to current's program
 * @task: the task.
 *
 * Context: any.
 * Return: true if it is of current's process, or of a child of that.
 */
bool right_is_own(struct task_struct *task);

/**
 * right_delay() - Ask whether a process may have to wait for its watcher
 * @config: the decoded words of an event; right_watch() has checked it.
 * @task: its target.
 *
 * A process that ends writes its rows itself, and waits for room in a ring. To
 * delay a process takes the right to attach. right_watch() has checked that for
 * sources that attach. For others, this function asks the kernel about
 * current's own process and its children, and with CAP_SYS_PTRACE about all
 * others: the kernel logs refusals, so it is not asked where it would refuse.
 *
 * Context: may sleep.
 * Return: true if it may.
 */
bool right_delay(const struct session_config *config, struct task_struct *task);

/**
 * right_is_secure() - Ask whether the task's last exec gave it rights
 * @task: current, or a task about to run on this CPU.
 *
 * Such rights are those that the user who started it does not have: setuid,
 * file capabilities, a security module's transition. Forks inherit the answer.
 *
 * Context: any.
 * Return: true if it did.
 */
bool right_is_secure(const struct task_struct *task);

#endif /* HWPROF_RIGHT_H */
