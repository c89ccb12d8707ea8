// SPDX-License-Identifier: GPL-2.0-only
#include <linux/perf_event.h>
#include <linux/sched/task_stack.h>

#include "../engine/window.h"
#include "../filter.h"
#include "../session.h"
#include "call_stack.h"
#include "callers.h"
#include "metrics.h"

/* All code of the kernel is one procedure. The context says who entered it. */
#define KERNEL_PROCEDURE	(1ULL << 63)

/*
 * Unwind the program's stack, by tables where there are some. Return the number
 * of call sites.
 */
static u32 call_stack_unwind(struct lane *lane, u64 *sites,
			     struct pt_regs *regs)
{
	const struct session *session = lane->session;
	const struct unwind *unwind = smp_load_acquire(&session->unwind);
	u32 unwound = 0, count;

	/*
	 * A table could disclose other words of a stack that is not the
	 * opener's.
	 */
	if (READ_ONCE(session->foreign))
		unwind = NULL;
	count = callers_of_user(sites, regs, unwind, &unwound);
	lane_count(&lane->callers, count);
	lane_count(&lane->unwound, unwound);
	return count;
}

/*
 * Copy the calls that the CPU has recorded. Calls in the kernel were not asked
 * for. Return the number of call sites.
 */
static u32 call_stack_copy_calls(struct lane *lane, u64 *sites,
				 const struct perf_branch_stack *calls)
{
	u32 count = 0;
	u64 i;

	for (i = 0; i < calls->nr && count < CALLERS_MAX; i++)
		if (!window_in_kernel(calls->entries[i].from))
			sites[count++] = calls->entries[i].from;
	lane_count(&lane->callers, count);
	return count;
}

/*
 * Feed the kernel or the program, with the program's calls. A procedure is
 * named by an address in it: where it made its call, or was interrupted.
 */
void call_stack_feed(struct lane *lane, const struct perf_event *trigger,
		     u64 weight, const struct perf_branch_stack *calls,
		     struct pt_regs *regs)
{
	struct session *session = lane->session;
	u64 metrics[HWPROF_METRICS_MAX];
	bool in_kernel = session->config.kernel && !user_mode(regs);
	bool in_program = session_sees_program(session);
	u64 sites[1 + CALLERS_MAX];
	struct stream_stack stack = {
		.weight = weight, .procedure = KERNEL_PROCEDURE,
		.sites = sites + !in_kernel, .procedures = sites + !in_kernel,
	};

	if (!in_kernel && !in_program)
		return;
	if (!filter_passes(lane, in_kernel || user_mode(regs) ?
			   instruction_pointer(regs) :
			   instruction_pointer(task_pt_regs(current)), 1))
		return;
	if (in_program) {
		if (!user_mode(regs))
			regs = task_pt_regs(current);
		sites[0] = instruction_pointer(regs);
		stack.depth = in_kernel +
			(calls ? call_stack_copy_calls(lane, sites + 1, calls) :
				 call_stack_unwind(lane, sites + 1, regs));
		stack.space = space_sampled(session);
	}
	stack.used = stack.depth;
	/* A program without a number is not counted as the kernel. */
	if (!in_kernel || (in_program && !stack.space))
		stack.procedure = sites[0];
	if (session->params.metrics && metrics_read(lane, trigger, metrics))
		stack.metrics = metrics;
	lane_feed_stack(lane, &stack);
}
