/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hot ranges of the range engine's tree (engine/range_tree.h), and a judge of
 * them that has exact counts.
 */
#ifndef TESTS_ACCURACY_HOT_RANGES_H
#define TESTS_ACCURACY_HOT_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/range_tree.h"
#include "reports/range_hot.h"

/* Values or pairs, in the order in which they are counted. */
struct keys {
	struct range_key *items;
	size_t count, room;
};

/* Returns the targets of branches on stdin, as trace.c writes them. */
struct keys read_targets(void);

/* The same keys as numbers, sorted. They tell the exact count of any range. */
struct numbers {
	range_number *items;
	size_t count;
};

struct verdict {
	size_t hot;		/* hot ranges in the set */
	double sum, worst;	/* accuracy of their counts, up to 1 */
	size_t wrong;		/* ranges with a count outside its bounds */
	size_t missed;		/* ranges that are hot by exact counts only */
	size_t unexplained;	/* hot or missed against the bounds */
};

/* Returns the numbers, which the caller frees. */
struct numbers sorted_numbers(const struct keys *keys, bool pairs);

/* Returns the set that counts each number separately. */
struct range_set exact_set(const struct numbers *numbers, double hot);

/*
 * Returns the set of a tree of so many blocks that has counted the keys.
 * @refused becomes the number of splits that were refused.
 */
struct range_set counted_set(const struct keys *keys, bool pairs, size_t blocks,
			     u32 epsilon_ppm, double hot, u64 *refused);

/* Compares the counts of the set's ranges with exact ones. */
void judge_counts(const struct range_set *set, const struct numbers *numbers,
		  struct verdict *verdict);

/*
 * Compares the set's hot ranges with those of the exact set, @truth. Events of
 * a range may have been counted around it, as the bounds tell. So it may be
 * missed; and where they were counted, a range may be hot which is not hot by
 * exact counts. @hot is the least that a hot range has without those inside it.
 */
void judge_hot(const struct range_set *set, const struct range_set *truth,
	       const struct numbers *numbers, double hot,
	       struct verdict *verdict);

#endif /* TESTS_ACCURACY_HOT_RANGES_H */
