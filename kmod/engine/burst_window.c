// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "burst_window.h"

enum {
	BRANCH_STEPS	= 64,	/* most instructions per branch */
	USUAL_STEPS	= 8,	/* until windows have shown how many */
	/* A window has at most so many times the branches asked for. */
	LONGEST		= 4,
	SKIP_MAX	= 64,	/* branches */
	SKIP_PART	= 8,	/* at most this part of the window is skipped */
};

/* Return a random number below @range. */
static u32 burst_window_below(u32 random, u32 range)
{
	return (u64)random * range >> 32;
}

/* Every branch is as likely as any other to be the one that begins. */
static void burst_window_count(struct burst_window *window, u32 branches,
			       u32 random)
{
	window->skip = burst_window_below(random, min(branches / SKIP_PART,
						      (u32)SKIP_MAX) + 1);
	window->patience = (window->skip + 1) * BRANCH_STEPS;
	window->most_branches = branches;
	window->most_steps = branches * BRANCH_STEPS;
}

/*
 * Time passes at some instructions, those that wait, more than at others. So a
 * random number of instructions is skipped, lest windows all begin near them.
 */
static void burst_window_time(struct burst_window *window, u32 branches,
			      u64 steps, u32 random)
{
	u32 least, range;

	steps = min(steps, (u64)branches * BRANCH_STEPS);
	window->most_steps = steps;
	window->most_branches = min(branches * LONGEST,
				    2U * HWPROF_BURST_MAX);
	least = min((u32)steps / SKIP_PART / 2, (u32)BRANCH_STEPS);
	range = min((u32)steps / SKIP_PART, (u32)SKIP_MAX * USUAL_STEPS);
	window->skip = 1 + least + burst_window_below(random, range + 1);
}

void burst_window_init(struct burst_window *window, bool by_time, u32 branches,
		       u64 all_branches, u64 all_steps, u32 random)
{
	u64 steps = (u64)branches * USUAL_STEPS;

	/* Windows without a branch show that lines are long. */
	if (all_steps)
		steps = branches * all_steps / max(all_branches, (u64)1);
	*window = (struct burst_window){ .by_time = by_time };
	if (by_time)
		burst_window_time(window, branches, steps, random);
	else
		burst_window_count(window, branches, random);
}

bool burst_window_event(struct burst_window *window,
			const struct stream_event *event)
{
	if (window->begun) {
		window->branches++;
		return true;
	}
	window->line = stream_is_branch(event->kind) ? event->to : 0;
	if (window->skip) {
		window->skip -= !window->by_time;
		return false;
	}
	window->begun = true;
	window->branches = 1;
	return false;
}

/* Return true if the burst is over before its window has begun. */
static bool burst_window_wait(struct burst_window *window)
{
	if (!window->by_time)
		return !--window->patience;
	window->begun = !--window->skip && window->line;
	return false;
}

bool burst_window_step(struct burst_window *window)
{
	if (!window->begun && (!window->by_time || window->skip))
		return burst_window_wait(window);
	return ++window->steps >= window->most_steps ||
	       window->branches >= window->most_branches;
}
