// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

#define CPU1	"/sys/devices/system/cpu/cpu1/online"

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set), "pinning");
}

static void fill_on(void *cpu)
{
	pin(*(int *)cpu);
	run_sites(sites_for(4));
}

static void run_on(int cpu)
{
	struct child child = child_start(fill_on, &cpu);
	int status;

	child_go(&child);
	if (waitpid(child.pid, &status, 0) < 0 || status)
		die("a child ended with %#x", status);
}

static int cpu_event(int cpu, struct ring *ring)
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, 4);
	int fd;

	attr.inherit = 0;
	fd = event_open(&attr, -1, cpu, -1, 0);
	must(fd, "opening an event of a CPU");
	*ring = map_ring(fd, PAGES_MOST);
	return fd;
}

void whole_cpu(void)
{
	struct ring ring;
	int fd;

	phase("a CPU, 4 MiB: filling");
	fd = cpu_event(0, &ring);
	run_on(0);
	phase("a CPU, 4 MiB: PERF_EVENT_IOC_DISABLE");
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	usleep(100000);
	unmap_ring(&ring);
	phase("a CPU, 4 MiB: close");
	close(fd);
	usleep(100000);
	end_phase();
}

void hotplug(void)
{
	struct ring ring[2];
	int fd[2];

	fd[0] = cpu_event(0, &ring[0]);
	fd[1] = cpu_event(1, &ring[1]);
	run_on(1);
	phase("a CPU goes, with 4 MiB");
	put(CPU1, "0");
	usleep(100000);
	/* The module does nothing when a CPU comes; the kernel does much. */
	end_phase();
	put(CPU1, "1");
	usleep(500000);
	phase("closing both");
	close(fd[0]);
	close(fd[1]);
	usleep(100000);
	end_phase();
}
