// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of a program whose paths are all known: each process runs each path as
 * often as it must, and rows add up to the count.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

enum { PROGRAMS = 128 };

/* The paths of `known`, by their beginning and target. */
enum known_path {
	CALL_TO_INNER, /* from its entry to the inner loop's first back edge */
	INNER_TO_INNER,
	INNER_TO_OUTER, /* through the inner loop's end */
	OUTER_TO_INNER,
	INNER_TO_RETURN,
	KNOWN_PATHS,
};

static const struct {
	uint64_t start, target, count;
} known_paths[KNOWN_PATHS] = {
	{ KNOWN_TEXT, KNOWN_INNER_HEAD, 1 },
	{ KNOWN_INNER_HEAD, KNOWN_INNER_HEAD,
	  KNOWN_OUTER * (KNOWN_INNER - 2) },
	{ KNOWN_INNER_HEAD, KNOWN_OUTER_HEAD, KNOWN_OUTER_BACK },
	{ KNOWN_OUTER_HEAD, KNOWN_INNER_HEAD, KNOWN_OUTER_BACK },
	{ KNOWN_INNER_HEAD, 0, 1 },
};

/* An address space that ran `known`, and the program that forked it before. */
struct program {
	uint32_t space;
	uint64_t count;			/* of all its paths */
	uint64_t known[KNOWN_PATHS];
};

struct seen {
	struct program programs[PROGRAMS];
	unsigned int count;
	uint64_t wrong;			/* impossible rows */
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

/* Jumps lead forward, each from the last target or behind it. */
static bool is_path(const struct hwprof_row_path *row)
{
	uint64_t line = row->start;
	unsigned int i;

	if (row->spelled > row->length ||
	    row->spelled > HWPROF_PATH_JUMPS_MAX ||
	    row->row.size !=
		    sizeof(*row) + row->spelled * sizeof(row->jumps[0]))
		return false;
	if (row->flags & HWPROF_PATH_UNSEEN)
		return !row->start && !row->end && !row->length;
	for (i = 0; i < row->spelled; i++) {
		if (row->jumps[i].from < line ||
		    row->jumps[i].to <= row->jumps[i].from)
			return false;
		line = row->jumps[i].to;
	}
	return row->end >= line && row->target <= row->end;
}

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_path *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct program *program = find(seen, row->row.space);
	unsigned int i;

	if (!program || row->row.type != HWPROF_ROW_PATH ||
	    row->basis != HWPROF_BASIS_EXACT || !row->count ||
	    row->count != sample->period || row->start != sample->ip ||
	    row->end != sample->addr || !is_path(row)) {
		seen->wrong++;
		return;
	}
	program->count += row->count;
	for (i = 0; i < KNOWN_PATHS; i++)
		if (row->start == known_paths[i].start &&
		    row->target == known_paths[i].target && !row->length)
			program->known[i] += row->count;
}

FIXTURE(paths)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
};

FIXTURE_SETUP(paths)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(paths)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(paths) *self, unsigned int interval_ms,
		   unsigned int memory_mib)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_PATHS | EVENT_ROWS |
				    EVENT_MEMORY(memory_mib), 1);

	attr.config1 = EVENT_INTERVAL(interval_ms);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
}

/*
 * Asserts that everything came in rows, and that so many programs were `known`.
 */
static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(paths) *self, unsigned int programs)
{
	unsigned int found = 0, i, k;

	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&self->recording),
		  self->tally.totals.produced);
	for (i = 0; i < self->seen.count; i++) {
		const struct program *program = &self->seen.programs[i];

		if (!program->known[INNER_TO_INNER])
			continue;
		found++;
		EXPECT_EQ(KNOWN_BACK + 1, program->count);
		for (k = 0; k < KNOWN_PATHS; k++)
			EXPECT_EQ(known_paths[k].count, program->known[k]);
	}
	EXPECT_EQ(programs, found);
}

TEST_F(paths, of_a_program)
{
	self->child = child_known();
	record(_metadata, self, 1000, 4);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
}

/* Tables are merged in the middle, again and again. */
TEST_F(paths, of_intervals)
{
	self->child = child_known();
	record(_metadata, self, 1, 1);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
}

TEST_F(paths, of_many_programs)
{
	self->child = child_known_jobs();
	record(_metadata, self, 1000, 4);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, known_jobs());
}

static void run_on(void *context)
{
	for (;;)
		known_run();
}

/* Everything until then is accounted for, wherever it was. */
TEST_F(paths, of_a_killed_program)
{
	self->child = child_start(run_on, NULL);
	record(_metadata, self, 10, 1);
	recording_read_until(&self->recording, 2 * KNOWN_BACK);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_LT(KNOWN_BACK, self->tally.period);
}

TEST_HARNESS_MAIN
