// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

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

bool source_is_named(const struct hwprof_event *event)
{
	static const char *const fields[] = {
		"step", "burst", "lbr", "sample", "mem",
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (hwprof_event_field(event, fields[i]))
			return true;
	return false;
}

bool source_steps_all(const struct hwprof_event *event)
{
	return hwprof_event_field(event, "step") &&
	       !hwprof_event_field(event, "burst");
}

/* Returns true for what only stepping sees: loads, stores and operands. */
static bool wants_accesses(const struct hwprof_event *event)
{
	int of = hwprof_event_field(event, "range_of");

	return hwprof_event_field(event, "values") ||
	       (of != HWPROF_RANGE_IP && of != HWPROF_RANGE_CALLEE);
}

static bool has_branches(const struct hwprof_event *event)
{
	return hwprof_event_field(event, "loops") ||
	       hwprof_event_field(event, "calls") ||
	       hwprof_event_field(event, "edges") ||
	       hwprof_event_field(event, "paths");
}

const char *source_careful(const struct hwprof_event *event)
{
	bool contexts = hwprof_event_field(event, "cct");

	if (hwprof_event_field(event, "branches") ||
	    (contexts && has_branches(event)))
		return NULL;
	if (wants_accesses(event))
		return "burst";
	if (contexts ||
	    (hwprof_event_field(event, "ranges") &&
	     hwprof_event_field(event, "range_of") == HWPROF_RANGE_IP))
		return "sample";
	/* Stepping does not see the kernel. */
	return source_works("lbr") || !event->user ? "lbr" : "burst";
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
		hwprof_event_set(event, "burst", CAREFUL_BURST);
	} else {
		hwprof_event_set(event, field, 1);
	}
	if (budget && !hwprof_event_field(event, "budget_permille"))
		hwprof_event_set(event, "budget_permille", CAREFUL_BUDGET);
	return true;
}
