/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Which part of a burst is its window.
 *
 * A ratio of two counts is right if every branch is in a window equally often.
 * If a counter of branches begins bursts, windows of a fixed number of branches
 * do that. Time is at long lines of code more often than at short ones. If time
 * begins bursts, a window therefore has a fixed number of instructions, and it
 * begins at a fixed or random number of instructions after the burst. It must
 * not begin at the end of a line: more windows than it should would follow long
 * lines, and none would count the line in which it began. The instructions
 * before a window show where its first line begins.
 */
#ifndef HWPROF_ENGINE_BURST_WINDOW_H
#define HWPROF_ENGINE_BURST_WINDOW_H

#include "stream.h"
#include "../../uapi/linux/hwprof.h"

/**
 * struct burst_window - The window of a burst that runs
 * @by_time: time has begun the burst.
 * @begun: events are of the window.
 * @skip: what comes before it: instructions if @by_time, otherwise branches.
 * @patience: most instructions until it begins, if not @by_time.
 * @branches: since it began.
 * @steps: instructions since it began.
 * @most_branches: at which it ends.
 * @most_steps: at which it ends.
 * @line: where its first line begins, if it begins within one.
 */
struct burst_window {
	bool by_time, begun;
	u32 skip, patience;
	u32 branches, steps;
	u32 most_branches, most_steps;
	u64 line;
};

/**
 * burst_window_init() - Set up the window of a burst
 * @window: the window.
 * @by_time: time has begun the burst.
 * @branches: length asked for.
 * @all_branches: branches in earlier windows.
 * @all_steps: instructions in earlier windows.
 * @random: a random number.
 */
void burst_window_init(struct burst_window *window, bool by_time, u32 branches,
		       u64 all_branches, u64 all_steps, u32 random);

/**
 * burst_window_event() - Take an event
 * @window: the window.
 * @event: the event.
 *
 * Return: true if it is of the window. An event that is not may be where the
 * window begins: @begun is set then.
 */
bool burst_window_event(struct burst_window *window,
			const struct stream_event *event);

/**
 * burst_window_step() - Take an instruction, after its event
 * @window: the window.
 *
 * The window may begin behind it, within a line that began at @line: @begun is
 * set then.
 *
 * Return: true if the burst is over.
 */
bool burst_window_step(struct burst_window *window);

#endif /* HWPROF_ENGINE_BURST_WINDOW_H */
