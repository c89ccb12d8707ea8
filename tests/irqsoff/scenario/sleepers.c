// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

enum {
	SLEEPERS	= 200,
	TRIES		= 1000,	/* an event ends a moment after its file */
};

static void run_and_sleep(void *unused)
{
	run_sites(SITES / 80);
	for (;;)
		pause();
}

/* Return the event of a child that was stepped and sleeps. */
static int event_of_sleeper(struct child *child)
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, 1);
	int fd = event_open(&attr, child->pid, 0, -1, 0);

	must(fd, "opening an event of a child");
	child_go(child);
	child_await_sleep(child);
	errno = ENODATA;
	if (event_count(fd) < SITES / 80)
		die("a child was not stepped");
	return fd;
}

static void unload(void)
{
	unsigned int tries = 0;

	while (system("rmmod hwprof 2>/dev/null")) {
		errno = EBUSY;
		if (tries++ == TRIES)
			die("rmmod");
		usleep(1000);
	}
}

/* Unload the module right after the last event of stepped tasks that sleep. */
void sleepers(void)
{
	struct child child[SLEEPERS];
	int fd[SLEEPERS], i;

	/* None of them inherits a file of an event. */
	for (i = 0; i < SLEEPERS; i++)
		child[i] = child_start(run_and_sleep, NULL);
	for (i = 0; i < SLEEPERS; i++)
		fd[i] = event_of_sleeper(&child[i]);
	phase("rmmod, while %u stepped tasks sleep", SLEEPERS);
	for (i = 0; i < SLEEPERS; i++)
		close(fd[i]);
	unload();
	end_phase();
	for (i = 0; i < SLEEPERS; i++) {
		kill(child[i].pid, SIGKILL);
		waitpid(child[i].pid, NULL, 0);
	}
	if (system("insmod /rig/hwprof.ko"))
		die("insmod");
}
