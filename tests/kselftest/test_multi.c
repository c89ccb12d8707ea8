// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events with several profiles: the rows of each profile equal those of an
 * event with it alone, and the count is the sum.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

#define EVENT_THREE	(EVENT_LOOPS | EVENT_CALLS | EVENT_PATHS)
#define EVENT_FOUR	(EVENT_THREE | EVENT_CCT)
#define EVENT_FIVE	(EVENT_FOUR | EVENT_EDGES)

enum { THINGS = 64, KNOWN_SIZE = 64 };

/* A loop, pair, path, context or edge of `known`. */
struct thing {
	uint64_t type, at, end, target;
	uint64_t count, second;		/* loops: entries */
};

struct seen {
	struct thing things[THINGS];
	unsigned int count;
	uint64_t units[HWPROF_ROW_EDGE + 1];	/* of all rows, by type */
	uint64_t wrong;
};

static struct thing *find(struct seen *seen, const struct thing *thing)
{
	unsigned int i;

	for (i = 0; i < seen->count; i++)
		if (seen->things[i].type == thing->type &&
		    seen->things[i].at == thing->at &&
		    seen->things[i].end == thing->end &&
		    seen->things[i].target == thing->target)
			return &seen->things[i];
	return NULL;
}

static void see_thing(struct seen *seen, const struct thing *thing)
{
	struct thing *old = find(seen, thing);

	if (old) {
		old->count += thing->count;
		old->second += thing->second;
	} else if (seen->count < THINGS) {
		seen->things[seen->count++] = *thing;
	} else {
		seen->wrong++;
	}
}

static struct thing thing_of(const struct hwprof_row *row)
{
	const struct hwprof_row_context *context = (const void *)row;
	const struct hwprof_row_loop *loop = (const void *)row;
	const struct hwprof_row_call *call = (const void *)row;
	const struct hwprof_row_path *path = (const void *)row;
	const struct hwprof_row_edge *edge = (const void *)row;

	switch (row->type) {
	case HWPROF_ROW_LOOP:
		return (struct thing){
			.at = loop->head, .count = loop->back_edges,
			.second = loop->entries,
		};
	case HWPROF_ROW_CALL:
		return (struct thing){
			.at = call->site, .end = call->callee,
			.count = call->calls,
		};
	case HWPROF_ROW_PATH:
		return (struct thing){
			.at = path->start, .end = path->end,
			.target = path->target, .count = path->count,
		};
	case HWPROF_ROW_CONTEXT:
		return (struct thing){
			.at = context->callee, .end = context->site,
			.count = context->calls, .second = context->branches,
		};
	case HWPROF_ROW_EDGE:
		return (struct thing){
			.at = edge->from, .end = edge->to,
			.target = edge->end, .count = edge->count,
		};
	}
	return (struct thing){ 0 };
}

/* Ignores things outside `known`, whose counts vary. */
static void see_row(struct tally *tally, const struct sample *sample)
{
	struct thing thing = thing_of(sample->row);
	struct seen *seen = tally->context;

	thing.type = sample->row->type;
	if (thing.type > HWPROF_ROW_EDGE || !thing.at) {
		seen->wrong += thing.type > HWPROF_ROW_EDGE;
		return;
	}
	seen->units[thing.type] += sample->period;
	if (thing.at - KNOWN_TEXT < KNOWN_SIZE)
		see_thing(seen, &thing);
}

/* Profiles `known`. Its rows are in @seen. */
static void profile(struct __test_metadata *_metadata, struct seen *seen,
		    uint64_t config, unsigned int interval_ms)
{
	struct perf_event_attr attr = event_attr_sampling(config, 1);
	struct tally tally = { .see = see_row, .context = seen };
	struct recording recording;
	struct child child;

	attr.config1 = EVENT_INTERVAL(interval_ms);
	child = child_known();
	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 64, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	EXPECT_TRUE(tally_is_whole(&tally));
	EXPECT_EQ(recording_count(&recording), tally.period);
	EXPECT_EQ(recording_count(&recording), tally.totals.produced);
	recording_close(&recording);
	EXPECT_TRUE(event_sessions_are(0));
}

