// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/timekeeping.h>

#include "counter.h"

enum {
	TRY_PERIOD	= 10007,		/* in cycles */
	/* Longest wait for an overflow. */
	TRY_NS		= 100 * 1000 * 1000,
};

/* The answer of counters_overflow(); NULL: none yet. */
static const char *overflow;

static void counter_on_overflow(struct perf_event *event,
				struct perf_sample_data *data,
				struct pt_regs *regs)
{
	WRITE_ONCE(overflow, in_nmi() ? "NMI" : "interrupt");
}

/*
 * Only the driver knows on arm64, and it does not tell. So provoke one
 * overflow, and no more: if handling one took longer than the period, for
 * example because the hypervisor is busy, nothing else would ever run.
 */
void counters_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_guest = 1,	/* see trigger_counter_attr() */
		.sample_period = TRY_PERIOD,
		.disabled = 1,
	};
	u64 end = ktime_get_ns() + TRY_NS;
	struct perf_event *counter;

	counter = perf_event_create_kernel_counter(&attr, -1, current,
						   counter_on_overflow, NULL);
	if (IS_ERR(counter)) {
		overflow = PTR_ERR(counter) == -ENOENT ?
			   "no hardware counters" :
			   "the hardware counters are in use, or refuse";
		return;
	}
	perf_event_refresh(counter, 1);
	while (!READ_ONCE(overflow) && ktime_get_ns() < end)
		cpu_relax();
	perf_event_release_kernel(counter);
	if (!overflow)
		overflow = "no counter of cycles has overflowed";
}

const char *counters_overflow(void)
{
	return overflow;
}
