// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/event.h"

#include "crowd.h"
#include "must.h"
#include "phase.h"
#include "rows.h"
#include "sites.h"

enum { SWITCHES = 256 };

struct crowd_took crowd_unbounded(void)
{
	const unsigned long any = ~0UL >> 1;

	return (struct crowd_took) { any, any, any };
}

static void crowd_phase(const struct crowd *crowd, const char *what,
			unsigned long allowed)
{
	allow(allowed);
	phase("%u %s: %s", crowd->count, crowd->name, what);
}

/* An unfinished row of branches has another length at each switch. */
static void run_and_sleep(void)
{
	volatile unsigned int turns;
	unsigned int i;

	run_sites(SITES / 20);
	for (i = 0; i < SWITCHES; i++) {
		usleep(500);
		for (turns = i % 128; turns; turns--)
			;
	}
}

static void disable_and_enable(int fd)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disabling");
		must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enabling");
	}
}

struct crowd_took crowd_measure(const struct crowd *crowd,
				struct crowd_took allowed)
{
	struct crowd_took took;
	int fd[CROWD_MOST];
	unsigned int i;

	crowd_phase(crowd, "opening", allowed.opening);
	for (i = 0; i < crowd->count; i++)
		fd[i] = crowd->open(i);
	took.opening = end_phase();
	crowd_phase(crowd, "running and switching", allowed.running);
	run_and_sleep();
	took.running = end_phase();
	crowd_phase(crowd, "enabling", allowed.enabling);
	disable_and_enable(fd[0]);
	took.enabling = end_phase();
	allow(0);
	for (i = 0; i < crowd->count; i++)
		close(fd[i]);
	usleep(100000);
	return took;
}

int crowd_open_faults(unsigned int i)
{
	return own_event((struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1,
	});
}
