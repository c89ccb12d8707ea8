// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "event_config.h"

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
