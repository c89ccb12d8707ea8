/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An opener: a process between two execs, with unchanged credentials. What it
 * asked for is not for the program that it execs, which may have other rights,
 * nor for the process after it has dropped rights.
 */
#ifndef HWPROF_OPENER_H
#define HWPROF_OPENER_H

#include <linux/types.h>

struct cred;

/**
 * struct opener - The identity of an opener
 * @tgid: process, as the initial pid namespace numbers it.
 * @born: start time, because numbers are used again.
 * @exec: task_struct.self_exec_id.
 * @cred: credentials, compared by address. Whoever keeps an opener holds a
 *	reference.
 */
struct opener {
	pid_t tgid;
	u64 born;
	u64 exec;
	const struct cred *cred;
};

/* Return current as an opener, without a reference. */
struct opener opener_of_current(void);

bool opener_equal(const struct opener *a, const struct opener *b);

/*
 * Check that an opener is current. Return 0; -EPERM if it is another process,
 * -EACCES if the credentials differ.
 */
int opener_check(const struct opener *opener);

/*
 * Return true if ptrace() would let the opener attach to a task with these
 * credentials. Neither security modules nor whether the task may dump core is
 * asked about. Any context.
 */
bool opener_reaches(const struct opener *opener, const struct cred *target);

/*
 * Return the number of the cgroup that current's call of perf_event_open() is
 * about; 0: it is about none. In event_init(), perf has not looked it up yet.
 */
u64 opener_cgroup(void);

#endif /* HWPROF_OPENER_H */
