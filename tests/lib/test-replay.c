// SPDX-License-Identifier: GPL-2.0-only
/*
 * From branch stacks to loops, calls, paths and ranges. Random programs are
 * sampled, and the results compared with those of oracles for the same windows.
 * Handmade stacks test what hardware and perf do besides.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "converted.h"
#include "engine/engine.h"
#include "engine/window.h"
#include "found.h"
#include "hwprof.h"
#include "reports/paths.h"
#include "perfdata/perfdata.h"
#include "run.h"
#include "tests/engine/random.h"
#include "tests/engine/seeds.h"
#include "tests/oracle/array.h"
#include "tests/oracle/paths.h"
#include "base/tree.h"

#define ORIGIN	0x400000
#define PID	4242

struct scratch {
	char recording[64];
	char object[64];
};

static const struct program_style wild = {
	.procedures = 10, .depth = 4, .recursion = true, .tail_calls = true,
	.gotos = true, .longjmps = true,
};

static void scratch_init(struct scratch *scratch)
{
	strcpy(scratch->recording, "/tmp/hwprof-test-XXXXXX");
	strcpy(scratch->object, "/tmp/hwprof-test-XXXXXX");
	close(mkstemp(scratch->recording));
	close(mkstemp(scratch->object));
}

static void scratch_remove(const struct scratch *scratch)
{
	unlink(scratch->recording);
	unlink(scratch->object);
}

static int try_replay_as(enum hwprof_kind kind, const char *path,
			 const struct hwprof_options *options,
			 struct hwprof_profile **profile, char message[512])
{
	/* A small memory is cleared faster. */
	const struct hwprof_replay_options small = { .memory_mib = 8 };

	return converted_replay(kind, path, options, kind ? &small : NULL,
				profile, message);
}

static struct hwprof_profile *replay_as(enum hwprof_kind kind, const char *path,
					const struct hwprof_options *options)
{
	struct hwprof_profile *profile;
	char message[512];

	if (try_replay_as(kind, path, options, &profile, message))
		print_message("# %s\n", message);
	assert_non_null(profile);
	return profile;
}

static int try_replay(const char *path, unsigned int flags,
		      struct hwprof_profile **loops, char message[512])
{
	return try_replay_as(HWPROF_KIND_LOOPS, path,
			     &(struct hwprof_options){ .flags = flags }, loops,
			     message);
}

static struct hwprof_profile *replay(const char *path, unsigned int flags)
{
	return replay_as(HWPROF_KIND_LOOPS, path,
			 &(struct hwprof_options){ .flags = flags });
}

/* --- random programs against the oracle --------------------------------- */

struct scene {
	struct stacks_style stacks;
	struct run_style run;
	unsigned int samples;
	unsigned int late;	/* the map comes after that many samples */
};

/*
 * Converts an address to an offset in the object, whose code begins at 0x1000.
 */
static uint64_t placed(uint64_t address)
{
	return address - ORIGIN + 0x1000;
}

/* --- calls of the same stacks ------------------------------------------- */

enum { PAIRS = 4096 };

/*
 * Counts calls by the simplest code. The oldest branch of a stack does not
 * count.
 */
struct pairs {
	struct { uint64_t site, callee, calls; } pairs[PAIRS];
	size_t count;
	uint64_t calls;
};

static void note_calls(struct pairs *pairs, const struct run *run)
{
	size_t i, k;

	for (i = 1; i < run->count; i++) {
		const struct stream_event *event = &run->entries[i].event;

		if (event->kind != STREAM_CALL)
			continue;
		for (k = 0; k < pairs->count; k++)
			if (pairs->pairs[k].site == event->from &&
			    pairs->pairs[k].callee == event->to)
				break;
		assert_true(k < PAIRS);
		pairs->pairs[k].site = event->from;
		pairs->pairs[k].callee = event->to;
		pairs->pairs[k].calls++;
		pairs->count += k == pairs->count;
		pairs->calls++;
	}
}

static uint64_t calls_of(const struct hwprof_profile *calls, uint64_t site,
			 uint64_t callee)
{
	size_t i;

	for (i = 0; i < hwprof_calls_pair_count(calls); i++) {
		const struct hwprof_pair *pair = hwprof_calls_pair(calls, i);

		if (pair->site.address == site &&
		    pair->callee.address == callee)
			return pair->called.least;
	}
	return 0;
}

static void compare_calls(const char *path, const struct pairs *pairs)
{
	struct hwprof_profile *calls = replay_as(HWPROF_KIND_CALLS, path, NULL);
	size_t i;

	assert_int_equal(hwprof_calls_pair_count(calls), pairs->count);
	for (i = 0; i < pairs->count; i++)
		assert_int_equal(calls_of(calls, placed(pairs->pairs[i].site),
					  placed(pairs->pairs[i].callee)),
				 pairs->pairs[i].calls);
	assert_int_equal(hwprof_profile_totals(calls)->produced, pairs->calls);
	assert_int_equal(hwprof_profile_totals(calls)->delivered, pairs->calls);
	hwprof_profile_free(calls);
}

/* --- paths of the same stacks ------------------------------------------- */

enum { TABLE = 8 << 20 };

struct paths {
	struct exact_paths exact;	/* from the oracle */
	struct path_walk *walk;
	struct exact_paths fed;		/* from the engine, including paths */
	void *table;			/* in flight when stacks were taken */
	bool by_time;
};

