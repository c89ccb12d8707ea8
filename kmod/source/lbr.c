// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lbr source: the CPU's records of its last branches (Intel LBR, AMD LBRv2
 * and BRS, Arm BRBE), which perf delivers as a branch stack when a counter
 * overflows. Each stack is a window of its own.
 *
 * The source asks for all classes of branches at both privilege levels, and
 * leaves out those of the other level itself. Otherwise perf would decode each
 * branch in software.
 *
 * For calling contexts, the records are the calls that have not returned yet
 * (Intel's call stack mode), and the overflow is a sample.
 *
 * An overflow is an NMI, or on most kernels of arm64 an ordinary interrupt. It
 * uses what lane_start() gave to its CPU's lane. It can interrupt any code that
 * changes the lane, so that code closes the lane first.
 */
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>

#include "arch.h"
#include "../engine/window.h"
#include "../compat.h"
#include "../filter.h"
#include "../session.h"
#include "branch_kinds.h"
#include "budget.h"
#include "call_stack.h"
#include "lbr_trial.h"
#include "probe.h"
#include "source.h"
#include "trigger.h"

enum {
	STACK_MAX	= 64,	/* branches of a window */
};

/* --- windows -------------------------------------------------------------- */

struct stack {
	const struct window_branch *branches;	/* newest first */
	u32 count;
	u8 kinds[STACK_MAX];
	bool is64;		/* the program runs in 64-bit mode */
};

/*
 * Return how many of @count branches, newest first, are in a row that passes
 * the filter. A branch of the other privilege level interrupts no row of @side.
 * *@own is set if one of the row is of @side.
 */
static u32 lbr_passing(const struct filter_set *set,
		       const struct window_branch *branches, u32 count,
		       u64 side, bool *own)
{
	u32 i;

	*own = false;
	for (i = 0; i < count; i++) {
		if ((branches[i].from ^ side) >> 63)
			continue;
		if (!filter_has(set, branches[i].from))
			break;
		*own = true;
	}
	return i;
}

/*
 * Return how many branches belong to a row of @count that passes, which @rest
 * others are behind. The branch before it only tells where the first line
 * begins. If it is a call that can be shown, the one before the call does.
 */
static u32 lbr_with_arrival(const struct lane *lane, const u8 *kinds, u32 count,
			    u32 rest)
{
	bool called = rest && kinds[count] == STREAM_CALL &&
		      filter_shows_calls(lane->session);

	return count + min(rest, called ? 2U : 1U);
}

/* Feed each row of branches that passes as a window. */
static void lbr_feed_passing(struct lane *lane, const struct stack *stack,
			     u32 space)
{
	const struct filter_set *set = filter_of(lane, stack->count);
	u64 side = space ? 0 : 1ULL << 63;
	u32 at, count = stack->count, passed;
	struct window window;
	bool own;

	for (at = 0; at < count; at += passed + 1) {
		passed = lbr_passing(set, stack->branches + at, count - at,
				     side, &own);
		if (!own)
			continue;
		window_begin(&window, stack->branches + at, stack->kinds + at,
			     lbr_with_arrival(lane, stack->kinds + at, passed,
					      count - at - passed), space);
		lane_feed_window(lane, &window);
	}
}

/* Turn the branches that do not pass the session's mask into gaps. */
static void lbr_mask(const struct lane *lane, struct stack *stack)
{
	const struct mask *mask = mask_now(lane->session);
	struct stream_event event = { .flags = 0 };
	u32 i;

	for (i = 0; mask && i < stack->count; i++) {
		event.kind = stack->kinds[i];
		event.from = stack->branches[i].from;
		if (event.kind && !mask_passes(mask, &event))
			stack->kinds[i] = 0;
	}
}

/* Feed the branches of one side: that of @space, or the kernel's if it is 0. */
static void lbr_feed_side(struct lane *lane, struct stack *stack, u32 space)
{
	bool narrowed = READ_ONCE(lane->session->narrowed);
	struct window window;

	branch_kinds_of(stack->kinds, stack->branches, stack->count, !space,
			!space || stack->is64);
	if (unlikely(narrowed))
		lbr_mask(lane, stack);
	if (space && unlikely(lane->session->programs.mask))
		programs_feed_window(lane, stack->branches, stack->kinds,
				     stack->count, space);
	if (unlikely(narrowed) && filter_is_set(lane->session)) {
		lbr_feed_passing(lane, stack, space);
		return;
	}
	window_begin(&window, stack->branches, stack->kinds, stack->count,
		     space);
	lane_feed_window(lane, &window);
}

/*
 * The most records that a stack had so far, on Intel, where perf delivers all
 * that it does not filter out. A stack is taken when the module is loaded.
 */
static u64 depth;

static void lbr_learn_depth(u64 count)
{
	if (unlikely(count > READ_ONCE(depth)) && arch_fills_stacks())
		WRITE_ONCE(depth, count);
}

/*
 * Return true if perf has not filtered records out. If another event wants
 * other records, perf may leave out records that the other one does not want:
 * its software filter is that of the event that it tried to add last, even if
 * in vain. A stack with all records was not filtered.
 */
static bool lbr_are_whole(const struct perf_branch_stack *records)
{
	lbr_learn_depth(records->nr);
	return records->nr >= READ_ONCE(depth);
}

static bool has_copies;		/* the CPU has the erratum of window_copies() */

static struct stack lbr_stack_of(const struct perf_branch_stack *records)
{
	const struct window_branch *branches = (const void *)records->entries;
	u32 count = min_t(u64, records->nr, STACK_MAX);
	u32 copies = has_copies ? window_copies(branches, count) : 0;

	return (struct stack){
		.branches = branches + copies, .count = count - copies,
	};
}

static void lbr_feed(struct lane *lane, const struct perf_branch_stack *records,
		     struct pt_regs *regs)
{
	struct stack stack = lbr_stack_of(records);
	struct session *session = lane->session;
	bool in_kernel = session->config.kernel && !user_mode(regs);
	u32 space;

	if (session->config.kernel)
		lbr_feed_side(lane, &stack, 0);
	if (in_kernel)
		lane_window(lane, instruction_pointer(regs), 0);
	if (!session_sees_program(session))
		return;
	if (!user_mode(regs))
		regs = task_pt_regs(current);
	stack.is64 = arch_is_64bit(regs);
	space = space_sampled(session);
	if (!space) {
		lane_count(&lane->lost_events, stack.count);
		return;
	}
	if (unlikely(session->programs.mask))
		programs_begin_window(lane, instruction_pointer(regs), space,
				      stack.count, 0);
	lbr_feed_side(lane, &stack, space);
	if (programs_want(&session->programs, PROGRAM_WINDOW_END))
		programs_end_window(lane, instruction_pointer(regs), space,
				    stack.count);
	if (!in_kernel)
		lane_window(lane, instruction_pointer(regs), space);
}

static void lbr_on_overflow(struct perf_event *event,
			    struct perf_sample_data *data, struct pt_regs *regs)
{
	struct session *session = event->overflow_handler_context;
	struct lane *lane = this_cpu_ptr(session->lanes);

	lane_wait(lane, trigger_period(session, event, data));
	if (!READ_ONCE(lane->open) || !budget_tick(lane, event, regs) ||
	    !(data->sample_flags & PERF_SAMPLE_BRANCH_STACK) || !data->br_stack)
		return;
	local64_add(trigger_is_throttled(event), &lane->throttled);
	lane->program.quiet = !user_mode(regs);
	if (session->engine->feed_stack)
		call_stack_feed(lane, event, data->period, data->br_stack,
				regs);
	else if (lbr_are_whole(data->br_stack))
		lbr_feed(lane, data->br_stack, regs);
	else
		lane_count(&lane->lost_events, READ_ONCE(depth));
	lane_pace(lane, event);
	budget_done(lane, regs);
}

/* --- the source ----------------------------------------------------------- */

static void lbr_on_prepare_exec(void *unused, struct task_struct *task,
				compat_prepare_argument)
{
	if (compat_execs(task))
		spaces_prepare_exec(SOURCE_lbr);
}

static void lbr_on_exec(void *unused, struct task_struct *task, pid_t old_pid,
			struct linux_binprm *binprm)
{
	spaces_exec(SOURCE_lbr);
}

static void lbr_on_exit(void *unused,
			struct task_struct *task compat_exit_arguments)
{
	spaces_exit(SOURCE_lbr);
}

static struct probe probes[] = {
	COMPAT_PREPARE_EXEC(lbr_on_prepare_exec),
	PROBE(sched_process_exec, lbr_on_exec),
	PROBE(sched_process_exit, lbr_on_exit),
	{ }
};

static const char *why_not;

static int lbr_on(void)
{
	int err = branch_kinds_on();

	if (err)
		return err;
	err = probes_register(probes);
	if (err)
		branch_kinds_off();
	return err;
}

/* All triggers are closed, so no overflow uses what is freed here. */
static void lbr_off(void)
{
	probes_unregister(probes);
	branch_kinds_off();
}

static int lbr_open(struct root *root)
{
	return trigger_open(root, lbr_on_overflow,
			    root->session->engine->feed_stack ?
			    TRIGGER_CALLS : TRIGGER_BRANCHES);
}

void lbr_init(void)
{
	u64 count = 0;

	why_not = probes_find(probes) ?: trigger_missing(TRIGGER_BRANCHES) ?:
		  lbr_trial(&count);
	lbr_learn_depth(count);
	has_copies = arch_copies_newest_branch();
}

static unsigned int users;

const struct source_ops lbr_source = {
	.why_not	= &why_not,
	.users		= &users,
	.on		= lbr_on,
	.off		= lbr_off,
	.start		= budget_start,
	.stop		= budget_stop,
	.open		= lbr_open,
};
