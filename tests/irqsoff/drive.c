// SPDX-License-Identifier: GPL-2.0-only
/*
 * drive SCENARIO [again]|clock: takes the module through a scenario, in phases.
 * Prints of each phase the longest part with interrupts off that
 * probe/irqsoff.c saw. Exits with 1 if one is too long, and with 2 if something
 * else is wrong. See ./run.
 *
 * again: a part counts only if one was too long before, in the same phase, that
 * ended in the same place. Functions are traced meanwhile, which takes time
 * itself.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "phase.h"
#include "scenario/scenario.h"

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "sizes", sizes },		{ "engines", engines },
	{ "branches", branches },	{ "ends", ends },
	{ "flushes", flushes },		{ "sessions", sessions },
	{ "limit", limit },		{ "samples", samples },
	{ "groups", groups },		{ "switches", switches },
	{ "filters", filters },
	{ "device", device },		{ "changes", changes },
	{ "stacks", stacks },		{ "windows", windows },
	{ "cpu", whole_cpu },		{ "module", module },
	{ "sleepers", sleepers },	{ "hotplug", hotplug },
};

int main(int count, char **arguments)
{
	bool again = count == 3 && !strcmp(arguments[2], "again");
	unsigned int i;

	if (count == 2 && !strcmp(arguments[1], "clock")) {
		must_tell_instructions();
		return 0;
	}
	if (again)
		count_parts_seen_before();
	for (i = 0; count == 2 + again; i++) {
		if (i == sizeof(scenarios) / sizeof(scenarios[0]))
			break;
		if (strcmp(arguments[1], scenarios[i].name))
			continue;
		scenarios[i].run();
		return parts_too_long();
	}
	fprintf(stderr, "usage: drive SCENARIO [again]|clock\n");
	return 2;
}