static void see_event(void *context, const struct stream_event *event)
{
	path_walk_event(((struct paths *)context)->walk, event);
}

static void paths_init(struct paths *paths, bool by_time)
{
	const struct engine_params params = { .basis = HWPROF_BASIS_BRANCHES };

	*paths = (struct paths){
		.table = calloc(1, TABLE), .by_time = by_time,
	};
	paths->walk = path_walk_new(&paths->exact);
	path_engine.table_init(paths->table, TABLE, &params);
}

static void feed_side(struct paths *paths, const struct run *run,
		      const struct perf_branch_entry *entries, bool kernel)
{
	struct window_counts counts = { 0 };
	uint8_t kinds[RUN_STACK];
	struct window window;
	unsigned int i;

	for (i = 0; i < RUN_STACK; i++)
		kinds[i] = run->entries[RUN_STACK - 1 - i].event.kind;
	window_begin(&window, (const void *)entries, kinds, RUN_STACK, !kernel);
	assert_true(path_engine.feed_window(paths->table, &window, &counts));
}

/* Feeds a stack as the module does: the interrupted side comes last. */
static void feed_stack(struct paths *paths, const struct run *run,
		       const struct perf_branch_entry *entries, uint64_t ip)
{
	bool in_kernel = window_in_kernel(ip);

	if (run->style.kernel)
		feed_side(paths, run, entries, !in_kernel);
	feed_side(paths, run, entries, in_kernel && run->style.kernel);
	if (paths->by_time)
		path_engine.taken(paths->table, ip, !in_kernel);
}

static bool take_fed(void *context, const void *row, u64 ip, u64 addr,
		     u64 period)
{
	const struct exact_path path = path_of_row(row);

	paths_add(context, &path);
	return true;
}

static void paths_end(struct paths *paths)
{
	size_t at = 0;

	assert_true(path_engine.rows(paths->table, 0, &at, ~0UL, take_fed,
				     &paths->fed));
	assert_int_equal(path_engine.evicted(paths->table), 0);
	paths_finish(&paths->exact);
	paths_finish(&paths->fed);
}

static void paths_destroy(struct paths *paths)
{
	path_walk_free(paths->walk);
	paths_free(&paths->exact);
	paths_free(&paths->fed);
	free(paths->table);
}

static uint64_t ran_at(uint64_t address)
{
	return !address || window_in_kernel(address) ? address :
	       address + ORIGIN - 0x1000;
}

/* Converts a path to the engine's form. */
static struct exact_path path_of_entry(const struct path_entry *entry)
{
	const struct path_point *point = entry->points;
	struct exact_path path = {
		.flags = entry->flags, .end = ran_at(path_end(entry)->address),
		.length = entry->path.length, .spelled = entry->spelled,
	};
	uint32_t i;

	path.space = !window_in_kernel(path.end);
	path.start = ran_at(point++->address);
	for (i = 0; i < entry->spelled; i++) {
		path.jumps[i].from = ran_at(point++->address);
		path.jumps[i].to = ran_at(point++->address);
	}
	path.target = ran_at(point[1].address);
	return path;
}

static void expect_path(const struct exact_paths *paths,
			const struct path_entry *entry)
{
	const struct exact_path path = path_of_entry(entry);
	const struct exact_path *expected = paths_find(paths, &path);

	assert_non_null(expected);
	assert_int_equal(entry->path.count, expected->count);
	assert_int_equal(entry->path.cycles, expected->cycles);
}

/* Returns the number of paths that began unseen. */
static uint64_t count_unseen(const struct exact_paths *paths, uint32_t space)
{
	const struct exact_path unseen = {
		.space = space, .flags = HWPROF_PATH_UNSEEN,
	};
	const struct exact_path *found = paths_find(paths, &unseen);

	return found ? found->count : 0;
}

static size_t expect_open(const struct hwprof_paths *paths,
			  const struct exact_paths *fed)
{
	struct path_entry **open;
	size_t count, i;

	open = (struct path_entry **)tree_list(paths->open, &count);
	for (i = 0; i < count; i++)
		expect_path(fed, open[i]);
	free(open);
	return count;
}

static void compare_paths(const char *path, const struct paths *expected,
			  uint64_t samples)
{
	struct hwprof_profile *profile = replay_as(HWPROF_KIND_PATHS, path,
						   NULL);
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);
	const struct hwprof_paths *paths = (const void *)profile;
	uint64_t unseen = count_unseen(&expected->exact, 1);
	size_t i, open;

	assert_int_equal(paths->count + !!unseen, expected->exact.count);
	for (i = 0; i < paths->count; i++) {
		expect_path(&expected->exact, paths->entries[i]);
		expect_path(&expected->fed, paths->entries[i]);
	}
	assert_int_equal(paths->summary.unseen, unseen);
	open = expect_open(paths, &expected->fed);
	assert_int_equal(paths->count + open + !!unseen, expected->fed.count);
	assert_int_equal(totals->produced, expected->exact.finished);
	assert_int_equal(totals->delivered, totals->produced);
	assert_int_equal(totals->windows, expected->by_time ? samples : 0);
	assert_int_equal(!!open, expected->by_time);
	hwprof_profile_free(profile);
}

/* --- ranges of the same stacks ------------------------------------------ */

