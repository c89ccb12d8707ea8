// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of known loads: rows add up to them, process by process, and samples
 * have them.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "values.h"

EVENT_ALL_NEED("step")

#ifdef __x86_64__

enum {
	TIMES	= 4000,
	JOBS	= 6,
	LOADS	= 5,
	VALUES	= 16,
};

/* The rows of a named load, summed as linux/hwprof.h specifies. */
struct load {
	uint64_t loads, unseen, runs, breaks, strides, other_strides;
	struct hwprof_value values[VALUES];
	unsigned int count;
	uint64_t rest;
	uint64_t samples;
};

struct program {
	uint32_t pid;
	struct load loads[LOADS];
};

struct seen {
	struct program programs[2 * JOBS];
	unsigned int count;
	uint64_t wrong;			/* impossible rows */
};

static const char *const named[LOADS] = {
	value_constant, value_zero, value_stride, value_glacial, value_turns,
};

enum { CONSTANT, ZERO, STRIDE, GLACIAL, TURNS };

static struct load *find(struct seen *seen, uint32_t pid, uint64_t ip)
{
	unsigned int i, k;

	for (k = 0; k < LOADS; k++)
		if (ip == (uintptr_t)named[k])
			break;
	if (k == LOADS)
		return NULL;
	for (i = 0; i < seen->count; i++)
		if (seen->programs[i].pid == pid)
			return &seen->programs[i].loads[k];
	if (seen->count == 2 * JOBS)
		return NULL;
	seen->programs[seen->count].pid = pid;
	return &seen->programs[seen->count++].loads[k];
}

static void add_values(struct load *load, const struct hwprof_row_value *row)
{
	uint64_t rest = row->loads - row->unseen;
	unsigned int known = load->count, i, k;

	for (i = 0; i < row->count; i++)
		rest -= row->values[i].hits;
	for (k = 0; k < known; k++) {
		for (i = 0; i < row->count; i++)
			if (row->values[i].value == load->values[k].value)
				break;
		load->values[k].hits += i < row->count ?
					row->values[i].hits : 0;
		load->values[k].missed += i < row->count ?
					  row->values[i].missed : rest;
	}
	for (i = 0; i < row->count && load->count < VALUES; i++) {
		for (k = 0; k < known; k++)
			if (row->values[i].value == load->values[k].value)
				break;
		if (k < known)
			continue;
		load->values[load->count] = row->values[i];
		load->values[load->count++].missed += load->rest;
	}
	load->rest += rest;
}

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct load *load;

	if (row->row.type != HWPROF_ROW_VALUE ||
	    row->row.size != sizeof(*row) || row->basis != HWPROF_BASIS_EXACT ||
	    row->loads != sample->period || !row->loads ||
	    row->ip != sample->ip || row->count > HWPROF_VALUES_MAX ||
	    row->breaks > row->runs) {
		seen->wrong++;
		return;
	}
	load = find(seen, row->row.pid, row->ip);
	if (!load)
		return;
	load->samples++;
	load->loads += row->loads;
	load->unseen += row->unseen;
	load->runs += row->runs;
	load->breaks += row->breaks;
	if (row->stride == VALUES_STRIDE)
		load->strides += row->strides;
	else
		load->other_strides += row->strides;
	add_values(load, row);
}

FIXTURE(values)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
};

FIXTURE_SETUP(values)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(values)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(values) *self, uint64_t config,
		   unsigned int interval_ms)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_VALUES | config, 1);

	attr.config1 = EVENT_INTERVAL(interval_ms);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
}

static void run_values(void *context)
{
	values_run(TIMES);
}

/* Asserts that the value was returned so often. */
static void check_value(struct __test_metadata *_metadata,
			const struct load *load, uint64_t value, uint64_t times)
{
	unsigned int i;

	for (i = 0; i < load->count; i++)
		if (load->values[i].value == value)
			break;
	ASSERT_GT(load->count, i);
	EXPECT_GE(times, load->values[i].hits);
	EXPECT_LE(times, load->values[i].hits + load->values[i].missed);
}

static void check_program(struct __test_metadata *_metadata,
			  const struct program *program)
{
	const struct load *loads = program->loads;
	unsigned int i;

	for (i = 0; i < LOADS; i++) {
		EXPECT_EQ(TIMES, loads[i].loads);
		EXPECT_EQ(0, loads[i].unseen);
	}
	/* Only this value, and no run but the first. */
	EXPECT_EQ(1, loads[CONSTANT].count);
	EXPECT_EQ(loads[CONSTANT].breaks, loads[CONSTANT].runs);
	EXPECT_EQ(TIMES, loads[CONSTANT].values[0].hits);
	check_value(_metadata, &loads[CONSTANT], VALUES_CONSTANT, TIMES);
	EXPECT_EQ(1, loads[ZERO].count);
	check_value(_metadata, &loads[ZERO], 0, TIMES);
	EXPECT_LT(100, loads[STRIDE].strides);
	EXPECT_EQ(0, loads[STRIDE].other_strides);
	EXPECT_EQ(2, loads[GLACIAL].count);
	EXPECT_GE(loads[GLACIAL].breaks + 1, loads[GLACIAL].runs);
	check_value(_metadata, &loads[GLACIAL], VALUES_EARLY, TIMES / 2);
	check_value(_metadata, &loads[GLACIAL], VALUES_LATE, TIMES / 2);
	EXPECT_EQ(VALUES_TURNS, loads[TURNS].count);
	for (i = 0; i < VALUES_TURNS; i++) {
		check_value(_metadata, &loads[TURNS], 0x100 + i,
			    TIMES / VALUES_TURNS);
		EXPECT_EQ(TIMES / VALUES_TURNS, loads[TURNS].values[i].hits);
	}
}

