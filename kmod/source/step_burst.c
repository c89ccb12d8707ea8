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
#include <linux/sched/clock.h>

#include "budget.h"
#include "step.h"

u64 burst_next_random(struct burst *burst)
{
	return burst->random = burst->random * 6364136223846793005ULL + 1;
}

/*
 * Begin a burst. Return false if too many are under way: the next trigger may
 * find room. Otherwise the caller arms current.
 */
bool burst_begin(struct step_cpu *cpu, struct lane *lane)
{
	const bool by_time = lane->session->params.basis == HWPROF_BASIS_TIME;
	struct burst *burst = &lane->burst;

	if (!step_has_room(cpu)) {
		burst->due = false;
		return false;
	}
	burst->runs = true;
	burst->due = false;
	burst_window_init(&burst->window, by_time, lane->budget.burst,
			  burst->all_branches, burst->all_steps,
			  burst_next_random(burst) >> 32);
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
	if (burst->window.begun &&
	    programs_want(&lane->session->programs, PROGRAM_WINDOW_END))
		programs_end_window(lane, burst->ip,
				    lane->cursor ? lane->cursor->space : 0,
				    burst->window.branches);
	lane_unbind(lane, ~0ULL);
	burst->all_branches += burst->window.branches;
	burst->all_steps += burst->window.steps;
	burst->runs = false;
	burst->cost = local_clock() - burst->begin;
	step_del_lane(cpu, lane);
	list_add_tail(&lane->link, &cpu->waiting);
	cpu->bursts--;
}

void burst_await(struct step_cpu *cpu, struct lane *lane)
{
	lane->burst.due = false;
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

/* Its first line begins at @at, as code before it ran unseen. */
static void burst_begin_window(struct lane *lane, u64 at)
{
	lane_gap(lane, at);
	if (unlikely(lane->session->programs.mask))
		programs_begin_window(lane, at,
				      lane->cursor ? lane->cursor->space : 0,
				      0, lane->session->config.clocked ?
					 lane->burst.cost : 0);
}

/*
 * Feed an event to a lane in a burst, if it is of its window. See
 * docs/definitions.md.
 */
void burst_feed(struct lane *lane, struct stream_event *event,
		struct pt_regs *regs)
{
	struct burst_window *window = &lane->burst.window;

	if (burst_window_event(window, event))
		lane_feed(lane, event, regs);
	else if (window->begun)
		burst_begin_window(lane, event->to);
}

/* Return true if the burst is over. */
static bool burst_step(struct lane *lane)
{
	struct burst_window *window = &lane->burst.window;
	bool begun = window->begun, over = burst_window_step(window);

	if (!begun && window->begun)
		burst_begin_window(lane, window->line);
	return over;
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
		if (burst_step(lane))
			burst_end(cpu, lane);
	}
}
