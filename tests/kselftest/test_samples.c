// SPDX-License-Identifier: GPL-2.0-only
/* Counting and sampling: counts are exact, and periods add up to them. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

static void run_once(void *context)
{
	known_run();
}

/* Sets the number of samples per second above which perf throttles. */
static void set_rate(struct __test_metadata *_metadata, int rate)
{
	EXPECT_EQ(0, sample_rate_write(rate));
}

enum { RATE_UNLIMITED = 100000000, RATE_LOW = 1000 };

/* --- counting ------------------------------------------------------------- */

/* Counts from the program's exec on. */
static uint64_t count_program(struct __test_metadata *_metadata,
			      struct perf_event_attr *attr)
{
	struct child child = child_known();
	uint64_t count;
	int fd;

	attr->enable_on_exec = 1;
	fd = event_open(attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	count = event_count(fd);
	close(fd);
	return count;
}

TEST(counts_back_edges)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);

	EXPECT_EQ(KNOWN_BACK, count_program(_metadata, &attr));
}

TEST(counts_branches)
{
	struct perf_event_attr attr = event_attr(EVENT_BRANCHES);

	EXPECT_EQ(KNOWN_BRANCHES, count_program(_metadata, &attr));
}

/* The span is too short for the outer loop's branch. */
TEST(counts_by_span)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | 2ULL << 32);

	EXPECT_EQ(KNOWN_INNER_BACK, count_program(_metadata, &attr));
}

/* Without inheritance, children do not count. */
TEST(counts_without_children)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);

	attr.inherit = 0;
	EXPECT_EQ(KNOWN_BACK, count_program(_metadata, &attr));
}

static void move_to(int cpu)
{
	stay_on(cpu % sysconf(_SC_NPROCESSORS_ONLN));
}

enum { CHILDREN = 8 };

static unsigned int rounds(void)
{
	return fewer_times(10);
}

/*
 * Parent and children execute `known` again and again and pass the CPU around:
 * perf swaps their contexts, and moves them between CPUs.
 */
static void run_family(void *context)
{
	unsigned int i, round;

	for (i = 0; i < CHILDREN; i++) {
		if (fork())
			continue;
		for (round = 0; round < rounds(); round++) {
			move_to(i + round);
			known_run();
			sched_yield();
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void add_known(struct tally *tally, const struct sample *sample)
{
	uint64_t *known = tally->context;

	if (sample->ip == (uint64_t)known_inner ||
	    sample->ip == (uint64_t)known_outer)
		*known += sample->period;
}

/* All rows of the known loops arrive, and counters agree with all rows. */
static void record_family(struct __test_metadata *_metadata, bool per_cpu)
{
	struct child child = child_start(run_family, NULL);
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(8), 1);
	struct perf_event_attr count = event_attr(EVENT_LOOPS);
	struct recording rows, counts = {};
	uint64_t known = 0;
	struct tally tally = { .see = add_known, .context = &known };

	ASSERT_EQ(0, recording_open(&rows, &attr, child.pid, 64, &tally));
	if (per_cpu) {
		ASSERT_EQ(0, recording_open(&counts, &count, child.pid, 0,
					    NULL));
	} else {
		ASSERT_EQ(0, recording_add(&counts, &count, child.pid, -1));
	}
	recording_control(&rows, PERF_EVENT_IOC_ENABLE);
	recording_control(&counts, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	recording_wait(&rows, child.pid);
	EXPECT_EQ(CHILDREN * rounds() * KNOWN_BACK, known);
	EXPECT_EQ(tally.period, recording_count(&counts));
	EXPECT_TRUE(tally_is_whole(&tally));
	recording_close(&rows);
	recording_close(&counts);
}

TEST(swaps_and_migrations)
{
	record_family(_metadata, false);
}

TEST(swaps_and_migrations_per_cpu)
{
	record_family(_metadata, true);
}

/*
 * perf then swaps the counts of parents and children. It pairs their events by
 * number, which only works for one event, so there are no rows here.
 */
TEST(inherit_stat)
{
	struct child child = child_start(run_family, NULL);
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	uint64_t count;
	int fd;

	attr.inherit_stat = 1;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	count = event_count(fd);
	EXPECT_LE(CHILDREN * rounds() * KNOWN_BACK, count);
	EXPECT_GT(CHILDREN * rounds() * (KNOWN_BACK + 100), count);
	close(fd);
}

/* --- sampling ------------------------------------------------------------- */

FIXTURE(sampling)
{
	struct recording recording;
	struct tally tally;
	struct child child;
	uint64_t known;
};

FIXTURE_SETUP(sampling)
{
	self->tally.see = add_known;
	self->tally.context = &self->known;
	self->child = child_start(run_once, NULL);
	set_rate(_metadata, RATE_UNLIMITED);
}

FIXTURE_TEARDOWN(sampling)
{
	set_rate(_metadata, RATE_UNLIMITED);
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void sample_once(struct __test_metadata *_metadata,
			FIXTURE_DATA(sampling) *self,
			struct perf_event_attr attr)
{
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.inherit = 0;
	self->recording.pages = 1024;
	self->recording.tally = &self->tally;
	self->tally.reads = true;
	ASSERT_EQ(0, recording_add(&self->recording, &attr, self->child.pid,
				   -1));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(0, self->tally.lost);
	/* The count in each sample is the sum of periods so far. */
	if (!(attr.config & EVENT_ROWS)) {
		EXPECT_EQ(0, self->tally.wrong_reads);
	}
}

TEST_F(sampling, each)
{
	sample_once(_metadata, self, event_attr_sampling(EVENT_LOOPS, 1));
	EXPECT_EQ(KNOWN_BACK, self->known);
}

TEST_F(sampling, hundredth)
{
	sample_once(_metadata, self, event_attr_sampling(EVENT_LOOPS, 100));
	EXPECT_LE(KNOWN_BACK / 100, self->tally.samples);
	EXPECT_LT(KNOWN_BACK - 500, self->known);
	EXPECT_GT(KNOWN_BACK + 500, self->known);
}

static void run_moving(void *context)
{
	int i;

	for (i = 0; i < 10; i++) {
		move_to(i);
		known_run();
	}
}

/* Counts of events on a task's former CPUs are not forgotten. */
TEST_F(sampling, of_a_task_that_moves)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 777);
	struct child child = child_start(run_moving, NULL);

	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &child,
				     64, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, child.pid));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
}

