/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phases of a recording, and the profile of each. */
#ifndef HWPROF_PHASE_PROFILE_H
#define HWPROF_PHASE_PROFILE_H

#include "hwprof.h"
#include "profile/phases.h"

/*
 * Finds the phases of the things of @kind in @file, by the times of their rows.
 * Returns 0, or a negative errno with a message of the file.
 */
int phases_read(struct phases *phases, enum hwprof_kind kind,
		struct hwprof_file *file, double threshold);

/* Makes the profile of one phase, as hwprof_profile_read() of the whole. */
int phase_profile_read(struct hwprof_profile **profile, enum hwprof_kind kind,
		       struct hwprof_file *file,
		       const struct hwprof_options *options,
		       const struct phases *phases, size_t phase);

#endif /* HWPROF_PHASE_PROFILE_H */
