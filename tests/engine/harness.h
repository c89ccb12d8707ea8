/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An engine as the module runs it: several tasks' cursors over several tables
 * that change under them and are merged into a profile, whose rows a ring may
 * refuse; at random, but the same for the same seed.
 */
#ifndef TESTS_ENGINE_HARNESS_H
#define TESTS_ENGINE_HARNESS_H

#include "engine/engine.h"
#include "linux/hwprof.h"
#include "tables.h"

struct harness_style {
	unsigned int tasks;
	unsigned int tables;
	size_t table_size;
	size_t profile_size;
	unsigned int exchanges;	/* one in so many events; 0: never */
	unsigned int readings;	/* likewise: rows are asked for */
	unsigned int refusals;	/* one in so many rows; 0: none */
};

/* What rows said of a loop: sums of increases, and the last state. */
struct seen_loop {
	u32 space;
	u64 head;
	u64 tail;
	u64 back_edges;
	s64 entries;
	u64 executions;
	u64 unclosed;
	u64 tolerance;
	u64 trip_min;
	u64 trip_max;
	u64 trip_recent;
	u32 tails;
	u64 trips[HWPROF_TRIP_BUCKETS];
};

struct harness {
	struct engine_params params;
	struct harness_style style;
	u64 random;
	struct tables tables;
	void **cursors;
	unsigned int *table_of;	/* of a task */
	u64 retirements;	/* of a table */
	struct { struct seen_loop *items; size_t count, room; } loops;
	size_t *slots;		/* of loops, by hash; ~0: free */
	size_t slot_count;
};

void harness_init(struct harness *harness, const struct harness_style *style,
		  u64 span, u64 seed);
void harness_free(struct harness *harness);

/* Feeds an event of a task, and does some housekeeping now and then. */
void harness_feed(struct harness *harness, unsigned int task,
		  const struct stream_event *event);

/* Merges all tables and reads until no row is refused. */
void harness_finish(struct harness *harness);

struct seen_loop *harness_find(const struct harness *harness, u32 space,
			       u64 head);

#endif /* TESTS_ENGINE_HARNESS_H */
