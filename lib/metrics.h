/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters whose increase contexts have, by their names. */
#ifndef HWPROF_LIB_METRICS_H
#define HWPROF_LIB_METRICS_H

#include "file.h"

struct metrics {
	char *names[HWPROF_METRICS_MAX];
	size_t count;
	bool crowded;		/* there were more of them */
};

/*
 * The number of the one with that name, which is added if there is room. -ENOSPC:
 * there is none; -ENOMEM.
 */
int metrics_get(struct metrics *metrics, const char *name);
void metrics_free(struct metrics *metrics);

/* Counts of all of them, in the same order. */
static inline void metrics_add(uint64_t *to, const uint64_t *from)
{
	size_t i;

	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		to[i] += from[i];
}

/*
 * The name of counter @number in the group of the file's event that gave the
 * current row, as the recorder has it, or else its number.
 */
const char *metric_of_row(const struct hwprof_file *file, uint32_t number);

#endif /* HWPROF_LIB_METRICS_H */
