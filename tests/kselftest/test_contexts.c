// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calling context tree of a program with known calls: its rows add up to
 * that tree and nothing else, whenever they come.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "chains.h"
#include "event.h"

EVENT_ALL_NEED("step")

enum { CONTEXTS = 4096, LEVELS = 16 };

struct context {
	struct hwprof_row_context row;	/* sums */
};

struct seen {
	struct context contexts[CONTEXTS];
	unsigned int count;
	uint64_t wrong;			/* impossible rows */
};

static struct context *find(struct seen *seen, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->contexts[i].row.id == id)
			return &seen->contexts[i];
	return NULL;
}

static struct context *get(struct seen *seen,
			   const struct hwprof_row_context *row)
{
	struct context *context = find(seen, row->id);

	if (context || seen->count == CONTEXTS)
		return context;
	context = &seen->contexts[seen->count++];
	context->row = *row;
	context->row.calls = 0;
	context->row.branches = 0;
	return context;
}

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_context *row = (const void *)sample->row;
	struct seen *seen = tally->context;
	struct context *context;

	if (row->row.type != HWPROF_ROW_CONTEXT ||
	    row->row.size != HWPROF_ROW_CONTEXT_SIZE_VER0 ||
	    row->basis != HWPROF_BASIS_EXACT ||
	    row->calls != sample->period || row->deeper ||
	    row->callee != sample->ip || row->site != sample->addr ||
	    !row->row.pid) {
		seen->wrong++;
		return;
	}
	context = get(seen, row);
	if (!context || context->row.parent != row->parent ||
	    context->row.callee != row->callee ||
	    context->row.kind != row->kind ||
	    context->row.row.space != row->row.space) {
		seen->wrong++;
		return;
	}
	context->row.calls += row->calls;
	context->row.branches += row->branches;
}

FIXTURE(contexts)
{
	struct recording recording;
	struct tally tally;
	struct seen *seen;
	struct child child;
};

FIXTURE_SETUP(contexts)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->seen = calloc(1, sizeof(*self->seen));
	self->tally.see = see_row;
	self->tally.context = self->seen;
}

FIXTURE_TEARDOWN(contexts)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
	free(self->seen);
}

/* Executes `chains`, which is beside `known`. */
static void be_chains(void *context)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", known_program());
	strcpy(strrchr(path, '/') + 1, "chains");
	execl(path, "chains", NULL);
	_exit(98);
}

static void record(struct __test_metadata *_metadata,
		   FIXTURE_DATA(contexts) *self, unsigned int interval_ms,
		   unsigned int memory_mib)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CCT | EVENT_ROWS |
				    EVENT_MEMORY(memory_mib), 1);

	attr.config1 = EVENT_INTERVAL(interval_ms);
	ASSERT_EQ(0, recording_begin(&self->recording, &attr, &self->child,
				     64, &self->tally));
}

/* --- expected contexts ---------------------------------------------------- */

#define ROOT		HWPROF_CONTEXT_ROOT
#define CALL		HWPROF_CONTEXT_CALL
#define SIGNAL		HWPROF_CONTEXT_SIGNAL
#define RECURSION	HWPROF_CONTEXT_RECURSION

/* A context and its chain, from its procedure to the root (0). */
struct known_context {
	unsigned int kind;
	unsigned int chain[LEVELS];
	uint64_t calls;			/* from all sites */
	uint64_t branches;		/* its own */
};

static const struct known_context known_contexts[] = {
	{ CALL, { CHAINS_SELF }, 1, 2 * CHAINS_SELF_DEPTH + 2 },
	{ RECURSION, { CHAINS_SELF, CHAINS_SELF }, CHAINS_SELF_DEPTH, 0 },
	{ CALL, { CHAINS_A }, 1, 2 * CHAINS_CYCLES },
	{ CALL, { CHAINS_B, CHAINS_A }, CHAINS_CYCLES,
	  CHAINS_CYCLES + (CHAINS_CYCLES - 1) + 1 },
	{ RECURSION, { CHAINS_A, CHAINS_B, CHAINS_A }, CHAINS_CYCLES - 1,
	  0 },
	/*
	 * Calls by pointer, and through the stub, whose jump counts for the
	 * target.
	 */
	{ CALL, { CHAINS_LEAF }, CHAINS_INDIRECT + CHAINS_STUBS,
	  CHAINS_INDIRECT + 2 * CHAINS_STUBS },
	/* By pointer, in the fork, in the thread. */
	{ CALL, { CHAINS_OTHER_LEAF },
	  CHAINS_INDIRECT + CHAINS_CHILDS + CHAINS_THREADS,
	  CHAINS_INDIRECT + CHAINS_CHILDS + CHAINS_THREADS },
	/* A procedure that is jumped back into has its call, and returns. */
	{ CALL, { CHAINS_OUTER }, CHAINS_THROWS, 2 * CHAINS_THROWS },
	{ CALL, { CHAINS_MIDDLE, CHAINS_OUTER }, CHAINS_THROWS, CHAINS_THROWS },
	{ CALL, { CHAINS_THROWER, CHAINS_MIDDLE, CHAINS_OUTER }, CHAINS_THROWS,
	  CHAINS_THROWS },
	/* A procedure that is returned into without a call calls once more. */
	{ CALL, { CHAINS_LANDING }, CHAINS_FLIGHTS, 3 * CHAINS_FLIGHTS },
	{ CALL, { CHAINS_FLYER, CHAINS_LANDING }, CHAINS_FLIGHTS,
	  CHAINS_FLIGHTS },
	{ CALL, { CHAINS_OTHER_LEAF, CHAINS_LANDING }, CHAINS_FLIGHTS,
	  CHAINS_FLIGHTS },
	{ SIGNAL, { CHAINS_HANDLER }, CHAINS_SIGNALS, 2 * CHAINS_SIGNALS },
	{ CALL, { CHAINS_LEAF, CHAINS_HANDLER }, CHAINS_SIGNALS,
	  CHAINS_SIGNALS },
};

