// SPDX-License-Identifier: GPL-2.0-only
/*
 * Some kernels open a counter with branch records and then deliver none. So a
 * sample is tried before the lbr source says that it works.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/perf_event.h>

#include "../session.h"
#include "cores.h"
#include "lbr_trial.h"
#include "lbr_verdict.h"
#include "trigger.h"

enum {
	TRIAL_BRANCHES	= 1000,		/* from one sample to the next */
	TRIAL_MS	= 20,
	/* Least number of rounds, as a busy host takes time away. */
	TRIAL_ROUNDS	= 100,
};

/* Shared with an NMI that interrupts the same task. */
struct trial {
	unsigned int samples;
	u64 records;			/* the most that a sample had */
};

static void lbr_trial_on_overflow(struct perf_event *event,
				  struct perf_sample_data *data,
				  struct pt_regs *regs)
{
	struct trial *trial = event->overflow_handler_context;

	if (data->sample_flags & PERF_SAMPLE_BRANCH_STACK && data->br_stack &&
	    data->br_stack->nr > trial->records)
		WRITE_ONCE(trial->records, data->br_stack->nr);
	WRITE_ONCE(trial->samples, trial->samples + 1);
}

/* Branch until a sample has records, or the time is over. */
static void lbr_trial_run(struct trial *trial)
{
	ktime_t end = ktime_add_ms(ktime_get(), TRIAL_MS);
	unsigned int i, round = 0;

	do {
		for (i = 0; i < TRIAL_BRANCHES; i++)
			barrier();
	} while (!READ_ONCE(trial->records) &&
		 (++round < TRIAL_ROUNDS || ktime_before(ktime_get(), end)));
}

static const char *lbr_trial_try(struct perf_event_attr attr, u64 *count)
{
	u64 enabled = 0, running = 0;
	struct trial trial = { };
	struct perf_event *counter;

	attr.disabled = 1;
	attr.sample_period = TRIAL_BRANCHES;
	counter = perf_event_create_kernel_counter(&attr, -1, current,
						   lbr_trial_on_overflow,
						   &trial);
	/*
	 * One kind of core that has records is enough; another one may have
	 * them.
	 */
	if (IS_ERR(counter))
		return cores_are_alike() ?
		       "the hardware counters are in use, or refuse" : NULL;
	perf_event_enable(counter);
	lbr_trial_run(&trial);
	perf_event_disable(counter);
	perf_event_read_value(counter, &enabled, &running);
	perf_event_release_kernel(counter);
	*count = trial.records;
	return lbr_verdict(trial.records, trial.samples, running);
}

/* Try it on this CPU with its own counter, because cores may differ. */
const char *lbr_trial(u64 *count)
{
	struct core_pmu pmus[CORE_PMUS_MAX];
	const char *why = NULL;

	migrate_disable();
	if (cores_choose(raw_smp_processor_id(), 0, pmus))
		why = lbr_trial_try(trigger_counter_attr(pmus,
							 TRIGGER_BRANCHES),
				    count);
	migrate_enable();
	return why;
}
