// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>

#include "event_config.h"
#include "event_refused.h"

enum {
	BURST = 200,		/* any length will do */
	EVENT_SOURCES_TEXT = 64,
};

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

/*
 * Writes the sources that the rules allow @event, whichever it names now, as in
 * "lbr, step,burst=200"; "": none. Returns @text.
 */
static const char *event_sources(const struct hwprof_event *event,
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
		snprintf(text + used, EVENT_SOURCES_TEXT - used,
			 "%sstep,burst=%d", used ? ", " : "", BURST);
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
