/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Phases: intervals of a run in which a program does the same. An interval is a
 * vector of counts by thing (loop, call, path, ...). The distance of two
 * vectors is half the sum of |a - b| over all things, where a and b are their
 * shares in their vectors: 0 if the shares are equal, 1 if the intervals have
 * nothing in common.
 *
 * An interval stays in the present phase if its distance to that phase's
 * intervals together is up to a threshold. Otherwise it goes to the nearest
 * phase within the threshold, or begins a new one.
 */
#ifndef HWPROF_PHASES_H
#define HWPROF_PHASES_H

#include <stddef.h>
#include <stdint.h>

struct phase_count {
	uint64_t time;
	uint64_t thing;
	uint64_t count;
};

/* Counts of a run, and the times at which its intervals end, in any order. */
struct phase_run {
	struct phase_count *counts;
	size_t count, room;
	uint64_t *ends;
	size_t end_count, end_room;
};

struct phase_interval {
	uint64_t begin, end;		/* counts with begin < time <= end */
	uint64_t count;			/* of all things */
	size_t phase;			/* from 0 */
	/* To the phase of the interval before; 0 in the first interval */
	double distance;
};

struct phases {
	struct phase_interval *intervals;
	size_t interval_count;
	size_t phase_count;
	size_t change_count;		/* intervals whose phase is another than
					 * that of the one before */
};

/* All functions that return int return 0 or -ENOMEM. */
int phase_run_add(struct phase_run *run, uint64_t time, uint64_t thing,
		  uint64_t count);
int phase_run_end(struct phase_run *run, uint64_t time);
void phase_run_free(struct phase_run *run);

/*
 * Finds the phases of a run. Ends that are less than @least apart make one
 * interval. Sorts the arrays of @run, and adds up counts.
 */
int phases_find(struct phases *phases, struct phase_run *run, uint64_t least,
		double threshold);
void phases_free(struct phases *phases);

/* Returns the phase of a time. */
size_t phases_at(const struct phases *phases, uint64_t time);

#endif /* HWPROF_PHASES_H */