/* Asserts that the multi event reports each thing like the single ones. */
static void compare(struct __test_metadata *_metadata, uint64_t things,
		    unsigned int interval_ms)
{
	uint64_t rest = EVENT_ROWS | EVENT_STEP | EVENT_MEMORY(8), bit;
	struct seen multi = { 0 }, alone = { 0 };
	unsigned int i;

	profile(_metadata, &multi, things | rest, interval_ms);
	for (bit = 1; bit <= EVENT_EDGES; bit <<= 1)
		if (things & bit)
			profile(_metadata, &alone, bit | rest, interval_ms);
	EXPECT_EQ(0, multi.wrong);
	EXPECT_EQ(0, alone.wrong);
	EXPECT_EQ(alone.count, multi.count);
	for (i = 0; i < alone.count; i++) {
		const struct thing *want = &alone.things[i];
		const struct thing *thing = find(&multi, want);

		ASSERT_NE(NULL, thing) {
			TH_LOG("type %llu at %#llx is missing",
			       (unsigned long long)want->type,
			       (unsigned long long)want->at);
		}
		EXPECT_EQ(want->count, thing->count);
		EXPECT_EQ(want->second, thing->second);
	}
	if (things & EVENT_LOOPS) {
		EXPECT_LE(KNOWN_BACK, multi.units[HWPROF_ROW_LOOP]);
	}
	if (things & EVENT_PATHS) {
		EXPECT_LE(KNOWN_BACK + 1, multi.units[HWPROF_ROW_PATH]);
	}
}

TEST(three)
{
	compare(_metadata, EVENT_THREE, 1000);
}

TEST(four)
{
	compare(_metadata, EVENT_FOUR, 1000);
}

TEST(five)
{
	compare(_metadata, EVENT_FIVE, 1000);
	compare(_metadata, EVENT_THREE | EVENT_EDGES, 1);
}

TEST(two)
{
	compare(_metadata, EVENT_LOOPS | EVENT_CCT, 1000);
	compare(_metadata, EVENT_CALLS | EVENT_PATHS, 1000);
}

/* Tables are merged in the middle, again and again. */
TEST(intervals)
{
	compare(_metadata, EVENT_FOUR, 1);
}

/* The counts of `known` itself. */
TEST(known)
{
	struct thing inner = {
		.type = HWPROF_ROW_LOOP, .at = KNOWN_INNER_HEAD,
	}, path = {
		.type = HWPROF_ROW_PATH, .at = KNOWN_INNER_HEAD,
		.end = KNOWN_INNER_HEAD + 2, .target = KNOWN_INNER_HEAD,
	};
	struct seen seen = { 0 };

	profile(_metadata, &seen, EVENT_THREE | EVENT_ROWS | EVENT_MEMORY(1),
		1000);
	ASSERT_NE(NULL, find(&seen, &inner));
	EXPECT_EQ(KNOWN_INNER_BACK, find(&seen, &inner)->count);
	EXPECT_EQ(KNOWN_OUTER, find(&seen, &inner)->second);
	ASSERT_NE(NULL, find(&seen, &path));
	EXPECT_EQ(KNOWN_OUTER * (KNOWN_INNER - 2), find(&seen, &path)->count);
}

/* --- paths in contexts ---------------------------------------------------- */

struct in_context {
	uint64_t context;		/* of known_run */
	uint64_t calls;
	uint64_t loops, returns;	/* its paths in that context */
	uint64_t others;		/* its paths elsewhere, which must be
					 * none */
	uint64_t wrong;
	struct { uint64_t context, target, count; } paths[THINGS];
	unsigned int count;
};

