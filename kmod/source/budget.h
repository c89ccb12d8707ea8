/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What windows and samples cost of the time of what is profiled: it is measured,
 * and, where the session has a budget, held to it by the distance of its
 * triggers' overflows.
 */
#ifndef HWPROF_BUDGET_H
#define HWPROF_BUDGET_H

#include <linux/types.h>

struct perf_event;
struct perf_event_attr;
struct pt_regs;
struct slot;

/* Of the fields that say so: 0 or an errno. */
int budget_check(const struct perf_event_attr *attr);

/* Its session is set. */
void budget_init(struct slot *slot);

/* The slot's time begins and stops. Interrupts are off. */
void budget_start(struct slot *slot);
void budget_stop(struct slot *slot);

/*
 * The trigger has fired, and the handler begins: its interrupt counts. Chooses
 * the next distance; false: there is nothing left for a look this time.
 */
bool budget_tick(struct slot *slot, struct perf_event *trigger,
		 struct pt_regs *regs);

/* The handler ends: what it did counts, too. */
void budget_done(struct slot *slot, struct pt_regs *regs);

/* What was spent elsewhere, in ns. */
void budget_spend(struct slot *slot, u64 cost);

#endif /* HWPROF_BUDGET_H */