/* Targets of branches, as offsets in the object. The oldest is not seen. */
struct targets {
	uint64_t *items;
	size_t count, room;
};

static void note_targets(struct targets *targets, const struct run *run,
			 bool calls)
{
	unsigned int i;

	for (i = 1; i < run->count; i++) {
		const struct stream_event *event = &run->entries[i].event;

		if (event->kind && (!calls || event->kind == STREAM_CALL))
			*array_push(targets) = placed(event->to);
	}
}

static void compare_ranges(const char *path, const struct targets *targets,
			   enum hwprof_range_of of)
{
	struct hwprof_profile *ranges = replay_as(HWPROF_KIND_RANGES, path,
		&(struct hwprof_options){
			.hot = 0.02,
			.flags = of ? HWPROF_RANGES_OF_FLAG(of) : 0,
		});
	size_t i, k;

	assert_int_equal(hwprof_ranges_of(ranges), of);
	assert_true(hwprof_ranges_count(ranges) > 1);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->least, targets->count);
	for (i = 1; i < hwprof_ranges_count(ranges); i++) {
		const struct hwprof_range *range = hwprof_ranges_get(ranges, i);
		uint64_t inside = 0;

		for (k = 0; k < targets->count; k++)
			inside += targets->items[k] >= range->low &&
				  targets->items[k] <= range->high;
		assert_in_range(inside, range->least, range->most);
		assert_true(range->most - range->least <=
			    targets->count / 100 + 1);
	}
	assert_int_equal(hwprof_profile_totals(ranges)->produced,
			 targets->count);
	assert_int_equal(hwprof_profile_totals(ranges)->delivered,
			 targets->count);
	hwprof_profile_free(ranges);
}

/* --- all of them -------------------------------------------------------- */

struct noted {
	struct pairs pairs;
	struct paths paths;
	struct targets targets, callees;
};

static void note(struct noted *noted, const struct run *run,
		 const struct perf_branch_entry *entries, uint64_t ip)
{
	note_calls(&noted->pairs, run);
	feed_stack(&noted->paths, run, entries, ip);
	note_targets(&noted->targets, run, false);
	note_targets(&noted->callees, run, true);
}

static void record(const struct scene *scene, const struct scratch *scratch,
		   struct run *run, struct noted *noted)
{
	struct perf_branch_entry entries[RUN_STACK];
	struct stacks stacks;
	unsigned int i;

	stacks_begin(&stacks, scratch->recording, &scene->stacks);
	stacks_comm(&stacks, 1, PID, "prog", true);
	for (i = 0; i < scene->samples; i++) {
		if (i == scene->late)
			stacks_map(&stacks, 2, PID, ORIGIN, 1 << 20, 0x1000,
				   scratch->object);
		run_sample(run, entries);
		stacks.ip = entries[0].to + i % 3;
		note(noted, run, entries, stacks.ip);
		stacks_sample(&stacks, 10 + i, PID, entries, RUN_STACK);
		if (i % 100 == 99)
			stacks_round(&stacks);
	}
	stacks_end(&stacks);
}

static void compare_loop(const struct hwprof_loop *loop,
			 const struct oracle_loop *expected)
{
	unsigned int i;

	assert_non_null(loop);
	assert_int_equal(loop->tail, placed(expected->tail));
	assert_int_equal(loop->back_edges_seen, expected->back_edges);
	assert_int_equal(loop->entries_seen, expected->entries);
	assert_false(loop->counted);
	/* A window shows no whole executions. */
	assert_int_equal(loop->trip_max, 0);
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		assert_int_equal(loop->histogram[i], 0);
}

static void compare(const struct hwprof_profile *loops, struct oracle *oracle,
		    const struct run *run)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(loops);
	const struct oracle_loop *expected;
	uint64_t back_edges = 0;
	size_t count, i;

	oracle_run(oracle);
	count = oracle_loops(oracle, &expected);
	assert_int_equal(hwprof_loops_count(loops), count);
	for (i = 0; i < count; i++) {
		compare_loop(found_loop(loops, placed(expected[i].head)),
			     &expected[i]);
		back_edges += expected[i].back_edges;
	}
	assert_int_equal(totals->produced, back_edges);
	assert_int_equal(totals->delivered, back_edges);
	assert_int_equal(totals->evicted, 0);
	assert_true(totals->events <= run->branches + 1);
}

static void check_scene(const struct scene *scene, uint64_t seed)
{
	struct program *program = program_new(seed, &wild);
	struct oracle *oracle = oracle_new(HWPROF_DEFAULT_SPAN);
	struct noted noted = { .pairs.count = 0 };
	struct hwprof_profile *loops;
	struct scratch scratch;
	struct run run;

	scratch_init(&scratch);
	run_write_object(program, scratch.object);
	paths_init(&noted.paths, scene->stacks.type != PERF_TYPE_RAW);
	run_init(&run, program, &scene->run, seed, 1, oracle);
	run.see = see_event;
	run.context = &noted.paths;
	record(scene, &scratch, &run, &noted);
	paths_end(&noted.paths);
	/* Loops have the code's own addresses, wherever the kinds come from. */
	loops = replay(scratch.recording, 0);
	compare(loops, oracle, &run);
	assert_null(found_warning(loops, "inferred"));
	assert_null(found_warning(loops, "gaps"));
	hwprof_profile_free(loops);
	compare_calls(scratch.recording, &noted.pairs);
	compare_paths(scratch.recording, &noted.paths, scene->samples);
	compare_ranges(scratch.recording, &noted.targets, HWPROF_RANGE_IP);
	compare_ranges(scratch.recording, &noted.callees, HWPROF_RANGE_CALLEE);
	paths_destroy(&noted.paths);
	free(noted.targets.items);
	free(noted.callees.items);
	scratch_remove(&scratch);
	oracle_free(oracle);
	program_free(program);
}

