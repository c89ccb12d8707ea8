// SPDX-License-Identifier: LGPL-2.1-or-later
/* All kinds of profiles. Files of one kind do not know of the others. */
#include <errno.h>

#include "perfdata/file.h"
#include "kinds.h"
#include "profile.h"

#define KIND(constant, field, stem, rows)				\
	extern const struct profile_kind stem##_kind;
HWPROF_KIND_TABLE(KIND)
#undef KIND

static const struct profile_kind *const kinds[HWPROF_KINDS] = {
#define KIND(constant, field, stem, rows)				\
	[HWPROF_KIND_##constant] = &stem##_kind,
	HWPROF_KIND_TABLE(KIND)
#undef KIND
};

const struct profile_kind *profile_kind_of(enum hwprof_kind kind)
{
	return kinds[kind];
}

const char *hwprof_kind_units(enum hwprof_kind kind)
{
	return kind < HWPROF_KINDS ? kinds[kind]->units : NULL;
}

int hwprof_profile_read(struct hwprof_profile **profile, enum hwprof_kind kind,
			struct hwprof_file *const *files, size_t count,
			const struct hwprof_options *options)
{
	return profile_read(profile, kinds[kind], files, count, options);
}

int hwprof_profile_replay_all(struct hwprof_profile **profile,
			      enum hwprof_kind kind,
			      struct hwprof_file *const *files, size_t count,
			      const struct hwprof_options *options,
			      const struct hwprof_replay_options *replay)
{
	*profile = NULL;
	if (!kinds[kind]->replay)
		return file_fail(files[0], -EOPNOTSUPP,
				 "%s cannot be replayed: a recording of stacks "
				 "has no values of loads",
				 hwprof_kind_name(kind));
	return profile_replay(profile, kinds[kind], files, count, options,
			      replay);
}

int hwprof_profile_replay(struct hwprof_profile **profile,
			  enum hwprof_kind kind, struct hwprof_file *file,
			  const struct hwprof_options *options,
			  const struct hwprof_replay_options *replay)
{
	return hwprof_profile_replay_all(profile, kind, &file, 1, options,
					 replay);
}
