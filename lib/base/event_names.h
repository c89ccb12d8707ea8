/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef HWPROF_EVENT_NAMES_H
#define HWPROF_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_attr;

/*
 * The events that perf itself names: PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE.
 */

/* Returns perf's name of the event, NULL if perf has none. */
const char *event_name(uint32_t type, uint64_t config);

/*
 * Looks for the event that perf calls @name ("context-switches", "cs"). Sets
 * type and config, or returns false.
 */
bool event_by_name(const char *name, struct perf_event_attr *attr);

#endif /* HWPROF_EVENT_NAMES_H */
