// SPDX-License-Identifier: GPL-2.0-only
/* How targets and times are given. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "live.h"

#define CGROUPS	"/sys/fs/cgroup"

enum { SECONDS_MAX = 1000000000 };

int open_cgroup(const char *name)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s%s",
			     *name == '/' ? "" : CGROUPS "/", name) >=
	    sizeof(path))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool parse_seconds(const char *text, uint64_t *milliseconds)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.001 && seconds <= SECONDS_MAX))
		return false;
	*milliseconds = seconds * 1000 + 0.5;
	return true;
}
