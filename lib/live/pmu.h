/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's performance monitoring units, and what their events take. */
#ifndef HWPROF_PMU_H
#define HWPROF_PMU_H

#include <stdbool.h>
#include <stdint.h>

struct hwprof_event;

/* The folder of all of them. */
#define PMU_DEVICES	"/sys/bus/event_source/devices"

/*
 * Returns the number of the PMU @name, which is the type of its events; -1 if
 * there is no such PMU.
 */
int pmu_type(const char *name);

/*
 * Gives @event less memory, after the module refused it what it has. @most is
 * the memory_mib of the first try. Returns false if it has as little as it can.
 */
bool event_shrink(struct hwprof_event *event, uint64_t most);

#endif /* HWPROF_PMU_H */
