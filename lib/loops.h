/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to loops: collect.c sums the rows of a file, replay.c those that
 * the engine makes of a file's branch stacks, loops.c places them in
 * objects and merges processes, loops_time.c says where time went, nesting.c
 * finds parents, estimate.c has the
 * numbers that are computed, loops_json.c writes them out.
 */
#ifndef HWPROF_LOOPS_H
#define HWPROF_LOOPS_H

#include "file.h"
#include "objects.h"
#include "processes.h"
#include "warnings.h"

/* For trees: below, at or above 0, as @a is below, at or above @b. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The rows of one loop in one address space of one session, summed. */
struct collected_loop {
	uint32_t session, space, pid;
	uint64_t head;
	uint64_t tail;
	uint64_t first, last;		/* times of its rows; ends of the range */
	uint64_t back_edges;
	int64_t entries;
	uint64_t executions, unclosed;
	uint64_t trip_min, trip_max, trip_recent;
	uint64_t tolerance;
	uint32_t basis;			/* 0: samples */
	double sum_back_sq, sum_entry_sq, sum_cross;
	uint64_t trips[HWPROF_TRIP_BUCKETS];
};

/* Windows that were taken at an address, by time; summed likewise. */
struct collected_time {
	uint32_t session, space, pid;
	uint64_t ip;
	uint64_t first, last;
	uint64_t windows;
};

struct collected_session {
	uint32_t session;
	uint64_t time;			/* of the totals */
	struct hwprof_row_totals totals;
	bool has_totals;
};

struct collected {
	void *loops;			/* tree of struct collected_loop */
	size_t loop_count;
	void *times;			/* tree of struct collected_time */
	size_t time_count;
	struct collected_session *sessions;
	size_t session_count;
	uint64_t rows, samples;
	uint64_t bare_rows;		/* without raw data */
	struct processes *processes;
	/* Samples that are about the same, but not wanted; NULL: there are none. */
	bool (*skips)(void *context, const struct hwprof_sample *sample);
};

int collect(struct collected *collected, struct hwprof_file *file);

/*
 * What is not about loops alone. Reads all of @file: totals and maps go into
 * @collected, and samples of events that are @about something to @take, which
 * returns 0 or a file_fail().
 */
typedef int (*collect_take)(void *context, struct hwprof_file *file,
			    const struct hwprof_sample *sample);
int collect_samples(struct collected *collected, struct hwprof_file *file,
		    const char *about, collect_take take, void *context);

void totals_add(struct hwprof_totals *to, const struct hwprof_totals *from);
/* The run's totals; and what is to be said of them, if @found @units are in the
 * file. -ENOMEM. */
void collected_totals(const struct collected *collected,
		      const struct hwprof_file *file,
		      struct hwprof_totals *totals);
int collected_warn(const struct collected *collected,
		   const struct hwprof_totals *totals, uint64_t found,
		   const char *units, struct warnings *warnings);

/*
 * What a row says, as of @time: counts are increases. Tolerance is the engine's
 * estimate as it stands, and left out.
 */
struct collected_loop collected_loop_of(const struct hwprof_row_loop *row,
					uint64_t time);
/* Adds a row as of @time, whose head is not behind its tail. -ENOMEM. */
int collected_add_row(struct collected *collected,
		      const struct hwprof_row_loop *row, uint64_t time);
int collected_add_time(struct collected *collected,
		       const struct hwprof_row_time *row, uint64_t time);
/* Session @session, made if need be. NULL: out of memory. */
struct collected_session *collected_session(struct collected *collected,
					    uint32_t session);
void collected_free(struct collected *collected);

/* Adds @from to @to: rows of one loop, or of one in several processes. */
void collected_add(struct collected_loop *to, const struct collected_loop *from);

/* A loop as the user of the library sees it, and what it was made of. */
struct loop_entry {
	struct hwprof_loop loop;
	struct object *object;
	size_t file;			/* index: of what is a process's own */
	struct collected_loop sums;
	uint64_t windows;		/* that were taken in it, by time */
};

struct hwprof_loops {
	unsigned int flags;		/* enum hwprof_loops_flags */
	struct loop_entry *entries;	/* by place; parents point into it */
	struct loop_entry **order;	/* as it was sorted last */
	size_t count;
	struct hwprof_totals totals;
	struct loop_entry *times;	/* of no length: windows at an address */
	size_t time_count;
	struct objects *objects;
	struct collected collected;	/* from the file that is read, ... */
	struct collected *files;	/* ... and from those before it */
	size_t file_count;
	struct warnings warnings;
	char message[256];
};

/*
 * Makes loops of what @gather puts into loops->collected for each file, with
 * sentences of its own in loops->warnings. It returns 0, or a negative errno and
 * a file_fail().
 */
typedef int (*loops_gather)(struct hwprof_loops *loops,
			    struct hwprof_file *file, void *context);
int loops_make(struct hwprof_loops **result, struct hwprof_file *const *files,
	       size_t count, unsigned int flags, loops_gather gather,
	       void *context);
/*
 * loops_time.c: places the windows that were collected from @file. -ENOMEM. And,
 * where time chose all windows, shares are of it: entries are sorted by
 * place_compare().
 */
int times_place(struct hwprof_loops *loops, const struct hwprof_file *file);
void times_share(struct hwprof_loops *loops);
/* nesting.c: sets parent and depth; @entries is sorted by place_compare(). */
int nesting_find(struct loop_entry *entries, size_t count);
/* By object and process, then head, then tail, larger ones first. */
int place_compare(const void *a, const void *b);

/* estimate.c: fills in what follows from the sums. */
void estimate_loop(struct hwprof_loop *loop, const struct collected_loop *sums);

#endif /* HWPROF_LOOPS_H */
