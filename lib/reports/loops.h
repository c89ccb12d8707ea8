/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to loops:
 * - loop_rows.c sums the rows of a file, which replay.c makes from branch
 *   stacks if there are none.
 * - loops.c places loops in objects and merges processes.
 * - loops_time.c attributes time, loop_instructions.c instructions.
 * - nesting.c finds parents.
 * - estimate.c computes estimates.
 * - loops_json.c writes the result.
 */
#ifndef HWPROF_LOOPS_H
#define HWPROF_LOOPS_H

#include "base/row_origin.h"
#include "base/json.h"
#include "profile/profile.h"

/* The rows of one loop in one address space of one session, summed. */
struct collected_loop {
	struct row_origin origin;
	uint64_t head, tail;
	uint64_t back_edges;
	int64_t entries;
	uint64_t executions, unclosed;
	uint64_t trip_min, trip_max, trip_recent;
	uint64_t tolerance;
	double sum_back_sq, sum_entry_sq, sum_cross;
	double weight;			/* the largest; 0: 1 */
	uint64_t trips[HWPROF_TRIP_BUCKETS];
};

/* Windows taken by time at one address, summed likewise. */
struct collected_time {
	struct row_origin origin;
	uint64_t ip;
	uint64_t windows;
};

/*
 * Converts a row of time @time: its counts are increases. The tolerance is left
 * out, because it is the engine's present estimate, and no increase.
 */
struct collected_loop collected_loop_of(const struct hwprof_row_loop *row,
					uint64_t time);
/* Adds @from to @to: rows of one loop, possibly in several processes. */
void collected_add(struct collected_loop *to,
		   const struct collected_loop *from);

/*
 * Multiplies the counts of windows, which have neither executions nor trip
 * counts of their own.
 */
void collected_weigh(struct collected_loop *loop, const struct row_weight *row);

/* A loop of the public interface, and what it is made of. */
struct loop_entry {
	struct hwprof_loop loop;
	struct object *object;
	size_t file;			/* as struct location has it */
	struct collected_loop sums;
	uint64_t windows;		/* taken in it, by time; weighed */
	double windows_sq;		/* sum of their squared weights */
};

struct hwprof_loops {
	struct hwprof_profile profile;
	struct loop_entry *entries;	/* by place; parents point into it */
	struct loop_entry **order;	/* as last sorted */
	size_t count;
	double total;			/* back edges and entries of all */
	struct loop_entry *times;	/* windows at an address, as loops of no
					 * length */
	size_t time_count;
	struct hwprof_profile *paths;	/* of all files, for instructions; NULL:
					 * none */
};

/*
 * loops_take() adds a sample. loops_add_row() adds a row of time @time, whose
 * head is not above its tail. Both return 0 or -ENOMEM; in loop_rows.c.
 */
int loops_take(struct hwprof_profile *profile,
	       const struct hwprof_sample *sample);
int loops_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_loop *row,
		  uint64_t time);

/*
 * Windows by time, in loops_time.c: times_add_row() adds a row, and
 * times_place() places the windows of the file; both return 0 or -ENOMEM.
 * times_share() sets shares of time if time chose all windows; entries must be
 * sorted by place_compare().
 */
int times_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_time *row,
		  uint64_t time);
int times_place(struct hwprof_loops *loops);
void times_share(struct hwprof_loops *loops);
/*
 * Returns the smallest loop around the head of @at, the lower one of equals; or
 * NULL. Entries must be sorted by place_compare(). In loops_time.c.
 */
struct loop_entry *loops_around(struct hwprof_loops *loops,
				const struct loop_entry *at);

/*
 * Instructions, in loop_instructions.c, if HWPROF_BY_INSTRUCTIONS is set:
 * loop_paths_take() takes a row of a path from an event that also has loops,
 * loop_paths_place() places those of a file, and loops_share_instructions()
 * sets instructions and shares of them. Entries must be sorted by
 * place_compare(), and have their parents. All return as profile_gather().
 */
int loop_paths_take(struct hwprof_profile *profile,
		    const struct hwprof_sample *sample);
int loop_paths_place(struct hwprof_loops *loops);
int loops_share_instructions(struct hwprof_loops *loops);
/* loops.c */
extern const struct profile_kind loops_kind;
/*
 * Sets parent and depth; @entries is sorted by place_compare(). In nesting.c.
 */
int nesting_find(struct loop_entry *entries, size_t count);
/* Compares object and process, then head, then tail with larger ones first. */
int place_compare(const void *a, const void *b);

/* Writes one loop as JSON; in loops_json.c. */
void loops_put(struct json *json, const char *name, const void *loops,
	       size_t index);
/* Writes the whole profile; see hwprof_profile_json(). */
int loops_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_LOOPS_H */