/* Events of both kinds may be in one session; each has its own rest. */
static void sample_two_kinds(struct __test_metadata *_metadata,
			     FIXTURE_DATA(sampling) *self,
			     struct perf_event_attr attr,
			     struct perf_event_attr second)
{
	struct child child = child_start(run_moving, NULL);
	struct recording other = {};
	struct tally tally = { .reads = true };

	ASSERT_EQ(0, recording_open(&other, &second, child.pid, 64, &tally));
	recording_control(&other, PERF_EVENT_IOC_ENABLE);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &child,
				     64, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, child.pid));
	recording_drain(&other);
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&other), tally.period);
	recording_close(&other);
}

TEST_F(sampling, of_two_periods)
{
	sample_two_kinds(_metadata, self, event_attr_sampling(EVENT_LOOPS, 777),
			 event_attr_sampling(EVENT_LOOPS, 77777));
}

TEST_F(sampling, of_two_types)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 777);
	struct perf_event_attr reads;

	attr.inherit = 0;	/* older kernels read none that is inherited */
	reads = attr;
	reads.sample_type |= PERF_SAMPLE_READ;
	sample_two_kinds(_metadata, self, attr, reads);
}

/* Events that are looked at for rests when an event stops. */
enum { LOOKS_MOST = 4096 };

/* Rests that are not found count as a lost event. */
TEST_F(sampling, behind_too_many_events)
{
	struct rlimit files = { LOOKS_MOST + 1000, LOOKS_MOST + 1000 };
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 1 << 30);
	struct perf_event_attr idle = event_attr(EVENT_LOOPS);
	struct child child = child_start(run_moving, NULL);
	static int fds[LOOKS_MOST];
	uint64_t count;
	int i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(0, recording_open(&self->recording, &attr, child.pid, 64,
				    &self->tally));
	for (i = 0; i < LOOKS_MOST; i++) {
		fds[i] = event_open(&idle, child.pid, 0, -1, 0);
		ASSERT_LE(0, fds[i]);
	}
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	EXPECT_EQ(0, recording_wait(&self->recording, child.pid));
	count = recording_count(&self->recording);
	EXPECT_GT(count, self->tally.period);
	EXPECT_LT(0, event_lost());
	for (i = 0; i < LOOKS_MOST; i++)
		close(fds[i]);
}

enum { WITHOUT_RESTS = 12 };	/* more than there are samples in a tick */

/* Events without a rest lose nothing when their task is killed. */
TEST_F(sampling, without_rests)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 777);
	struct child child;
	int i;

	stay_on(0);
	child = child_start(run_once, NULL);
	self->recording.pages = 4;
	self->recording.tally = &self->tally;
	for (i = 0; i < WITHOUT_RESTS; i++)
		ASSERT_EQ(0, recording_add(&self->recording, &attr, child.pid,
					   0));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	kill(child.pid, SIGKILL);
	EXPECT_EQ(0, recording_count(&self->recording));
	EXPECT_EQ(SIGKILL, recording_wait(&self->recording, child.pid));
	EXPECT_EQ(0, event_lost());
}

