/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads branch stacks, as CPUs and trace decoders record them, into windows. */
#ifndef HWPROF_BRANCHES_H
#define HWPROF_BRANCHES_H

#include "sites.h"

/*
 * Recorders set this flag for a branch that was not taken; Arm SPE has such
 * records. It is the first bit that <linux/perf_event.h> reserves.
 */
#define BRANCH_NOT_TAKEN	(1ULL << 33)

/* Returns true if an event with this filter records every taken branch. */
bool branches_all(const struct perf_event_attr *attr);

/*
 * Converts @from, an array of struct perf_branch_entry, to @to, which has room
 * for all of it. Sets the counts in @stack of branches, and of records left
 * out:
 *
 * - A branch that was not taken is no branch of a window.
 * - BRBE writes 0 for an address at a privilege level that is not recorded. The
 *   branch then leads to the other level, or comes from it.
 *
 * Clears flags that do not matter.
 */
void branches_read(struct stack *stack, struct window_branch *to,
		   struct byte_reader from);

#endif /* HWPROF_BRANCHES_H */
