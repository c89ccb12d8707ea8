/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows of a timeline, for tests of the daemon. */
#ifndef HWPROF_TEST_WINDOWS_H
#define HWPROF_TEST_WINDOWS_H

#include "fixture.h"
#include "timeline.h"

/*
 * Adds a window of one second, which ended @ago seconds ago, as hwprofd does
 * with a recording. Removes the recording.
 */
void window_add(struct timeline *timeline, uint64_t ago,
		struct fixture *recording);

#endif /* HWPROF_TEST_WINDOWS_H */
