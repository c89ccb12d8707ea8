// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decode and check what perf and the device are asked for. Everything else gets
 * struct session_config.
 */
#include <linux/perf_event.h>
#include <linux/printk.h>

#include "arch.h"
#include "../compat.h"
#include "../config/attr.h"
#include "../right.h"
#include "../source/cores.h"
#include "../source/source.h"
#include "front.h"

static struct config_machine config_machine_here(void)
{
	struct config_machine machine = {
		.raw_events = arch_raw_events(),
		.taken_branches = arch_taken_branches(),
		.raw_events_differ = !cores_are_alike(),
	};
	int i;

	for (i = 0; i < SOURCE_COUNT; i++)
		if (sources[i] && !*sources[i]->why_not)
			machine.sources |= 1U << i;
	return machine;
}

void config_of_attr(struct session_config *config,
		    const struct perf_event_attr *attr)
{
	const struct config_request request = {
		.words = { attr->config, attr->config1, attr->config2 },
		.exclude = attr_exclude(attr),
		.period = attr->sample_period,
		.freq = attr->freq,
	};

	config_of_request(config, &request);
	/* A fourth word has no fields. */
	config->strays |= compat_more_config(attr);
}

void config_of_request(struct session_config *config,
		       const struct config_request *request)
{
	const struct config_machine machine = config_machine_here();

	config_decode(config, request, &machine);
}

int config_check_session(const struct session_config *config)
{
	const struct config_machine machine = config_machine_here();
	struct config_refusal refusal = config_check(config, &machine);

	if (refusal.error)
		pr_debug("the event %s\n", refusal.sentence);
	return refusal.error;
}

/*
 * A row may carry what perf can write for an event that is not active (see
 * docs/rows.md), and PERF_SAMPLE_READ (see emit.c).
 */
static const u64 row_samples =
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
	PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT_TYPE |
	PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |
	PERF_SAMPLE_TRANSACTION;

/* Fields of a sample that no event of the PMU gives. */
static const struct {
	u64 sample_type;
	const char *sentence;
} refused_samples[] = {
	{ PERF_SAMPLE_BRANCH_STACK,
	  "asks for branch records in samples, and has none" },
	{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR |
	  PERF_SAMPLE_STACK_USER,
	  "asks for registers or a copy of the stack" },
	{ PERF_SAMPLE_AUX, "asks for data of an AUX event" },
};

/* Return what is wrong with an event, in words; NULL: nothing. */
static const char *config_wrong_event(const struct session_config *config,
				      const struct perf_event_attr *attr)
{
	int i;

	if (attr->precise_ip)
		return "asks for precise addresses, and has no skid";
	if (attr->sigtrap)
		return "asks for a signal at each sample";
	if (attr->aux_output || compat_aux_action(attr))
		return "writes to an AUX event, pauses or resumes one";
	for (i = 0; i < ARRAY_SIZE(refused_samples); i++)
		if (attr->sample_type & refused_samples[i].sample_type)
			return refused_samples[i].sentence;
	if (config->rows && attr->sample_type & ~row_samples)
		return "gives rows, and asks for what perf would take from "
		       "the current task";
	return NULL;
}

int config_check_event(const struct session_config *config,
		       const struct perf_event_attr *attr)
{
	const char *sentence = config_wrong_event(config, attr);

	if (!sentence)
		return 0;
	pr_debug("the event %s\n", sentence);
	return -EOPNOTSUPP;
}

/*
 * Stepping makes a program thousands of times slower, and an event that names
 * no source may do that only to programs that its opener has started. It is
 * refused, and not given bursts: a count that covers a small part of a run
 * would look like one that covers all of it.
 */
int config_check_target(const struct session_config *config,
			struct task_struct *target)
{
	return config_steps_unasked(config) &&
	       !(target && right_is_own(target)) ? -EINVAL : 0;
}
