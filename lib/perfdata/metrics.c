// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

int metrics_get(struct metrics *metrics, const char *name)
{
	size_t i;

	for (i = 0; i < metrics->count; i++)
		if (!strcmp(metrics->names[i], name))
			return i;
	if (i == HWPROF_METRICS_MAX) {
		metrics->crowded = true;
		return -ENOSPC;
	}
	metrics->names[i] = strdup(name);
	if (!metrics->names[i])
		return -ENOMEM;
	metrics->count++;
	return i;
}

void metrics_free(struct metrics *metrics)
{
	while (metrics->count)
		free(metrics->names[--metrics->count]);
}

const char *metric_of_row(const struct hwprof_file *file, uint32_t number)
{
	static const char *const numbers[HWPROF_METRICS_MAX] = {
		"metric 1", "metric 2", "metric 3", "metric 4",
	};
	const struct file_event *event = file->row_event;

	if (event && number < event->members && event[1 + number].name)
		return event[1 + number].name;
	return numbers[number];
}