/* A period above the count: one sample has everything. */
TEST_F(sampling, never)
{
	sample_once(_metadata, self, event_attr_sampling(EVENT_LOOPS, 1 << 30));
	EXPECT_EQ(1, self->tally.samples);
}

TEST_F(sampling, by_frequency)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 0);

	attr.freq = 1;
	attr.sample_freq = 1000;
	sample_once(_metadata, self, attr);
	EXPECT_LT(2, self->tally.samples);
}

/* Events of children begin without a unit. */
TEST_F(sampling, by_frequency_in_children)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 0);
	struct child child = child_start(run_family, NULL);

	attr.freq = 1;
	attr.sample_freq = 1000;
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &child,
				     64, &self->tally));
	EXPECT_EQ(0, recording_wait(&self->recording, child.pid));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
}

TEST_F(sampling, branches)
{
	sample_once(_metadata, self, event_attr_sampling(EVENT_BRANCHES, 1));
	EXPECT_LE(KNOWN_BRANCHES, self->tally.samples);
}

TEST_F(sampling, throttled)
{
	EVENT_NEED_FUNCTION("perf_event_overflow");
	set_rate(_metadata, RATE_LOW);
	sample_once(_metadata, self, event_attr_sampling(EVENT_LOOPS, 1));
	EXPECT_LT(0, self->tally.throttled);
	EXPECT_GT(KNOWN_BACK, self->tally.samples);
}

/* Rows are no overflows: they neither throttle nor affect the frequency. */
TEST_F(sampling, rows_are_not_throttled)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 0);

	set_rate(_metadata, RATE_LOW);
	attr.freq = 1;
	attr.sample_freq = 1000;
	sample_once(_metadata, self, attr);
	EXPECT_EQ(0, self->tally.throttled);
	EXPECT_EQ(KNOWN_BACK, self->known);
}

enum {
	CROWD		= 40,	/* events, which are */
	CROWD_SESSIONS	= 5,	/* by their periods */
	/* Samples at a step, and one more for ticks and the exit. */
	CROWD_AT_ONCE	= 8 + 1,
	CROWD_WAIT	= 20,	/* back edges until an event has its turn */
};

static void note_longest(struct tally *tally, const struct sample *sample)
{
	uint64_t *longest = tally->context;

	if (sample->period > *longest)
		*longest = sample->period;
}

/* Events of which samples are put off have their turns. */
TEST(samples_of_many_events_at_a_step)
{
	struct child child = child_start(run_once, NULL);
	struct recording recording = { .pages = 128 };
	struct perf_event_attr attr;
	uint64_t longest = 0, count;
	struct tally tally = { .see = note_longest, .context = &longest };
	int i;

	set_rate(_metadata, RATE_UNLIMITED);
	recording.tally = &tally;
	for (i = 0; i < CROWD; i++) {
		attr = event_attr_sampling(EVENT_LOOPS, 1 + i % CROWD_SESSIONS);
		attr.inherit = 0;
		ASSERT_EQ(0, recording_add(&recording, &attr, child.pid, -1));
	}
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	count = recording_count(&recording);
	EXPECT_LE(CROWD * KNOWN_BACK, count);
	EXPECT_EQ(0, tally.lost);
	EXPECT_GE(count / CROWD * CROWD_AT_ONCE, tally.samples);
	EXPECT_GE(CROWD_WAIT, longest);
	EXPECT_GE(count, tally.period);
	EXPECT_LE(count - CROWD * CROWD_WAIT, tally.period);
	recording_close(&recording);
}

enum { COUNTERS = 20 };

/* Events that only count take nothing from one that samples. */
TEST_F(sampling, beside_counters)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int i, fd[COUNTERS];

	attr.inherit = attr.disabled = 0;
	for (i = 0; i < COUNTERS; i++) {
		fd[i] = event_open(&attr, self->child.pid, -1, -1, 0);
		ASSERT_LE(0, fd[i]);
	}
	sample_once(_metadata, self, event_attr_sampling(EVENT_LOOPS, 1));
	EXPECT_LE(KNOWN_BACK, self->tally.samples);
	for (i = 0; i < COUNTERS; i++)
		close(fd[i]);
}

/* --- groups and ioctls ---------------------------------------------------- */

static int open_in_group(struct __test_metadata *_metadata,
			 struct perf_event_attr attr, pid_t pid, int group)
{
	int fd;

	attr.inherit = 0;
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = group == -1;
	fd = event_open(&attr, pid, -1, group, 0);
	EXPECT_LE(0, fd);
	return fd;
}

static struct perf_event_attr task_clock(void)
{
	struct perf_event_attr attr = event_attr(PERF_COUNT_SW_TASK_CLOCK);

