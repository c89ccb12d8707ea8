// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "command.h"
#include "hwprof.h"
#include "sessions.h"

#define SESSIONS	"/sys/class/misc/hwprof/sessions"

enum {
	/* A reader of rows may be behind for a moment. */
	TRIES		= 50,
	TRY_NS		= 20 * 1000 * 1000,
};

int sessions_open_device(int *device)
{
	*device = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);
	if (*device >= 0)
		return -1;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return failed("the hwprof module is not loaded: modprobe hwprof (there is no "
			      HWPROF_DEVICE ")");
	return failed("cannot open " HWPROF_DEVICE ": %s", strerror(errno));
}

bool sessions_read(unsigned int session, const char *name, char *text,
		   size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), SESSIONS "/%u/%s", session, name);
	return read_line(path, text, size);
}

uint64_t sessions_owner(unsigned int session)
{
	char text[32];
	uint64_t pid;

	return sessions_read(session, "owner", text, sizeof(text)) &&
	       parse_count(text, 0, INT32_MAX, &pid) ? pid : 0;
}

/* Compares names of folders, which are numbers. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
	unsigned long one = strtoul((*a)->d_name, NULL, 10);
	unsigned long two = strtoul((*b)->d_name, NULL, 10);

	return (one > two) - (one < two);
}

int sessions_each(uint64_t pid,
		  int (*visit)(void *context, unsigned int session),
		  void *context)
{
	struct dirent **names;
	int count = scandir(SESSIONS, &names, NULL, by_number), i;
	uint64_t session;
	int status = -1;

	if (count < 0)
		return failed("cannot read " SESSIONS ": %s", strerror(errno));
	for (i = 0; i < count; i++) {
		if (status < 0 &&
		    parse_count(names[i]->d_name, 1, UINT32_MAX, &session) &&
		    (!pid || sessions_owner(session) == pid))
			status = visit(context, session);
		free(names[i]);
	}
	free(names);
	return status;
}

int sessions_change(int device, unsigned long request, void *argument)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };
	int tries;

	for (tries = 1; ioctl(device, request, argument); tries++) {
		if (errno != EAGAIN || tries == TRIES)
			return errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}
