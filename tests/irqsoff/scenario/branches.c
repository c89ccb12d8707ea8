// SPDX-License-Identifier: GPL-2.0-only
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/crowd.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

/* Records branches. Each row is written where the program is stepped. */
void branches(void)
{
	struct perf_event_attr attr = rows_attr(EVENT_BRANCHES, 1);
	struct ring ring;
	int fd;

	attr.disabled = 1;
	fd = own_event(attr);
	ring = map_ring(fd, PAGES_MOST);
	must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "PERF_EVENT_IOC_ENABLE");
	phase("branches");
	run_sites(SITES);
	phase("branches: PERF_EVENT_IOC_DISABLE");
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	end_phase();
	tell_written(&ring);
	phase("branches: close");
	close(fd);
	unmap_ring(&ring);
	end_phase();
}

static struct ring rings[STEPPED];

static int open_branches(unsigned int i)
{
	struct perf_event_attr attr = rows_attr(EVENT_BRANCHES, 1);
	int fd;

	attr.config1 = EVENT_INTERVAL(1000 + i);
	fd = own_event(attr);
	rings[i] = map_ring(fd, PAGES_MOST / 16);
	return fd;
}

/*
 * As many sessions as a step feeds, each of which writes its unfinished row
 * when the task is switched.
 */
void switches(void)
{
	const struct crowd crowd = {
		"sessions of branches", STEPPED, open_branches,
	};
	const struct crowd_took none = { 0 };
	unsigned int i;

	crowd_measure(&crowd, none);
	for (i = 0; i < STEPPED; i++) {
		tell_written(&rings[i]);
		unmap_ring(&rings[i]);
	}
}