	attr.type = PERF_TYPE_SOFTWARE;
	return attr;
}

static void check_group(struct __test_metadata *_metadata, bool leads)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	struct child child = child_known();
	struct { uint64_t count, value[2]; } group;
	int leader, sibling;

	attr.enable_on_exec = leads;
	leader = open_in_group(_metadata, leads ? attr : task_clock(),
			       child.pid, -1);
	sibling = open_in_group(_metadata, leads ? task_clock() : attr,
				child.pid, leader);
	if (!leads)
		ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	EXPECT_EQ(sizeof(group), read(leader, &group, sizeof(group)));
	EXPECT_EQ(2, group.count);
	if (leads) {
		EXPECT_EQ(KNOWN_BACK, group.value[0]);
	} else {
		EXPECT_LT(KNOWN_BACK, group.value[1]);
	}
	EXPECT_LT(0, group.value[leads]);
	close(leader);
	close(sibling);
}

TEST(leads_group)
{
	check_group(_metadata, true);
}

TEST(is_in_group)
{
	check_group(_metadata, false);
}

/* Opens an event of this process, which the caller enables. */
static void open_here(struct __test_metadata *_metadata,
		      struct recording *recording, struct tally *tally,
		      uint64_t period)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, period);

	set_rate(_metadata, RATE_UNLIMITED);
	attr.inherit = 0;
	recording->count = 0;
	recording->pages = 1024;
	recording->tally = tally;
	ASSERT_EQ(0, recording_add(recording, &attr, 0, -1));
}

TEST(refresh)
{
	struct recording recording;
	struct tally tally = {};

	EVENT_NEED_FUNCTION("perf_event_overflow");
	open_here(_metadata, &recording, &tally, 10);
	ASSERT_EQ(0, ioctl(recording.fd[0], PERF_EVENT_IOC_REFRESH, 3));
	known_run();
	recording_drain(&recording);
	EXPECT_EQ(3, tally.samples);
	EXPECT_EQ(30, tally.period);
	EXPECT_EQ(30, event_count(recording.fd[0]));
	recording_close(&recording);
}

TEST(new_period)
{
	uint64_t period = 1000, known = 0, before;
	struct tally tally = { .see = add_known, .context = &known };
	struct recording recording;

	open_here(_metadata, &recording, &tally, 10);
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	ASSERT_EQ(0, ioctl(recording.fd[0], PERF_EVENT_IOC_PERIOD, &period));
	recording_drain(&recording);
	before = tally.samples;
	known_run();
	recording_drain(&recording);
	EXPECT_LE(KNOWN_BACK / 1000, tally.samples - before);
	EXPECT_GE(KNOWN_BACK / 1000 + 2, tally.samples - before);
	recording_close(&recording);
}

TEST(reset)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	uint64_t count;
	int fd = event_open(&attr, 0, -1, -1, 0);

	ASSERT_LE(0, fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	known_run();
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	known_run();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	count = event_count(fd);
	EXPECT_LE(KNOWN_BACK, count);
	EXPECT_GT(KNOWN_BACK + 100, count);
	known_run();
	EXPECT_EQ(count, event_count(fd));
	close(fd);
}

/* A paused ring takes nothing, and counts what it missed. */
TEST(pause_output)
{
	struct recording recording;
	struct tally tally = {};

	open_here(_metadata, &recording, &tally, 1);
	ASSERT_EQ(0, ioctl(recording.fd[0], PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	known_run();
	recording_drain(&recording);
	EXPECT_EQ(0, tally.samples);
	ASSERT_EQ(0, ioctl(recording.fd[0], PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	known_run();
	ioctl(recording.fd[0], PERF_EVENT_IOC_DISABLE, 0);
	recording_drain(&recording);
	EXPECT_LE(KNOWN_BACK, tally.lost);
	EXPECT_EQ(event_count(recording.fd[0]), tally.lost + tally.period);
	recording_close(&recording);
}

/* Two events share a ring. */
TEST(set_output)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_BRANCHES, 1);
	struct recording recording;
	struct tally tally = {};
	uint64_t count;
	int other;

	attr.inherit = 0;
	open_here(_metadata, &recording, &tally, 1);
	other = event_open(&attr, 0, -1, -1, 0);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, recording.fd[0]));
	ioctl(other, PERF_EVENT_IOC_ENABLE, 0);
	known_run();
	ioctl(other, PERF_EVENT_IOC_DISABLE, 0);
	recording_drain(&recording);
	count = event_count(other);
	EXPECT_LE(KNOWN_BRANCHES, count);
	EXPECT_EQ(count, tally.period + tally.lost);
	EXPECT_TRUE(tally.lost == 0);
	close(other);
	recording_close(&recording);
}

TEST_HARNESS_MAIN
