/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of windows and samples, as a share of the time of the profiled
 * programs. It is measured. If the session has a budget, the distance of its
 * triggers' overflows keeps the cost within it.
 */
#ifndef HWPROF_BUDGET_H
#define HWPROF_BUDGET_H

#include <linux/types.h>

struct perf_event;
struct pt_regs;
struct lane;

/* Set up the budget of a lane whose session is set. */
void budget_init(struct lane *lane);

/*
 * Open the lane to its trigger and start its time; and the reverse. They are
 * source_ops.start() and stop() of sources that only take windows or samples.
 */
void budget_start(struct lane *lane);
void budget_stop(struct lane *lane);

/**
 * budget_tick() - Begin the handler of a trigger
 * @lane: the lane.
 * @trigger: the trigger, whose next period is chosen.
 * @regs: registers of the interrupted code.
 *
 * Account for the interrupt itself.
 *
 * Return: false if the budget leaves nothing for a look this time.
 */
bool budget_tick(struct lane *lane, struct perf_event *trigger,
		 struct pt_regs *regs);

/**
 * budget_done() - End the handler of a trigger
 * @lane: the lane.
 * @regs: registers of the interrupted code.
 *
 * Account for what the handler did.
 */
void budget_done(struct lane *lane, struct pt_regs *regs);

/* Account for @cost ns that were spent elsewhere. */
void budget_spend(struct lane *lane, u64 cost);

/*
 * Account for @took ns of something that recurs and usually takes @usual, which
 * burst_own() updates. The time of the lane's programs counts in full.
 */
void budget_spend_own(struct lane *lane, u64 *usual, u64 took);

#endif /* HWPROF_BUDGET_H */
