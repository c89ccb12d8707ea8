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

FIXTURE(budget)
{
	struct recording recording;
	struct tally tally;
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

/* Records all CPUs while the child runs. Returns the duration in ns. */
static uint64_t record_all(struct __test_metadata *_metadata,
			   FIXTURE_DATA(budget) *self, uint64_t permille,
			   void (*run)(void *context))
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_RANGES | EVENT_SAMPLE | EVENT_ROWS,
				    MS);
	struct child child = child_start(run, NULL);
	uint64_t begin;

	attr.config1 = EVENT_BUDGET(permille) | EVENT_INTERVAL(100);
	attr.exclude_kernel = 0;
	ASSERT_EQ(0, recording_open(&self->recording, &attr, -1, 64,
				    &self->tally));
	begin = now_ns();
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	EXPECT_EQ(0, recording_wait(&self->recording, child.pid));
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	TH_LOG("%llu ms: %llu ms of them were used, %llu us by us",
	       (unsigned long long)((now_ns() - begin) / MS),
	       (unsigned long long)(self->tally.totals.task_ns / MS),
	       (unsigned long long)(self->tally.totals.cost_ns / 1000));
	return now_ns() - begin;
}

/*
 * A tenth of one CPU runs, and this test. With idle time, the base would be
 * that of both CPUs.
 */
TEST_F(budget, idle_time_is_not_in_its_base)
{
	uint64_t took = record_all(_metadata, self, 10, run_rarely);

	EXPECT_LT(0, self->tally.totals.task_ns);
	EXPECT_GT(took, self->tally.totals.task_ns);
}

TEST_F(budget, nor_is_it_without_a_budget)
{
	uint64_t took = record_all(_metadata, self, 0, run_rarely);

	EXPECT_LT(0, self->tally.totals.task_ns);
	EXPECT_GT(took, self->tally.totals.task_ns);
}

TEST_F(budget, busy_time_is)
{
	uint64_t took = record_all(_metadata, self, 10, run_always);

	EXPECT_LT(took / 2, self->tally.totals.task_ns);
}

TEST_HARNESS_MAIN
