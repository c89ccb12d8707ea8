/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: perf's counters in the group of a session's event. What a counter
 * counts from one sample to the next belongs to the later sample.
 */
#ifndef HWPROF_METRICS_H
#define HWPROF_METRICS_H

#include <linux/types.h>

struct perf_event;
struct lane;

/**
 * metrics_read() - Read the counters of a group, in the trigger's handler
 * @lane: the lane.
 * @trigger: the trigger.
 * @increase: for each metric of the session, what it has counted since all
 *	counters were last read for the same event.
 *
 * Return: false if the group has other counters than at first, or one does not
 *	count. The sample has no metrics then.
 */
bool metrics_read(struct lane *lane, const struct perf_event *trigger,
		  u64 *increase);

#endif /* HWPROF_METRICS_H */
