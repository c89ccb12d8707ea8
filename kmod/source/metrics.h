/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: the counters in the group of a session's event, which perf made,
 * counts with and scales; what each has counted from one sample to the next is
 * the next one's.
 */
#ifndef HWPROF_METRICS_H
#define HWPROF_METRICS_H

#include <linux/types.h>

struct perf_event;
struct slot;

/*
 * In the handler of @trigger: what the counters have counted since it was asked
 * last of the same event, as many as the session has. False: not all of them are
 * there and count, and this sample has none.
 */
bool metrics_read(struct slot *slot, const struct perf_event *trigger,
		  u64 *increase);

#endif /* HWPROF_METRICS_H */
