// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* A child that is profiled by this process, and runs @run when it may. */
static void child_with_event(const char *name, unsigned int mib,
			     void (*run)(void *mib))
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, mib);
	struct child child = child_start(run, &mib);
	struct ring ring;
	int fd, status;

	phase("%s, %u MiB", name, mib);
	fd = event_open(&attr, child.pid, 0, -1, 0);
	must(fd, "opening an event of a child");
	ring = map_ring(fd, PAGES_MOST);
	child_go(&child);
	if (waitpid(child.pid, &status, 0) < 0 || status)
		die("a child ended with %#x", status);
	usleep(100000);
	end_phase();
	tell_written(&ring);
	unmap_ring(&ring);
	close(fd);
}

static void fill(void *mib)
{
	run_sites(sites_for(*(unsigned int *)mib));
}

static void fill_and_exec(void *mib)
{
	fill(mib);
	execl("/usr/lib/busybox/busybox", "true", NULL);
	die("exec");
}

static void fill_and_fork(void *mib)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	fill(mib);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

void ends(void)
{
	static const unsigned int mib[] = { 1, 4 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mib); i++) {
		unsigned int size = mib[i];

		child_with_event("exit", size, fill);
		child_with_event("exec", size, fill_and_exec);
		child_with_event("fork and exit", size, fill_and_fork);
	}
}
