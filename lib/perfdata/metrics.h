/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the counters whose increase is attributed to contexts. */
#ifndef HWPROF_LIB_METRICS_H
#define HWPROF_LIB_METRICS_H

#include "file.h"

struct metrics {
	char *names[HWPROF_METRICS_MAX];
	size_t count;
	bool crowded;		/* there was no room for more */
};

/*
 * Returns the number of the counter with that name, which is added if need be;
 * -ENOSPC without room; -ENOMEM.
 */
int metrics_get(struct metrics *metrics, const char *name);
void metrics_free(struct metrics *metrics);

/* Adds the counts of all metrics, which have the same order in both. */
static inline void metrics_add(uint64_t *to, const uint64_t *from)
{
	size_t i;

	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		to[i] += from[i];
}

/*
 * Returns the name of counter @number in the group of the current row's event.
 * It is the recorder's name, or else the number.
 */
const char *metric_of_row(const struct hwprof_file *file, uint32_t number);

#endif /* HWPROF_LIB_METRICS_H */
