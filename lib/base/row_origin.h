/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process, session and time of summed rows, and how their counts arose. All
 * structs of summed rows begin with it.
 */
#ifndef HWPROF_ROW_ORIGIN_H
#define HWPROF_ROW_ORIGIN_H

#include "hwprof.h"

struct row_origin {
	uint32_t session, space, pid;
	uint32_t basis;			/* the weakest; 0: samples */
	uint32_t stretch;		/* of the session's run, from 1; 0: it
					 * has none */
	uint64_t first, last;		/* times of the rows */
};

/* Compares as tree_compare does: below 0, 0 or above 0. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Returns the origin of a row. An unknown @basis counts as the weakest. */
static inline struct row_origin row_origin_of(const struct hwprof_row *row,
					      uint32_t basis, uint64_t time)
{
	return (struct row_origin){
		.session = row->session, .space = row->space, .pid = row->pid,
		.basis = basis && basis <= HWPROF_BASIS_TIME ?
			 basis : HWPROF_BASIS_TIME,
		.first = time, .last = time,
	};
}

/*
 * Returns the origin of a sample without a row, about which nothing else is
 * known.
 */
static inline struct row_origin
row_origin_of_sample(const struct hwprof_sample *sample)
{
	return (struct row_origin){
		.pid = sample->pid,
		.first = sample->time, .last = sample->time,
	};
}

static inline int row_origin_compare(const struct row_origin *a,
				     const struct row_origin *b)
{
	int order = compare_u64(a->session, b->session);

	if (!order)
		order = compare_u64(a->space, b->space);
	/* Space 0 belongs to no process, so compare the pid too. */
	if (!order)
		order = compare_u64(a->pid, b->pid);
	/* Rows of one stretch have one weight. */
	if (!order)
		order = compare_u64(a->stretch, b->stretch);
	/*
	 * Samples and rows of one run count the same things, and must not be
	 * added.
	 */
	return order ? order : !!a->basis - !!b->basis;
}

/*
 * Merges the origin of rows of another time, or of another process at one
 * place.
 */
static inline void row_origin_add(struct row_origin *to,
				  const struct row_origin *from)
{
	if (from->first < to->first)
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
	/* The weaker statement holds for the sum. */
	if (from->basis > to->basis)
		to->basis = from->basis;
}

#endif /* HWPROF_ROW_ORIGIN_H */
