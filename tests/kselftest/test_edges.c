// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges of code with known branches: each is counted exactly, with the line
 * behind it, in each process and over all threads, and rows add up to the
 * count.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "edges.h"
#include "event.h"

EVENT_ALL_NEED("step")

#ifdef __x86_64__

enum { JOBS = 3, EDGES = 16384, R = EDGES_ROUNDS };

/* x86/edges.S */
void edges_run(void);
extern const char edge_loop[], edge_cond[], edge_jump[], edge_fourth[],
		  edge_join[], edge_call[], edge_behind[], edge_back[],
		  edge_end[], edge_even[], edge_even_ret[], edge_odd[],
		  edge_odd_ret[];

/* All edges of one run. */
static const struct known {
	const char *from, *to, *end;
	uint64_t count;
	unsigned int kind;
} known[] = {
	{ edge_cond, edge_fourth, edge_call, R / 4, HWPROF_BRANCH_COND },
	{ edge_jump, edge_join, edge_call, 3 * R / 4, HWPROF_BRANCH_JUMP },
	{ edge_call, edge_even, edge_even_ret, R / 2, HWPROF_BRANCH_CALL },
	{ edge_call, edge_odd, edge_odd_ret, R / 2, HWPROF_BRANCH_CALL },
	{ edge_even_ret, edge_behind, edge_back, R / 2, HWPROF_BRANCH_RET },
	{ edge_odd_ret, edge_behind, edge_back, R / 2 - 1, HWPROF_BRANCH_RET },
	{ edge_odd_ret, edge_behind, edge_end, 1, HWPROF_BRANCH_RET },
	{ edge_back, edge_loop, edge_cond, R / 4 - 1, HWPROF_BRANCH_COND },
	{ edge_back, edge_loop, edge_jump, 3 * R / 4, HWPROF_BRANCH_COND },
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* --- counts -------------------------------------------------------------- */

struct edge {
	uint32_t space, kind;
	uint64_t from, to, end, count;
};

struct seen {
	struct edge edges[EDGES];
	unsigned int count;
	uint32_t basis;
	uint64_t wrong;			/* impossible rows */
};

static struct edge *find(struct seen *seen, const struct hwprof_row_edge *row)
{
	unsigned int i;

	for (i = 0; i < seen->count; i++) {
		struct edge *edge = &seen->edges[i];

		if (edge->space == row->row.space && edge->from == row->from &&
		    edge->to == row->to && edge->end == row->end)
			return edge;
	}
	if (seen->count == EDGES)
		return NULL;
	seen->edges[seen->count] = (struct edge) {
		row->row.space, row->kind, row->from, row->to, row->end, 0,
	};
	return &seen->edges[seen->count++];
}

static bool is_right(const struct seen *seen, const struct hwprof_row_edge *row,
		     const struct sample *sample)
{
	return row->row.size == sizeof(*row) && row->count &&
	       sample->period == (row->end ? row->count : 0) &&
	       sample->ip == (row->from ? row->from : row->end) &&
	       sample->addr == row->to && row->basis == seen->basis &&
	       !row->mispredicted && !row->cycles && !row->flags &&
	       !row->reserved && !row->error && !row->evicted &&
	       !row->from == !row->kind;
}

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_edge *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct edge *edge;

	edge = row->row.type == HWPROF_ROW_EDGE ? find(seen, row) : NULL;
	if (!edge || !is_right(seen, row, sample)) {
		seen->wrong++;
		return;
	}
	edge->count += row->count;
}

/* Returns the number of spaces that have @known so many times. */
static unsigned int spaces_with(const struct seen *seen,
				const struct known *known, unsigned int times)
{
	unsigned int found = 0, i;

	for (i = 0; i < seen->count; i++) {
		const struct edge *edge = &seen->edges[i];

		found += edge->from == (uintptr_t)known->from &&
			 edge->to == (uintptr_t)known->to &&
			 edge->end == (uintptr_t)known->end &&
			 edge->kind == known->kind &&
			 edge->count == known->count * times;
	}
	return found;
}

/* Returns the count of all edges of the known code. */
static uint64_t edges_from_known(const struct seen *seen)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->edges[i].from >= (uintptr_t)edge_loop &&
		    seen->edges[i].from <= (uintptr_t)edge_odd_ret &&
		    seen->edges[i].from != (uintptr_t)edge_end)
			count += seen->edges[i].count;
	return count;
}

FIXTURE(edges)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
};

FIXTURE_SETUP(edges)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.context = &self->seen;
	self->seen.basis = HWPROF_BASIS_EXACT;
}

