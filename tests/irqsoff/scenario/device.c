// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "tests/kselftest/device.h"
#include "tests/irqsoff/feeder.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

static void device_of(unsigned int mib)
{
	struct hwprof_config config =
		device_config(EVENT_CALLS | EVENT_STEP | EVENT_MEMORY(mib));
	int fd, event;

	phase("HWPROF_IOC_CONFIG, %u MiB", mib);
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG");
	phase("device, %u MiB: filling", mib);
	event = feed(&config, mib);
	phase("HWPROF_IOC_SNAPSHOT, %u MiB", mib);
	take_all(fd);
	phase("HWPROF_IOC_RESET, %u MiB", mib);
	must(device_reset(fd), "HWPROF_IOC_RESET");
	phase("device, %u MiB: closing a full one", mib);
	run_sites(sites_for(mib));
	close(event);
	close(fd);
	usleep(100000);
	end_phase();
}

static void device_ring_of(unsigned int mib)
{
	struct hwprof_config config =
		device_config(EVENT_CALLS | EVENT_STEP | EVENT_MEMORY(mib));
	int fd, event, rings;

	config.config1 = EVENT_INTERVAL(50);
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG");
	phase("HWPROF_IOC_RING");
	rings = device_ring(fd, 4 * MIB, 0);
	must(rings, "HWPROF_IOC_RING");
	if (!device_map(fd, 4 * MIB, rings))
		die("mapping the device");
	phase("device, %u MiB: rows each 50 ms", mib);
	event = feed(&config, mib);
	usleep(200000);
	close(event);
	phase("device, %u MiB: closing its ring", mib);
	close(fd);
	usleep(100000);
	end_phase();
}

void device(void)
{
	device_of(1);
	device_of(4);
	device_ring_of(4);
}
