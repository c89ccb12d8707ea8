/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows from sums: docs/definitions.md says of what. */
#ifndef HWPROF_ESTIMATE_H
#define HWPROF_ESTIMATE_H

#include "loops.h"

/* Fills in what follows from the sums. */
void estimate_loop(struct hwprof_loop *loop, const struct collected_loop *sums);

/*
 * The interval of a loop's share, when that is set. @windows that were taken in the
 * loop, by time; 0: the share is of iterations.
 */
void estimate_loop_share(struct hwprof_loop *loop,
			 const struct collected_loop *sums, uint64_t windows);

/* The interval of a share, by the sum of its windows' calls squared; 0: none. */
void estimate_share(struct hwprof_called *called, double sum_sq);

/*
 * Sets the bias of a conditional jump: of all lines that came to it, the part
 * that ended with it, which are @stopped. Its interval is from the most that
 * roots of sums of windows' squares can be, of those lines and of the others.
 */
void estimate_bias(struct hwprof_branch_site *site, uint64_t stopped,
		   double stopped_root, double passed_root);

/*
 * Widens the interval where @inferred of all branches (0 to 1) are of kinds that
 * stacks had to tell: windows do not differ by what is wrong in all of them.
 */
void widen_loop(struct hwprof_loop *loop, double inferred);
void widen_share(struct hwprof_called *called, double inferred);

#endif /* HWPROF_ESTIMATE_H */
