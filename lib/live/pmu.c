// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>

#include "hwprof.h"
#include "pmu.h"
#include "unwinding.h"

int pmu_type(const char *name)
{
	char path[512];
	int type = -1;
	FILE *file;

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/type", name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &type) != 1)
		type = -1;
	fclose(file);
	return type;
}

bool event_shrink(struct hwprof_event *event, uint64_t most)
{
	uint64_t memory = hwprof_event_field(event, "memory_mib");

	if (memory < 2)
		return false;
	/* Where memory is short, tables for unwinding want some, too. */
	if (memory == most && memory > 2 && unwinding_wanted(event->config))
		memory /= 2;
	hwprof_event_set(event, "memory_mib", memory / 2);
	return true;
}
