/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other ways to find hot values: the peers of bench-ranges. Functions of the
 * same type feed them, and take the result of *_make() or *_init().
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
 * Elements in Data Streams, 2005. It keeps as many values as memory has room
 * for; a new one replaces one with the least count. The Stream-Summary of the
 * paper has lists of values with the same count, in a list by count.
 */
struct saving;

struct saving *saving_make(size_t bytes);
void saving_feed(void *saving, u64 value);
void saving_free(struct saving *saving);

/*
 * The tree of the ranges by section 2 of the paper, with single values: it is
 * searched from the root at each event. It has no hints and does not merge, and
 * its memory grows, all of which makes it faster than it would be.
 */
struct plain_tree;

struct plain_tree *plain_make(u32 epsilon_ppm);
void plain_feed(void *tree, u64 value);
void plain_free(struct plain_tree *tree);

#endif /* TESTS_BENCH_RANGE_PEERS_H */