static void check(const struct scene *scene)
{
	uint64_t seed, count = seeds(8);

	for (seed = 1; seed <= count; seed++)
		check_scene(scene, seed);
}

#define TIME	PERF_SAMPLE_TIME

/* perf 3.x, freq, :u: no types, no ids, kinds from the code */
static void test_plain(void **state)
{
	check(&(struct scene){
		.stacks = { .attr_size = PERF_ATTR_SIZE_VER3, .freq = true,
			    .sample_type = TIME },
		.run = { .branches = 40 }, .samples = 2000,
	});
}

/* perf 6.x: types, HW_INDEX, counters, period mode, both sides */
static void test_newest(void **state)
{
	check(&(struct scene){
		.stacks = { .type = PERF_TYPE_RAW, .config = 0x20c4,
			    .kernel = true,
			    .sample_type = TIME | PERF_SAMPLE_IDENTIFIER |
					   PERF_SAMPLE_CPU,
			    .filter = PERF_SAMPLE_BRANCH_ANY |
				      PERF_SAMPLE_BRANCH_TYPE_SAVE |
				      PERF_SAMPLE_BRANCH_HW_INDEX | 1 << 19 },
		.run = { .branches = 10, .types = true, .kernel = true },
		.samples = 2000,
	});
}

/* All fields that may precede the stack, and a second event. */
static void test_fields(void **state)
{
	check(&(struct scene){
		.stacks = { .events = 2,
			    .sample_type = TIME | PERF_SAMPLE_ADDR |
					   PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
					   PERF_SAMPLE_STREAM_ID |
					   PERF_SAMPLE_READ | PERF_SAMPLE_RAW |
					   PERF_SAMPLE_CALLCHAIN,
			    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
					   PERF_FORMAT_LOST |
					   PERF_FORMAT_TOTAL_TIME_RUNNING },
		.run = { .branches = 100 }, .samples = 1000,
	});
	check(&(struct scene){
		.stacks = { .sample_type = TIME | PERF_SAMPLE_READ,
			    .read_format = PERF_FORMAT_ID |
					   PERF_FORMAT_TOTAL_TIME_ENABLED },
		.run = { .branches = 100 }, .samples = 1000,
	});
}

static void test_pipe(void **state)
{
	check(&(struct scene){
		.stacks = { .pipe = true, .events = 2,
			    .sample_type = TIME | PERF_SAMPLE_IDENTIFIER },
		.run = { .branches = 40, .kernel = true }, .samples = 1000,
	});
}

static void test_zstd(void **state)
{
	check(&(struct scene){
		.stacks = { .zstd = true, .sample_type = TIME },
		.run = { .branches = 40 }, .samples = 1000,
	});
}

/* The map of a sample is in another CPU's ring, so it comes a round later. */
static void test_late_map(void **state)
{
	check(&(struct scene){
		.stacks = { .sample_type = TIME },
		.run = { .branches = 40 }, .samples = 1000, .late = 190,
	});
}

static void test_no_times(void **state)
{
	check(&(struct scene){ .run = { .branches = 40 }, .samples = 1000 });
}

/* --- by hand ------------------------------------------------------------ */

/* A stack as it is recorded: from, to; the newest first. */
#define STACK(...)							       \
	((const struct perf_branch_entry[]){ __VA_ARGS__ })
#define COND(f, t)	{ .from = f, .to = t, .type = PERF_BR_COND }
#define CALL(f, t)	{ .from = f, .to = t, .type = PERF_BR_CALL }
#define RET(f, t)	{ .from = f, .to = t, .type = PERF_BR_RET }
#define PLAIN(f, t)	{ .from = f, .to = t }

static struct hwprof_profile *
replay_stack(const struct perf_branch_entry *stack, size_t count, bool kernel)
{
	const struct stacks_style style = { .sample_type = TIME,
					    .kernel = kernel };
	struct hwprof_profile *loops;
	struct scratch scratch;
	struct stacks stacks;

	scratch_init(&scratch);
	stacks_begin(&stacks, scratch.recording, &style);
	stacks_sample(&stacks, 10, PID, stack, count);
	stacks_end(&stacks);
	loops = replay(scratch.recording, HWPROF_NO_OBJECTS);
	scratch_remove(&scratch);
	return loops;
}

#define REPLAY(kernel, ...)						       \
	replay_stack(STACK(__VA_ARGS__),				       \
		     sizeof(STACK(__VA_ARGS__)) /			       \
		     sizeof(struct perf_branch_entry), kernel)

static void expect_loop(const struct hwprof_profile *loops, uint64_t head,
			uint64_t back_edges, uint64_t entries)
{
	const struct hwprof_loop *loop = found_loop(loops, head);

	assert_non_null(loop);
	assert_int_equal(loop->back_edges_seen, back_edges);
	assert_int_equal(loop->entries_seen, entries);
}

