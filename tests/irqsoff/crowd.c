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

static int lowest_free_fd(void)
{
	int fd = dup(0);

	must(fd, "dup");
	close(fd);
	return fd;
}

/* Opens all, and returns the descriptor of the first one. */
static int open_all(const struct crowd *crowd)
{
	int first = crowd->open(0);
	unsigned int i;

	for (i = 1; i < crowd->count; i++)
		crowd->open(i);
	return first;
}

/* Closes what a crowd has opened, and waits until its sessions have ended. */
static void close_from(int fd)
{
	must(close_range(fd, ~0U, 0), "close_range");
	usleep(100000);
}

/* Starts a process that has this one's file descriptors, whoever opens them. */
static pid_t fork_with_files(void)
{
	pid_t pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	must(pid, "clone");
	return pid;
}

/* The events do not end with the task: its files are not closed. */
static unsigned long exit_with(const struct crowd *crowd, unsigned long allowed)
{
	struct pollfd is_ready = { .events = POLLIN };
	int ready[2], go[2], status, begin = lowest_free_fd();
	unsigned long took;
	pid_t pid;
	char byte;

	must(pipe(ready), "pipe");
	must(pipe(go), "pipe");
	is_ready.fd = ready[0];
	pid = fork_with_files();
	if (!pid) {
		open_all(crowd);
		run_sites(SITES / 20);
		must(write(ready[1], "", 1), "write");
		must(read(go[0], &byte, 1), "read");
		_exit(0);
	}
	/* No end of file tells if it has ended: the pipe is this one's, too. */
	while (!poll(&is_ready, 1, 1000))
		if (waitpid(pid, NULL, WNOHANG))
			die("a process with %s ended", crowd->name);
	crowd_phase(crowd, "exiting", allowed);
	must(write(go[1], "", 1), "write");
	must(waitpid(pid, &status, 0), "waitpid");
	must(status ? -EINVAL : 0, "exiting");
	took = end_phase();
	close_from(begin);
	return took;
}

struct crowd_took crowd_measure(const struct crowd *crowd,
				struct crowd_took allowed)
{
	int fd, begin = lowest_free_fd();
	struct crowd_took took;

	crowd_phase(crowd, "opening", allowed.opening);
	fd = open_all(crowd);
	took.opening = end_phase();
	crowd_phase(crowd, "running and switching", allowed.running);
	run_and_sleep();
	took.running = end_phase();
	crowd_phase(crowd, "enabling", allowed.enabling);
	disable_and_enable(fd);
	took.enabling = end_phase();
	close_from(begin);
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
