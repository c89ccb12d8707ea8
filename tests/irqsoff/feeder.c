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

int open_feeder(struct hwprof_config *config)
{
	struct perf_event_attr attr = device_feeder(config);

	attr.disabled = 0;
	return own_event(attr);
}

int feed(struct hwprof_config *config, unsigned int mib)
{
	int event = open_feeder(config);

	run_sites(sites_for(mib));
	return event;
}