/* The oldest branch does not count, because the line before it was not seen. */
static void test_oldest(void **state)
{
	struct hwprof_profile *loops = REPLAY(false, COND(0x1020, 0x1010),
					    COND(0x1020, 0x1010),
					    COND(0x1020, 0x1010));

	expect_loop(loops, 0x1010, 2, 0);
	assert_int_equal(hwprof_profile_totals(loops)->events, 3);
	assert_int_equal(hwprof_profile_totals(loops)->gaps, 1);
	hwprof_profile_free(loops);
}

#define IN_KERNEL	0xffffffff81000000ULL

/* An interrupt and a system call in a loop's line do not end the line. */
static void test_interrupted(void **state)
{
	struct hwprof_profile *loops = REPLAY(false,
		COND(0x1040, 0x1010),
		PLAIN(IN_KERNEL + 0x80, 0x1032),
		PLAIN(IN_KERNEL, IN_KERNEL + 0x40),
		PLAIN(0x1030, IN_KERNEL),
		PLAIN(IN_KERNEL + 0x90, 0x1018),
		PLAIN(0x1018, IN_KERNEL),
		COND(0x1005, 0x1008));

	expect_loop(loops, 0x1010, 1, 1);
	assert_null(found_warning(loops, "gaps"));
	hwprof_profile_free(loops);

	/* After a signal's handler, the line before is unknown. */
	loops = REPLAY(false, COND(0x1040, 0x1010),
		       PLAIN(IN_KERNEL + 0x80, 0x1020),
		       PLAIN(0x1018, IN_KERNEL), COND(0x1005, 0x1012));
	expect_loop(loops, 0x1010, 1, 0);
	hwprof_profile_free(loops);
}

/* Both sides are recorded. The kernel's loops have their own space. */
static void test_kernel(void **state)
{
	struct hwprof_profile *loops = REPLAY(true,
		COND(0x1040, 0x1010),
		PLAIN(IN_KERNEL + 0x80, 0x1032),
		COND(IN_KERNEL + 0x60, IN_KERNEL + 0x20),
		COND(IN_KERNEL + 0x60, IN_KERNEL + 0x20),
		PLAIN(0x1030, IN_KERNEL),
		COND(0x1005, 0x1008));

	expect_loop(loops, 0x1010, 1, 1);
	expect_loop(loops, IN_KERNEL + 0x20, 2, 1);
	assert_string_equal(found_loop(loops, IN_KERNEL + 0x20)->object,
			    "[kernel]");
	hwprof_profile_free(loops);
}

/*
 * An impossible branch is a gap, and counted. The wrong path was never taken.
 */
static void test_broken(void **state)
{
	struct perf_branch_entry stack[] = {
		COND(0x1020, 0x1010),
		PLAIN(0, 0x1010),		/* lost its source */
		COND(0x1020, 0x1010),
		PLAIN(0x1018, 0x1010),		/* aborted */
		COND(0x1020, 0x1010),
		COND(0x1004, 0x1018),		/* not behind 0x1010 */
		PLAIN(0x101c, 0x7777),		/* speculated */
		COND(0x1020, 0x1010),
		COND(0x1020, 0x1010),
	};
	struct hwprof_profile *loops;

	stack[3].abort = 1;
	stack[6].spec = 1;	/* on a wrong path */
	stack[7].spec = 3;	/* on the right path */
	loops = replay_stack(stack, 9, false);
	expect_loop(loops, 0x1010, 4, 0);
	assert_non_null(found_warning(loops, "3 of 9 branches"));
	hwprof_profile_free(loops);
}

static void add_pairs(struct stacks *stacks, unsigned int count)
{
	/* head 1000; call 1008 -> 2000; ret 2009 -> 100d; back 1020 -> 1000 */
	const struct perf_branch_entry pairs[] = {
		PLAIN(0x1020, 0x1000), PLAIN(0x2009, 0x100d),
		PLAIN(0x1008, 0x2000), PLAIN(0x1020, 0x1000),
		PLAIN(0x2009, 0x100d), PLAIN(0x1008, 0x2000),
		PLAIN(0x1020, 0x1000),
	};
	/* jmp 3000 -> 3040; back 3048 -> 3002, four times */
	const struct perf_branch_entry rotated[] = {
		PLAIN(0x3048, 0x3002), PLAIN(0x3048, 0x3002),
		PLAIN(0x3048, 0x3002), PLAIN(0x3048, 0x3002),
		PLAIN(0x3000, 0x3041), PLAIN(0x2ff0, 0x2ff8),
	};

	while (count--) {
		stacks_sample(stacks, 10, PID, pairs, 7);
		stacks_sample(stacks, 10, PID, rotated, 6);
	}
}

static void expect_most(const struct hwprof_loop *loop, uint64_t back_edges,
			uint64_t entries)
{
	assert_non_null(loop);
	assert_in_range(loop->back_edges_seen, back_edges - 20, back_edges);
	assert_in_range(loop->entries_seen, entries - !!entries * 20, entries);
}

/*
 * Without code: calls and returns are recognised in pairs; rotated loops look
 * alike.
 */
