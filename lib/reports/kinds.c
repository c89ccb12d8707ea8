// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All kinds of profiles, with how each is written and compared. Files of one
 * kind do not know of the others.
 */
#include <errno.h>

#include "profile/kinds.h"
#include "profile/profile.h"

#define KIND(constant, field, stem, rows)				\
	extern const struct profile_kind stem##_kind;			\
	extern const struct diff_kind stem##_diff;			\
	int stem##_json(const struct hwprof_profile *profile,		\
			const struct hwprof_json_options *options,	\
			FILE *out);
HWPROF_KIND_TABLE(KIND)
#undef KIND

static const struct {
	const struct profile_kind *kind;
	/* See hwprof_profile_json(). @options is not NULL. */
	int (*json)(const struct hwprof_profile *profile,
		    const struct hwprof_json_options *options, FILE *out);
	const struct diff_kind *diff;	/* how to compare two of them */
} kinds[HWPROF_KINDS] = {
#define KIND(constant, field, stem, rows)				\
	[HWPROF_KIND_##constant] = { &stem##_kind, stem##_json, &stem##_diff },
	HWPROF_KIND_TABLE(KIND)
#undef KIND
};

const struct profile_kind *profile_kind_of(enum hwprof_kind kind)
{
	return kinds[kind].kind;
}

const char *hwprof_kind_units(enum hwprof_kind kind)
{
	return kind < HWPROF_KINDS ? kinds[kind].kind->units : NULL;
}

int hwprof_profile_read(struct hwprof_profile **profile, enum hwprof_kind kind,
			struct hwprof_file *const *files, size_t count,
			const struct hwprof_options *options)
{
	return profile_read(profile, kinds[kind].kind, files, count, options);
}

int hwprof_profile_json(const struct hwprof_profile *profile,
			const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_json_options defaults = { 0 };

	return kinds[profile->kind->kind].json(profile,
					       options ? options : &defaults,
					       out);
}

int hwprof_profile_diff(struct hwprof_diff **diff,
			const struct hwprof_profile *before,
			const struct hwprof_profile *after)
{
	*diff = NULL;
	if (before->kind != after->kind)
		return -EINVAL;
	return diff_make(diff, kinds[before->kind->kind].diff, before, after);
}
