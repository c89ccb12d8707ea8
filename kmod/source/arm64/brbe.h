/* SPDX-License-Identifier: GPL-2.0-only */
/* The branch record buffer of an Arm CPU: decisions only. */
#ifndef HWPROF_BRBE_H
#define HWPROF_BRBE_H

#include "engine/types.h"

/*
 * The raw event that counts branches as they are recorded (BRB_FILTRATE), by
 * the CPU's ID_AA64DFR0_EL1; 0: it has no buffer, or one that Linux does not
 * know.
 */
static inline u64 brbe_taken_branches(u64 features)
{
	u64 version = features >> 52 & 0xf;	/* the field BRBE */

	/* FEAT_BRBE and FEAT_BRBEv1p1 */
	return version == 1 || version == 2 ? 0x811f : 0;
}

#endif /* HWPROF_BRBE_H */
