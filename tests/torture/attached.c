// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches events to a running process, thread by thread, and detaches them
 * again.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

enum {
	THREADS	= 8,
	LEAST	= 5,		/* rounds of attaching and detaching */
	MOST	= 200,		/* rounds until enough is seen */
	SEEN	= 100,		/* enough events */
};

static int list_threads(pid_t pid, pid_t *threads)
{
	char path[64];
	struct dirent *entry;
	int count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)) && count < THREADS)
		if (atoi(entry->d_name))
			threads[count++] = atoi(entry->d_name);
	if (folder)
		closedir(folder);
	return count;
}

static uint64_t attach(pid_t pid, const struct profile_mode *mode)
{
	struct profile *profiles[THREADS];
	pid_t threads[THREADS];
	int count = list_threads(pid, threads), i, j;
	uint64_t sum = 0;

	for (i = 0; i < count; i++)
		profiles[i] = profile_open(mode, threads[i], false);
	for (j = 0; j < 5; j++) {
		for (i = 0; i < count; i++)
			profile_switch(profiles[i], true);
		usleep(3000);
		for (i = 0; i < count; i++)
			profile_switch(profiles[i], j & 1);
		usleep(500);
	}
	for (i = 0; i < count; i++) {
		sum += profile_count(profiles[i]);
		profile_close(profiles[i]);
	}
	return sum;
}

static void start_slow_frame(struct child *child, const char *subject)
{
	child_start(child, subject, "slow_frame", NULL, false);
	if (!child_says(child, "waits\n"))
		tap_bail("no signal's frame waits for its stack");
}

/*
 * Attaches events while the kernel writes a signal's frame. The subject can
 * notice only that.
 */
static void test_attached_in_frame(const char *subject)
{
	struct ending native, watched;
	struct child child;
	unsigned int turn;

	start_slow_frame(&child, subject);
	child_go_on(&child);
	child_end(&child, &native);
	for (turn = 0; turn < profile_each; turn++) {
		const struct profile_mode *mode = profile_next();
		struct profile *profile;

		start_slow_frame(&child, subject);
		profile = profile_open(mode, child.pid, false);
		profile_switch(profile, true);
		child_go_on(&child);
		child_end(&child, &watched);
		profile_close(profile);
		child_same(&native, &watched, "attached in a signal's frame",
			   mode->name);
	}
}

static void test_attached_at_work(const char *subject)
{
	unsigned int turn;
	struct ending native, watched;
	struct child child;
	int i;

	child_start(&child, subject, "busy", NULL, false);
	usleep(10000);
	child_go_on(&child);
	child_end(&child, &native);
	for (turn = 0; turn < profile_each; turn++) {
		const struct profile_mode *mode = profile_next();
		uint64_t sum = 0;

		child_start(&child, subject, "busy", NULL, false);
		usleep(20000);
		/* A burst need not begin in so short a time. */
		for (i = 0; i < LEAST || (i < MOST && sum <= SEEN); i++)
			sum += attach(child.pid, mode);
		child_go_on(&child);
		child_end(&child, &watched);
		child_same(&native, &watched, "attached and detached",
			   mode->name);
		tap_test(sum > SEEN, "attached: %s, something is seen",
			 mode->name);
	}
}

void test_attached(const char *subject)
{
	test_attached_in_frame(subject);
	test_attached_at_work(subject);
}
