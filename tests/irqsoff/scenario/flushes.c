// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

/* Each interval, of a running program, and of one that sleeps. */
void flushes(void)
{
	struct perf_event_attr attr = rows_attr(EVENT_CALLS, 4);
	struct ring ring;
	int fd, turn;

	attr.config1 = EVENT_INTERVAL(20);
	phase("rows each 20 ms, of a program that runs");
	fd = own_event(attr);
	ring = map_ring(fd, PAGES_MOST);
	for (turn = 0; turn < 4; turn++)
		run_sites(SITES);
	phase("rows each 20 ms, of a program that sleeps");
	run_sites(SITES);
	usleep(300000);
	phase("close, rows each 20 ms");
	unmap_ring(&ring);
	close(fd);
	usleep(100000);
	end_phase();
}
