// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of code with known calls: each pair is counted exactly, in each process
 * and over all threads, and rows add up to the count.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"

EVENT_ALL_NEED("step")

enum { ROUNDS = 500, DEPTH = 5, PAIRS = 4096, JOBS = 3 };

/* --- code to be called ---------------------------------------------------- */

/* Prevents the preceding call from becoming a jump. */
#define NO_TAIL_CALL	__asm__ volatile("" ::: "memory")

static __attribute__((noinline, noclone)) void leaf(void)
{
	__asm__ volatile("");
}

/* Jumps to leaf(): the caller of this function did not call leaf(). */
static __attribute__((noinline, noclone)) void tail(void)
{
	__asm__ volatile("");
	leaf();
}

static __attribute__((noinline, noclone)) void recurse(int depth)
{
	if (depth > 1)
		recurse(depth - 1);
	NO_TAIL_CALL;
}

static void on_signal(int number)
{
}

/*
 * Two sites call leaf(), one recurse(), and one alternates between leaf() and
 * tail().
 */
static __attribute__((noinline, noclone)) void call_all(void)
{
	static void (*const by_turns[])(void) = { leaf, tail };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		leaf();
		NO_TAIL_CALL;
		leaf();
		NO_TAIL_CALL;
		by_turns[i % 2]();
		NO_TAIL_CALL;
		recurse(DEPTH);
		NO_TAIL_CALL;
	}
}

static void run(void *context)
{
	call_all();
}

/* --- counts --------------------------------------------------------------- */

struct pair {
	uint32_t space;
	uint64_t site, callee, calls;
};

struct seen {
	struct pair pairs[PAIRS];
	unsigned int count;
	uint64_t wrong;			/* impossible rows */
};

static struct pair *find(struct seen *seen, uint32_t space, uint64_t site,
			 uint64_t callee)
{
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->pairs[i].space == space &&
		    seen->pairs[i].site == site &&
		    seen->pairs[i].callee == callee)
			return &seen->pairs[i];
	if (seen->count == PAIRS)
		return NULL;
	seen->pairs[seen->count] = (struct pair){ space, site, callee, 0 };
	return &seen->pairs[seen->count++];
}

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_call *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct pair *pair = NULL;

	if (row->row.type == HWPROF_ROW_CALL)
		pair = find(seen, row->row.space, row->site, row->callee);
	if (!pair || row->row.size != sizeof(*row) || !row->calls ||
	    row->calls != sample->period || row->site != sample->ip ||
	    row->callee != sample->addr ||
	    row->basis != HWPROF_BASIS_EXACT || row->error || row->evicted ||
	    row->sum_sq || row->reserved) {
		seen->wrong++;
		return;
	}
	pair->calls += row->calls;
}

/* Returns the number of pairs of one space with @callee and so many calls. */
static unsigned int pairs_of(const struct seen *seen, uint32_t space,
			     const void *callee, uint64_t calls)
{
	unsigned int found = 0, i;

	for (i = 0; i < seen->count; i++)
		found += seen->pairs[i].space == space &&
			 seen->pairs[i].callee == (uintptr_t)callee &&
			 seen->pairs[i].calls == calls;
	return found;
}

/* Returns the calls from all sites. */
static uint64_t calls_of(const struct seen *seen, uint32_t space,
			 const void *callee)
{
	uint64_t calls = 0;
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->pairs[i].space == space &&
		    seen->pairs[i].callee == (uintptr_t)callee)
			calls += seen->pairs[i].calls;
	return calls;
}

FIXTURE(calls)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
};

FIXTURE_SETUP(calls)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(calls)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void record(struct __test_metadata *_metadata, FIXTURE_DATA(calls) *self,
		   void (*run_child)(void *context), unsigned int interval_ms)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_ROWS |
				    EVENT_MEMORY(4), 1);

	attr.config1 = EVENT_INTERVAL(interval_ms);
	self->child = child_start(run_child, NULL);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
}

/*
 * Asserts that everything came in rows, and that so many spaces made all calls
 * @times.
 */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(calls) *self,
		  unsigned int spaces, unsigned int times)
{
	const struct seen *seen = &self->seen;
	const uint64_t rounds = (uint64_t)ROUNDS * times;
	unsigned int found = 0, i;
	uint32_t space;

	EXPECT_EQ(0, seen->wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&self->recording),
		  self->tally.totals.produced);
	for (i = 0; i < seen->count; i++) {
		if (seen->pairs[i].callee != (uintptr_t)tail)
			continue;
		found++;
		space = seen->pairs[i].space;
		EXPECT_EQ(2, pairs_of(seen, space, leaf, rounds));
		EXPECT_EQ(1, pairs_of(seen, space, leaf, rounds / 2));
		EXPECT_EQ(5 * rounds / 2, calls_of(seen, space, leaf));
		EXPECT_EQ(1, pairs_of(seen, space, tail, rounds / 2));
		EXPECT_EQ(1, pairs_of(seen, space, recurse, rounds));
		EXPECT_EQ(1, pairs_of(seen, space, recurse,
				      (DEPTH - 1) * rounds));
		EXPECT_EQ(DEPTH * rounds, calls_of(seen, space, recurse));
	}
	EXPECT_EQ(spaces, found);
}

TEST_F(calls, of_a_program)
{
	record(_metadata, self, run, 1000);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, 1);
}

/* Tables are merged in the middle, again and again. */
TEST_F(calls, of_intervals)
{
	record(_metadata, self, run, 1);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, 1);
}

static void run_threads(void *context)
{
	in_threads(call_all, JOBS);
}

/* Threads share an address space, wherever they run. */
TEST_F(calls, of_threads)
{
	record(_metadata, self, run_threads, 10);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, JOBS);
}

static void run_forks(void *context)
{
	in_forks(call_all, JOBS);
}

/* The same addresses in several address spaces. */
TEST_F(calls, of_forks)
{
	record(_metadata, self, run_forks, 1000);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, JOBS, 1);
}

static void run_signals(void *context)
{
	int i;

	signal(SIGUSR1, on_signal);
	for (i = 0; i < 50; i++)
		kill(getpid(), SIGUSR1);
	call_all();
}

/* The kernel runs a handler; nobody calls it. */
TEST_F(calls, of_signal_handlers)
{
	unsigned int i;

	record(_metadata, self, run_signals, 1000);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, 1);
	for (i = 0; i < self->seen.count; i++)
		EXPECT_NE((uintptr_t)on_signal, self->seen.pairs[i].callee);
}

static void run_on(void *context)
{
	for (;;)
		call_all();
}

/* Everything until then is accounted for, wherever it was. */
TEST_F(calls, of_a_killed_program)
{
	record(_metadata, self, run_on, 10);
	recording_read_until(&self->recording, 1000);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
}

TEST_HARNESS_MAIN
