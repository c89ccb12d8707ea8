// SPDX-License-Identifier: GPL-2.0-only
/* A program that gives an ordinary user more rights must not be stepped. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

enum {
	/* Rounds of subject_work(); each takes one or two branches. */
	BEFORE_AND_AFTER = 2 * 2000,
	PRIVILEGED = 40000,
};

static void run(const char *subject, const char *copy, mode_t mode,
		const char *what)
{
	struct ending native, watched;
	char command[512];

	snprintf(command, sizeof(command), "cp %s %s", subject, copy);
	if (system(command) || chown(copy, 0, 0) || chmod(copy, mode))
		tap_bail("cannot copy %s to %s", subject, copy);
	setenv("PRIVILEGED", copy, 1);
	child_run(subject, "unprivileged", NULL, &native);
	child_run(subject, "unprivileged", &count_branches, &watched);
	child_same(&native, &watched, what, "ends as natively");
	tap_test(watched.count >= BEFORE_AND_AFTER,
		 "%s: is stepped before and after", what);
	tap_test((watched.count >= PRIVILEGED) == !(mode & 06000),
		 "%s: is %sstepped", what, mode & 06000 ? "not " : "");
	tap_note("branches %llu", (unsigned long long)watched.count);
}

void test_rights(const char *subject)
{
	run(subject, "/tmp/plain", 0755, "a plain program");
	run(subject, "/tmp/setuid", 04755, "a setuid program");
	run(subject, "/tmp/setgid", 02755, "a setgid program");
}
