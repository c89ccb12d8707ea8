// SPDX-License-Identifier: GPL-2.0-only
#include "core_pmus.h"

enum {
	INTEL_CORE	= 0x40,
	INTEL_ATOM	= 0x20,
	KIND_SHIFT	= 24,
};

enum core_kind core_kind_of_intel(u32 leaf)
{
	switch (leaf >> KIND_SHIFT) {
	case INTEL_CORE:
		return CORE_PERFORMANCE;
	case INTEL_ATOM:
		return CORE_EFFICIENT;
	}
	return CORE_UNKNOWN;
}

u64 core_taken_branches_of_intel(enum core_kind kind)
{
	return kind == CORE_EFFICIENT ? 0xc0c4 : 0x20c4;
}

const struct core_pmu *core_pmus_find(const struct core_pmus *pmus, u32 type)
{
	u32 i;

	for (i = 0; i < pmus->count; i++)
		if (pmus->pmus[i].type == type)
			return &pmus->pmus[i];
	return NULL;
}

bool core_pmus_add(struct core_pmus *pmus, const struct core_pmu *pmu)
{
	if (core_pmus_find(pmus, pmu->type))
		return true;
	if (pmus->count == CORE_PMUS_MAX)
		return false;
	pmus->pmus[pmus->count++] = *pmu;
	return true;
}

u32 core_pmus_choose(const struct core_pmus *pmus, u32 type, bool all,
		     u64 event, struct core_pmu chosen[CORE_PMUS_MAX])
{
	u32 i, count = 0;

	for (i = 0; i < pmus->count; i++) {
		struct core_pmu pmu = pmus->pmus[i];

		if (!all && pmu.type != type)
			continue;
		if (event)
			pmu.event = event;
		if (pmu.event)
			chosen[count++] = pmu;
	}
	return count;
}
