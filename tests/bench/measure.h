/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock and the memory of benchmarks of engines. */
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Returns the CPU time of this thread in nanoseconds. */
static inline double cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Returns memory at a cache line. Aborts if there is none. */
static inline void *memory_new(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);

	if (!memory)
		abort();
	return memory;
}

static inline void *memory_zeroed(size_t size)
{
	return memset(memory_new(size), 0, size);
}

#endif /* TESTS_BENCH_MEASURE_H */
