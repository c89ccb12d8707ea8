// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that keeps the kernel busy (nests.h): working out its loops takes
 * too long to do it without a pause, and yet they are reported.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "nests.h"

EVENT_ALL_NEED("step")

/* Sums of all rows: of each loop, and of the loop around all ways. */
static uint64_t back_edges[NESTS_LOOPS], entries[NESTS_LOOPS], outer_back_edges;

static void see_loop(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_loop *loop = (const void *)sample->row;
	uint64_t number = loop->head - NESTS_HEAD(0);

	if (loop->head == NESTS_OUTER_HEAD)
		outer_back_edges += loop->back_edges;
	if (number >= NESTS_LOOPS)
		return;
	back_edges[number] += loop->back_edges;
	entries[number] += loop->entries;
}

static void be_nests(void *context)
{
	char path[4096];

	strcpy(path, known_program());
	strcpy(strrchr(path, '/') + 1, "nests");
	execl(path, "nests", NULL);
	_exit(98);
}

FIXTURE(nests)
{
	struct recording recording;
	struct tally tally;
	struct child child;
};

FIXTURE_SETUP(nests)
{
	ASSERT_TRUE(event_sessions_are(0));
	memset(back_edges, 0, sizeof(back_edges));
	memset(entries, 0, sizeof(entries));
	outer_back_edges = 0;
	self->tally.see = see_loop;
	self->child = child_start(be_nests, NULL);
}

FIXTURE_TEARDOWN(nests)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(nests) *self, unsigned int interval_ms)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS |
				    EVENT_MEMORY(16), 1);

	attr.config1 = EVENT_INTERVAL(interval_ms);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
}

/* Rows may come after the program's end, when they have been worked out. */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(nests) *self)
{
	uint64_t count = recording_count(&self->recording);
	unsigned int loop;

	while (self->tally.totals.delivered != count)
		recording_read_for(&self->recording, 10);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(count, self->tally.period);
	EXPECT_EQ(count, self->tally.totals.produced);
	EXPECT_EQ(NESTS_WAYS, outer_back_edges);
	for (loop = 0; loop < NESTS_LOOPS; loop++) {
		EXPECT_EQ(1, back_edges[loop]);
		/* At the start, by each way, and from each other loop. */
		EXPECT_EQ(1 + NESTS_WAYS + NESTS_LOOPS - 1, entries[loop]);
	}
}

TEST_F(nests, until_the_end)
{
	record(_metadata, self, 10000);
	check(_metadata, self);
}

/* Worked out anew in each interval, while the program continues. */
TEST_F(nests, of_intervals)
{
	record(_metadata, self, 1);
	check(_metadata, self);
}

/* The opener disables the event again and again. */
TEST_F(nests, while_disabled)
{
	unsigned int times;

	record(_metadata, self, 10000);
	for (times = 0; times < 20; times++) {
		recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
		recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	}
	check(_metadata, self);
}

TEST_HARNESS_MAIN
