// SPDX-License-Identifier: GPL-2.0-only
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Call perf's ioctls, except those that end the rows of the event. */
static void perf_ioctls(int fd)
{
	uint64_t id, period = 1;

	phase("PERF_EVENT_IOC_ID, _PERIOD, _RESET, _PAUSE_OUTPUT");
	must(ioctl(fd, PERF_EVENT_IOC_ID, &id), "PERF_EVENT_IOC_ID");
	ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
	must(ioctl(fd, PERF_EVENT_IOC_RESET, 0), "PERF_EVENT_IOC_RESET");
	must(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), "pausing");
	must(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), "not pausing");
	phase("reading the event");
	event_count(fd);
}

static void one_event(const char *engine_name, uint64_t engine,
		      unsigned int mib)
{
	struct perf_event_attr attr = rows_attr(engine, mib);
	struct ring ring;
	int fd;

	phase("%s, %u MiB: filling", engine_name, mib);
	fd = full_event(attr, mib, &ring);
	perf_ioctls(fd);
	phase("%s, %u MiB: PERF_EVENT_IOC_DISABLE", engine_name, mib);
	must(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "PERF_EVENT_IOC_DISABLE");
	/* Rows may come a moment later. */
	usleep(200000);
	end_phase();
	tell_written(&ring);
	phase("%s, %u MiB: PERF_EVENT_IOC_ENABLE", engine_name, mib);
	must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "PERF_EVENT_IOC_ENABLE");
	phase("%s, %u MiB: PERF_EVENT_IOC_SET_OUTPUT", engine_name, mib);
	ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fd);
	phase("%s, %u MiB: unmapping its ring", engine_name, mib);
	unmap_ring(&ring);
	phase("%s, %u MiB: close", engine_name, mib);
	run_sites(SITES);
	close(fd);
	usleep(100000);
	end_phase();
}

void sizes(void)
{
	static const unsigned int mib[] = { 1, 4, 16 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mib); i++)
		one_event("calls", EVENT_CALLS, mib[i]);
}

void engines(void)
{
	static const struct {
		const char *name;
		uint64_t config;
	} all[] = {
		{ "loops", EVENT_LOOPS }, { "paths", EVENT_PATHS },
		{ "values", EVENT_VALUES }, { "cct", EVENT_CCT },
		{ "loops and calls", EVENT_LOOPS | EVENT_CALLS },
		{ "ranges", EVENT_RANGES },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		one_event(all[i].name, all[i].config, 1);
}
