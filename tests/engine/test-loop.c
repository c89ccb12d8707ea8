// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the loop engine with the oracle on random programs: both get the
 * same events, and every loop must be equal.
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace.h"
#include "harness.h"
#include "machine.h"
#include "random.h"
#include "seeds.h"

enum {
	TASKS_MAX	= 6,
	FRAMES_KEPT	= 256,	/* docs/definitions.md: limits of the engine */
	LOOPS_KEPT	= 16,	/* of 32, because some that were left remain */
};

struct scene {
	struct program_style program;
	struct machine_style machine;
	struct harness_style harness;
	u64 span;
	u64 events;
	unsigned int spaces;
	bool trips;		/* compare executions, too */
};

static const struct harness_style one_table = {
	.tasks = 1, .tables = 1, .table_size = 4 << 20, .profile_size = 8 << 20,
};

static const struct harness_style many_tables = {
	.tasks = TASKS_MAX, .tables = 3,
	.table_size = 4 << 20, .profile_size = 8 << 20,
	.exchanges = 500, .readings = 2000, .refusals = 3,
};

static const struct program_style plain = {
	.procedures = 8, .depth = 3,
};

static const struct program_style wild = {
	.procedures = 12, .depth = 4, .recursion = true, .tail_calls = true,
	.gotos = true, .longjmps = true,
};

static const struct program_style chaos = {
	.procedures = 6, .recursion = true, .soup = true,
};

/* --- comparing ------------------------------------------------------------ */

static unsigned int differences;

static void differ(const struct oracle_loop *o, const char *what, u64 engine,
		   u64 oracle)
{
	if (differences++ < 20)
		print_error("space %u loop %" PRIx64 "-%" PRIx64
			    ": %s %" PRId64 ", oracle %" PRId64 "\n",
			    o->space, o->head, o->tail, what, (int64_t)engine,
			    (int64_t)oracle);
}

