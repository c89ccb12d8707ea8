// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"

enum { ROUND_STEPS = 2 };	/* instructions of a round */

void pace_of_times(struct pace *pace, const struct pace_times *times)
{
	double free = times->free / PACE_FREE_ROUNDS;
	/* Both measurements include reading the clock under stepping. */
	double stepped = (times->stepped - times->rest) / PACE_STEPPED_ROUNDS;

	if (stepped <= 0 || free <= 0)
		return;
	pace->step_ns = stepped / ROUND_STEPS;
	pace->slowdown = stepped / free;
}
