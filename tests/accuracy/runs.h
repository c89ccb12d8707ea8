/* SPDX-License-Identifier: GPL-2.0-only */
/* The branches of a recording, and windows cut out of them. */
#ifndef HWPROF_TEST_RUNS_H
#define HWPROF_TEST_RUNS_H

#include <linux/hwprof.h>

#include "engine/engine.h"

/* Consecutive branches of a thread. */
struct run {
	u32 pid, tid, space;
	u64 sequence;
	size_t first, count;		/* in the array of branches */
};

/* A zeroed one is empty. */
struct runs {
	struct { struct hwprof_branch *items; size_t count, room; } branches;
	struct { struct run *items; size_t count, room; } list;
};

/* Adds the branches of a row. */
void runs_take(struct runs *runs, const struct hwprof_row_branches *row);
/* Sorts by process and thread, and then in the order in which they ran. */
void runs_sort(struct runs *runs);
/*
 * Feeds windows of 32 branches to @table, one in 200, of each thread. The space
 * of a window is its pid. Returns their number.
 */
u64 runs_feed(const struct runs *runs, const struct engine_ops *engine,
	      void *table);

#endif /* HWPROF_TEST_RUNS_H */
