/* SPDX-License-Identifier: GPL-2.0-only */
/* The verdict on a trial of branch records: a decision only. */
#ifndef HWPROF_LBR_VERDICT_H
#define HWPROF_LBR_VERDICT_H

#include "engine/types.h"

/**
 * lbr_verdict() - Judge a trial of branch records
 * @records: the most that a sample had.
 * @samples: number of samples.
 * @running: how long the counter of branches was on the CPU, in ns.
 *
 * Return: NULL if there were records; else a sentence that says why not.
 */
static inline const char *lbr_verdict(u64 records, u64 samples, u64 running)
{
	if (records)
		return NULL;
	if (samples)
		return "this kernel hands over no branch records: "
		       "its samples have none";
	return running ? "the counter of branches does not interrupt" :
			 "the hardware counters are in use";
}

#endif /* HWPROF_LBR_VERDICT_H */
