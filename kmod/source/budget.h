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
struct slot;

/* Set up the budget of a slot whose session is set. */
void budget_init(struct slot *slot);

/*
 * Open the slot to its trigger and start its time; and the reverse. They are
 * source_ops.start() and stop() of sources that only take windows or samples.
 */
void budget_start(struct slot *slot);
void budget_stop(struct slot *slot);

/**
 * budget_tick() - Begin the handler of a trigger
 * @slot: the slot.
 * @trigger: the trigger, whose next period is chosen.
 * @regs: registers of the interrupted code.
 *
 * Account for the interrupt itself.
 *
 * Return: false if the budget leaves nothing for a look this time.
 */
bool budget_tick(struct slot *slot, struct perf_event *trigger,
		 struct pt_regs *regs);

/**
 * budget_done() - End the handler of a trigger
 * @slot: the slot.
 * @regs: registers of the interrupted code.
 *
 * Account for what the handler did.
 */
void budget_done(struct slot *slot, struct pt_regs *regs);

/* Account for @cost ns that were spent elsewhere. */
void budget_spend(struct slot *slot, u64 cost);

/*
 * Account for @took ns of something that recurs and usually takes @usual, which
 * burst_own() updates. The time of the slot's programs counts in full.
 */
void budget_spend_own(struct slot *slot, u64 *usual, u64 took);

#endif /* HWPROF_BUDGET_H */
