/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What else could say which values are hot; the peers of bench-ranges. Each is fed
 * by a function of the same type, which gets what its *_make() or *_init() made.
 */
#ifndef TESTS_BENCH_RANGE_PEERS_H
#define TESTS_BENCH_RANGE_PEERS_H

#include "engine/types.h"

/* A counter for each value: open addressing, one multiplication. */
struct counters {
	struct counter { u64 value, count; } *slots;
	u32 shift;
	size_t used;
};

void counters_init(struct counters *counters, unsigned int bits);
void counters_feed(void *counters, u64 value);
void counters_free(struct counters *counters);

/*
 * Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, 2005: as many values as memory has room for; a new
 * one takes the place of one with the least count. Their Stream-Summary: lists of
 * values with the same count, in a list by count.
 */
struct saving;

struct saving *saving_make(size_t bytes);
void saving_feed(void *saving, u64 value);
void saving_free(struct saving *saving);

/*
 * The ranges' own tree by the paper's section 2, of single values: from the root
 * down at each event. It has no hints, nothing is merged, and its memory grows:
 * kinder to it than it deserves.
 */
struct plain_tree;

struct plain_tree *plain_make(u32 epsilon_ppm);
void plain_feed(void *tree, u64 value);
void plain_free(struct plain_tree *tree);

#endif /* TESTS_BENCH_RANGE_PEERS_H */
