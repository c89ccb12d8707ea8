/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers that depend only on the seed. */
#ifndef TESTS_ENGINE_RANDOM_H
#define TESTS_ENGINE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline unsigned int random_below(uint64_t *state, unsigned int limit)
{
	return (uint32_t)random_next(state) * (uint64_t)limit >> 32;
}

/* Returns true once in @n times on average; never if @n is 0. */
static inline bool random_once_in(uint64_t *state, unsigned int n)
{
	return n && !random_below(state, n);
}

/*
 * Reverses the order of bits. The result is not random, but neighbours are far
 * apart.
 */
static inline uint64_t reversed(uint64_t value)
{
	uint64_t result = 0;
	unsigned int i;

	for (i = 0; i < 64; i++)
		result |= (value >> i & 1) << (63 - i);
	return result;
}

#endif /* TESTS_ENGINE_RANDOM_H */
