// SPDX-License-Identifier: GPL-2.0-only
/* How targets, times and budgets are given. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
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

	if (end == text || *end ||
	    !(seconds >= 0.001 && seconds <= SECONDS_MAX))
		return false;
	*milliseconds = seconds * 1000 + 0.5;
	return true;
}

bool parse_permille(const char *text, uint64_t *permille)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent > 0) ||
	    percent > 100)
		return false;
	*permille = percent * 10 + 0.5;
	return *permille && fabs(percent * 10 - *permille) < 1e-6;
}

int parse_converge(struct hwprof_converge *options, const char *text)
{
	char *end;
	double percent;

	*options = (struct hwprof_converge){ .threshold = 0 };
	if (!text)
		return -1;
	percent = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "%")) ||
	    !(percent >= 0.01 && percent < 100))
		return usage_error("--converge '%s': allowed are percents from 0.01 on, below 100",
				   text);
	options->threshold = percent / 100;
	return -1;
}
