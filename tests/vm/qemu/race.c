// SPDX-License-Identifier: GPL-2.0-only
/*
 * Toggles a static key of the kernel on one CPU while the others do nothing
 * but switch contexts, through code that the key patches.  Usage: race SECONDS
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pinned.h"

/* One end of a ball game: takes a byte, gives it on, until killed. */
static void player(int cpu, int from, int to)
{
	char ball = 0;

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	while (read(from, &ball, 1) == 1 && write(to, &ball, 1) == 1)
		;
	_exit(0);
}

static void pingpong(int cpu)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		err(1, "no pipe");
	player(cpu, there[0], back[1]);
	player(cpu, back[0], there[1]);
	if (write(there[1], "", 1) != 1)
		err(1, "no ball");
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 20);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long toggles = 0;
	int key;

	if (cpus < 2)
		errx(1, "it takes two CPUs to race");
	for (int cpu = 1; cpu < cpus; cpu++)
		pingpong(cpu);
	pin(0);
	key = open("/proc/sys/kernel/sched_schedstats", O_WRONLY);
	if (key < 0)
		err(1, "the kernel has no sched_schedstats to toggle");
	while (now() < end)
		if (pwrite(key, toggles++ & 1 ? "0\n" : "1\n", 2, 0) != 2)
			err(1, "cannot toggle sched_schedstats");
	printf("%lu toggles\n", toggles);
	return 0;
}
