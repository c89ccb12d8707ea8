/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * How far looks at a program are apart (a burst of stepping, a stack of branch
 * records, a sample), so that their cost is a given share of the program's time.
 *
 * Hirzel and Chilimbi's bursty tracing, and HPS after it, have the share follow
 * from two counters, burst / (burst + sparsity), in the code's own checks. Here
 * what a look costs is measured, and the sparsity follows from that.
 *
 * A tick is the trigger's interrupt. Not every one ends in a look (it may find
 * the kernel running), but each costs something, and all alike are as far apart
 * as their average cost demands: so none is likelier for where the program was.
 */
#ifndef HWPROF_ENGINE_BURST_H
#define HWPROF_ENGINE_BURST_H

#include "types.h"

/* Distances in ns of the program's time. */
#define BURST_NEAREST	(10ULL * 1000)		/* perf's clock takes no less */
#define BURST_FARTHEST	(1ULL << 42)		/* an hour and a bit */

struct burst_control {
	u32 permille;		/* of the program's time, 1 to 1000 */
	u32 ticks;		/* that the averages are of, up to BURST_MEMORY */
	u64 cost;		/* of a tick in ns, on average lately; */
	u64 peak;		/* the most lately, which few ticks may reach */
	u64 time, units;	/* the program's from tick to tick, and counts */
	s64 due;		/* ns that are to pass until all cost is paid, */
	u64 debt;		/* but for so many ns of cost: see burst_owe() */
};

/* @guess: what a tick may cost, in ns, until that is known. */
void burst_control_init(struct burst_control *control, u32 permille, u64 guess);

/*
 * A tick: since the last one @cost ns were spent, the program had @time ns, and
 * the trigger has counted @units.
 */
void burst_account(struct burst_control *control, u64 cost, u64 time,
		   u64 units);

/*
 * @cost ns were spent that are no tick's, and may be those of thousands: ticks pay
 * for them little by little, each as much again as it costs itself at most.
 */
void burst_owe(struct burst_control *control, u64 cost);

/* Is so much not paid for yet that this tick is to pass without a look? */
bool burst_must_pass(const struct burst_control *control);

/* To the next tick, in ns: a half to one and a half of what is right. */
u64 burst_distance(const struct burst_control *control, u32 random);

/* The same in units, where they were given. */
u64 burst_units(const struct burst_control *control, u64 distance);

/*
 * Of ns that something took which is done again and again, those that are its
 * own: what takes far longer than it does on average was interrupted, by a page
 * fault, the host or another interrupt.
 */
u64 burst_own(u64 *usual, u64 took);

#endif /* HWPROF_ENGINE_BURST_H */
