/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface between a lane and its samples. */
#ifndef HWPROF_LANE_SAMPLE_H
#define HWPROF_LANE_SAMPLE_H

#include <linux/types.h>

struct lane;
struct perf_event;
struct pt_regs;
struct stream_event;

/** lane_sample_init() - Look up the function of perf that writes samples */
void lane_sample_init(void);

/**
 * lane_sample_renew() - Allow the samples of another step
 *
 * Return: true if the step before had more samples than may be written at one.
 */
bool lane_sample_renew(void);

/**
 * lane_sample_events() - Add a unit to the events of a lane, and write the
 *			  samples that are due
 * @lane:	the lane, of a session without rows
 * @stream:	the event that is @units units
 * @units:	how many
 * @regs:	user registers of current
 */
void lane_sample_events(struct lane *lane, const struct stream_event *stream,
			unsigned int units, const struct pt_regs *regs);

/**
 * lane_sample_rest() - Write a last sample, for the rest of the event's period
 * @lane:	the lane that @event runs on
 * @event:	the event, which perf is about to stop
 */
void lane_sample_rest(struct lane *lane, struct perf_event *event);

#endif
