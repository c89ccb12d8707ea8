/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Bursts: how far apart to look at a program, so that looks cost a given share
 * of its time. A look is a burst of stepping, a stack of branch records, or a
 * sample.
 *
 * In Hirzel and Chilimbi's bursty tracing, and in HPS, the share follows from
 * two counters in the instrumented code: burst / (burst + sparsity). Here the
 * cost of a look is measured, and the distance follows from it.
 *
 * A tick is an interrupt of the trigger. A tick may end without a look, because
 * it found the kernel running, but it costs something. Distances follow from
 * the average cost of all ticks, so that a place in the program is not sampled
 * less because looks there are dear.
 */
#ifndef HWPROF_ENGINE_BURST_H
#define HWPROF_ENGINE_BURST_H

#include "types.h"

/* Limits of distances, in ns of the program's time. */
#define BURST_NEAREST	(10ULL * 1000)		/* least period of perf's
						 * clock */
#define BURST_FARTHEST	(1ULL << 42)		/* about 73 minutes */

struct burst_control {
	u32 permille;		/* share of the program's time, 1 to 1000 */
	u32 ticks;		/* how many the averages are over */
	u64 cost;		/* average cost of a tick, in ns */
	u64 peak;		/* highest cost lately, in ns */
	/*
	 * Averages from tick to tick: the program's time in ns, and the units
	 * that the trigger counted.
	 */
	u64 time, units;
	/*
	 * Program time, in ns, that must pass until all cost is paid. Negative:
	 * it has been saved.
	 */
	s64 due;
	/* Further cost, in ns, that ticks will pay: see burst_owe(). */
	u64 debt;
};

/**
 * burst_control_init() - Set up the control of a budget
 * @control: the control.
 * @permille: share of the program's time that may be spent, in 1/1000.
 * @guess: assumed cost of a tick in ns, until ticks were measured.
 */
void burst_control_init(struct burst_control *control, u32 permille, u64 guess);

/**
 * burst_control_spend() - Change the budget
 * @control: the control.
 * @permille: the new share, in 1/1000.
 *
 * Cost that is owed or saved stays the same.
 */
void burst_control_spend(struct burst_control *control, u32 permille);

/**
 * burst_control_stretch() - Expect other costs, because bursts change
 * @control: the control.
 * @from: branches of a burst until now, not 0.
 * @to: branches of a burst from now on, at most 65535.
 *
 * The cost of a tick is guessed anew, and soon learnt.
 */
void burst_control_stretch(struct burst_control *control, u32 from, u32 to);

/**
 * burst_account() - Account for a tick
 * @control: the control.
 * @cost: ns spent since the last tick.
 * @time: ns that the program ran since then.
 * @units: what the trigger counted since then.
 */
void burst_account(struct burst_control *control, u64 cost, u64 time,
		   u64 units);

/**
 * burst_owe() - Add a cost that belongs to no tick
 * @control: the control.
 * @cost: the cost in ns, which may be that of thousands of ticks.
 *
 * Ticks pay for it little by little. Each one pays at most its own cost again.
 */
void burst_owe(struct burst_control *control, u64 cost);

/**
 * burst_must_pass() - Ask whether a tick must pass without a look
 * @control: the control.
 *
 * Return: true if so much is owed that the tick should not look.
 */
bool burst_must_pass(const struct burst_control *control);

/**
 * burst_distance() - Compute when the next tick is due
 * @control: the control.
 * @random: a random number, for jitter.
 *
 * Return: ns of the program's time, between a half and one and a half of the
 *	distance that the budget demands.
 */
u64 burst_distance(const struct burst_control *control, u32 random);

/**
 * burst_units() - Convert a distance to units of the trigger
 * @control: the control.
 * @distance: ns of the program's time.
 *
 * Return: the number of units, at the average rate so far.
 */
u64 burst_units(const struct burst_control *control, u64 distance);

/**
 * burst_own() - Tell the own time of something that recurs from interruptions
 * @usual: its average so far, which this function updates; 0 at first.
 * @took: ns that it took this time.
 *
 * Something that takes far longer than usual was interrupted, by a page fault,
 * by the host or by another interrupt.
 *
 * Return: the ns to account for: @took, or @usual if it was interrupted.
 */
u64 burst_own(u64 *usual, u64 took);

#endif /* HWPROF_ENGINE_BURST_H */