static void test_inferred(void **state)
{
	const struct stacks_style style = { .sample_type = TIME };
	struct hwprof_profile *loops;
	struct scratch scratch;
	struct stacks stacks;

	scratch_init(&scratch);
	stacks_begin(&stacks, scratch.recording, &style);
	add_pairs(&stacks, 100);
	stacks_end(&stacks);
	loops = replay(scratch.recording, HWPROF_NO_OBJECTS);
	assert_int_equal(hwprof_loops_count(loops), 2);
	/* The first ones were not yet certain to be jumps. */
	expect_most(found_loop(loops, 0x1000), 200, 0);
	expect_most(found_loop(loops, 0x3002), 400, 100);
	assert_non_null(found_warning(loops, "1300 of 1300 branches"));
	hwprof_profile_free(loops);
	scratch_remove(&scratch);
}

static const struct perf_branch_entry one_back[] = {
	COND(0x1020, 0x1010), COND(0x1020, 0x1010),
};

static void expect_two_programs(const struct scratch *scratch)
{
	struct hwprof_profile *loops = replay(scratch->recording,
					    HWPROF_NO_OBJECTS);

	assert_int_equal(hwprof_loops_count(loops), 2);
	expect_loop(loops, 0x1010, 1, 0);
	expect_loop(loops, 0x5010, 1, 0);
	assert_string_equal(found_loop(loops, 0x5010)->object, "/no/second");
	hwprof_profile_free(loops);
}

/* The same addresses before and after an exec are different code. */
static void test_exec(void **state)
{
	const struct stacks_style style = { .sample_type = TIME };
	struct scratch scratch;
	struct stacks stacks;

	scratch_init(&scratch);
	stacks_begin(&stacks, scratch.recording, &style);
	stacks_map(&stacks, 1, PID, 0x1000, 0x1000, 0x1000, "/no/first");
	stacks_comm(&stacks, 20, PID, "second", true);
	stacks_map(&stacks, 21, PID, 0x1000, 0x1000, 0x5000, "/no/second");
	stacks_sample(&stacks, 30, PID, one_back, 2);
	stacks_sample(&stacks, 10, PID, one_back, 2);
	stacks_end(&stacks);
	expect_two_programs(&scratch);
	scratch_remove(&scratch);
}

/* Without times, the order of the file counts. */
static void test_exec_untimed(void **state)
{
	const struct stacks_style style = { 0 };
	struct scratch scratch;
	struct stacks stacks;

	scratch_init(&scratch);
	stacks_begin(&stacks, scratch.recording, &style);
	stacks_map(&stacks, 0, PID, 0x1000, 0x1000, 0x1000, "/no/first");
	stacks_sample(&stacks, 0, PID, one_back, 2);
	stacks_comm(&stacks, 0, PID, "second", true);
	stacks_map(&stacks, 0, PID, 0x1000, 0x1000, 0x5000, "/no/second");
	stacks_sample(&stacks, 0, PID, one_back, 2);
	stacks_round(&stacks);
	stacks_end(&stacks);
	expect_two_programs(&scratch);
	scratch_remove(&scratch);
}

static void expect_basis(const struct stacks_style *style,
			 enum hwprof_basis basis)
{
	struct hwprof_profile *loops;
	struct scratch scratch;
	struct stacks stacks;

	scratch_init(&scratch);
	stacks_begin(&stacks, scratch.recording, style);
	stacks_sample(&stacks, 0, PID, one_back, 2);
	stacks_end(&stacks);
	loops = replay(scratch.recording, HWPROF_NO_OBJECTS);
	assert_int_equal(found_loop(loops, 0x1010)->basis, basis);
	hwprof_profile_free(loops);
	scratch_remove(&scratch);
}

