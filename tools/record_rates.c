// SPDX-License-Identifier: GPL-2.0-only
/* How often events look: triggers, periods, frequencies and budgets. */
#include "base/event_config.h"
#include "command.h"
#include "live.h"
#include "live/convergence.h"
#include "live/source_choice.h"
#include "record_events.h"
#include "trigger.h"

enum {
	/*
	 * Per second. That of samples is perf's default. A branch stack says
	 * more than an address, and a burst costs more than a stack.
	 */
	SAMPLE_FREQUENCY = 4000,
	WINDOW_FREQUENCY = 1000,
	BURST_FREQUENCY = 100,
	DEFAULT_BUDGET = CAREFUL_BUDGET,
};

/* Rows of all that ran come by themselves, and have periods of their own. */
static bool takes_all(const struct hwprof_event *event)
{
	struct session_config config;
	bool known = record_decode(event, &config);

	return config.rows && (!known || !config.windows);
}

/* Looks that something triggers, at a distance that can be chosen. */
static bool has_trigger(const struct hwprof_event *event)
{
	return hwprof_event_field(event, "rows") && !takes_all(event);
}

static uint64_t default_frequency(const struct hwprof_event *event)
{
	if (hwprof_event_field(event, "burst"))
		return BURST_FREQUENCY;
	return record_is_from(event, SOURCE_RECORDS) ? WINDOW_FREQUENCY :
						SAMPLE_FREQUENCY;
}

static void set_period(const struct record_request *request,
		       const struct hwprof_event *event,
		       struct perf_event_attr *attr)
{
	bool budget = hwprof_event_field(event, "budget_permille");

	if (takes_all(event) ||
	    (budget && !request->period && !request->frequency)) {
		attr->sample_period = 1;	/* as often as there is cause */
	} else if (request->period) {
		attr->sample_period = request->period;
	} else {
		attr->freq = 1;
		attr->sample_freq = request->frequency ?:
				    default_frequency(event);
	}
}

/* For all events that have a trigger. */
int record_set_trigger(struct record_request *request)
{
	bool any = false;
	uint64_t raw;
	int status;
	size_t i;

	status = trigger_parse(request->trigger, &raw);
	for (i = 0; status < 0 && i < request->event_count; i++) {
		struct hwprof_event *event = &request->parsed[i];

		if (!has_trigger(event))
			continue;
		if (!raw && record_is_from(event, SOURCE_RECORDS))
			return usage_error("--trigger clock: branch records are taken when a counter overflows; name its event");
		hwprof_event_set_trigger(event, raw);
		record_set_config(request, i);
		any = true;
	}
	if (status < 0 && !any)
		return usage_error("--trigger needs an event with samples of code (ranges,sample), branch records (lbr) or bursts (burst=200)");
	return status;
}

/* For all events that have a trigger. */
int record_set_budget(struct record_request *request)
{
	uint64_t permille;
	bool any = false;
	size_t i;

	if (!parse_permille(request->budget, &permille))
		return usage_error("--budget '%s': allowed are percents of the program's time from 0.1 to 100, in tenths",
				   request->budget);
	for (i = 0; i < request->event_count; i++) {
		struct hwprof_event *event = &request->parsed[i];

		if (!has_trigger(event))
			continue;
		hwprof_event_set(event, "budget_permille", permille);
		record_set_config(request, i);
		any = true;
	}
	if (!any)
		return usage_error("--budget needs an event with samples of code (ranges,sample), branch records (lbr) or bursts (burst=200): seeing everything costs what it costs");
	return -1;
}

/*
 * A budget's first tick is after a million events, which of rare ones may be
 * never: samples and records at those that are named come by frequency.
 */
static bool may_be_rare(const struct hwprof_event *event)
{
	return hwprof_event_field(event, "trigger") &&
	       !hwprof_event_field(event, "burst");
}

/* Without a word on how often: nobody wants to find out what looks cost. */
void record_set_default_budget(struct record_request *request)
{
	size_t i;

	for (i = 0; i < request->event_count; i++) {
		struct hwprof_event *event = &request->parsed[i];

		if (event->whole || !has_trigger(event) || may_be_rare(event) ||
		    hwprof_event_field(event, "budget_permille"))
			continue;
		hwprof_event_set(event, "budget_permille", DEFAULT_BUDGET);
		record_set_config(request, i);
	}
}

int record_set_periods(struct record_request *request)
{
	bool all = true;
	size_t i;

	if (request->period && request->frequency)
		return usage_error("-c and -F exclude each other");
	for (i = 0; i < request->event_count; i++) {
		set_period(request, &request->parsed[i],
			   &request->events[i].attr);
		all &= takes_all(&request->parsed[i]);
	}
	if (all && (request->period || request->frequency))
		return usage_error("-%c needs an event with samples (rows=0), branch records (lbr) or bursts (burst=200): the others see everything",
				   request->period ? 'c' : 'F');
	return -1;
}

/* All events must be able to. */
int record_check_converge(struct record_request *request)
{
	const struct hwprof_converge given = request->converging;
	char why[256];
	size_t i;

	if (convergence_options(&request->converging, &given, why,
				sizeof(why)))
		return usage_error("--converge: %s", why);

	if (request->productions.count)
		return usage_error("--converge and --when exclude each other: both choose how often to look");
	for (i = 0; i < request->event_count; i++) {
		const struct hwprof_event *event = &request->parsed[i];

		if (!hwprof_event_field(event, "rows"))
			return usage_error("--converge: event '%s' gives samples, which do not tell what is new: it needs rows",
					   request->texts[i]);
		if (convergence_check(event, why, sizeof(why)))
			return usage_error("--converge: event '%s' %s",
					   request->texts[i], why);
		if (request->filter &&
		    hwprof_event_field(event, "budget_permille"))
			return usage_error("--converge with --filter needs -c or -F, and no budget: code that the filter leaves out takes time, but no window");
	}
	return -1;
}
