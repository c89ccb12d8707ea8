// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "tests/kselftest/device.h"

#include "feeder.h"
#include "must.h"
#include "rows.h"
#include "sites.h"

void take_all(int fd)
{
	char *buffer = malloc(MIB);
	bool more = true;
	long filled = 0;

	while (more) {
		filled = device_read(fd, buffer, MIB, &more);
		must(filled, "HWPROF_IOC_SNAPSHOT");
	}
	free(buffer);
}

int feed(struct hwprof_config *config, unsigned int mib)
{
	struct perf_event_attr attr = device_feeder(config);
	int event;

	attr.disabled = 0;
	event = event_open(&attr, 0, 0, -1, 0);
	must(event, "an event that feeds the device");
	run_sites(sites_for(mib));
	return event;
}
