/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: perf's counters in the group of a session's event. What each has
 * counted from one sample to the next is the next one's.
 */
#ifndef HWPROF_METRICS_H
#define HWPROF_METRICS_H

#include <linux/types.h>

struct perf_event;
struct slot;

/*
 * In the handler of @trigger: what each counter has counted since the last time
 * that all were read for the same event. @increase: of as many as the session
 * has. False: the group has others, or one does not count; the sample has none.
 */
bool metrics_read(struct slot *slot, const struct perf_event *trigger,
		  u64 *increase);

#endif /* HWPROF_METRICS_H */
