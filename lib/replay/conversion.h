/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the rows of a replay as a recording of hwprof. Besides rows it has the
 * maps of the processes, the description of the recorded machine, and a section
 * of its own (PERFDATA_REPLAY) for what only the replay knows.
 */
#ifndef HWPROF_CONVERSION_H
#define HWPROF_CONVERSION_H

#include "profile/profile.h"

struct conversion;

/*
 * Begins the file @path, which appears once it is complete, for the rows of
 * @profile, whose file is replayed. @range_of is what ranges are of.
 * *@conversion is NULL after a failure. All functions return 0, or as
 * file_fail() with the profile's file.
 */
int conversion_open(struct conversion **conversion,
		    struct hwprof_profile *profile, uint32_t range_of,
		    const char *path);

/* Adds @row of process row->pid and time @time, with a sample's fields. */
int conversion_add(struct conversion *conversion, const struct hwprof_row *row,
		   uint64_t time, uint64_t ip, uint64_t addr, uint64_t period);

/*
 * Completes the file, with the totals, processes, warnings and event that the
 * profile has by now. @time is that of the last sample.
 */
int conversion_finish(struct conversion *conversion, uint64_t time);

/* Closes the file, and removes what there is of it unless it is complete. */
void conversion_close(struct conversion *conversion);

#endif /* HWPROF_CONVERSION_H */
