// SPDX-License-Identifier: GPL-2.0-only
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

void run_by_turns(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		run_sites(SITES / 80);
		usleep(1000);
	}
}

/* Opens an event of each of several sessions. */
void open_sessions(int fd[SESSIONS])
{
	struct perf_event_attr attr = rows_attr(EVENT_LOOPS | EVENT_CALLS, 1);
	int i;

	for (i = 0; i < SESSIONS; i++) {
		attr.config1 = EVENT_INTERVAL(1000 + i);
		fd[i] = own_event(attr);
	}
}

/*
 * Several sessions of one program, each of which is fed with each step, and has
 * events to be switched.
 */
void sessions(void)
{
	int fd[SESSIONS], i;

	phase("%u sessions of a program", SESSIONS);
	open_sessions(fd);
	run_sites(SITES / 8);
	phase("%u sessions of a program that is switched", SESSIONS);
	for (i = 0; i < 20; i++)
		usleep(2000);
	phase("%u sessions of processes by turns", SESSIONS);
	in_forks(run_by_turns, 6);
	phase("%u sessions: PERF_EVENT_IOC_DISABLE and close", SESSIONS);
	for (i = 0; i < SESSIONS; i++) {
		ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0);
		close(fd[i]);
	}
	usleep(100000);
	end_phase();
}
