/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All windows: the newest in memory, the others in the store. A minute's
 * windows are in memory until the minute is over, and some time longer, if
 * there is room; or if the store cannot be written.
 */
#ifndef HWPROFD_TIMELINE_H
#define HWPROFD_TIMELINE_H

#include "config.h"
#include "store.h"

struct timeline;

struct timeline_counts {
	uint64_t received;		/* windows */
	uint64_t dropped;		/* windows that were never stored */
	uint64_t merges;		/* windows made of others */
	uint64_t memory_windows;
	uint64_t memory_bytes;
	struct part_totals totals;	/* of all windows received */
};

/* Work to be done by job_merge(): windows that are to become one. */
struct timeline_task {
	struct window window;		/* what they become */
	struct parts parts;		/* theirs */
	size_t recent;			/* how many are in memory */
	int64_t *merged;		/* their ids in the store */
	size_t merged_count;
};

/* @store may be NULL: then everything is in memory. Returns NULL on ENOMEM. */
struct timeline *timeline_new(struct store *store, const struct config *config);
void timeline_free(struct timeline *timeline);
void timeline_configure(struct timeline *timeline, const struct config *config);

/* Returns the present time: see store.h. */
int64_t timeline_now(const struct timeline *timeline);

/*
 * Adds a window from ns @begin_ns to @end_ns on CLOCK_BOOTTIME, and takes its
 * parts over. Returns 0 or -ENOMEM.
 */
int timeline_add(struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns,
		 struct parts *parts);

/*
 * Finds windows that are due to become one. @all is true for those of a minute
 * that is not over, too. Returns 1, 0 if nothing is due, or a negative errno.
 * The caller calls timeline_finish() with what became of them, or with NULL if
 * they could not be merged.
 */
int timeline_due(struct timeline *timeline, bool all,
		 struct timeline_task *task);
void timeline_finish(struct timeline *timeline, struct timeline_task *task,
		     const struct parts *merged);
/* Returns true if the parts need no merging: a minute has one window. */
bool timeline_is_single(const struct timeline_task *task);
/* Instead of that: lets the windows be, so that they are due later again. */
void timeline_postpone(struct timeline *timeline, struct timeline_task *task);

/* Most bytes that timeline_parts() gives. */
enum { TIMELINE_PARTS_MAX = 64 << 20 };

/*
 * Adds the parts that overlap [@from, @to) and are wanted: see
 * part_is_wanted(). Returns 0; -EFBIG if they are more than TIMELINE_PARTS_MAX;
 * or another negative errno.
 */
int timeline_parts(struct timeline *timeline, int64_t from, int64_t to,
		   int kind, const char *build_id, struct parts *parts);

/*
 * Calls @fn for windows that overlap [@from, @to), and each head: for some
 * behind *@place, which is STORE_BEGIN at first. Returns 1 if there are more; 0
 * at the end; or a negative errno.
 */
int timeline_heads(struct timeline *timeline, struct store_place *place,
		   int64_t from, int64_t to, store_head_fn fn, void *context);

/*
 * Returns a number that changes when stored windows become others: a reader of
 * some after others then begins again.
 */
uint64_t timeline_changes(const struct timeline *timeline);

/*
 * Returns true if a minute waits to be stored that should long have been, or
 * tried to be.
 */
bool timeline_is_stuck(const struct timeline *timeline);

void timeline_count(const struct timeline *timeline,
		    struct timeline_counts *counts);

#endif /* HWPROFD_TIMELINE_H */
