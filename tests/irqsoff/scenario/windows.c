// SPDX-License-Identifier: GPL-2.0-only
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"

#include "scenario.h"

/* Branch records, on a machine with a PMU. They are fed in its NMI. */
static void windows_of(const char *engine_name, uint64_t engine)
{
	struct perf_event_attr attr =
		event_attr_sampling(engine | EVENT_LBR | EVENT_ROWS |
				    EVENT_MEMORY(1), 100);
	struct ring ring;
	int fd;

	attr.config1 = EVENT_INTERVAL(65535);
	attr.disabled = 0;
	phase("windows of %s", engine_name);
	fd = full_event(attr, 1, &ring);
	phase("windows of %s: PERF_EVENT_IOC_DISABLE", engine_name);
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	usleep(200000);
	end_phase();
	tell_written(&ring);
	unmap_ring(&ring);
	close(fd);
}

void windows(void)
{
	windows_of("loops", EVENT_LOOPS);
	windows_of("calls", EVENT_CALLS);
	windows_of("paths", EVENT_PATHS);
	windows_of("edges", EVENT_EDGES);
}
