/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HWPROF_LBR_TRIAL_H
#define HWPROF_LBR_TRIAL_H

#include <linux/types.h>

/**
 * lbr_trial() - Take one branch stack of the running task
 * @count: set to the number of its records.
 *
 * A failure takes some milliseconds.
 *
 * Context: process context.
 * Return: NULL if there were records; else a sentence that says why not.
 */
const char *lbr_trial(u64 *count);

#endif /* HWPROF_LBR_TRIAL_H */
