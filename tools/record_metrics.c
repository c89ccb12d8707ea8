// SPDX-License-Identifier: GPL-2.0-only
/* Counters beside samples of calling contexts: --metric. */
#include <stdio.h>

#include "base/event_config.h"
#include "command.h"
#include "record_events.h"
#include "trigger.h"

/* The counters of event @index: they count where its samples are taken. */
static int set_metrics_of(struct record_request *request, size_t index)
{
	const struct hwprof_event *event = &request->parsed[index];
	struct record_metrics *metrics = &request->metrics[index];
	int status = -1;
	size_t i;

	for (i = 0; i < request->metric_count && status < 0; i++) {
		struct perf_event_attr *attr = &metrics->kinds[i].attr;

		status = metric_parse(request->metric_texts[i], attr);
		attr->exclude_user = !event->user;
		attr->exclude_kernel = !event->kernel;
		snprintf(metrics->names[i], sizeof(metrics->names[i]), "%s%s",
			 request->metric_texts[i], !event->kernel ? ":u" :
			 !event->user ? ":k" : "");
		metrics->kinds[i].name = metrics->names[i];
	}
	request->events[index].metrics = metrics->kinds;
	request->events[index].metric_count = request->metric_count;
	return status;
}

static bool has_sampled_stacks(const struct hwprof_event *event)
{
	struct session_config config;
	bool known = record_decode(event, &config);

	return config.rows && config.engine_caps & ENGINE_STACKS &&
	       !(known && config.source_caps & SOURCE_WHOLE);
}

/*
 * Sets the metrics of all events with sampled stacks. Other events with the
 * field are refused.
 */
int record_set_metrics(struct record_request *request)
{
	bool any = false;
	int status = -1;
	size_t i;

	for (i = 0; i < request->event_count && status < 0; i++) {
		struct hwprof_event *event = &request->parsed[i];
		uint64_t said = hwprof_event_field(event, "metrics");

		if (said && said != request->metric_count)
			return usage_error("event '%s' is to have %u metrics: give so many --metric, or none of the field",
					   request->texts[i],
					   (unsigned int)said);
		if (!request->metric_count ||
		    !has_sampled_stacks(event))
			continue;
		hwprof_event_set(event, "metrics", request->metric_count);
		record_set_config(request, i);
		status = set_metrics_of(request, i);
		any = true;
	}
	if (status < 0 && request->metric_count && !any)
		return usage_error("--metric needs an event with samples of calling contexts (cct,sample or cct,lbr)");
	return status;
}
