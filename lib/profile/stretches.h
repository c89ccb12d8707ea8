/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights of rows. The run of a session whose parameters changed has stretches,
 * in each of which it looked at one distance. What is seen in a stretch of
 * longer distances stands for more.
 *
 * If time chose the windows or a budget did, a weight is the programs' own time
 * in the stretch by the number of windows. Otherwise it is the distance itself,
 * a period or the reciprocal of a frequency. The smallest weight of a session
 * is 1.
 */
#ifndef HWPROF_STRETCHES_H
#define HWPROF_STRETCHES_H

#include "hwprof.h"
#include "perfdata/distances.h"

struct stretch {
	uint64_t windows, own_ns;	/* at its end, as totals have them */
	double took, own;		/* of this stretch alone */
	double units;			/* in its rows */
	double unseen;			/* in rows without a place */
	double sampled, samples;	/* weight and number of samples */
	double weight;
	/* A session's first stretch has these: */
	double most;			/* the largest weight of all */
	bool foreign;			/* there are changes that are not
					 * known */
	bool by_time;			/* time chose the windows */
};

struct stretches {
	const struct distances *distances;
	struct stretch *all;		/* in the order of distances */
	size_t count, room;
	double dither;			/* for rounding: 0 to 1 */
};

/* Returns NULL if out of memory. @distances must live longer. */
struct stretches *stretches_new(const struct distances *distances);
void stretches_free(struct stretches *stretches);
/* Forgets totals and units. */
void stretches_reset(struct stretches *stretches);

/*
 * Returns the number of the stretch, from 1, in which a row of @session and
 * @time was counted; 0: it has none. @stretches may be NULL.
 */
uint32_t stretches_at(const struct stretches *stretches, uint32_t session,
		      uint64_t time);
/* Notes the end of a stretch so far. Returns 0 or -ENOMEM. */
int stretches_note(struct stretches *stretches,
		   const struct hwprof_row_totals *row);

/*
 * Computes the weights, when all totals are known. A session whose distances
 * are not all known has weights of 1. @stretches may be NULL. Returns 0 or
 * -ENOMEM.
 */
int stretches_weigh(struct stretches *stretches);
/* Returns true if the distances of the session are all known. */
bool stretches_know(const struct stretches *stretches, uint32_t session);

/* The weight of one row, and how its counts are rounded. */
struct row_weight {
	double weight, dither;
};

/*
 * Returns the weight of a row of stretch @number, in which it has @units.
 * @stretches may be NULL.
 */
struct row_weight stretches_row(struct stretches *stretches, uint32_t number,
				uint64_t units);
/* Notes units of rows without a place in a stretch. Returns 0 or -ENOMEM. */
int stretches_unseen(struct stretches *stretches, uint32_t number,
		     uint64_t units);
/* Notes samples of a stretch, and what they weigh. Returns 0 or -ENOMEM. */
int stretches_sampled(struct stretches *stretches, uint32_t number,
		      uint64_t weight, uint64_t samples);
/* Returns how much more than 1 for each these stand for, in all sessions. */
uint64_t stretches_more(const struct stretches *stretches);
/* Returns the largest weight of a row of @session. @stretches may be NULL. */
double stretches_most(const struct stretches *stretches, uint32_t session);

/*
 * Returns @count times the weight. It is rounded up or down so that sums over
 * many rows are right, also of small counts.
 */
static inline uint64_t weighed(const struct row_weight *row, uint64_t count)
{
	double sum = count * row->weight + row->dither;

	return row->weight == 1 ? count :
	       sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX;
}

/*
 * Returns the windows of a session, weighed. The square of the units' sum in
 * each stretch by its windows, weighed, is added to *@spread. So is that of
 * samples' weight by their number.
 */
double stretches_windows(const struct stretches *stretches, uint32_t session,
			 double *spread);

/* Returns the budget that the session began with; 0: not known, or none. */
uint32_t stretches_budget(const struct stretches *stretches, uint32_t session);

/* Adds how the distances of @session changed to @sum. */
void stretches_tell(const struct stretches *stretches, uint32_t session,
		    bool weighed, struct hwprof_distances *sum);

#endif /* HWPROF_STRETCHES_H */
