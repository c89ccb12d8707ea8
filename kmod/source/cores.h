/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU of each CPU's core. See core_pmus.h. */
#ifndef HWPROF_CORES_H
#define HWPROF_CORES_H

#include "core_pmus.h"

/*
 * Look at each online CPU now, and at others when they come online. Return 0 or
 * an errno.
 */
int cores_init(void);
void cores_exit(void);

/* Return true if a raw event means the same on every CPU. */
bool cores_are_alike(void);

/**
 * cores_choose() - Choose the PMUs on which triggers are to be made
 * @cpu: the CPU to trigger on; negative: any, for a task.
 * @event: raw event that the triggers count; 0: taken branches.
 * @chosen: where the PMUs go.
 *
 * If no PMU is known, the choice is the one that perf takes raw events for.
 * Otherwise see core_pmus_choose().
 *
 * Return: number of PMUs, at least 1 if @event is not 0.
 */
u32 cores_choose(int cpu, u64 event, struct core_pmu chosen[CORE_PMUS_MAX]);

#endif /* HWPROF_CORES_H */
