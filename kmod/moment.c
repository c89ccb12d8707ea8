// SPDX-License-Identifier: GPL-2.0-only
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>

#include "moment.h"

enum moment_clock moment_clock_of(const struct perf_event_attr *attr)
{
	if (!attr->use_clockid)
		return MOMENT_LOCAL;
	switch (attr->clockid) {
	case CLOCK_MONOTONIC:
		return MOMENT_MONOTONIC;
	case CLOCK_MONOTONIC_RAW:
		return MOMENT_RAW;
	default:
		return MOMENT_LOCAL;
	}
}

u64 moment_by(enum moment_clock clock)
{
	switch (clock) {
	case MOMENT_MONOTONIC:
		return ktime_get_mono_fast_ns();
	case MOMENT_RAW:
		return ktime_get_raw_fast_ns();
	default:
		return local_clock();
	}
}

struct moment moment_now(void)
{
	struct moment now;
	int clock;

	for (clock = 0; clock < MOMENT_CLOCKS; clock++)
		now.by[clock] = moment_by(clock);
	return now;
}