enum { KNOWN = sizeof(known_contexts) / sizeof(known_contexts[0]) };

static bool is_chains(uint64_t address)
{
	return address >= CHAINS_TEXT && address < CHAINS_AT(CHAINS_END + 1);
}

/*
 * If a table is exchanged between the call of a stub and its jump, the stub
 * counts as a procedure. Everything else is as in its target.
 */
static bool is_procedure(uint64_t address, unsigned int number)
{
	return address == CHAINS_AT(number) ||
	       (number == CHAINS_LEAF && address == CHAINS_AT(CHAINS_STUB));
}

/* Returns true if the context has this chain up to a root. */
static bool has_chain(struct seen *seen, const struct context *context,
		      const struct known_context *known)
{
	unsigned int level;

	if (context->row.kind != known->kind)
		return false;
	for (level = 0; known->chain[level]; level++) {
		if (!context ||
		    !is_procedure(context->row.callee, known->chain[level]))
			return false;
		context = find(seen, context->row.parent);
	}
	return !context || context->row.kind == ROOT;
}

static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(contexts) *self)
{
	uint64_t calls[KNOWN] = {}, branches[KNOWN] = {}, strange = 0;
	unsigned int i, k;

	EXPECT_EQ(0, self->seen->wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_EQ(recording_count(&self->recording),
		  self->tally.totals.produced);
	for (i = 0; i < self->seen->count; i++) {
		const struct context *context = &self->seen->contexts[i];

		if (!is_chains(context->row.callee))
			continue;
		for (k = 0; k < KNOWN; k++)
			if (has_chain(self->seen, context, &known_contexts[k]))
				break;
		if (k == KNOWN) {
			TH_LOG("kind %u callee %llx site %llx calls %llu",
			       context->row.kind, context->row.callee,
			       context->row.site, context->row.calls);
			strange++;
			continue;
		}
		calls[k] += context->row.calls;
		branches[k] += context->row.branches;
	}
	EXPECT_EQ(0, strange);
	for (k = 0; k < KNOWN; k++) {
		EXPECT_EQ(known_contexts[k].calls, calls[k])
			TH_LOG("of context %u", k);
		EXPECT_EQ(known_contexts[k].branches, branches[k])
			TH_LOG("of context %u; %llu gaps, %llu events lost", k,
			       self->tally.totals.gaps,
			       self->tally.totals.lost_events);
	}
}

TEST_F(contexts, of_a_program)
{
	unsigned int i;

	self->child = child_start(be_chains, NULL);
	record(_metadata, self, 60000, 4);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self);
	for (i = 0; i < self->seen->count; i++)
		EXPECT_NE(CHAINS_AT(CHAINS_STUB),
			  self->seen->contexts[i].row.callee);
}

/* Tables are merged in the middle of chains, again and again. */
TEST_F(contexts, of_intervals)
{
	self->child = child_start(be_chains, NULL);
	record(_metadata, self, 1, 1);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check(_metadata, self);
}

static void run_on(void *context)
{
	for (;;)
		kill(getpid(), 0);
}

/* Everything until then is accounted for, wherever it was. */
TEST_F(contexts, of_a_killed_program)
{
	unsigned int tries;

	self->child = child_start(run_on, NULL);
	record(_metadata, self, 10, 1);
	for (tries = 0; tries < 100 && !self->tally.period; tries++)
		recording_read_for(&self->recording, 100);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(0, self->seen->wrong);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(recording_count(&self->recording), self->tally.period);
	EXPECT_LT(0, self->tally.period);
}

TEST_HARNESS_MAIN
