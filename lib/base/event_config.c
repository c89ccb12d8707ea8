// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "event_config.h"

/* Any length will do. */
enum { BURST = 200 };

/* No machine is at hand whose counters could be asked. */
static struct config_machine machine_with(uint32_t sources)
{
	return (struct config_machine){
		.sources = sources, .raw_events = ~0ULL,
	};
}

struct session_config event_config(const struct hwprof_event *event,
				   uint32_t sources)
{
	const struct config_machine machine = machine_with(sources);
	struct config_request request = {
		.exclude = (event->user ? 0 : EXCLUDE_USER) |
			   (event->kernel ? 0 : EXCLUDE_KERNEL),
	};
	struct session_config config;

	memcpy(request.words, event->config, sizeof(request.words));
	config_decode(&config, &request, &machine);
	return config;
}

struct session_config event_config_of_words(const uint64_t words[CONFIG_WORDS])
{
	struct hwprof_event event = { .user = true };

	memcpy(event.config, words, sizeof(event.config));
	return event_config(&event, ALL_SOURCES);
}

struct config_refusal event_refusal(const struct hwprof_event *event)
{
	const struct config_machine machine = machine_with(ALL_SOURCES);
	const struct session_config config = event_config(event, ALL_SOURCES);

	return config_check(&config, &machine);
}

/* Returns whether the event would do with another source; NULL: with bursts. */
static bool does_from(const struct hwprof_event *event, const char *source)
{
	struct hwprof_event other = *event;
	size_t i;

	for (i = 0; i < SOURCE_COUNT; i++)
		hwprof_event_set(&other, source_infos[i].name, 0);
	hwprof_event_set(&other, "burst", source ? 0 : BURST);
	hwprof_event_set(&other, source ? source : "step", 1);
	return !event_refusal(&other).error;
}

const char *event_sources(const struct hwprof_event *event,
			  char text[EVENT_SOURCES_TEXT])
{
	size_t used = 0, i;

	*text = 0;
	for (i = 0; i < SOURCE_COUNT; i++)
		if (does_from(event, source_infos[i].name))
			used += snprintf(text + used, EVENT_SOURCES_TEXT - used,
					 "%s%s", used ? ", " : "",
					 source_infos[i].name);
	if (does_from(event, NULL))
		snprintf(text + used, EVENT_SOURCES_TEXT - used, "%sburst",
			 used ? ", " : "");
	return text;
}

bool event_refused(const struct hwprof_event *event, char *text, size_t size)
{
	const struct config_refusal refusal = event_refusal(event);
	char sources[EVENT_SOURCES_TEXT];

	if (!refusal.error)
		return false;
	event_sources(event, sources);
	snprintf(text, size, "%s%s%s%s", refusal.sentence,
		 *sources ? " (possible with " : "", sources,
		 *sources ? ")" : "");
	return true;
}
