/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replays of each kind: rows that engines make of a recording's stacks. Branch
 * stacks go through replay.c, call stacks through chains.c. Functions return as
 * profile_gather(); @options is struct hwprof_replay_options.
 */
#ifndef HWPROF_REPLAY_H
#define HWPROF_REPLAY_H

#include "profile/profile.h"

int loops_replay(struct hwprof_profile *profile, void *options);
int ranges_replay(struct hwprof_profile *profile, void *options);
int calls_replay(struct hwprof_profile *profile, void *options);
int contexts_replay(struct hwprof_profile *profile, void *options);
int paths_replay(struct hwprof_profile *profile, void *options);
int edges_replay(struct hwprof_profile *profile, void *options);

/* Returns true for a kind that stacks can give: all but values. */
bool replay_makes(enum hwprof_kind kind);

#endif /* HWPROF_REPLAY_H */