static void test_basis(void **state)
{
	expect_basis(&(struct stacks_style){ .type = PERF_TYPE_RAW,
					     .config = 0x20c4 },
		     HWPROF_BASIS_BRANCHES);
	expect_basis(&(struct stacks_style){ .type = PERF_TYPE_HARDWARE,
			.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		     HWPROF_BASIS_BRANCHES);
	expect_basis(&(struct stacks_style){ .type = PERF_TYPE_HARDWARE,
			.config = PERF_COUNT_HW_CPU_CYCLES },
		     HWPROF_BASIS_TIME);
	expect_basis(&(struct stacks_style){ .type = PERF_TYPE_RAW,
					     .config = 0x00c5 },
		     HWPROF_BASIS_TIME);
}

/* --- paths and ranges by hand ------------------------------------------- */

enum { CYCLES = PERF_COUNT_HW_CPU_CYCLES };

/* Begins a recording of cycles. The caller adds its samples. */
static void begin_cycles(struct scratch *scratch, struct stacks *stacks,
			 bool kernel, uint64_t filter)
{
	scratch_init(scratch);
	stacks_begin(stacks, scratch->recording, &(struct stacks_style){
			.config = CYCLES, .sample_type = TIME,
			.kernel = kernel, .filter = filter,
		     });
}

static struct hwprof_profile *end_cycles(struct scratch *scratch,
					 struct stacks *stacks,
					 enum hwprof_kind kind)
{
	struct hwprof_profile *profile;

	stacks_end(stacks);
	profile = replay_as(kind, scratch->recording,
		&(struct hwprof_options){ .flags = HWPROF_NO_OBJECTS });
	scratch_remove(scratch);
	return profile;
}

/*
 * Returns the windows taken at @end, on a path that begins at @start; 0:
 * unseen.
 */
static uint64_t taken_on(const struct hwprof_profile *profile, uint64_t start,
			 uint64_t end)
{
	const struct hwprof_paths *paths = (const void *)profile;
	struct path_entry **open;
	uint64_t taken = 0;
	size_t count, i;

	open = (struct path_entry **)tree_list(paths->open, &count);
	for (i = 0; i < count; i++)
		if (open[i]->points[0].address == start &&
		    path_end(open[i])->address == end)
			taken += open[i]->path.count;
	free(open);
	return taken;
}

/* A stack that repeats, taken at different places. */
static void test_taken(void **state)
{
	const struct perf_branch_entry stack[] = {
		COND(0x1020, 0x1010), COND(0x1020, 0x1010),
		COND(0x1020, 0x1010),
	};
	struct hwprof_profile *paths;
	struct scratch scratch;
	struct stacks stacks;
	unsigned int i;

	begin_cycles(&scratch, &stacks, false, 0);
	for (i = 0; i < 10; i++) {
		stacks.ip = i < 7 ? 0x1014 : 0x1018;
		stacks_sample(&stacks, 10 + i, PID, stack, 3);
	}
	paths = end_cycles(&scratch, &stacks, HWPROF_KIND_PATHS);
	assert_int_equal(hwprof_paths_count(paths), 1);
	assert_int_equal(hwprof_paths_get(paths, 0)->count, 10);
	assert_int_equal(hwprof_paths_get(paths, 0)->basis, HWPROF_BASIS_TIME);
	assert_string_equal(hwprof_paths_summary(paths)->metric, "time");
	assert_true(hwprof_paths_get(paths, 0)->windows == 10);
	assert_int_equal(hwprof_paths_summary(paths)->unseen, 10);
	assert_int_equal(taken_on(paths, 0x1010, 0x1014), 7);
	assert_int_equal(taken_on(paths, 0x1010, 0x1018), 3);
	hwprof_profile_free(paths);
}

static const struct perf_branch_entry two_sides[] = {
	COND(0x1040, 0x1010),
	PLAIN(IN_KERNEL + 0x80, 0x1032),
	COND(IN_KERNEL + 0x60, IN_KERNEL + 0x20),
	COND(IN_KERNEL + 0x60, IN_KERNEL + 0x20),
	PLAIN(0x1030, IN_KERNEL),
	COND(0x1005, 0x1008),
};

/* The path in flight is on the interrupted side. */
static void test_taken_on_sides(void **state)
{
	struct hwprof_profile *paths;
	struct scratch scratch;
	struct stacks stacks;

	begin_cycles(&scratch, &stacks, true, 0);
	stacks.ip = 0x1014;
	stacks_sample(&stacks, 10, PID, two_sides, 6);
	stacks.ip = IN_KERNEL + 0x24;
	stacks_sample(&stacks, 11, PID, two_sides + 2, 4);
	paths = end_cycles(&scratch, &stacks, HWPROF_KIND_PATHS);
	assert_int_equal(taken_on(paths, 0x1010, 0x1014), 1);
	assert_int_equal(taken_on(paths, IN_KERNEL + 0x20, IN_KERNEL + 0x24),
			 1);
	hwprof_profile_free(paths);
}

/* Without records of a side, its paths are unknown. */
static void test_taken_unrecorded(void **state)
{
	struct hwprof_profile *paths;
	struct scratch scratch;
	struct stacks stacks;

	begin_cycles(&scratch, &stacks, true,
		     PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	stacks.ip = 0x1014;
	stacks_sample(&stacks, 10, PID, one_back, 2);
	stacks.ip = IN_KERNEL + 0x24;
	stacks_sample(&stacks, 11, PID, one_back, 2);
	paths = end_cycles(&scratch, &stacks, HWPROF_KIND_PATHS);
	assert_int_equal(taken_on(paths, 0x1010, 0x1014), 1);
	assert_int_equal(taken_on(paths, 0, IN_KERNEL + 0x24), 1);
	hwprof_profile_free(paths);

	/* No records of the levels that run. */
	begin_cycles(&scratch, &stacks, true,
		     PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HV);
	stacks.ip = 0x1014;
	stacks_sample(&stacks, 10, PID, one_back, 2);
	paths = end_cycles(&scratch, &stacks, HWPROF_KIND_PATHS);
	assert_int_equal(taken_on(paths, 0, 0x1014), 1);
	hwprof_profile_free(paths);
}

/* Branches of both sides are counted, and so are repetitions. */
static void test_ranges_repeat(void **state)
{
	struct hwprof_profile *ranges;
	struct scratch scratch;
	struct stacks stacks;
	unsigned int i;

	begin_cycles(&scratch, &stacks, true, 0);
	for (i = 0; i < 1000; i++)
		stacks_sample(&stacks, 10 + i, PID, two_sides, 6);
	ranges = end_cycles(&scratch, &stacks, HWPROF_KIND_RANGES);
	assert_int_equal(hwprof_profile_totals(ranges)->delivered, 3000);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->least, 3000);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->basis,
			 HWPROF_BASIS_TIME);
	hwprof_profile_free(ranges);
}

/* --- wrong input -------------------------------------------------------- */

static void expect_refusal(const struct stacks_style *style, const void *body,
			   size_t size, int error, const char *words)
{
	struct hwprof_profile *loops;
	struct scratch scratch;
	struct stacks stacks;
	char message[512];
	int got;

	scratch_init(&scratch);
	stacks_begin(&stacks, scratch.recording, style);
	if (body)
		stacks_record(&stacks, PERF_RECORD_SAMPLE, 0, body, size);
	stacks_end(&stacks);
	got = try_replay(scratch.recording, 0, &loops, message);
	if (got != error || !strstr(message, words))
		print_message("# %d: %s\n", got, message);
	assert_int_equal(got, error);
	assert_non_null(strstr(message, words));
	scratch_remove(&scratch);
}

