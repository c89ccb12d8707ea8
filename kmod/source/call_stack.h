/* SPDX-License-Identifier: GPL-2.0-only */
/* The stack of calls that a sample finds. */
#ifndef HWPROF_CALL_STACK_H
#define HWPROF_CALL_STACK_H

#include <linux/types.h>

struct perf_branch_stack;
struct perf_event;
struct pt_regs;
struct lane;

/**
 * call_stack_feed() - Feed the stack of the current task, in the trigger's
 * handler
 * @lane: the lane to feed; only what its session may see is fed.
 * @trigger: the trigger.
 * @weight: events of the trigger that the sample stands for.
 * @calls: the CPU's records of the program's calls that have not returned,
 *	newest first; NULL: the stack is unwound.
 * @regs: registers of the interrupted code.
 */
void call_stack_feed(struct lane *lane, const struct perf_event *trigger,
		     u64 weight, const struct perf_branch_stack *calls,
		     struct pt_regs *regs);

#endif /* HWPROF_CALL_STACK_H */
