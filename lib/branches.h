/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branch stacks as CPUs and decoders of traces record them, read for windows. */
#ifndef HWPROF_BRANCHES_H
#define HWPROF_BRANCHES_H

#include "sites.h"

/*
 * Recorders' flag of a branch that was passed and not taken: Arm SPE has such
 * records. Here it is the first bit that <linux/perf_event.h> reserves.
 */
#define BRANCH_NOT_TAKEN	(1ULL << 33)

/* Does an event with this filter record every branch that is taken? */
bool branches_all(const struct perf_event_attr *attr);

/*
 * Reads @from, struct perf_branch_entry's, to @to, which has room for all, and
 * says in @stack how many branches it has, and what was left out:
 *
 * - a branch that was not taken is no branch of a window;
 * - BRBE writes 0 for an address at a privilege level that is not recorded: the
 *   branch leads to the other side, or comes from there.
 *
 * Flags that do not matter are cleared.
 */
void branches_read(struct stack *stack, struct window_branch *to,
		   struct span from);

#endif /* HWPROF_BRANCHES_H */
