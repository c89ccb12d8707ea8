/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Number of random cases that a test tries. HWPROF_TEST_SEEDS multiplies it,
 * and HWPROF_TEST_PERCENT reduces it to that percentage, but at least to one.
 */
#ifndef TESTS_ENGINE_SEEDS_H
#define TESTS_ENGINE_SEEDS_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t seeds(uint64_t usual)
{
	const char *more = getenv("HWPROF_TEST_SEEDS");
	const char *percent = getenv("HWPROF_TEST_PERCENT");
	uint64_t count = more ? strtoull(more, NULL, 0) : 0;

	if (percent)
		usual = usual * strtoull(percent, NULL, 0) / 100 ?: 1;
	return count > usual ? count : usual;
}

/* Returns how much of @whole a test takes: all of it in a long run, too. */
static inline uint64_t part(uint64_t whole)
{
	const uint64_t count = seeds(whole);

	return count < whole ? count : whole;
}

#endif /* TESTS_ENGINE_SEEDS_H */
