/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes estimates from sums; docs/definitions.md defines them. */
#ifndef HWPROF_ESTIMATE_H
#define HWPROF_ESTIMATE_H

#include "loops.h"

/*
 * Sets all fields that are computed from the sums. With @bursts all windows are
 * those of bursts.
 */
void estimate_loop(struct hwprof_loop *loop, const struct collected_loop *sums,
		   bool bursts);

/**
 * struct share_facts - What else the interval of a share follows from
 * @weighed: windows have different weights, and the fields below are set.
 * @windows: all windows, not weighed.
 * @all_variance: variance of the logarithm of all units.
 * @heaviest: share of all that one window of the largest weight stands for.
 * @in_loop: windows that were taken in a loop by time, weighed; 0: the share is
 *	of units.
 * @in_loop_sq: sum of the squared weights of @in_loop.
 */
struct share_facts {
	bool weighed;
	double windows;
	double all_variance;
	double heaviest;
	double in_loop, in_loop_sq;
};

/* Returns the facts about a profile whose rows have @total units, weighed. */
struct share_facts share_facts_of(const struct hwprof_profile *profile,
				  double total);

/* Sets the interval of a loop's share, after the share. */
void estimate_loop_share(struct hwprof_loop *loop,
			 const struct collected_loop *sums,
			 const struct share_facts *facts);

/*
 * Sets the interval of a share. @sum_sq is the sum of squares of the calls in
 * each window; 0 means none.
 */
void estimate_share(struct hwprof_called *called, double sum_sq,
		    const struct share_facts *facts);

/*
 * Sets the bias of a conditional jump: the share of lines reaching it that it
 * ended. @stopped lines ended there. The interval uses upper bounds of the
 * roots of sums of the windows' squares, for these lines and for the others.
 */
void estimate_bias(struct hwprof_branch_site *site, uint64_t stopped,
		   double stopped_root, double passed_root);

/*
 * Widens the bounds of a share of @samples independent samples to Wilson's 95 %
 * interval.
 */
void widen_binomial(double samples, double *low, double *high);

/*
 * Widens the interval if the kinds of @inferred of all branches (0 to 1) were
 * inferred from stacks: an error there affects all windows alike.
 */
void widen_loop(struct hwprof_loop *loop, double inferred);
void widen_share(struct hwprof_called *called, double inferred);

#endif /* HWPROF_ESTIMATE_H */
