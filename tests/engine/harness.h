/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs an engine as the module does: cursors of several tasks use several
 * tables, which are exchanged and merged into a profile, whose rows may be
 * refused. The order is random, but the same for the same seed.
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
	unsigned int exchanges;	/* one in that many events; 0: never */
	unsigned int readings;	/* likewise: rows are read */
	unsigned int refusals;	/* one in that many rows; 0: none */
};

/* Sums of a loop's rows, and its last state. */
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
	unsigned int *table_of;	/* of each task */
	u64 retirements;	/* number of tables retired */
	struct { struct seen_loop *items; size_t count, room; } loops;
	size_t *slots;		/* hash table of loops; ~0: free */
	size_t slot_count;
};

void harness_init(struct harness *harness, const struct harness_style *style,
		  u64 span, u64 seed);
void harness_free(struct harness *harness);

/* Feeds an event of a task, with occasional housekeeping. */
void harness_feed(struct harness *harness, unsigned int task,
		  const struct stream_event *event);

/* Merges all tables, and reads until no row is refused. */
void harness_finish(struct harness *harness);

struct seen_loop *harness_find(const struct harness *harness, u32 space,
			       u64 head);

#endif /* TESTS_ENGINE_HARNESS_H */
