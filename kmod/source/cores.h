/* SPDX-License-Identifier: GPL-2.0-only */
/* Which PMU each CPU's core has: see core_pmus.h. */
#ifndef HWPROF_CORES_H
#define HWPROF_CORES_H

#include "core_pmus.h"

/* Looks at each CPU that is online, and at others when they come. */
int cores_init(void);
void cores_exit(void);

/* Is a raw event one event, whichever CPU counts it? */
bool cores_are_alike(void);

/*
 * The PMUs that triggers of @event are to be made on, for @cpu or, if that is
 * negative, for a task: see core_pmus_choose(). At least one where @event is not
 * 0: where no PMU is known, it is the one that perf takes raw events for.
 */
u32 cores_choose(int cpu, u64 event, struct core_pmu chosen[CORE_PMUS_MAX]);

#endif /* HWPROF_CORES_H */