#define SAME(e, o, field)						       \
	do {								       \
		if ((u64)(e)->field != (o)->field)			       \
			differ(o, #field, (e)->field, (o)->field);	       \
	} while (0)

/*
 * Compares statistics of executions. If the region grew, they may be split, and
 * the row says so.
 */
static void compare_trips(const struct seen_loop *e,
			  const struct oracle_loop *o)
{
	unsigned int i;

	if (e->tolerance)
		return;
	SAME(e, o, executions);
	SAME(e, o, unclosed);
	SAME(e, o, trip_min);
	SAME(e, o, trip_max);
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		SAME(e, o, trips[i]);
}

static void compare(const struct harness *h, const struct oracle *oracle,
		    bool trips)
{
	struct oracle_depth depth = oracle_depth(oracle);
	const struct oracle_loop *loops;
	size_t i, count = oracle_loops(oracle, &loops);

	assert_int_equal(loop_engine.evicted(h->tables.profile), 0);
	assert_int_equal(h->loops.count, count);
	for (i = 0; i < count; i++) {
		const struct oracle_loop *o = &loops[i];
		const struct seen_loop *e = harness_find(h, o->space, o->head);

		if (!e) {
			differ(o, "known", 0, 1);
			continue;
		}
		SAME(e, o, tail);
		SAME(e, o, back_edges);
		if (depth.frames > FRAMES_KEPT)
			continue;
		SAME(e, o, entries);
		if (trips && depth.loops <= LOOPS_KEPT)
			compare_trips(e, o);
	}
}

/* Ends the tasks, after which executions in flight count. */
static void end_tasks(struct harness *h, struct oracle *oracle,
		      const struct machine *machines)
{
	unsigned int task;

	for (task = 0; task < h->style.tasks; task++) {
		const struct stream_event event = {
			.kind = STREAM_GAP, .space = machines[task].space,
		};

		oracle_add(oracle, task, &event);
		harness_feed(h, task, &event);
	}
}

static void run_scene(const struct scene *scene, u64 seed)
{
	unsigned int tasks = scene->harness.tasks, task;
	struct machine machines[TASKS_MAX];
	struct stream_event event;
	struct oracle *oracle = oracle_new(scene->span);
	struct program *program = program_new(seed, &scene->program);
	struct harness h;
	u64 i, random = seed;

	harness_init(&h, &scene->harness, scene->span, seed);
	for (task = 0; task < tasks; task++)
		machine_init(&machines[task], program, &scene->machine,
			     random_next(&random), 1 + task % scene->spaces);
	differences = 0;
	for (i = 0; i < scene->events; i++) {
		task = random_below(&random, tasks);
		machine_next(&machines[task], &event);
		oracle_add(oracle, task, &event);
		harness_feed(&h, task, &event);
	}
	end_tasks(&h, oracle, machines);
	oracle_run(oracle);
	harness_finish(&h);
	compare(&h, oracle, scene->trips);
	if (differences)
		fail_msg("seed %" PRIu64 ": %u differences", seed, differences);
	harness_free(&h);
	oracle_free(oracle);
	program_free(program);
}

static void run_seeds(const struct scene *scene)
{
	u64 seed;

	for (seed = 1; seed <= seeds(20); seed++)
		run_scene(scene, seed);
}

/* --- the scenes ----------------------------------------------------------- */

static void test_structured(void **state)
{
	const struct scene scene = {
		.program = plain,
		.machine = {.stack = 8},
		.harness = one_table,
		.span = SPAN,
		.events = 20000,
		.spaces = 1,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_structured_many_tables(void **state)
{
	const struct scene scene = {
		.program = plain, .machine = { .stack = 8, .unseen = 500 },
		.harness = many_tables, .span = SPAN, .events = 30000,
		.spaces = 3,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_wild(void **state)
{
	const struct scene scene = {
		.program = wild,
		.machine = {.stack = 6, .signals = 3000},
		.harness = one_table,
		.span = SPAN,
		.events = 20000,
		.spaces = 1,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_wild_many_tables(void **state)
{
	const struct scene scene = {
		.program = wild,
		.machine = { .stack = 6, .signals = 1000, .unseen = 300 },
		.harness = many_tables, .span = 200, .events = 30000,
		.spaces = 2,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_gaps(void **state)
{
	const struct scene scene = {
		.program = wild,
		.machine = { .stack = 6, .signals = 3000, .gaps = 300 },
		.harness = many_tables, .span = SPAN, .events = 20000,
		.spaces = 2,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_windows_of_32(void **state)
{
	const struct scene scene = {
		.program = wild,
		.machine = {.stack = 6, .window = 32},
		.harness = one_table,
		.span = SPAN,
		.events = 20000,
		.spaces = 1,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_windows_of_200(void **state)
{
	const struct scene scene = {
		.program = wild, .machine = { .stack = 6, .window = 200 },
		.harness = many_tables, .span = SPAN, .events = 20000,
		.spaces = 1,
		.trips = true,
	};

	run_seeds(&scene);
}

static void test_soup(void **state)
{
	const struct scene scene = {
		.program = chaos,
		.machine = {.stack = 5, .signals = 3000},
		.harness = one_table,
		.span = SPAN,
		.events = 20000,
		.spaces = 1,
		.trips = true,
	};

	run_seeds(&scene);
}

/*
 * Tables that know different parts of a region do not agree on when it is left.
 * In soup hardly any region is known from the start.
 */
static void test_soup_many_tables(void **state)
{
	const struct scene scene = {
		.program = chaos,
		.machine = { .stack = 5, .signals = 1000, .gaps = 1000 },
		.harness = many_tables, .span = 256, .events = 30000,
		.spaces = 3,
	};

	run_seeds(&scene);
}

/*
 * Deeper calls than a cursor remembers: back edges and the account are right.
 */
static void test_deep_recursion(void **state)
{
	const struct scene scene = {
		.program = wild, .machine = { .stack = 4000, .signals = 3000 },
		.harness = many_tables, .span = SPAN, .events = 30000,
		.spaces = 2,
	};

	run_seeds(&scene);
}

/* --- the recent trip count ------------------------------------------------ */

/*
 * linux/hwprof.h: a 7/8-weighted average in 1/256. The first execution sets it,
 * and others move it by an eighth of the distance, rounded down. Executions
 * without a back edge do not count.
 */
static void expect_trip(s64 *recent, unsigned int trip)
{
	s64 way = 256LL * trip - *recent;

	if (trip == 1)
		return;
	if (!*recent)
		*recent = 256LL * trip;
	else
		*recent += way >= 0 ? way / 8 : -((7 - way) / 8);
}

enum { RECENT_LOOP = 0x4004 };

/* Calls a procedure that is one loop of @trip iterations. */
static void execute(struct harness *h, unsigned int trip)
{
	const struct stream_event
		call = { .kind = STREAM_CALL, .from = 0x100, .to = 0x4000 },
		back = { .kind = STREAM_COND, .from = 0x4010,
			 .to = RECENT_LOOP },
		leave = { .kind = STREAM_RET, .from = 0x4012, .to = 0x105 },
		again = { .kind = STREAM_JUMP, .from = 0x110, .to = 0x100 };

	harness_feed(h, 0, &call);
	while (--trip)
		harness_feed(h, 0, &back);
	harness_feed(h, 0, &leave);
	harness_feed(h, 0, &again);
}

static void assert_recent(struct harness *h, s64 recent)
{
	const struct seen_loop *loop;

	harness_finish(h);
	loop = harness_find(h, 0, RECENT_LOOP);
	assert_non_null(loop);
	assert_int_equal(loop->trip_recent, recent);
}

/* Trip counts go up, down, to one, and are random. */
static unsigned int nth_trip(unsigned int i, u64 *random)
{
	if (i < 40)
		return 2 + 3 * i;
	if (i < 80)
		return 1 + (80 - i) % 30;
	return 1 + random_below(random, i < 200 ? 4 : 100);
}

static void test_trip_recent(void **state)
{
	struct harness h;
	u64 random = 1;
	s64 recent = 0;
	unsigned int i;

	harness_init(&h, &one_table, SPAN, 1);
	for (i = 0; i < 400; i++) {
		unsigned int trip = nth_trip(i, &random);

		execute(&h, trip);
		expect_trip(&recent, trip);
		/*
		 * At first after each execution; merging does not restart it.
		 */
		if (i < 120 || i % 7 == 0)
			assert_recent(&h, recent);
	}
	assert_recent(&h, recent);
	harness_free(&h);
}

/* Each table has its own average. The profile's is that of the last merge. */
static void test_trip_recent_of_tables(void **state)
{
	struct harness_style style = one_table;
	s64 recent[2] = { 0 };
	struct harness h;
	unsigned int i;

	style.tables = 2;
	harness_init(&h, &style, SPAN, 1);
	for (i = 0; i < 60; i++) {
		unsigned int trip = 2 + i * 7 % 23;

		h.table_of[0] = i % 2;
		execute(&h, trip);
		expect_trip(&recent[i % 2], trip);
	}
	assert_int_not_equal(recent[0], recent[1]);
	assert_recent(&h, recent[1]);
	h.table_of[0] = 0;
	execute(&h, 50);
	expect_trip(&recent[0], 50);
	assert_recent(&h, recent[0]);	/* the other table has nothing new */
	harness_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_structured),
		cmocka_unit_test(test_structured_many_tables),
		cmocka_unit_test(test_wild),
		cmocka_unit_test(test_wild_many_tables),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_windows_of_32),
		cmocka_unit_test(test_windows_of_200),
		cmocka_unit_test(test_soup),
		cmocka_unit_test(test_soup_many_tables),
		cmocka_unit_test(test_deep_recursion),
		cmocka_unit_test(test_trip_recent),
		cmocka_unit_test(test_trip_recent_of_tables),
	};

	return cmocka_run_group_tests_name("loop engine and oracle", tests,
					   NULL, NULL);
}
