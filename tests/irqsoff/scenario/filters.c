// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/kselftest/text.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

enum {
	USERS		= 200,
	FIRST_USER	= 2000,
};

/* Gets a record of this process's ranges for the user, and keeps it. */
static void keep_record(uid_t user, int ready)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	pid_t pid = getpid();
	int fd;

	must(setresuid(user, user, user), "becoming a user");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = event_open(&attr, 0, -1, -1, 0);
	must(fd, "opening a user's event");
	must(event_filter_own_file(fd, "0x1000/0x100"), "a filter");
	must(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enabling it");
	if (write(ready, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	for (;;)
		pause();
}

/* Returns such a process, which is not a child: nobody waits for it. */
static pid_t user_with_record(uid_t user)
{
	int ready[2];
	pid_t pid;

	must(pipe(ready), "a pipe");
	pid = fork();
	if (!pid) {
		if (!fork())
			keep_record(user, ready[1]);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(ready[1]);
	if (read(ready[0], &pid, sizeof(pid)) != sizeof(pid))
		die("a user with a filter");
	close(ready[0]);
	return pid;
}

/*
 * Several sessions that have a filter, of a program whose processes need more
 * records of ranges than there are for a user. Many users have one.
 */
void filters(void)
{
	int fd[SESSIONS], i;
	pid_t users[USERS];

	must(sysctl_write("perf_event_paranoid", -1), "perf_event_paranoid");
	for (i = 0; i < USERS; i++)
		users[i] = user_with_record(FIRST_USER + i);
	phase("%u sessions with a filter", SESSIONS);
	open_sessions(fd);
	/* Each process has a record of the range. */
	for (i = 0; i < SESSIONS; i++)
		must(event_filter_own_file(fd[i], "0x1000/0x100"),
		     "PERF_EVENT_IOC_SET_FILTER");
	run_sites(SITES / 8);
	phase("%u sessions with a filter, of too many processes", SESSIONS);
	in_forks(run_by_turns, 6);
	phase("%u sessions with a filter: close", SESSIONS);
	for (i = 0; i < SESSIONS; i++)
		close(fd[i]);
	usleep(100000);
	end_phase();
	for (i = 0; i < USERS; i++)
		kill(users[i], SIGKILL);
	if (!event_sessions_are(0))
		die("sessions of users are left");
}
