/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hashes words, for tables whose order is invisible. */
#ifndef HWPROF_HASH_H
#define HWPROF_HASH_H

#include <stdint.h>

/* Returns @hash with @word mixed in. The first @hash is 0. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

#endif /* HWPROF_HASH_H */
