// SPDX-License-Identifier: GPL-2.0-only
/* The taken branches of a known program must be counted exactly. */
#include <string.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

static void compare(const char *program, const struct profile_mode *mode,
		    int which)
{
	struct ending ending;
	uint64_t known[2] = {};

	child_run(program, "", mode, &ending);
	memcpy(known, ending.output, sizeof(known));
	tap_test(ending.length == sizeof(known) && ending.status == 0 &&
			 ending.count == known[which],
		 "counts: %s exactly", mode->name);
	tap_note("counted %llu, known %llu, status %x",
		 (unsigned long long)ending.count,
		 (unsigned long long)known[which], ending.status);
}

void test_counts(const char *program)
{
	compare(program, &count_branches, 0);
	compare(program, &count_back_edges, 1);
}
