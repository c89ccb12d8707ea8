/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that make CPUs race take a CPU each, and end after some time. */
#ifndef PINNED_H
#define PINNED_H

#include <err.h>
#include <sched.h>
#include <time.h>

/* Ends the program if there is no such CPU. */
static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "there is no CPU %d", cpu);
}

/* Returns seconds that only grow. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#endif /* PINNED_H */
