// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kinds of profiles that a recording of stacks gives. */
#include <errno.h>

#include "replay.h"

static const profile_gather replays[HWPROF_KINDS] = {
	[HWPROF_KIND_LOOPS]	= loops_replay,
	[HWPROF_KIND_RANGES]	= ranges_replay,
	[HWPROF_KIND_CALLS]	= calls_replay,
	[HWPROF_KIND_CCT]	= contexts_replay,
	[HWPROF_KIND_PATHS]	= paths_replay,
	[HWPROF_KIND_EDGES]	= edges_replay,
};

bool replay_makes(enum hwprof_kind kind)
{
	return replays[kind];
}

int hwprof_profile_replay_all(struct hwprof_profile **profile,
			      enum hwprof_kind kind,
			      struct hwprof_file *const *files, size_t count,
			      const struct hwprof_options *options,
			      const struct hwprof_replay_options *replay)
{
	*profile = NULL;
	if (!replays[kind])
		return file_fail(files[0], -EOPNOTSUPP,
				 "%s cannot be replayed: a recording of stacks "
				 "has no values of loads",
				 hwprof_kind_name(kind));
	if (replay && replay->output && count > 1)
		return file_fail(files[0], -EINVAL,
				 "cannot be written together with other recordings: write each to a file of its own, and report on all of these files");
	return profile_make(profile, profile_kind_of(kind), files, count,
			    options, replays[kind], (void *)replay);
}

int hwprof_profile_replay(struct hwprof_profile **profile,
			  enum hwprof_kind kind, struct hwprof_file *file,
			  const struct hwprof_options *options,
			  const struct hwprof_replay_options *replay)
{
	return hwprof_profile_replay_all(profile, kind, &file, 1, options,
					 replay);
}
