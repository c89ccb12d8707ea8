// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unloading while a process cannot end. What the process was to do for the
 * module keeps it loaded, as unloading would wait for the process.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

static void sleep_for_good(void *context)
{
	pause();
}

/* Returns an event of perf's own. */
static int open_dummy(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1,
	};

	return event_open(&attr, pid, -1, -1, 0);
}

/* Keeps perf's lock of the events of another process, until it is killed. */
static void keep_lock(void *dummy)
{
	int faults;
	void *page = missing_page(&faults);

	if (!page)
		_exit(1);
	ioctl(*(int *)dummy, PERF_EVENT_IOC_SET_FILTER, page);
	_exit(2);
}

static void run_known(void *context)
{
	known_run();
}

/*
 * The process has the last descriptor of an event of a target. It closes that
 * in its exit, and waits for perf's lock, which another process keeps.
 */
TEST(process_that_cannot_exit)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct child target = child_start(sleep_for_good, NULL);
	int kept = open_dummy(target.pid), last, fd;
	struct child keeper = child_start(keep_lock, &kept), child;

	ASSERT_LE(0, kept);
	last = open_dummy(target.pid);
	ASSERT_LE(0, last);
	child = child_start(run_known, NULL);
	close(last);
	fd = event_open(&attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	child_go(&keeper);
	child_await_state(&keeper, "SZ");
	if (waitpid(keeper.pid, NULL, WNOHANG)) {
		child_go(&child);
		waitpid(child.pid, NULL, 0);
		kill(target.pid, SIGKILL);
		SKIP(return, "no userfaultfd");
	}
	child_go(&child);
	child_await_state(&child, "DZ");
	EXPECT_EQ(0, waitpid(child.pid, NULL, WNOHANG));
	close(fd);
	usleep(200000);
	EXPECT_LT(0, module_references());
	kill(keeper.pid, SIGKILL);
	waitpid(keeper.pid, NULL, 0);
	waitpid(child.pid, NULL, 0);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, module_references());
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	close(kept);
}

TEST_HARNESS_MAIN
