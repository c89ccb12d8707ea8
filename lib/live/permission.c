// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "base/event_config.h"
#include "permission.h"
#include "source_choice.h"

#define SYSCTL	"/proc/sys/kernel/"

bool event_attaches(const struct hwprof_event *event)
{
	return event_config(event, sources_here()).source_caps &
	       SOURCE_ATTACHES;
}

/* Returns the number in a file, or @otherwise. */
static int read_setting(const char *path, int otherwise)
{
	FILE *file = fopen(path, "re");
	int value;

	if (!file)
		return otherwise;
	if (fscanf(file, "%d", &value) != 1)
		value = otherwise;
	fclose(file);
	return value;
}

/* Returns what Yama's scope does; NULL for values that it does not have. */
static const char *effect_of_scope(int scope)
{
	switch (scope) {
	case 0:
		return "lets users attach to their own programs";
	case 1:
		return "lets users attach only to programs that hwprof starts";
	case 2:
		return "lets only root attach";
	case 3:
		return "lets nobody attach until the machine is booted again";
	}
	return NULL;
}

/*
 * Returns true if the label confines. AppArmor's ends with a mode in
 * parentheses, unless it is "unconfined". The third field of SELinux's is a
 * type.
 */
static bool confines(const char *label)
{
	static const char *const harmless[] = {
		"unconfined", " (unconfined)", " (complain)",
	};
	size_t length = strlen(label), i;

	for (i = 0; i < 3; i++) {
		size_t end = strlen(harmless[i]);

		if (length >= end && !strcmp(label + length - end, harmless[i]))
			return false;
	}
	return length && !strstr(label, ":unconfined_t") &&
	       !strstr(label, ":unconfined_service_t");
}

bool permission_label(char label[PERMISSION_LABEL])
{
	FILE *file = fopen("/proc/self/attr/current", "re");
	char whole[4096];
	bool read = file && fgets(whole, sizeof(whole), file);

	if (file)
		fclose(file);
	if (!read)
		return false;
	whole[strcspn(whole, "\n")] = '\0';
	snprintf(label, PERMISSION_LABEL, "%.*s", PERMISSION_LABEL - 1,
		 whole);
	return confines(whole);
}

const char *permission_settings(bool attaches, char text[PERMISSION_TEXT])
{
	int scope = read_setting(SYSCTL "yama/ptrace_scope", -1);
	const char *effect = attaches ? effect_of_scope(scope) : NULL;
	char label[PERMISSION_LABEL];
	int used = 0;

	if (attaches && permission_label(label))
		used = snprintf(text, PERMISSION_TEXT,
				"hwprof runs under the security label '%s'; ",
				label);
	if (effect)
		used += snprintf(text + used, PERMISSION_TEXT - used,
				 "kernel.yama.ptrace_scope is %d, which %s; ",
				 scope, effect);
	snprintf(text + used, PERMISSION_TEXT - used,
		 "kernel.perf_event_paranoid is %d",
		 read_setting(SYSCTL "perf_event_paranoid", 0));
	return text;
}
