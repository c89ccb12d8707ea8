// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes and ends ten thousand sessions on all CPUs: nothing of them remains.
 * That many on one kernel suffice; others have a tenth, and debug kernels
 * fewer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

enum {
	MANY		= 10000,
	RUN_EACH	= 50,		/* one in that many runs a program */
	FETCH_EACH	= 10,		/* or belongs to the device */
	BUFFER		= 64 << 10,
};

/* Sessions take a moment to end, and use memory until then. */
static bool is_too_fast(int error)
{
	if (error != -ENFILE && error != -EMFILE && error != -ENOMEM)
		return false;
	usleep(1000);
	return true;
}

/* Opens and closes an event. */
static bool make_event(unsigned int number)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int fd;

	attr.config |= (uint64_t)(1024 + number) << 32;	/* span: makes it a
					 * separate session */
	do
		fd = event_open(&attr, 0, -1, -1, 0);
	while (is_too_fast(fd));
	close(fd);
	return fd >= 0;
}

/* Opens a session of the device, and an event of this process. */
static int open_fetched(struct hwprof_config *config, int *event)
{
	struct perf_event_attr attr;
	int fd;

	do
		fd = device_open(config);
	while (is_too_fast(fd));
	if (fd < 0)
		return fd;
	attr = device_feeder(config);
	attr.disabled = 0;
	attr.inherit = 0;
	*event = event_open(&attr, 0, -1, -1, 0);
	if (*event >= 0)
		return fd;
	close(fd);
	return *event;
}

static bool make_fetched(bool runs)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	struct tally tally = { 0 };
	bool whole = true;
	int event, fd = open_fetched(&config, &event);

	if (fd < 0)
		return false;
	if (runs)
		known_run();
	close(event);
	if (runs) {
		whole = !device_snapshot(fd, BUFFER, &tally) &&
			tally.totals.produced >= KNOWN_BACK &&
			tally.totals.delivered == tally.period &&
			tally.totals.produced == tally.totals.delivered +
			tally.totals.lost + tally.totals.evicted;
		if (!whole)
			tally_is_whole(&tally);
	}
	close(fd);
	return whole;
}

static bool make_sessions(int cpu, unsigned int count)
{
	unsigned int i;

	stay_on(cpu);
	for (i = 0; i < count; i++) {
		if (i % FETCH_EACH ? make_event(i) :
				     make_fetched(i % RUN_EACH == 0))
			continue;
		printf("# session %u on CPU %d\n", i, cpu);
		return false;
	}
	return true;
}

/*
 * Asserts that no memory remains accounted: the whole limit is available, and
 * no more.
 */
static void check_memory(struct __test_metadata *_metadata)
{
	struct hwprof_config config =
		device_config(EVENT_LOOPS | EVENT_MEMORY(2));
	struct rlimit locked = { 2 << 20, 2 << 20 };
	char before[64];
	int fd, status;

	ASSERT_EQ(0, limit_read("memory_mib", before, sizeof(before)));
	ASSERT_EQ(0, limit_write("memory_mib", "2"));
	if (!fork()) {
		struct hwprof_config more = device_config(EVENT_LOOPS);

		setrlimit(RLIMIT_MEMLOCK, &locked);
		if (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000))
			_exit(1);
		fd = device_open(&config);
		_exit(fd < 0 ? 2 : device_open(&more) != -ENOMEM ? 3 : 0);
	}
	wait(&status);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, limit_write("memory_mib", before));
}

TEST(ten_thousand)
{
	const char *kernel = getenv("KSELFTEST_KERNEL");
	bool all = kernel && !strcmp(kernel, "6.12");
	unsigned int many = all ? MANY : fewer_times(MANY / 10);
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN), status;
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int first;

	ASSERT_TRUE(event_sessions_are(0));
	/* Keep the source on: switching it on and off takes a while. */
	first = event_open(&attr, 0, -1, -1, 0);
	ASSERT_LE(0, first);
	fflush(stdout);
	for (cpu = 0; cpu < cpus; cpu++) {
		if (!fork()) {
			bool right = make_sessions(cpu, many / cpus);

			fflush(stdout);
			_exit(!right);
		}
	}
	for (cpu = 0; cpu < cpus; cpu++) {
		wait(&status);
		EXPECT_EQ(0, status);
	}
	EXPECT_TRUE(event_sessions_are(1));
	close(first);
	EXPECT_TRUE(event_sessions_are(0));
	check_memory(_metadata);
}

TEST_HARNESS_MAIN