/* Asserts that everything came in rows, and that so many processes ran it. */
static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(values) *self, unsigned int programs)
{
	unsigned int i;

	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&self->recording),
		  self->tally.totals.produced);
	EXPECT_EQ(programs, self->seen.count);
	for (i = 0; i < self->seen.count; i++)
		check_program(_metadata, &self->seen.programs[i]);
}

TEST_F(values, of_a_program)
{
	self->child = child_start(run_values, NULL);
	record(_metadata, self, EVENT_ROWS | EVENT_MEMORY(4), 1000);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
}

/* Tables are merged in the middle, again and again. */
TEST_F(values, of_intervals)
{
	self->child = child_start(run_values, NULL);
	record(_metadata, self, EVENT_ROWS | EVENT_MEMORY(4), 2);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1);
}

static void run_jobs(void *context)
{
	unsigned int i;

	for (i = 0; i < JOBS; i++)
		if (!fork()) {
			values_run(TIMES);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

/* On the same CPUs at the same addresses: values are not mixed up. */
TEST_F(values, of_many_programs)
{
	self->child = child_start(run_jobs, NULL);
	record(_metadata, self, EVENT_ROWS | EVENT_MEMORY(8), 1000);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, JOBS);
}

static void run_on(void *context)
{
	for (;;)
		values_run(TIMES);
}

/* Everything until then is accounted for, wherever it was. */
TEST_F(values, of_a_killed_program)
{
	self->child = child_start(run_on, NULL);
	record(_metadata, self, EVENT_ROWS | EVENT_MEMORY(4), 10);
	recording_read_until(&self->recording, 1000);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
}

/* Stays on one CPU, since see_sample() takes the values in order. */
static void run_few(void *context)
{
	stay_on(0);
	values_run(VALUES_TURNS);
}

static void see_sample(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct load *load = find(seen, sample->pid, sample->ip);

	if (row->row.type != HWPROF_ROW_VALUE || row->count != 1 ||
	    row->loads != sample->period || row->ip != sample->ip)
		seen->wrong++;
	else if (load && load->count < VALUES)
		load->values[load->count++] = row->values[0];
}

/* Each load with its value. */
TEST_F(values, of_samples)
{
	const struct load *loads = self->seen.programs[0].loads;
	unsigned int i;

	self->tally.see = see_sample;
	self->child = child_start(run_few, NULL);
	record(_metadata, self, 0, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(0, self->seen.wrong);
	ASSERT_EQ(1, self->seen.count);
	for (i = 0; i < VALUES_TURNS; i++) {
		EXPECT_EQ(VALUES_CONSTANT, loads[CONSTANT].values[i].value);
		EXPECT_EQ(0, loads[ZERO].values[i].value);
		EXPECT_EQ(i * VALUES_STRIDE, loads[STRIDE].values[i].value);
		EXPECT_EQ(0x100 + i, loads[TURNS].values[i].value);
	}
}

/* Fields without a meaning for values, and who may see values. */
TEST_F(values, refusals)
{
	struct perf_event_attr attr = event_attr(EVENT_VALUES | 4096ULL << 32);
	int fd;

	EXPECT_EQ(-EINVAL, event_open(&attr, 0, -1, -1, 0));
	attr.config = EVENT_VALUES;
	attr.config2 = 10000;		/* epsilon_ppm */
	EXPECT_EQ(-EINVAL, event_open(&attr, 0, -1, -1, 0));
	attr.config2 = 0;
	attr.config = EVENT_VALUES | EVENT_LBR;
	EXPECT_EQ(-EOPNOTSUPP, event_open(&attr, 0, -1, -1, 0));
	attr.config = EVENT_VALUES | EVENT_SAMPLE;
	EXPECT_EQ(-EOPNOTSUPP, event_open(&attr, 0, -1, -1, 0));
	attr.config = EVENT_VALUES | EVENT_STEP;
	fd = event_open(&attr, -1, 0, -1, 0);
	EXPECT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	EXPECT_EQ(-EACCES, event_open(&attr, -1, 0, -1, 0));
	self->recording.count = 0;
}

#endif

TEST_HARNESS_MAIN
