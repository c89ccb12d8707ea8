/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups that change while rows are written for their leader. */
#ifndef KFUZZ_GROUP_H
#define KFUZZ_GROUP_H

#include <linux/perf_event.h>
#include <sys/types.h>

struct group {
	int leader;
	pid_t pid;			/* as perf_event_open() has it */
	int cpu;
	const struct perf_event_attr *attr;
	/* The leader's ring, or NULL: rows that came show when to close. */
	struct perf_event_mmap_page *ring;
};

enum { GROUP_MAX = 96 };

/*
 * Open so many siblings, at most GROUP_MAX, and close them from a CPU that is
 * not the leader's. Return how many were closed.
 */
unsigned long group_churn(const struct group *group, unsigned int siblings);

/*
 * Become a target that calls from many places and sleeps in between, until it
 * is killed. Rows about it are written while its events are not active.
 */
_Noreturn void group_target(int cpu);

#endif /* KFUZZ_GROUP_H */
