// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

	return (struct crowd_took) { any, any, any, any };
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

/* Starts a process that has this one's file descriptors, whoever opens them. */
static pid_t fork_with_files(void)
{
	pid_t pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	must(pid, "clone");
	return pid;
}

/* The events do not end with the task: its files are not closed. */
static unsigned long exit_with(const struct crowd *crowd,
			       unsigned long allowed)
{
	int fd[CROWD_MOST], ready[2], go[2], status, i;
	struct pollfd is_ready = { .events = POLLIN };
	unsigned long took;
	pid_t pid;
	char byte;

	must(pipe(ready), "pipe");
	must(pipe(go), "pipe");
	is_ready.fd = ready[0];
	pid = fork_with_files();
	if (!pid) {
		for (i = 0; i < (int)crowd->count; i++)
			fd[i] = crowd->open(i);
		run_sites(SITES / 20);
		must(write(ready[1], fd, sizeof(*fd) * crowd->count), "write");
		must(read(go[0], &byte, 1), "read");
		_exit(0);
	}
	/* No end of file tells if it has ended: the pipe is this one's, too. */
	while (!poll(&is_ready, 1, 1000))
		if (waitpid(pid, NULL, WNOHANG))
			die("a process with %s ended", crowd->name);
	for (i = 0; i < (int)crowd->count; i++)
		must(read(ready[0], &fd[i], sizeof(*fd)) == sizeof(*fd) ?
		     0 : -EIO, "the descriptors");
	crowd_phase(crowd, "exiting", allowed);
	must(write(go[1], "", 1), "write");
	must(waitpid(pid, &status, 0), "waitpid");
	must(status ? -EINVAL : 0, "exiting");
	took = end_phase();
	for (i = 0; i < (int)crowd->count; i++)
		close(fd[i]);
	for (i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	usleep(100000);
	return took;
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
	for (i = 0; i < crowd->count; i++)
		close(fd[i]);
	usleep(100000);
	took.exiting = exit_with(crowd, allowed.exiting);
	allow(0);
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
