// SPDX-License-Identifier: GPL-2.0-only
/* The events of a request: parsed, completed, and as perf gets them. */
#include <stdio.h>
#include <string.h>

#include "base/event_config.h"
#include "command.h"
#include "live.h"
#include "live/pmu.h"
#include "live/source_choice.h"
#include "record_events.h"
#include "refusal.h"

enum { DEFAULT_MEMORY_MIB = 16 };

bool record_decode(const struct hwprof_event *event,
		   struct session_config *config)
{
	uint32_t sources = sources_here();

	*config = event_config(event, sources);
	return config->sources || config->burst ||
	       sources >> config->source & 1;
}

bool record_is_from(const struct hwprof_event *event, uint32_t caps)
{
	struct session_config config;

	return record_decode(event, &config) && config.source_caps & caps;
}

/* Sets the source that the module would choose. */
static void name_source(struct hwprof_event *event)
{
	struct session_config config;

	if (record_decode(event, &config))
		hwprof_event_set(event, source_infos[config.source].name, 1);
}

/* A program that somebody else has started does not get slower unasked. */
static int choose_source(const struct record_request *request,
			 struct hwprof_event *event, const char *text)
{
	if (!request->targets) {
		if (!event->whole)
			name_source(event);
		return -1;
	}
	if (steps_unasked(event))
		return refuse_stepping(text, "'burst=200' or 'lbr'");
	if (!event->whole && !source_choose_careful(event, false))
		return refuse_stepping(text, "an event (-e) for each thing");
	return -1;
}

/* Adds what the short form leaves open. */
static int complete(struct record_request *request, size_t index)
{
	struct hwprof_event *event = &request->parsed[index];
	const char *text = request->texts[index];
	int status = choose_source(request, event, text);

	if (status >= 0 || event->whole)
		return status;
	if (!strstr(text, "rows"))
		hwprof_event_set(event, "rows", 1);
	request->default_memory[index] = !strstr(text, "memory_mib");
	if (request->default_memory[index])
		hwprof_event_set(event, "memory_mib", DEFAULT_MEMORY_MIB);
	return -1;
}

void record_set_config(struct record_request *request, size_t index)
{
	const struct hwprof_event *event = &request->parsed[index];
	struct perf_event_attr *attr = &request->events[index].attr;

	attr->config = event->config[0];
	attr->config1 = event->config[1];
	attr->config2 = event->config[2];
	hwprof_event_print(event, request->names[index],
			   sizeof(request->names[index]));
	request->events[index].name = request->names[index];
}

int record_add_event(struct record_request *request, const char *text)
{
	size_t index = request->event_count;
	struct hwprof_event *event = &request->parsed[index];
	struct perf_event_attr *attr = &request->events[index].attr;
	char message[1024];

	if (index == RECORD_EVENTS_MAX)
		return usage_error("more than %d events", RECORD_EVENTS_MAX);
	if (hwprof_event_parse(event, text, message, sizeof(message)))
		return usage_error("%s", message);
	*attr = (struct perf_event_attr){
		.exclude_user = !event->user,
		.exclude_kernel = !event->kernel,
		/* Where data is, is to be told from its maps. */
		.mmap_data = event_config(event, ALL_SOURCES).accesses,
	};
	request->texts[index] = text;
	request->event_count++;
	return -1;
}

int record_complete_events(struct record_request *request)
{
	int status = -1;
	size_t i;

	for (i = 0; i < request->event_count && status < 0; i++) {
		status = complete(request, i);
		record_set_config(request, i);
	}
	return status;
}

bool record_request_steps(const struct record_request *request, size_t index)
{
	struct session_config config;

	return record_decode(&request->parsed[index], &config) &&
	       !config.windows;
}

bool record_request_shrink(struct record_request *request, size_t index)
{
	if (!request->default_memory[index] ||
	    !event_shrink(&request->parsed[index], DEFAULT_MEMORY_MIB))
		return false;
	record_set_config(request, index);
	return true;
}

/* The kernel would filter the ones by what the others want. */
int record_check_records(const struct record_request *request)
{
	const char *calls = NULL, *branches = NULL;
	size_t i;

	for (i = 0; i < request->event_count; i++) {
		struct session_config config;

		if (!record_decode(&request->parsed[i], &config) ||
		    !(config.source_caps & SOURCE_RECORDS))
			continue;
		if (config.engine_caps & ENGINE_STACKS)
			calls = request->texts[i];
		else
			branches = request->texts[i];
	}
	if (calls && branches)
		return usage_error("'%s' and '%s' exclude each other: the CPU keeps records of calls or of branches",
				   calls, branches);
	return -1;
}
