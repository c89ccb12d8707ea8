/* SPDX-License-Identifier: GPL-2.0-only */
/* Replays to a file, which must make the profile that the replay makes. */
#ifndef HWPROF_TEST_CONVERTED_H
#define HWPROF_TEST_CONVERTED_H

#include "hwprof.h"

/*
 * Replays @path, which can be replayed, to a new file. Asserts that the profile
 * of the replay is the same as that of the new file, in JSON and by the name of
 * the event.
 */
void converted_check(enum hwprof_kind kind, const char *path,
		     const struct hwprof_options *options,
		     const struct hwprof_replay_options *replay);

/*
 * Replays @path, and checks the result by converted_check(). Returns what the
 * library does. @message gets the sentence, or "".
 */
int converted_replay(enum hwprof_kind kind, const char *path,
		     const struct hwprof_options *options,
		     const struct hwprof_replay_options *replay,
		     struct hwprof_profile **profile, char message[512]);

#endif /* HWPROF_TEST_CONVERTED_H */
