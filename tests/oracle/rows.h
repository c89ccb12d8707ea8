/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a recording: branches, in order by thread and sequence, and
 * loops, summed. Reads perf.data, or a file of branch rows one behind the
 * other.
 */
#ifndef TESTS_ORACLE_ROWS_H
#define TESTS_ORACLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/stream.h"
#include "linux/hwprof.h"

struct branch_rows {
	struct hwprof_row_branches **items;
	size_t count, room;
};

/*
 * The last totals row of each session. Its counts are those of the session so
 * far.
 */
struct totals_rows {
	struct hwprof_row_totals *items;
	size_t count, room;
};

struct loop_rows {
	struct hwprof_row_loop *items;	/* one for each loop, counts summed */
	u64 (*trips)[HWPROF_TRIP_BUCKETS];	/* the same order: 64 bits */
	size_t count, room;
	struct totals_rows totals;	/* of all sessions */
};

/* Returns false, after a message on stderr, if the file is wrong. */
bool rows_read(const char *name, struct branch_rows *branches,
	       struct loop_rows *loops);
void rows_free(struct branch_rows *branches, struct loop_rows *loops);

/*
 * Returns the sums of the losses and gaps of all sessions. Other fields are 0.
 */
struct hwprof_row_totals totals_sum(const struct totals_rows *rows);

/* Takes the next branch of thread @thread, which is numbered from 0. */
typedef void (*rows_take)(void *context, u32 thread,
			  const struct stream_event *event);

/*
 * Passes all branches to @take, in order for each thread, with a gap where some
 * are missing. Returns how many are missing.
 */
u64 rows_branches(struct branch_rows *branches, rows_take take, void *context);

#endif /* TESTS_ORACLE_ROWS_H */