static void see_path(struct in_context *in, const struct hwprof_row_path *path)
{
	size_t jumps = path->spelled * sizeof(path->jumps[0]);

	if (!(path->flags & HWPROF_PATH_IN_CONTEXT) ||
	    path->row.size != sizeof(*path) + jumps + sizeof(uint64_t) ||
	    in->count == THINGS) {
		in->wrong++;
		return;
	}
	if (path->start - KNOWN_TEXT >= KNOWN_SIZE ||
	    path->end - KNOWN_TEXT >= KNOWN_SIZE)
		return;
	memcpy(&in->paths[in->count].context, (void *)path->jumps + jumps,
	       sizeof(uint64_t));
	in->paths[in->count].target = path->target;
	in->paths[in->count++].count = path->count;
}

static void see_in_context(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_context *context = (const void *)sample->row;
	struct in_context *in = tally->context;

	if (sample->row->type == HWPROF_ROW_PATH)
		see_path(in, (const void *)sample->row);
	else if (sample->row->type != HWPROF_ROW_CONTEXT)
		in->wrong++;
	else if (context->callee == KNOWN_TEXT &&
		 context->kind == HWPROF_CONTEXT_CALL) {
		in->context = context->id;
		in->calls += context->calls;
	}
}

/*
 * All paths of known_run ran in its context, which returns as often as it is
 * called.
 */
TEST(paths_in_contexts)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_PATHS | EVENT_CCT | EVENT_ROWS |
				    EVENT_MEMORY(8), 1);
	struct in_context in = { 0 };
	struct tally tally = { .see = see_in_context, .context = &in };
	struct child child = child_known();
	struct recording recording;
	unsigned int i;

	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 64, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	EXPECT_TRUE(tally_is_whole(&tally));
	EXPECT_EQ(recording_count(&recording), tally.period);
	for (i = 0; i < in.count; i++) {
		if (in.paths[i].context != in.context)
			in.others += in.paths[i].count;
		else if (in.paths[i].target)
			in.loops += in.paths[i].count;
		else
			in.returns += in.paths[i].count;
	}
	EXPECT_EQ(0, in.wrong);
	EXPECT_EQ(0, in.others);
	EXPECT_EQ(1, in.calls);
	EXPECT_EQ(in.calls, in.returns);
	EXPECT_EQ(KNOWN_BACK, in.loops);
	recording_close(&recording);
}

/* --- without rows --------------------------------------------------------- */

static uint64_t count_known(struct __test_metadata *_metadata, uint64_t config)
{
	struct perf_event_attr attr = event_attr(config);
	struct child child = child_known();
	struct recording recording;
	struct tally tally = { 0 };
	uint64_t count;

	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 0, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	count = recording_count(&recording);
	recording_close(&recording);
	return count;
}

/*
 * A count is the sum of those of the single events. Code before the exec may
 * vary.
 */
TEST(counts)
{
	uint64_t sum = 0, bit, count;

	for (bit = EVENT_LOOPS; bit <= EVENT_CCT; bit <<= 1)
		if (EVENT_FOUR & bit)
			sum += count_known(_metadata, bit);
	count = count_known(_metadata, EVENT_FOUR);
	EXPECT_LE(2 * KNOWN_BACK + 1, count);
	EXPECT_LE(sum - sum / 100, count);
	EXPECT_GE(sum + sum / 100, count);
}

/* A sample's row has one thing that the unit belongs to. */
static void see_sample(struct tally *tally, const struct sample *sample)
{
	struct seen *seen = tally->context;

	if (sample->row->type > HWPROF_ROW_EDGE)
		seen->wrong++;
	else
		seen->units[sample->row->type]++;
}

TEST(samples)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_THREE, 7);
	struct seen seen = { 0 };
	struct tally tally = { .see = see_sample, .context = &seen };
	struct child child = child_known();
	struct recording recording;

	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 512, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	EXPECT_EQ(0, seen.wrong);
	EXPECT_EQ(0, tally.lost);
	EXPECT_EQ(recording_count(&recording), tally.period);
	EXPECT_LT(0, seen.units[HWPROF_ROW_LOOP]);
	recording_close(&recording);
}