FIXTURE_TEARDOWN(edges)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

static void record(struct __test_metadata *_metadata, FIXTURE_DATA(edges) *self,
		   void (*run_child)(void *context), uint64_t config1)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_EDGES | EVENT_ROWS | EVENT_MEMORY(16),
				    1);

	attr.config1 = config1;
	self->child = child_start(run_child, NULL);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
}

static void check_sums(struct __test_metadata *_metadata,
		       FIXTURE_DATA(edges) *self)
{
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&self->recording),
		  self->tally.totals.produced);
}

/*
 * Asserts that @spaces address spaces ran everything @times times, and no more.
 */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(edges) *self,
		  unsigned int spaces, unsigned int times)
{
	uint64_t all = 0;
	unsigned int i;

	check_sums(_metadata, self);
	for (i = 0; i < KNOWN; i++) {
		EXPECT_EQ(spaces, spaces_with(&self->seen, &known[i], times))
			TH_LOG("known edge %u", i);
		all += known[i].count * times * spaces;
	}
	EXPECT_EQ(all, edges_from_known(&self->seen));
}

/* --- programs ------------------------------------------------------------ */

static void run(void *context)
{
	edges_run();
}

TEST_F(edges, of_a_program)
{
	record(_metadata, self, run, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, 1);
}

/* Tables are merged in the middle: lines in flight stay whole. */
TEST_F(edges, of_intervals)
{
	record(_metadata, self, run, EVENT_INTERVAL(1));
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, 1);
}

static void run_threads(void *context)
{
	in_threads(edges_run, JOBS);
}

/* Threads share an address space, wherever they run; each has its own line. */
TEST_F(edges, of_threads)
{
	record(_metadata, self, run_threads, EVENT_INTERVAL(10));
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, JOBS);
}

static void run_forks(void *context)
{
	in_forks(edges_run, JOBS);
}

/* The same addresses in several address spaces. */
TEST_F(edges, of_forks)
{
	record(_metadata, self, run_forks, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, JOBS, 1);
}

static void on_signal(int number)
{
}

static void run_signals(void *context)
{
	int i;

	signal(SIGUSR1, on_signal);
	for (i = 0; i < 50; i++)
		kill(getpid(), SIGUSR1);
	edges_run();
}

/* A handler begins with a line that no branch led to. */
TEST_F(edges, of_signal_handlers)
{
	uint64_t handled = 0;
	unsigned int i;

	record(_metadata, self, run_signals, 0);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self, 1, 1);
	for (i = 0; i < self->seen.count; i++) {
		const struct edge *edge = &self->seen.edges[i];

		if (edge->to != (uintptr_t)on_signal)
			continue;
		EXPECT_EQ(0, edge->from);
		handled += edge->count;
	}
	EXPECT_EQ(50, handled);
}

static void run_on(void *context)
{
	for (;;)
		edges_run();
}

/* All branches until then are accounted for, wherever it was. */
TEST_F(edges, of_a_killed_program)
{
	record(_metadata, self, run_on, EVENT_INTERVAL(10));
	recording_read_until(&self->recording, 1000);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
}

/* --- bursts -------------------------------------------------------------- */

static void run_long(void *context)
{
	int i;

	for (i = 0; i < 20000; i++)
		edges_run();
}

static bool is_known(const struct edge *edge)
{
	unsigned int i;

	for (i = 0; i < KNOWN; i++)
		if (edge->from == (uintptr_t)known[i].from &&
		    edge->to == (uintptr_t)known[i].to &&
		    edge->end == (uintptr_t)known[i].end)
			return true;
	return false;
}

/*
 * Bursts see parts of it. The known code has only known edges. A line without
 * an end is that of a burst's last branch.
 */
TEST_F(edges, of_bursts)
{
	uint64_t whole = 0, open = 0;
	unsigned int i;

	self->seen.basis = HWPROF_BASIS_TIME;
	record(_metadata, self, run_long, EVENT_INTERVAL(1000) | 32);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check_sums(_metadata, self);
	for (i = 0; i < self->seen.count; i++) {
		const struct edge *edge = &self->seen.edges[i];

		if (edge->from < (uintptr_t)edge_loop ||
		    edge->from >= (uintptr_t)edge_end)
			continue;
		if (edge->end) {
			EXPECT_TRUE(is_known(edge));
			whole += edge->count;
		} else {
			open += edge->count;
		}
	}
	EXPECT_LT(0, whole);
	EXPECT_LE(open, whole / 10);
	EXPECT_LE(open, self->tally.totals.windows);
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
