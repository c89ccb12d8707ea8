// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges of a program whose every branch is known: its rows add up to them,
 * process by process, and each place has had what its bounds allow.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

enum { PROGRAMS = 128, JOBS = 4, JOBS_EACH = 8 };

/* An address space that ran `known`, and before that, what forked it. */
struct program {
	uint32_t space;
	uint64_t count;			/* in all of its ranges */
	uint64_t inner;			/* at the inner loop's head */
	uint64_t around;		/* in ranges around that */
};

struct seen {
	struct program programs[PROGRAMS];
	unsigned int count;
	uint64_t wrong;			/* rows that are not what they may be */
};

static struct program *find(struct seen *seen, uint32_t space)
{
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->programs[i].space == space)
			return &seen->programs[i];
	if (seen->count == PROGRAMS)
		return NULL;
	seen->programs[seen->count].space = space;
	return &seen->programs[seen->count++];
}

static bool is_range(const struct hwprof_row_range *row)
{
	return row->bits == 64 ? !row->low :
	       row->bits < 64 && row->bits % 2 == 0 &&
	       !(row->low & ((1ULL << row->bits) - 1));
}

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_range *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct program *program = find(seen, row->row.space);

	if (!program || row->row.type != HWPROF_ROW_RANGE ||
	    row->row.size != sizeof(*row) || row->basis != HWPROF_BASIS_EXACT ||
	    row->count != sample->period || !row->count ||
	    row->low != sample->ip || !is_range(row)) {
		seen->wrong++;
		return;
	}
	program->count += row->count;
	if (sample->addr < KNOWN_INNER_HEAD || sample->ip > KNOWN_INNER_HEAD)
		return;
	if (row->bits)
		program->around += row->count;
	else
		program->inner += row->count;
}

FIXTURE(ranges)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
};

FIXTURE_SETUP(ranges)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(ranges)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(ranges) *self, unsigned int interval_ms,
		   unsigned int memory_mib, uint64_t epsilon_ppm)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_RANGES | EVENT_ROWS |
				    EVENT_MEMORY(memory_mib), 1);

	attr.config1 = EVENT_INTERVAL(interval_ms);
	attr.config2 = epsilon_ppm;
	ASSERT_EQ(0, recording_open(&self->recording, &attr, self->child.pid,
				    64, &self->tally));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
}

/* All that was counted came in rows; so many programs were `known`. */
static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(ranges) *self, unsigned int programs)
{
	unsigned int found = 0, i;

	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&self->recording),
		  self->tally.totals.produced);
	for (i = 0; i < self->seen.count; i++) {
		const struct program *program = &self->seen.programs[i];

		if (!program->inner)
			continue;
		found++;
		EXPECT_EQ(KNOWN_BRANCHES, program->count);
		EXPECT_GE(KNOWN_INNER_BACK, program->inner);
		EXPECT_LE(KNOWN_INNER_BACK, program->inner + program->around);
	}
	EXPECT_EQ(programs, found);
}

TEST_F(ranges, of_a_program)
{
	self->child = child_known();
	record(_metadata, self, 1000, 4, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
	/* The default is 1 %; nothing made memory short. */
	EXPECT_LE(KNOWN_INNER_BACK * 99 / 100, self->seen.programs[1].inner);
}

/* A table that is merged in the middle of it, again and again. */
TEST_F(ranges, of_intervals)
{
	self->child = child_known();
	record(_metadata, self, 1, 1, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
}

static void spawn(const char *program)
{
	if (vfork() == 0) {
		execl(program, "known", NULL);
		_exit(98);
	}
}

/* As make -j does it. */
static void run_jobs(void *program)
{
	int started;

	for (started = 0; started < JOBS * JOBS_EACH; started++) {
		if (started >= JOBS)
			wait(NULL);
		spawn(program);
	}
	while (wait(NULL) > 0)
		;
}

TEST_F(ranges, of_many_programs)
{
	self->child = child_start(run_jobs, (void *)known_program());
	record(_metadata, self, 1000, 4, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, JOBS * JOBS_EACH);
}

static void run_on(void *context)
{
	for (;;)
		known_run();
}

/* What it did until then is accounted, wherever it was. */
TEST_F(ranges, of_a_killed_program)
{
	self->child = child_start(run_on, NULL);
	record(_metadata, self, 10, 1, 1);
	recording_read_for(&self->recording, 300);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_LT(KNOWN_BRANCHES, self->tally.period);
}

TEST_HARNESS_MAIN