static void test_refused(void **state)
{
	/* ip, pid, tid, period, and then the stack */
	const uint64_t many[] = { 0, PID, 1, 99999999, 1, 2, 3 };
	const uint64_t cut[] = { 0, PID, 1, 2, 0x1020, 0x1010, 0, 0x1020 };
	const struct stacks_style plain = { 0 };

	expect_refusal(&plain, many, sizeof(many), -EBADMSG, "offset 0x");
	expect_refusal(&plain, cut, sizeof(cut), -EBADMSG, "offset 0x");
	expect_refusal(&plain, cut, 8, -EBADMSG, "offset 0x");
	expect_refusal(&(struct stacks_style){
				.filter = PERF_SAMPLE_BRANCH_ANY_CALL },
		       NULL, 0, -ENOENT, "some kinds of branches only");
	expect_refusal(&(struct stacks_style){ .pipe = true,
				.filter = PERF_SAMPLE_BRANCH_CALL_STACK },
		       NULL, 0, -ENOENT, "some kinds of branches only");
}

/* Kinds of profiles for which stacks do not say enough. */
static void test_not_in_stacks(void **state)
{
	struct hwprof_profile *profile;
	char message[512];
	int of;

	assert_int_equal(try_replay_as(HWPROF_KIND_VALUES,
				       "tests/fuzz/seeds/fuzz-replay/types",
				       NULL, &profile, message), -EOPNOTSUPP);
	assert_non_null(strstr(message, "values cannot be replayed"));
	for (of = 0; of < HWPROF_RANGES_OF_COUNT; of++) {
		const struct hwprof_options options = {
			.flags = HWPROF_RANGES_OF_FLAG(of),
		};
		bool may = of == HWPROF_RANGE_IP || of == HWPROF_RANGE_CALLEE;

		assert_int_equal(
			try_replay_as(HWPROF_KIND_RANGES,
				      "tests/fuzz/seeds/fuzz-replay/types",
				      &options, &profile, message),
			may ? 0 : -EOPNOTSUPP);
		assert_int_equal(!!strstr(message, "cannot be replayed"), !may);
		hwprof_profile_free(profile);
	}
}

static void test_no_stacks(void **state)
{
	struct hwprof_profile *loops;
	char message[512];

	assert_int_equal(try_replay("tests/fuzz/seeds/fuzz-perfdata/hwprof", 0,
				    &loops, message), -ENOENT);
	assert_non_null(strstr(message, "has no branch stacks"));
}

static void test_other_order(void **state)
{
	const uint64_t header[2] = { PERFDATA_MAGIC_SWAPPED,
				     (uint64_t)0x68 << 56 };
	struct hwprof_profile *loops;
	struct scratch scratch;
	char message[512];
	FILE *file;

	scratch_init(&scratch);
	file = fopen(scratch.recording, "w");
	fwrite(header, sizeof(header), 1, file);
	fclose(file);
	assert_int_equal(try_replay(scratch.recording, 0, &loops, message),
			 -ENOTSUP);
	assert_non_null(strstr(message, "other byte order"));
	scratch_remove(&scratch);
}

static void test_options(void **state)
{
	const struct hwprof_replay_options options = { .memory_mib = 4096 };
	struct hwprof_profile *loops;
	struct hwprof_file *file;

	assert_int_equal(hwprof_file_open(&file,
			 "tests/fuzz/seeds/fuzz-perfdata/perf"), 0);
	assert_int_equal(hwprof_profile_replay(&loops, HWPROF_KIND_LOOPS, file,
					       NULL, &options),
			 -EINVAL);
	assert_non_null(strstr(hwprof_file_error(file), "1 to 4095"));
	hwprof_file_close(file);
}

/* --- from hardware ------------------------------------------------------ */

#define SKYLAKE	"../shared/data/lbr/skylake-sp-lbr32.perf.data"

static void test_skylake(void **state)
{
	const struct hwprof_totals *totals;
	struct hwprof_profile *loops;

	if (access(SKYLAKE, R_OK)) {
		print_message("# %s is not there\n", SKYLAKE);
		skip();
	}
	loops = replay(SKYLAKE, 0);
	totals = hwprof_profile_totals(loops);
	/* A second one was only in stacks that contradict themselves. */
	assert_int_equal(hwprof_loops_count(loops), 1);
	assert_int_equal(hwprof_loops_get(loops, 0)->basis, HWPROF_BASIS_TIME);
	assert_int_equal(totals->produced, totals->delivered);
	assert_true(totals->events > 3732 * 31 && totals->events < 3732 * 33);
	hwprof_profile_free(loops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_late_map),
		cmocka_unit_test(test_no_times),
		cmocka_unit_test(test_oldest),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_inferred),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_untimed),
		cmocka_unit_test(test_basis),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_taken_on_sides),
		cmocka_unit_test(test_taken_unrecorded),
		cmocka_unit_test(test_ranges_repeat),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_not_in_stacks),
		cmocka_unit_test(test_no_stacks),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_skylake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
