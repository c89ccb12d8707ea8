// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "base/event_config.h"
#include "source_choice.h"

#define CAPS	"/sys/bus/event_source/devices/hwprof/caps/"

bool source_works(const char *source)
{
	char path[128], word[8];
	FILE *file;
	bool works;

	snprintf(path, sizeof(path), CAPS "%s", source);
	file = fopen(path, "re");
	works = file && fgets(word, sizeof(word), file) &&
		!strcmp(word, "yes\n");
	if (file)
		fclose(file);
	return works;
}

uint32_t sources_here(void)
{
	uint32_t sources = 0;
	size_t i;

	for (i = 0; i < SOURCE_COUNT; i++)
		if (source_works(source_infos[i].name))
			sources |= 1U << i;
	return sources;
}

bool source_is_named(const struct hwprof_event *event)
{
	const struct session_config config = event_config(event, ALL_SOURCES);

	return config.sources || config.burst;
}

bool source_steps_all(const struct hwprof_event *event)
{
	const struct session_config config = event_config(event, ALL_SOURCES);

	return config.sources & 1U << SOURCE_step && !config.windows;
}

const char *source_careful(const struct hwprof_event *event)
{
	const struct session_config config = event_config(event, ALL_SOURCES);
	u32 caps = config.engine_caps;

	if (caps & ENGINE_IMMEDIATE ||
	    (config_joins(&config) && !(caps & ENGINE_WINDOWS)))
		return NULL;
	if (config.accesses)
		return "burst";
	if (caps & ENGINE_SAMPLES && !config.range_of)
		return "sample";
	/* Stepping does not see the kernel. */
	return source_works("lbr") || !event->user ? "lbr" : "burst";
}

/* Loads of one burst depend on each other, so that values want short ones. */
static unsigned int burst_of(const struct hwprof_event *event)
{
	return hwprof_event_field(event, "values") ? CAREFUL_BURST_VALUES :
						     CAREFUL_BURST;
}

bool source_choose_careful(struct hwprof_event *event, bool budget)
{
	const char *field;

	if (source_is_named(event))
		return true;
	field = source_careful(event);
	if (!field)
		return false;
	if (!strcmp(field, "burst")) {
		hwprof_event_set(event, "step", 1);
		hwprof_event_set(event, "burst", burst_of(event));
	} else {
		hwprof_event_set(event, field, 1);
	}
	if (budget && !hwprof_event_field(event, "budget_permille"))
		hwprof_event_set(event, "budget_permille", CAREFUL_BUDGET);
	return true;
}
