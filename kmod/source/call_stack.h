/* SPDX-License-Identifier: GPL-2.0-only */
/* The stack of calls that a sample finds. */
#ifndef HWPROF_CALL_STACK_H
#define HWPROF_CALL_STACK_H

#include <linux/types.h>

struct perf_branch_stack;
struct perf_event;
struct pt_regs;
struct slot;

/*
 * Feeds that of current, which was interrupted in @regs, with what the slot's
 * session may see of it; it stands for @weight events of @trigger, in whose handler
 * this is. @calls: the CPU's records of the program's calls that have not returned,
 * newest first; NULL: there are none, and the stack is unwound.
 */
void call_stack_feed(struct slot *slot, const struct perf_event *trigger,
		     u64 weight, const struct perf_branch_stack *calls,
		     struct pt_regs *regs);

#endif /* HWPROF_CALL_STACK_H */
