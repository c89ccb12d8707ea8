// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges of a program whose branches are all known: its rows add up to them,
 * process by process, and the count of each place is within its bounds. Also
 * boxes of a program with known loads, with the instructions that make them.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

enum { PROGRAMS = 128 };

/* An address space that ran `known`, and the program that forked it before. */
struct program {
	uint32_t space;
	uint64_t count;			/* in all of its ranges */
	uint64_t inner;			/* at the inner loop's head */
	uint64_t around;		/* in ranges around that */
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
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
}

/*
 * Asserts that everything came in rows, and that so many programs were `known`.
 */
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
	/* The default error is 1 %, and memory was not short. */
	EXPECT_LE(KNOWN_INNER_BACK * 99 / 100, self->seen.programs[1].inner);
}

/* Tables are merged in the middle, again and again. */
TEST_F(ranges, of_intervals)
{
	self->child = child_known();
	record(_metadata, self, 1, 1, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
}

TEST_F(ranges, of_many_programs)
{
	self->child = child_known_jobs();
	record(_metadata, self, 1000, 4, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, known_jobs());
}

static void run_on(void *context)
{
	for (;;)
		known_run();
}

/* Everything until then is accounted for, wherever it was. */
TEST_F(ranges, of_a_killed_program)
{
	self->child = child_start(run_on, NULL);
	record(_metadata, self, 10, 1, 1);
	recording_read_until(&self->recording, 2 * KNOWN_BRANCHES);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_LT(KNOWN_BRANCHES, self->tally.period);
}

/* --- pairs ---------------------------------------------------------------- */

#ifdef __x86_64__

enum {
	/*
	 * Loads of each loop, in its own array. Larger boxes count some 1,500
	 * before they divide, which is little of this.
	 */
	LOADS = 40000,
	CODE_BITS = 8,
	ARRAY_BITS = 20,
};

static volatile uint64_t *arrays[2];

static __attribute__((noinline, aligned(1 << CODE_BITS))) void loop_first(void)
{
	volatile uint64_t *array = arrays[0];
	unsigned int i;

	for (i = 0; i < LOADS; i++)
		array[i];
}

static __attribute__((noinline, aligned(1 << CODE_BITS))) void loop_second(void)
{
	volatile uint64_t *array = arrays[1];
	unsigned int i;

	for (i = 0; i < LOADS; i++)
		array[2 * i];
}

static void run_loops(void *context)
{
	loop_first();
	loop_second();
}

static uint64_t last_of(uint64_t low, unsigned int bits)
{
	return bits == 64 ? UINT64_MAX : low + ((1ULL << bits) - 1);
}

/* A box of a loop's code by an array. */
struct box {
	uint64_t code, array;
	uint64_t least, around;
};

struct seen_boxes {
	struct box boxes[4];
	uint64_t wrong;
};

static bool has_box(const struct hwprof_row_box *row, const struct box *box)
{
	return row->code <= box->code && row->low <= box->array &&
	       last_of(row->code, row->code_bits) >=
	       last_of(box->code, CODE_BITS) &&
	       last_of(row->low, row->bits) >= last_of(box->array, ARRAY_BITS);
}

static bool is_in_box(const struct hwprof_row_box *row, const struct box *box)
{
	return row->code >= box->code && row->low >= box->array &&
	       last_of(row->code, row->code_bits) <=
	       last_of(box->code, CODE_BITS) &&
	       last_of(row->low, row->bits) <= last_of(box->array, ARRAY_BITS);
}

static void see_box(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_box *row = (const void *)sample->row;
	struct seen_boxes *seen = tally->context;
	struct box *box;

	if (row->row.type != HWPROF_ROW_BOX || row->row.size != sizeof(*row) ||
	    row->basis != HWPROF_BASIS_EXACT || row->count != sample->period ||
	    row->of != HWPROF_RANGE_IP_LOAD_ADDRESS || !row->count ||
	    row->code != sample->ip || row->low != sample->addr)
		seen->wrong++;
	for (box = seen->boxes; box < seen->boxes + 4; box++) {
		if (is_in_box(row, box))
			box->least += row->count;
		else if (has_box(row, box))
			box->around += row->count;
	}
}

/* Aligns the arrays, so that each has its own box. */
static void make_arrays(struct __test_metadata *_metadata)
{
	size_t size = 1UL << ARRAY_BITS;
	char *memory = mmap(NULL, 3 * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ASSERT_NE(MAP_FAILED, memory);
	memory += -(uintptr_t)memory & (size - 1);
	arrays[0] = (void *)memory;
	arrays[1] = (void *)(memory + size);
}

/*
 * The accesses of each loop to its array are found, and none to the other's
 * array.
 */
TEST_F(ranges, of_code_by_addresses)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_RANGES | EVENT_ROWS |
				    EVENT_MEMORY(4), 1);
	struct seen_boxes seen = { .wrong = 0 };
	unsigned int i;

	make_arrays(_metadata);
	for (i = 0; i < 4; i++) {
		seen.boxes[i].code =
			(uintptr_t)(i % 2 ? loop_second : loop_first);
		seen.boxes[i].array = (uintptr_t)arrays[i / 2];
	}
	self->tally.see = see_box;
	self->tally.context = &seen;
	attr.config2 = EVENT_RANGE_OF(HWPROF_RANGE_IP_LOAD_ADDRESS);
	self->child = child_start(run_loops, NULL);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(0, seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	for (i = 0; i < 4; i++) {
		const struct box *box = &seen.boxes[i];
		uint64_t exact = i % 2 == i / 2 ? LOADS : 0;

		EXPECT_LE(exact * 9 / 10, box->least);
		EXPECT_GE(exact, box->least);
		EXPECT_LE(exact, box->least + box->around);
		EXPECT_GE(exact + LOADS / 10, box->least + box->around);
	}
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
