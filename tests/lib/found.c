// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "found.h"

const struct hwprof_loop *found_loop(const struct hwprof_profile *loops,
				     uint64_t head)
{
	size_t i;

	for (i = 0; i < hwprof_loops_count(loops); i++)
		if (hwprof_loops_get(loops, i)->head == head)
			return hwprof_loops_get(loops, i);
	return NULL;
}

const char *found_warning(const struct hwprof_profile *profile,
			  const char *words)
{
	const char *warning;
	size_t i;

	for (i = 0; (warning = hwprof_profile_warning(profile, i)); i++)
		if (strstr(warning, words))
			return warning;
	return NULL;
}

bool warns(const struct hwprof_profile *profile, const char *words)
{
	return found_warning(profile, words);
}
