/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HWPROF_LBR_TRIAL_H
#define HWPROF_LBR_TRIAL_H

#include <linux/types.h>

/*
 * Take one branch stack of the running task. Sets @count to its records and
 * returns NULL, or returns why there are none: a sentence. Process context; it
 * takes some milliseconds if it fails.
 */
const char *lbr_trial(u64 *count);

#endif /* HWPROF_LBR_TRIAL_H */
