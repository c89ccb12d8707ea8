// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module must not be removed while there are events, but can be after their
 * end, even if tasks that were stepped sleep. These tasks must then go on
 * undisturbed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

static bool unload(void)
{
	return !syscall(SYS_delete_module, "hwprof", O_NONBLOCK);
}

static void load(void)
{
	int fd = open("/rig/module.ko", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		tap_bail("cannot load the module again: %s", strerror(errno));
	close(fd);
}

static void run(const char *subject, const struct profile_mode *mode,
		const struct ending *native)
{
	struct ending watched;
	struct child child;
	bool refused, gone = false;
	int tries;

	child_start(&child, subject, "blocked", mode, false);
	child_says(&child, "ready\n");
	refused = !unload() && (errno == EBUSY || errno == EWOULDBLOCK);
	tap_test(refused, "unload: refused: %s", mode->name);
	profile_close(child.profile);
	child.profile = NULL;
	for (tries = 0; tries < 200 && !gone; tries++) {
		gone = unload();
		if (!gone)
			usleep(10000);
	}
	tap_test(gone, "unload: goes after the last event: %s", mode->name);
	child_go_on(&child);
	child_end(&child, &watched);
	child_same(native, &watched, "the tasks live on", mode->name);
	if (gone)
		load();
}

void test_unloaded(const char *subject)
{
	unsigned int turn;
	struct ending native;
	struct child child;

	child_start(&child, subject, "blocked", NULL, false);
	child_says(&child, "ready\n");
	child_go_on(&child);
	child_end(&child, &native);
	for (turn = 0; turn < profile_each; turn++)
		run(subject, profile_next(), &native);
}
