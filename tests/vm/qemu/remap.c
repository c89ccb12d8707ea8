// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes memory of a PCI device out of the machine's map and puts it back, on
 * one CPU, while the others sleep for moments: each timer is a write to their
 * interrupt controller, which is in the map, too.  Usage: remap SECONDS
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "pinned.h"

enum { COMMAND = 4, MEMORY = 2 };	/* PCI's register, and its bit */

static void sleeper(int cpu)
{
	const struct timespec moment = { .tv_nsec = 20000 };

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	for (;;)
		nanosleep(&moment, NULL);
}

/* The console's device; nobody writes to it meanwhile. */
static int device(void)
{
	int file = open("/sys/bus/pci/devices/0000:00:02.0/config", O_RDWR);

	if (file < 0)
		err(1, "there is no PCI device 2");
	return file;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 10);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long changes = 0;
	uint16_t on, off;
	int config = device();

	if (cpus < 2)
		errx(1, "it takes two CPUs to race");
	if (pread(config, &on, sizeof(on), COMMAND) != sizeof(on))
		err(1, "cannot read the device's command");
	off = on & ~MEMORY;
	for (int cpu = 1; cpu < cpus; cpu++)
		sleeper(cpu);
	pin(0);
	for (; now() < end; changes += 2)
		if (pwrite(config, &off, sizeof(off), COMMAND) != sizeof(off) ||
		    pwrite(config, &on, sizeof(on), COMMAND) != sizeof(on))
			err(1, "cannot write the device's command");
	printf("%lu changes\n", changes);
	return 0;
}
