/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to loops: loop_rows.c sums the rows of a file, replay.c those that
 * the engine makes of a file's branch stacks, loops.c places them in objects and
 * merges processes, loops_time.c says where time went, nesting.c finds parents,
 * estimate.c has the numbers that are computed, loops_json.c writes them out.
 */
#ifndef HWPROF_LOOPS_H
#define HWPROF_LOOPS_H

#include "origin.h"
#include "json.h"
#include "profile.h"

/* The rows of one loop in one address space of one session, summed. */
struct collected_loop {
	struct origin origin;
	uint64_t head, tail;
	uint64_t back_edges;
	int64_t entries;
	uint64_t executions, unclosed;
	uint64_t trip_min, trip_max, trip_recent;
	uint64_t tolerance;
	double sum_back_sq, sum_entry_sq, sum_cross;
	uint64_t trips[HWPROF_TRIP_BUCKETS];
};

/* Windows that were taken at an address, by time; summed likewise. */
struct collected_time {
	struct origin origin;
	uint64_t ip;
	uint64_t windows;
};

/* What a row says, as of @time: counts are increases. Tolerance is the engine's
 * estimate as it stands, and left out. */
struct collected_loop collected_loop_of(const struct hwprof_row_loop *row,
					uint64_t time);
/* Adds @from to @to: rows of one loop, or of one in several processes. */
void collected_add(struct collected_loop *to, const struct collected_loop *from);

/* A loop as the user of the library sees it, and what it was made of. */
struct loop_entry {
	struct hwprof_loop loop;
	struct object *object;
	size_t file;			/* as struct place has it */
	struct collected_loop sums;
	uint64_t windows;		/* that were taken in it, by time */
};

struct hwprof_loops {
	struct hwprof_profile profile;
	struct loop_entry *entries;	/* by place; parents point into it */
	struct loop_entry **order;	/* as it was sorted last */
	size_t count;
	struct loop_entry *times;	/* of no length: windows at an address */
	size_t time_count;
};

/* loop_rows.c: sums up the sample; and a row as of @time, whose head is not
 * behind its tail, -ENOMEM. */
int loops_take(struct hwprof_profile *profile,
	       const struct hwprof_sample *sample);
int loops_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_loop *row,
		  uint64_t time);

/*
 * loops_time.c: sums up a row; places the file's windows, -ENOMEM. And, where
 * time chose all windows, shares are of it: entries are sorted by
 * place_compare().
 */
int times_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_time *row,
		  uint64_t time);
int times_place(struct hwprof_loops *loops);
void times_share(struct hwprof_loops *loops);
/* replay.c: gathers rows from branch stacks. */
int loops_replay(struct hwprof_profile *profile, void *options);
/* loops.c */
extern const struct profile_kind loops_kind;
/* nesting.c: sets parent and depth; @entries is sorted by place_compare(). */
int nesting_find(struct loop_entry *entries, size_t count);
/* By object and process, then head, then tail, larger ones first. */
int place_compare(const void *a, const void *b);

/* loops_json.c: writes one of them as JSON. */
void loops_put(struct json *json, const char *name, const void *loops,
	       size_t index);
/* JSON of all of it: as hwprof_profile_json(). */
int loops_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_LOOPS_H */
