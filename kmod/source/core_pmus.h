/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PMUs of the machine's cores. Most machines have one. On those of which the
 * cores differ (Intel's P and E cores, Arm's big.LITTLE) each kind of core has
 * its own, with its own encoding of events. These are decisions only: cores.c
 * asks the kernel.
 */
#ifndef HWPROF_CORE_PMUS_H
#define HWPROF_CORE_PMUS_H

#include "engine/types.h"

enum { CORE_PMUS_MAX = 4 };

struct core_pmu {
	u32 type;		/* perf's number of it: attr.type of raw events */
	u64 event;		/* raw: taken branches; 0: not known */
};

struct core_pmus {
	u32 count;
	struct core_pmu pmus[CORE_PMUS_MAX];
};

enum core_kind { CORE_UNKNOWN, CORE_PERFORMANCE, CORE_EFFICIENT };

/* The kind that an Intel CPU says it is, by CPUID leaf 0x1a, EAX. */
enum core_kind core_kind_of_intel(u32 leaf);

/* BR_INST_RETIRED.NEAR_TAKEN of an Intel CPU of that kind. */
u64 core_taken_branches_of_intel(enum core_kind kind);

/* NULL: not known. */
const struct core_pmu *core_pmus_find(const struct core_pmus *pmus, u32 type);

/* Adds @pmu unless its type is known. Returns false if there is no room. */
bool core_pmus_add(struct core_pmus *pmus, const struct core_pmu *pmu);

/*
 * Fills @chosen with the PMUs that need a trigger each: the one of @type, which is
 * a CPU's; or every one, for a task that may run on @all CPUs. Each counts @event,
 * or taken branches if that is 0; PMUs that have no event for them are left out.
 * Returns how many were chosen.
 */
u32 core_pmus_choose(const struct core_pmus *pmus, u32 type, bool all,
		     u64 event, struct core_pmu chosen[CORE_PMUS_MAX]);

/* Does a raw event mean the same on all cores? */
static inline bool core_pmus_are_alike(const struct core_pmus *pmus)
{
	return pmus->count <= 1;
}

#endif /* HWPROF_CORE_PMUS_H */
