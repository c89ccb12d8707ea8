/* SPDX-License-Identifier: GPL-2.0-only */
/* The branch records of Intel's Skylake core. */
#ifndef HWPROF_SKYLAKE_H
#define HWPROF_SKYLAKE_H

#include "engine/types.h"

/*
 * Return true if an Intel CPU sometimes records its newest branch twice. CPUs
 * with Skylake's core do. Intel's public lists of errata were not found to name
 * this. LLVM's BOLT works around it (parseLBRSample() of DataAggregator.cpp:
 * "Intel Skylake", and the pull request llvm/llvm-project#147971: "Intel SKL
 * and derived CPUs"), and so does AutoFDO. A recording of a Xeon 8173M (6,
 * 0x55) has it in 966 of 3732 stacks. The list of CPUs with that core is from
 * Linux's intel-family.h ("Sky Lake"); perf takes the same ones for "skylake".
 */
static inline bool skylake_copies_newest_branch(u32 family, u32 model)
{
	if (family != 6)
		return false;
	switch (model) {
	case 0x4e:	/* Skylake, mobile */
	case 0x55:	/* Skylake, Cascade Lake and Cooper Lake servers */
	case 0x5e:	/* Skylake */
	case 0x8e:	/* Kaby, Amber, Coffee, Whiskey Lake, mobile */
	case 0x9e:	/* Kaby and Coffee Lake */
	case 0xa5:	/* Comet Lake */
	case 0xa6:	/* the same, mobile */
		return true;
	}
	return false;
}

#endif /* HWPROF_SKYLAKE_H */
