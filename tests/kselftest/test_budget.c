// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a session is a share of the time of running tasks, not of idle
 * time.
 */
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "text.h"

enum {
	ROUNDS		= 20,
	ROUND_MS	= 100,
	BUSY_MS		= 10,	/* of each round, on one CPU */
};

#define MS	1000000ULL

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void spin(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void run_rarely(void *context)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		spin(BUSY_MS * MS);
		usleep((ROUND_MS - BUSY_MS) * 1000);
	}
}

static void run_always(void *context)
{
	spin(ROUNDS * ROUND_MS * MS);
}

/* Returns the idle time of all CPUs together, in ns. */
static uint64_t idle_ns(void)
{
	unsigned long long idle = 0, waiting = 0;
	char line[256] = "";

	text_read("/proc/stat", line, sizeof(line));
	sscanf(line, "cpu %*u %*u %*u %llu %llu", &idle, &waiting);
	return (idle + waiting) * (1000 * MS / sysconf(_SC_CLK_TCK));
}

FIXTURE(budget)
{
	struct recording recording;
	struct tally tally;
	uint64_t took, idle;		/* ns, the latter of all CPUs */
};

FIXTURE_SETUP(budget)
{
	ASSERT_TRUE(event_sessions_are(0));
}

FIXTURE_TEARDOWN(budget)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

/* Records all CPUs while the child runs. */
static void record_all(struct __test_metadata *_metadata,
		       FIXTURE_DATA(budget) *self, uint64_t permille,
		       void (*run)(void *context))
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_RANGES | EVENT_SAMPLE | EVENT_ROWS,
				    MS);
	struct child child = child_start(run, NULL);
	uint64_t begin, idle;

	attr.config1 = EVENT_BUDGET(permille) | EVENT_INTERVAL(100);
	attr.exclude_kernel = 0;
	ASSERT_EQ(0, recording_open(&self->recording, &attr, -1, 64,
				    &self->tally));
	begin = now_ns();
	idle = idle_ns();
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	EXPECT_EQ(0, recording_wait(&self->recording, child.pid));
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	self->took = now_ns() - begin;
	self->idle = idle_ns() - idle;
	TH_LOG("%llu ms, %llu of CPUs idle: %llu were used, %llu us by us",
	       (unsigned long long)(self->took / MS),
	       (unsigned long long)(self->idle / MS),
	       (unsigned long long)(self->tally.totals.task_ns / MS),
	       (unsigned long long)(self->tally.totals.cost_ns / 1000));
}

/*
 * A tenth of one CPU runs, and this test, and on a slow machine the kernel's
 * threads. With idle time, the base would be all the time of all CPUs. The
 * kernel counts idle time in ticks, so a quarter of it is left out.
 */
static void check_base(struct __test_metadata *_metadata,
		       FIXTURE_DATA(budget) *self)
{
	uint64_t all = self->took * sysconf(_SC_NPROCESSORS_ONLN);

	if (self->idle < self->took / 4)
		SKIP(return, "the machine is too busy to tell");
	EXPECT_LT(0, self->tally.totals.task_ns);
	EXPECT_GT(all - self->idle * 3 / 4, self->tally.totals.task_ns);
}

TEST_F(budget, idle_time_is_not_in_its_base)
{
	record_all(_metadata, self, 10, run_rarely);
	check_base(_metadata, self);
}

TEST_F(budget, nor_is_it_without_a_budget)
{
	record_all(_metadata, self, 0, run_rarely);
	check_base(_metadata, self);
}

TEST_F(budget, busy_time_is)
{
	record_all(_metadata, self, 10, run_always);
	EXPECT_LT(self->took / 2, self->tally.totals.task_ns);
}

TEST_HARNESS_MAIN
