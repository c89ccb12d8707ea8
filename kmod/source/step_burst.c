// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts: whenever the session's trigger fires, the task is stepped for some
 * branches. This is Hirzel and Chilimbi's bursty tracing, which HPS has as
 * well, with time or a hardware counter in place of counters in the code. A
 * burst is a window: it begins with a gap, and ends early if the task leaves
 * its CPU.
 *
 * A lane is on its CPU's list @waiting until a burst begins, and on @lanes
 * while it lasts, so that nothing is stepped in between.
 */
#include <linux/math64.h>
#include <linux/sched/clock.h>

#include "budget.h"
#include "step.h"

enum {
	BRANCH_STEPS	= 64,		/* most instructions per branch */
	/* A burst has at most so many times the branches asked for. */
	LONGEST		= 4,
	/* Most branches to skip, if that is less than an eighth of a burst. */
	SKIP_MAX	= 64,
};

u64 burst_next_random(struct burst *burst)
{
	return burst->random = burst->random * 6364136223846793005ULL + 1;
}

/*
 * Choose how many branches to skip at the beginning of a burst. Time passes at
 * some instructions, those that wait, more than at others. If all windows began
 * there, code at their beginning would count too much.
 */
static u32 burst_choose_skip(struct lane *lane)
{
	u32 range = min_t(u32, lane->budget.burst / 8, SKIP_MAX) + 1;

	return (burst_next_random(&lane->burst) >> 32) * range >> 32;
}

/*
 * Choose the length of a burst. Time chooses code with long straight lines more
 * often. Bursts of a fixed number of branches would count such code too often.
 * So a burst has a fixed number of instructions: those that the branches asked
 * for have on average. Every branch is then equally likely to be in a burst.
 */
static void burst_set_length(struct lane *lane)
{
	struct burst *burst = &lane->burst;
	u32 branches = lane->budget.burst;

	burst->most_branches = branches;
	burst->most_steps = branches * BRANCH_STEPS;
	if (lane->session->params.basis != HWPROF_BASIS_TIME ||
	    !burst->all_branches)
		return;
	burst->most_branches = min_t(u32, branches * LONGEST,
				     2 * HWPROF_BURST_MAX);
	burst->most_steps = min_t(u64, burst->most_steps,
				  div64_u64(branches * burst->all_steps,
					    burst->all_branches));
}

/*
 * Begin a burst. Return false if too many are under way: the next trigger may
 * find room. Otherwise the caller arms current.
 */
bool burst_begin(struct step_cpu *cpu, struct lane *lane)
{
	struct burst *burst = &lane->burst;

	if (!step_has_room(cpu)) {
		burst->due = false;
		return false;
	}
	burst->runs = true;
	burst->due = false;
	burst->begun = false;
	burst->branches = 0;
	burst->steps = 0;
	burst_set_length(lane);
	burst->skip = burst_choose_skip(lane);
	burst->patience = (burst->skip + 1) * BRANCH_STEPS;
	burst->ip = task_pt_regs(current)->ip;
	burst->begin = local_clock();
	burst->last = burst->begin;
	step_add_lane(cpu, lane);
	cpu->bursts++;
	return true;
}

static void burst_end(struct step_cpu *cpu, struct lane *lane)
{
	struct burst *burst = &lane->burst;

	if (lane->cursor)
		lane_window(lane, burst->ip, lane->cursor->space);
	if (burst->begun &&
	    programs_want(&lane->session->programs, PROGRAM_WINDOW_END))
		programs_end_window(lane, burst->ip,
				    lane->cursor ? lane->cursor->space : 0,
				    burst->branches);
	lane_unbind(lane, ~0ULL);
	burst->all_branches += burst->branches;
	burst->all_steps += burst->steps;
	burst->runs = false;
	burst->cost = local_clock() - burst->begin;
	step_del_lane(cpu, lane);
	list_add_tail(&lane->link, &cpu->waiting);
	cpu->bursts--;
}

void burst_await(struct step_cpu *cpu, struct lane *lane)
{
	lane->burst.due = false;
	if (!lane->burst.random)
		lane->burst.random = lane->session->params.seed ^ local_clock();
	list_add_tail(&lane->link, &cpu->waiting);
	budget_start(lane);
}

void burst_forgo(struct step_cpu *cpu, struct lane *lane)
{
	lane_close(lane);
	if (lane->burst.runs)
		burst_end(cpu, lane);
	list_del_init(&lane->link);
	budget_stop(lane);
}

/* End all bursts of this CPU: the task leaves it, or its program. */
void bursts_end(struct step_cpu *cpu)
{
	struct lane *lane, *next;

	list_for_each_entry_safe(lane, next, &cpu->lanes, link)
		if (lane->burst.runs)
			burst_end(cpu, lane);
}

static void burst_begin_window(struct lane *lane, u64 at)
{
	lane->burst.begun = true;
	lane_gap(lane, at);
	if (unlikely(lane->session->programs.mask))
		programs_begin_window(lane, at,
				      lane->cursor ? lane->cursor->space : 0,
				      0, lane->session->config.clocked ?
					 lane->burst.cost : 0);
}

/*
 * Feed a branch to a lane in a burst. The first branch only says where the
 * first line begins, as code before it ran unseen: see docs/definitions.md.
 */
void burst_feed(struct lane *lane, struct stream_event *event,
		struct pt_regs *regs)
{
	struct burst *burst = &lane->burst;

	if (burst->skip) {
		burst->skip--;
		return;
	}
	if (burst->begun)
		lane_feed(lane, event, regs);
	else
		burst_begin_window(lane, event->to);
	burst->branches++;
}

static bool burst_is_over(struct burst *burst)
{
	if (!burst->begun)
		return !--burst->patience;
	return ++burst->steps >= burst->most_steps ||
	       burst->branches >= burst->most_branches;
}

/* Account for a step: the #DB, its handler, and one instruction. */
static void burst_spend_step(struct step_cpu *cpu, struct lane *lane, u64 now)
{
	u64 took = now - lane->burst.last;

	lane->burst.last = now;
	budget_spend_own(lane, &cpu->step_cost, took);
}

/* Account for an instruction in all bursts, and end those that are over. */
void bursts_step(struct step_cpu *cpu)
{
	struct lane *lane, *next;
	u64 now = local_clock();

	list_for_each_entry_safe(lane, next, &cpu->lanes, link) {
		if (!lane->burst.runs)
			continue;
		burst_spend_step(cpu, lane, now);
		if (burst_is_over(&lane->burst))
			burst_end(cpu, lane);
	}
}
