/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to calls: calls.c sums the rows of a file, or those that the engine
 * makes of its branch stacks (replay.c), by call pair, places them in objects
 * and sums pairs to methods; calls_json.c writes them out.
 */
#ifndef HWPROF_CALLS_H
#define HWPROF_CALLS_H

#include "loops.h"

/* The rows of one call pair in one address space of one session, summed. */
struct collected_call {
	uint32_t session, space, pid;
	uint32_t basis;			/* 0: samples */
	uint64_t site, callee;
	uint64_t count;
	uint64_t error, evicted;	/* of the row that is the latest by these */
	double sum_sq;
	uint64_t first, last;		/* times of its rows */
};

/* A call pair as the user of the library sees it, and what it was made of. */
struct pair_entry {
	struct hwprof_pair pair;
	struct object *site_object, *callee_object;
	double sum_sq;
	uint64_t last;			/* time of the last row */
};

struct method_entry {
	struct hwprof_method method;
	struct object *object;
	uint64_t last;
};

struct hwprof_calls {
	struct pair_entry *pairs;	/* by share */
	size_t pair_count;
	struct method_entry *methods;	/* the same */
	size_t method_count;
	unsigned int flags;
	void *rows;			/* tree of struct collected_call */
	size_t row_count;		/* in it */
	uint64_t total;			/* calls of all rows */
	struct collected collected;	/* sessions and maps, and no loops */
	struct hwprof_totals totals;
	struct objects *objects;
	void *warned;			/* tree of objects of which it was said */
	struct warnings warnings;
};

/* Adds a row as of @time. -ENOMEM. */
int calls_add_row(struct hwprof_calls *calls, const struct hwprof_row_call *row,
		  uint64_t time);

/* The interval of a share, of windows, by the sum of their calls squared. */
void estimate_share(struct hwprof_called *called, double sum_sq);

/*
 * Makes calls of what @gather puts into calls->rows and calls->collected, with
 * sentences of its own in calls->warnings. As loops_make().
 */
typedef int (*calls_gather)(struct hwprof_calls *calls,
			    struct hwprof_file *file, void *context);
int calls_make(struct hwprof_calls **result, struct hwprof_file *file,
	       unsigned int flags, calls_gather gather, void *context);

#endif /* HWPROF_CALLS_H */
