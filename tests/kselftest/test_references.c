// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions hold numbers of processes, credentials, namespaces and memory. They
 * let go of all of them.
 *
 * The kernel counts namespaces exactly. A number (struct pid) that is still
 * held keeps its namespace of pids; credentials, and the memory of a program
 * that was executed there, keep their namespace of users. So each process here
 * has a namespace of its own of either kind, and may have one only if those of
 * earlier ones are gone.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "text.h"

EVENT_ALL_NEED("step")

#define WORKER	"worker"

enum {
	KINDS	= 2,
	/*
	 * How many namespaces there may be at a time. A CPU that idles keeps
	 * the memory of the program before.
	 */
	MOST	= EVENT_CPUS + 2,
	TIMES	= 2 * MOST,
};

static const char *const limits[KINDS] = {
	"/proc/sys/user/max_user_namespaces",
	"/proc/sys/user/max_pid_namespaces",
};

/* --- in the namespaces ---------------------------------------------------- */

/* Sets a filter, by which the module keeps a record of the memory. */
static void filter_own_file(int fd)
{
	if (event_filter_own_file(fd, "0x1000/0x100") ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		_exit(91);
}

static void sleep_a_moment(void)
{
	usleep(1000);
}

/* A session of perf, and one of the device. */
static void work(void)
{
	struct hwprof_config config = device_config(EVENT_LOOPS | EVENT_STEP);
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	int session = device_open(&config), own, fed;

	if (session < 0)
		_exit(92);
	own = event_open(&attr, 0, -1, -1, 0);
	attr = device_feeder(&config);
	fed = event_open(&attr, 0, -1, -1, 0);
	if (own < 0 || fed < 0)
		_exit(93);
	filter_own_file(own);
	filter_own_file(fed);
	in_forks(sleep_a_moment, 2);
}

/* The program runs itself in the namespaces. */
static void __attribute__((constructor)) be_worker(int count, char **arguments)
{
	if (count != 2 || strcmp(arguments[1], WORKER))
		return;
	work();
	_exit(0);
}

/* --- outside -------------------------------------------------------------- */

FIXTURE(references)
{
	char before[KINDS][32];
};

FIXTURE_SETUP(references)
{
	char most[16];
	int i;

	snprintf(most, sizeof(most), "%d", MOST);
	ASSERT_TRUE(event_sessions_are(0));
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	for (i = 0; i < KINDS; i++) {
		if (text_read(limits[i], self->before[i], 32))
			SKIP(return, "no namespaces");
		ASSERT_EQ(0, text_write(limits[i], most));
	}
}

FIXTURE_TEARDOWN(references)
{
	int i;

	for (i = 0; i < KINDS; i++)
		if (self->before[i][0])
			EXPECT_EQ(0, text_write(limits[i], self->before[i]));
	EXPECT_TRUE(event_sessions_are(0));
}

/* Forks into namespaces. They end a moment after their last process. */
static pid_t fork_in_namespaces(void)
{
	pid_t pid = -1;
	int tries;

	fflush(NULL);
	for (tries = 0; pid < 0 && tries < 3000; tries++) {
		if (tries)
			usleep(10000);
		pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD,
			      0, 0, 0, 0);
		if (pid < 0 && errno != ENOSPC)
			break;
	}
	return pid;
}

/* Starts a worker, which begins when it is told. */
static struct child start_worker(void)
{
	struct child worker;
	int go[2];
	char byte;

	if (pipe(go))
		abort();
	worker.pid = fork_in_namespaces();
	worker.go = go[1];
	if (worker.pid) {
		close(go[0]);
		return worker;
	}
	close(go[1]);
	if (read(go[0], &byte, 1) == 1)
		execl("/proc/self/exe", "test_references", WORKER, NULL);
	_exit(94);
}

/* The processes open events, and somebody else opens one of theirs. */
TEST_F(references, of_processes_are_dropped)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	struct child worker;
	int i, fd, status;

	attr.disabled = 0;
	for (i = 0; i < TIMES; i++) {
		worker = start_worker();
		ASSERT_LT(0, worker.pid)
			TH_LOG("process %d: %s", i, strerror(errno));
		fd = event_open(&attr, worker.pid, -1, -1, 0);
		EXPECT_LE(0, fd);
		child_go(&worker);
		ASSERT_EQ(worker.pid, waitpid(worker.pid, &status, 0));
		ASSERT_EQ(0, status);
		close(fd);
	}
}

TEST_HARNESS_MAIN