/* --- bursts --------------------------------------------------------------- */

static void run_often(void *context)
{
	unsigned int i;

	for (i = 0; i < 2000; i++)
		known_run();
}

TEST(bursts)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_THREE | EVENT_ROWS | EVENT_STEP |
				    EVENT_MEMORY(8), 1000000);
	struct seen seen = { 0 };
	struct tally tally = { .see = see_row, .context = &seen };
	struct child child = child_start(run_often, NULL);
	struct recording recording;

	attr.config1 = 200;			/* branches each ms */
	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 64, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	EXPECT_EQ(0, tally.lost);
	EXPECT_EQ(tally.totals.produced, tally.totals.delivered +
		  tally.totals.lost + tally.totals.evicted +
		  tally.totals.pending);
	EXPECT_EQ(recording_count(&recording), tally.totals.produced);
	EXPECT_LT(0, tally.totals.windows);
	EXPECT_LT(0, seen.units[HWPROF_ROW_LOOP]);
	EXPECT_LT(0, seen.units[HWPROF_ROW_PATH]);
	recording_close(&recording);
}

/* --- refusals ------------------------------------------------------------- */

static int try_config(uint64_t config, uint64_t burst)
{
	struct perf_event_attr attr = event_attr(config);

	attr.config1 = burst;
	return event_try(attr);
}

static void spin_on_next_cpu(void)
{
	static int next;

	stay_on(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED));
	for (;;)
		known_run();
}

static void spin_on_all_cpus(void *unused)
{
	in_threads(spin_on_next_cpu, sysconf(_SC_NPROCESSORS_ONLN));
}

/*
 * The memory suffices for two tables, and each CPU keeps one. Some CPU has to
 * yield its table, so that there are rows before the events are stopped.
 */
TEST(no_more_tables_than_cpus)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_CALLS | EVENT_STEP |
				    EVENT_ROWS | EVENT_MEMORY(1), 1);
	struct recording recording;
	struct tally tally = {};
	struct child child = child_start(spin_on_all_cpus, NULL);

	attr.config1 = 20 | EVENT_BUDGET(50) | EVENT_INTERVAL(10);
	ASSERT_EQ(0, recording_open(&recording, &attr, -1, 64, &tally));
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	while (tally.totals.windows < 100 || tally.totals.delivered < 1000)
		recording_read_for(&recording, 10);
	recording_control(&recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&recording);
	EXPECT_EQ(tally.totals.delivered, tally.period);
	recording_close(&recording);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
}

TEST(refusals)
{
	uint64_t bit;

	for (bit = EVENT_CALLS; bit <= EVENT_EDGES; bit <<= 1) {
		int err = EVENT_FIVE & bit ? 0 : -EINVAL;

		EXPECT_EQ(err, try_config(EVENT_LOOPS | bit, 0));
		EXPECT_EQ(-EINVAL, try_config(EVENT_BRANCHES | bit, 0));
		EXPECT_EQ(err, try_config(EVENT_THREE | bit, 0));
	}
	EXPECT_EQ(0, try_config(EVENT_FOUR, 0));
	EXPECT_EQ(0, try_config(EVENT_THREE, 200));
	EXPECT_EQ(-EOPNOTSUPP, try_config(EVENT_LOOPS | EVENT_CCT, 200));
	EXPECT_EQ(-EOPNOTSUPP,
		  try_config(EVENT_LOOPS | EVENT_CCT | EVENT_LBR, 0));
	EXPECT_EQ(-EOPNOTSUPP,
		  try_config(EVENT_CALLS | EVENT_CCT | EVENT_SAMPLE, 0));
	EXPECT_EQ(-EOPNOTSUPP,
		  try_config(EVENT_LOOPS | EVENT_PATHS | EVENT_SAMPLE, 0));
	/* Metrics require sampled stacks. */
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | EVENT_CCT, 1ULL << 26));
}

TEST_HARNESS_MAIN
