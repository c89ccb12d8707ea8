/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PMUs of the machine's cores. Most machines have one PMU. If cores differ
 * (Intel's P and E cores, Arm's big.LITTLE), each kind of core has a PMU of its
 * own, with its own encoding of events. This file only decides; cores.c asks
 * the kernel.
 */
#ifndef HWPROF_CORE_PMUS_H
#define HWPROF_CORE_PMUS_H

#include "engine/types.h"

enum { CORE_PMUS_MAX = 4 };

struct core_pmu {
	u32 type;		/* perf's number: attr.type of raw events */
	u64 event;		/* raw event of taken branches; 0: not known */
};

struct core_pmus {
	u32 count;
	struct core_pmu pmus[CORE_PMUS_MAX];
};

enum core_kind { CORE_UNKNOWN, CORE_PERFORMANCE, CORE_EFFICIENT };

/* Return the kind of an Intel CPU. @leaf is EAX of its CPUID leaf 0x1a. */
enum core_kind core_kind_of_intel(u32 leaf);

/*
 * Return the raw event BR_INST_RETIRED.NEAR_TAKEN of an Intel CPU of that kind.
 */
u64 core_taken_branches_of_intel(enum core_kind kind);

/* Return the PMU of that type; NULL if it is not known. */
const struct core_pmu *core_pmus_find(const struct core_pmus *pmus, u32 type);

/* Add a PMU unless its type is known. Return false if there is no room. */
bool core_pmus_add(struct core_pmus *pmus, const struct core_pmu *pmu);

/**
 * core_pmus_choose() - Choose the PMUs that each need a trigger
 * @pmus: all PMUs.
 * @type: type of the PMU of a CPU.
 * @all: choose every PMU, for a task that may run on any CPU; @type is ignored.
 * @event: raw event to count; 0: taken branches. PMUs whose event is not known
 *	are left out.
 * @chosen: where the PMUs go, each with its event.
 *
 * Return: number of PMUs.
 */
u32 core_pmus_choose(const struct core_pmus *pmus, u32 type, bool all,
		     u64 event, struct core_pmu chosen[CORE_PMUS_MAX]);

/* Return true if a raw event means the same on all cores. */
static inline bool core_pmus_are_alike(const struct core_pmus *pmus)
{
	return pmus->count <= 1;
}

#endif /* HWPROF_CORE_PMUS_H */
