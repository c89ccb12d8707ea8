// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets each allocation of opening an event, and of a fork that inherits it,
 * fail once. Requires a kernel with fault injection (debug); others skip.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <stdlib.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "event.h"
#include "fault.h"
#include "known.h"

EVENT_ALL_NEED("step")

enum { FAULTS_MAX = 2000, FAULTS_EACH = 40, FAULTS_STEP = 53 };

FIXTURE(faults)
{
	struct perf_event_attr attr;
};

FIXTURE_SETUP(faults)
{
	if (!faults_init())
		SKIP(return, "the kernel has no fault injection");
	self->attr = event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);
	ASSERT_TRUE(event_sessions_are(0));
}

FIXTURE_TEARDOWN(faults)
{
	EXPECT_TRUE(event_sessions_are(0));
}

/* Returns all of the first numbers, and then some: most are pages of tables. */
static int next_fault(int n)
{
	if (n < FAULTS_EACH)
		return n + 1;
	return n + (getenv("KSELFTEST_SHORT") ? 8 : 1) * FAULTS_STEP;
}

static void open_with_faults(struct __test_metadata *_metadata,
			     struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int n, fd, refused = 0;
	bool failed;

	for (n = 1; n < FAULTS_MAX; n = next_fault(n)) {
		fail_nth(n);
		fd = event_open(attr, pid, cpu, -1, 0);
		failed = failed_nth();
		if (fd >= 0) {
			close(fd);
			if (!failed)
				break;
		} else {
			EXPECT_TRUE(fd == -ENOMEM || fd == -EFAULT) {
				TH_LOG("fault %d: error %d", n, fd);
			}
			refused++;
		}
		EXPECT_TRUE(event_sessions_are(0));
	}
	EXPECT_LT(5, refused);
	EXPECT_GT(FAULTS_MAX, n);
}

TEST_F(faults, open_rows)
{
	open_with_faults(_metadata, &self->attr, 0, -1);
}

/* The right to attach to everything is looked up in files. */
TEST_F(faults, open_everything)
{
	EVENT_LONG_ON_DEBUG();
	self->attr.config |= EVENT_STEP;
	open_with_faults(_metadata, &self->attr, -1, 0);
}

TEST_F(faults, open_branches)
{
	self->attr.config = EVENT_BRANCHES | EVENT_ROWS;
	open_with_faults(_metadata, &self->attr, 0, -1);
}

TEST_F(faults, open_count)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);

	EVENT_LONG_ON_DEBUG();
	open_with_faults(_metadata, &attr, 0, -1);
}

TEST_F(faults, open_device)
{
	struct hwprof_config config = device_config(EVENT_LOOPS), asked;
	int n, fd, refused = 0;
	bool failed = true;

	for (n = 1; failed && n < FAULTS_MAX; n = next_fault(n)) {
		asked = config;
		fail_nth(n);
		fd = device_open(&asked);
		failed = failed_nth();
		if (fd >= 0) {
			close(fd);
		} else {
			EXPECT_TRUE(fd == -ENOMEM || fd == -EFAULT) {
				TH_LOG("fault %d: error %d", n, fd);
			}
			refused++;
		}
		EXPECT_TRUE(event_sessions_are(0));
	}
	EXPECT_LT(5, refused);
	EXPECT_GT(FAULTS_MAX, n);
}

/* The first table of a file, and maps that use it. */
TEST_F(faults, unwind_tables)
{
	const struct hwprof_unwind_row row = {
		.cfa = 1, .kind = HWPROF_UNWIND_SP,
	};
	struct hwprof_unwind_map map = { .start = 4096, .end = 8192 };
	int n, fd, table, error = 0, refused = 0;
	bool failed = true;

	for (n = 1; failed && n < FAULTS_MAX; n = next_fault(n)) {
		fd = open(HWPROF_DEVICE, O_RDWR);
		ASSERT_LE(0, fd);
		fail_nth(n);
		table = device_add_table(fd, &row, 1);
		map.table = table;
		if (table > 0)
			error = device_set_maps(fd, &map, 1, getpid());
		failed = failed_nth();
		close(fd);
		if (table == -EOPNOTSUPP)
			SKIP(return, "this architecture has none");
		error = table < 0 ? table : error;
		EXPECT_TRUE(!error || error == -ENOMEM || error == -EFAULT) {
			TH_LOG("fault %d: error %d", n, error);
		}
		refused += error != 0;
	}
	EXPECT_LT(2, refused);
	EXPECT_GT(FAULTS_MAX, n);
}

TEST_F(faults, fork)
{
	int n, fd = event_open(&self->attr, 0, 0, -1, 0), status;
	bool failed = true;
	pid_t pid;

	ASSERT_LE(0, fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (n = 1; failed && n < FAULTS_MAX; n = next_fault(n)) {
		fail_nth(n);
		pid = fork();
		if (pid == 0)
			_exit(0);
		failed = failed_nth();
		EXPECT_EQ(1, event_sessions());
		if (pid > 0) {
			waitpid(pid, &status, 0);
			EXPECT_EQ(0, status);
		}
	}
	EXPECT_LT(10, n);
	event_sessions_add_up();
	close(fd);
}

TEST_HARNESS_MAIN
