/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of a machine whose time is derived from instructions. */
#ifndef TESTS_BENCH_ICOUNT_H
#define TESTS_BENCH_ICOUNT_H

#include <time.h>

enum { NS_PER_INSTRUCTION = 2 };

/* Returns the machine's time in nanoseconds. */
static inline long long icount_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

#endif /* TESTS_BENCH_ICOUNT_H */
