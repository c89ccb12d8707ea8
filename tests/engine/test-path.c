// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the path engine with the oracle, which keeps the whole sequence of
 * jumps of every frame: random programs, tables exchanged under their tasks,
 * too little memory, gaps and windows.
 */
#include "trace.h"
#include "engine/engine.h"
#include "engine/window.h"
#include "machine.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"
#include "tests/oracle/array.h"
#include "tests/oracle/paths.h"

enum { TASKS_MAX = 4, TABLES = 3, EVENTS = 30000, BIG = 8 << 20 };

struct bench {
	struct tables tables;
	void *cursors[TASKS_MAX];
	struct path_walk *walks[TASKS_MAX];
	struct exact_paths exact;	/* the oracle's */
	struct exact_paths told;	/* from rows */
	struct exact_paths open;	/* paths on which windows were taken */
	struct exact_paths told_open;	/* the same from rows */
	u64 random;
	unsigned int refusals;		/* of rows: one in that many */
	u32 basis;
};

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size, u32 basis)
{
	const struct engine_params params = {
		.span = SPAN, .basis = basis, .seed = 0x1234567,
	};
	unsigned int i;

	*bench = (struct bench){
		.tables = tables_make(&path_engine, &params, TABLES, table_size,
				      profile_size),
		.basis = basis,
	};
	for (i = 0; i < TASKS_MAX; i++) {
		bench->cursors[i] = cursor_new(&path_engine, i);
		bench->walks[i] = path_walk_new(&bench->exact);
	}
}

static void bench_free(struct bench *bench)
{
	unsigned int i;

	tables_free(&bench->tables);
	for (i = 0; i < TASKS_MAX; i++) {
		free(bench->cursors[i]);
		path_walk_free(bench->walks[i]);
	}
	paths_free(&bench->exact);
	paths_free(&bench->told);
	paths_free(&bench->open);
	paths_free(&bench->told_open);
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_path *row = data;
	struct bench *bench = context;
	struct exact_path path;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_PATH);
	assert_in_range(row->spelled, 0, HWPROF_PATH_JUMPS_MAX);
	assert_int_equal(row->row.size, sizeof(*row) + row->spelled *
			 sizeof(row->jumps[0]));
	assert_true(row->spelled <= row->length);
	assert_true(row->count > 0);
	if (row->flags & HWPROF_PATH_OPEN) {
		assert_int_equal(period, 0);
		assert_int_equal(row->end, ip);
		assert_int_equal(addr, 0);
	} else {
		assert_int_equal(row->count, period);
		assert_int_equal(row->start, ip);
		assert_int_equal(row->end, addr);
	}
	assert_int_equal(row->basis, bench->basis);
	path = path_of_row(row);
	paths_add(row->flags & HWPROF_PATH_OPEN ? &bench->told_open :
						  &bench->told, &path);
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

/* Feeds an event of a task to a table. */
static void feed(struct bench *bench, unsigned int task, unsigned int table,
		 const struct stream_event *event)
{
	bench->tables.produced += path_engine.unit(NULL, event);
	path_walk_event(bench->walks[task], event);
	if (!path_engine.feed(bench->tables.items[table], bench->cursors[task],
			      event))
		tables_retire(&bench->tables, table,
			      1 + random_below(&bench->random, 500));
}

static void finish(struct bench *bench)
{
	tables_finish(&bench->tables, take_row, bench);
	paths_finish(&bench->exact);
	paths_finish(&bench->told);
	paths_finish(&bench->open);
	paths_finish(&bench->told_open);
	assert_int_equal(bench->exact.finished, bench->tables.produced);
}

static void assert_same(const struct exact_paths *exact,
			const struct exact_paths *told)
{
	size_t i;

	assert_int_equal(exact->count, told->count);
	for (i = 0; i < exact->count; i++) {
		assert_int_equal(paths_compare(&exact->items[i],
					       &told->items[i]), 0);
		assert_int_equal(exact->items[i].count, told->items[i].count);
		assert_int_equal(exact->items[i].cycles, told->items[i].cycles);
	}
}

static void assert_equal(const struct bench *bench)
{
	assert_int_equal(tables_evicted(&bench->tables), 0);
	assert_same(&bench->exact, &bench->told);
	assert_same(&bench->open, &bench->told_open);
}

/*
 * Every reported path ran, and not more often than it ran. Only evicted ones
 * are missing.
 */
static void assert_bounded(const struct bench *bench)
{
	u64 unseen = 0;
	size_t i;

	for (i = 0; i < bench->told.count; i++) {
		const struct exact_path *told = &bench->told.items[i];
		const struct exact_path *exact = paths_find(&bench->exact,
							    told);

		if (told->flags & HWPROF_PATH_UNSEEN) {
			unseen += told->count;
			continue;
		}
		assert_non_null(exact);
		assert_true(told->count <= exact->count);
	}
	assert_int_equal(bench->tables.produced, bench->tables.delivered +
			 tables_evicted(&bench->tables));
	assert_true(unseen <= bench->tables.produced);
}

/* --- traces by hand ------------------------------------------------------- */

struct expected {
	u64 start, end, target, count;
	u32 flags;
	size_t length;
	struct hwprof_path_jump jumps[4];
};

static void check_trace(const struct stream_event *events, size_t event_count,
			const struct expected *expected, size_t count)
{
	struct bench bench;
	size_t i;

	bench_init(&bench, path_engine.table_min, path_engine.table_min,
		   HWPROF_BASIS_EXACT);
	for (i = 0; i < event_count; i++)
		feed(&bench, 0, i % TABLES, &events[i]);
	finish(&bench);
	assert_equal(&bench);
	assert_int_equal(bench.told.count, count);
	for (i = 0; i < count; i++) {
		struct exact_path path = {
			.space = 1, .flags = expected[i].flags,
			.start = expected[i].start, .end = expected[i].end,
			.target = expected[i].target,
			.length = expected[i].length,
			.spelled = expected[i].length,
		};
		const struct exact_path *told;

		memcpy(path.jumps, expected[i].jumps,
		       sizeof(expected[i].jumps));
		told = paths_find(&bench.told, &path);
		assert_non_null(told);
		assert_int_equal(told->count, expected[i].count);
	}
	bench_free(&bench);
}

#define CHECK(events, expected)						       \
	check_trace(events, sizeof(events) / sizeof((events)[0]), expected,    \
		    sizeof(expected) / sizeof((expected)[0]))

#define PATH(first, last, leads, times, how)				       \
	.start = first, .end = last, .target = leads, .count = times,	       \
	.flags = how
#define CALLED	HWPROF_PATH_CALLED
#define UNSEEN	HWPROF_PATH_UNSEEN

/* A procedure at 0x100 with an if and a loop, called twice. */
static void test_procedure(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10),
		CALL(0x18, 0x100),
		COND(0x104, 0x120), COND(0x140, 0x130), COND(0x140, 0x130),
		RET(0x150, 0x1d),
		CALL(0x20, 0x100),
		COND(0x140, 0x130), RET(0x150, 0x25),
		RET(0x30, 0x900),
	};
	static const struct expected expected[] = {
		{ PATH(0x100, 0x140, 0x130, 1, CALLED), .length = 1,
		  .jumps = { { 0x104, 0x120 } } },
		{ PATH(0x100, 0x140, 0x130, 1, CALLED) },
		{ PATH(0x130, 0x140, 0x130, 1, 0) },
		{ PATH(0x130, 0x150, 0, 2, 0) },
		{ PATH(0, 0, 0, 1, UNSEEN) },
	};

	CHECK(events, expected);
}

/* A path continues behind its call, whatever the call does, even recursion. */
static void test_calls_are_stepped_over(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10), CALL(0x18, 0x100),
		COND(0x104, 0x110), CALL(0x112, 0x100),
		CALL(0x108, 0x200), COND(0x210, 0x200), RET(0x220, 0x10d),
		RET(0x150, 0x117),
		JUMP(0x120, 0x140), RET(0x150, 0x1d),
	};
	static const struct expected expected[] = {
		{ PATH(0x100, 0x150, 0, 1, CALLED), .length = 2,
		  .jumps = { { 0x104, 0x110 }, { 0x120, 0x140 } } },
		{ PATH(0x100, 0x150, 0, 1, CALLED) },
		{ PATH(0x200, 0x210, 0x200, 1, CALLED) },
		{ PATH(0x200, 0x220, 0, 1, 0) },
	};

	CHECK(events, expected);
}

/*
 * A longjmp leaves unfinished paths. The frame that it goes to is found again.
 */
static void test_longjmp(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10), CALL(0x18, 0x100),
		CALL(0x110, 0x200), CALL(0x210, 0x300), CALL(0x310, 0x400),
		INDIRECT(0x410, 0x115), RET(0x150, 0x1d),
	};
	static const struct expected expected[] = {
		/*
		 * longjmp()'s own path ends with a back edge; the rest is as if
		 * called.
		 */
		{ PATH(0x400, 0x410, 0x115, 1, CALLED) },
		{ PATH(0x115, 0x150, 0, 1, 0) },
	};

	CHECK(events, expected);
}

/* The procedure that was jumped to returns for both. */
static void test_tail_call(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10), CALL(0x18, 0x100),
		COND(0x104, 0x110), JUMP(0x118, 0x300), RET(0x320, 0x1d),
		CALL(0x20, 0x300), JUMP(0x318, 0x100), RET(0x120, 0x25),
	};
	static const struct expected expected[] = {
		{ PATH(0x100, 0x320, 0, 1, CALLED), .length = 2,
		  .jumps = { { 0x104, 0x110 }, { 0x118, 0x300 } } },
		{ PATH(0x300, 0x318, 0x100, 1, CALLED) },
		{ PATH(0x100, 0x120, 0, 1, 0) },
	};

	CHECK(events, expected);
}

/* A handler, a system call and a deeper call do not end a path. */
static void test_interruptions(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10), CALL(0x18, 0x100), COND(0x104, 0x110),
		SIGNAL(0x114, 0x700), COND(0x708, 0x710), RET(0x720, 0x800),
		SYSCALL(0x807, 0x809), SIGRETURN(0x807, 0x114),
		SYSCALL(0x118, 0x11a), COND(0x120, 0x130), RET(0x140, 0x1d),
	};
	static const struct expected expected[] = {
		{ PATH(0x100, 0x140, 0, 1, CALLED), .length = 2,
		  .jumps = { { 0x104, 0x110 }, { 0x120, 0x130 } } },
		{ PATH(0x700, 0x720, 0, 1, CALLED), .length = 1,
		  .jumps = { { 0x708, 0x710 } } },
	};

	CHECK(events, expected);
}

/* A gap neither ends nor begins a path. */
static void test_gap(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10), CALL(0x18, 0x100), COND(0x104, 0x110),
		GAP(0x118), COND(0x120, 0x118), COND(0x120, 0x118), GAP(0),
		RET(0x150, 0x1d), COND(0x30, 0x10), COND(0x30, 0x10),
		/* an impossible place for the line */
		COND(0x8, 0x4),
	};
	static const struct expected expected[] = {
		{ PATH(0x118, 0x120, 0x118, 1, 0) },
		{ PATH(0x10, 0x30, 0x10, 1, 0) },
		{ PATH(0, 0, 0, 4, UNSEEN) },
	};

	CHECK(events, expected);
}

/* --- paths that are too long ---------------------------------------------- */

static u64 feed_steps(struct bench *bench, u64 at, unsigned int jumps)
{
	for (; jumps; jumps--, at += 0x10) {
		const struct stream_event jump = COND(at + 4, at + 0x10);

		feed(bench, 0, 0, &jump);
	}
	return at;
}

/* A limited number of jumps is kept, but all count and distinguish paths. */
static void test_long_paths(void **state)
{
	static const unsigned int lengths[] = {
		1, 2, 3, 5, 6, 62, 63, 64, 65, 66, 100, 70000
	};
	struct bench bench;
	unsigned int i, times;

	bench_init(&bench, 1 << 20, 1 << 20, HWPROF_BASIS_EXACT);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (times = 0; times <= i; times++) {
			const struct stream_event call = CALL(0x10, 0x1000);
			struct stream_event end = RET(0, 0x15);

			feed(&bench, 0, 0, &call);
			end.from = feed_steps(&bench, 0x1000, lengths[i]);
			feed(&bench, 0, 0, &end);
		}
	finish(&bench);
	assert_equal(&bench);
	assert_int_equal(bench.told.count, i);
	bench_free(&bench);
}

/* Lines and jumps too long to be kept, before others that are not. */
static void test_far_jumps(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10), CALL(0x10, 0x1000),
		COND(0x1004, 0x1010), COND(0x1010 + 0xffff, 0x21000),
		COND(0x21000 + 0x10000, 0x32000), COND(0x32004, 0x32010),
		RET(0x32020, 0x15),
		CALL(0x20, 0x1000), JUMP(0x1004, 0x1000000001003),
		RET(0x1000000001010, 0x25),
		CALL(0x30, 0x1000), JUMP(0x1004, 0x1000000001004),
		RET(0x1000000001010, 0x35),
	};
	struct bench bench;
	size_t i;

	bench_init(&bench, path_engine.table_min, path_engine.table_min,
		   HWPROF_BASIS_EXACT);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		feed(&bench, 0, 0, &events[i]);
	finish(&bench);
	assert_equal(&bench);
	assert_int_equal(bench.told.count, 3);
	bench_free(&bench);
}

/* --- random programs ------------------------------------------------------ */

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

struct run {
	struct program_style program;
	struct machine_style machine;
	unsigned int tasks, spaces;
	unsigned int exchanges;		/* one in that many events; 0: never */
	unsigned int readings;		/* likewise: rows are read */
};

static void run(struct bench *bench, const struct run *style, u64 seed)
{
	struct machine *machines = calloc(style->tasks, sizeof(*machines));
	struct program *programs[TASKS_MAX];
	unsigned int table_of[TASKS_MAX] = { 0 }, i, task = 0;

	bench->random = seed;
	for (i = 0; i < style->tasks; i++) {
		programs[i] = program_new(seed * 7 + i % style->spaces,
					  &style->program);
		machine_init(&machines[i], programs[i], &style->machine,
			     seed * 31 + i, 1 + i % style->spaces);
	}
	for (i = 0; i < EVENTS; i++) {
		struct stream_event event;

		if (random_once_in(&bench->random, 50))
			task = random_below(&bench->random, style->tasks);
		if (random_once_in(&bench->random, style->exchanges))
			table_of[task] = random_below(&bench->random, TABLES);
		machine_next(&machines[task], &event);
		event.cycles = random_below(&bench->random, 50);
		feed(bench, task, table_of[task], &event);
		if (random_once_in(&bench->random, style->exchanges))
			tables_retire(&bench->tables,
				      random_below(&bench->random, TABLES),
				      1 + random_below(&bench->random, 100));
		if (random_once_in(&bench->random, style->readings))
			read_rows(bench);
	}
	finish(bench);
	for (i = 0; i < style->tasks; i++)
		program_free(programs[i]);
	free(machines);
}

static void check_equal(const struct run *style, u64 first, u64 count)
{
	u64 seed;

	for (seed = first; seed < first + count; seed++) {
		struct bench bench;

		bench_init(&bench, BIG, BIG, HWPROF_BASIS_EXACT);
		bench.refusals = seed % 2 * 5;
		run(&bench, style, seed);
		assert_equal(&bench);
		bench_free(&bench);
	}
}

static void test_programs(void **state)
{
	const struct run style = {
		.program = plain, .machine = { .stack = 20 }, .tasks = 1,
		.spaces = 1,
	};

	check_equal(&style, 0, seeds(10));
}

static void test_wild_programs(void **state)
{
	const struct run style = {
		.program = wild, .machine = { .stack = 16, .signals = 3000 },
		.tasks = 3, .spaces = 2, .exchanges = 300, .readings = 2000,
	};

	check_equal(&style, 100, seeds(20));
}

static void test_chaos(void **state)
{
	const struct run style = {
		.program = chaos, .machine = { .stack = 16, .signals = 1000 },
		.tasks = 2, .spaces = 2, .exchanges = 300,
	};

	check_equal(&style, 200, seeds(20));
}

static void test_gaps(void **state)
{
	const struct run style = {
		.program = wild, .machine = { .stack = 16, .signals = 3000,
					      .gaps = 2000, .unseen = 500 },
		.tasks = 3, .spaces = 3, .exchanges = 300, .readings = 2000,
	};

	check_equal(&style, 300, seeds(20));
}

/* Bursts: windows after a gap. */
static void test_bursts(void **state)
{
	const struct run style = {
		.program = wild, .machine = { .stack = 16, .window = 50 },
		.tasks = 2, .spaces = 1, .exchanges = 300,
	};

	check_equal(&style, 400, seeds(10));
}

/* --- little memory -------------------------------------------------------- */

static void test_deep_recursion(void **state)
{
	const struct run style = {
		.program = wild, .machine = { .stack = 3000 },
		.tasks = 2, .spaces = 1, .exchanges = 300,
	};
	u64 seed;

	for (seed = 500; seed < 500 + seeds(10); seed++) {
		struct bench bench;

		bench_init(&bench, BIG, BIG, HWPROF_BASIS_EXACT);
		run(&bench, &style, seed);
		assert_int_equal(tables_evicted(&bench.tables), 0);
		assert_bounded(&bench);
		bench_free(&bench);
	}
}

static void test_little_memory(void **state)
{
	const struct run style = {
		.program = chaos, .machine = { .stack = 200, .signals = 1000,
					       .gaps = 2000 },
		.tasks = 4, .spaces = 4, .exchanges = 3000, .readings = 2000,
	};
	u64 seed, sum = 0;

	for (seed = 600; seed < 600 + seeds(10); seed++) {
		struct bench bench;

		bench_init(&bench, 8 << 10, 16 << 10, HWPROF_BASIS_EXACT);
		run(&bench, &style, seed);
		assert_bounded(&bench);
		sum += tables_evicted(&bench.tables);
		bench_free(&bench);
	}
	assert_true(sum > 0);
}

/* A table that is never retired continues, and keeps hot paths. */
static void test_full_table(void **state)
{
	struct bench bench;
	u64 hot = 0, i;
	bool crowded = false;
	void *table;

	bench_init(&bench, 16 << 10, 1 << 20, HWPROF_BASIS_EXACT);
	table = bench.tables.items[0];
	for (i = 0; i < 200000; i++) {
		u64 head = i % 2 ? 0x1000 : 0x2000 + random_below(&bench.random,
							0x10000) * 0x10;
		const struct stream_event jump = COND(head + 0x8, head);
		const struct stream_event to = GAP(head);

		bench.tables.produced += 2;
		path_engine.feed(table, bench.cursors[0], &to);
		crowded |= !path_engine.feed(table, bench.cursors[0], &jump);
		crowded |= !path_engine.feed(table, bench.cursors[0], &jump);
	}
	assert_true(crowded);
	tables_account(&bench.tables);
	tables_retire(&bench.tables, 0, 100);
	read_rows(&bench);
	paths_finish(&bench.told);
	for (i = 0; i < bench.told.count; i++)
		if (bench.told.items[i].start == 0x1000)
			hot = bench.told.items[i].count;
	assert_int_equal(hot, 100000);
	bench_free(&bench);
}

/* --- profiles ------------------------------------------------------------- */

static bool refuse_row(void *context, const void *row, u64 ip, u64 addr,
		       u64 period)
{
	return false;
}

/* A space that ends makes room, and unreported counts are evicted. */
static void test_forget(void **state)
{
	struct bench bench;
	size_t at = 0;
	void *profile;
	u64 i;

	bench_init(&bench, 1 << 20, 1 << 20, HWPROF_BASIS_EXACT);
	profile = bench.tables.profile;
	for (i = 0; i < 9000; i++) {
		struct stream_event jump = COND(0x1000 + i / 3 % 10, 0x1000);

		jump.space = 1 + i % 3;
		feed(&bench, i % 3, 0, &jump);
	}
	tables_retire(&bench.tables, 0, 100);
	assert_true(path_engine.rows(profile, 1, &at, ~0UL, take_row, &bench));
	assert_int_equal(bench.tables.delivered, 3000);
	at = 0;
	assert_false(path_engine.rows(profile, 2, &at, ~0UL, refuse_row, NULL));
	tables_forget(&path_engine, profile, 1);
	tables_account(&bench.tables);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	tables_forget(&path_engine, profile, 2);
	tables_account(&bench.tables);
	assert_int_equal(tables_evicted(&bench.tables), 3000);
	tables_forget(&path_engine, profile, 77);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 6000);
	bench_free(&bench);
}

static void test_units(void **state)
{
	static const struct {
		struct stream_event event;
		unsigned int units;
	} cases[] = {
		{ COND(0x20, 0x10), 1 }, { COND(0x20, 0x20), 1 },
		{ COND(0x20, 0x21), 0 }, { INDIRECT(0x9000000, 0x10), 1 },
		{ RET(0x20, 0x10), 1 }, { RET(0x20, 0x30), 1 },
		{ CALL(0x20, 0x10), 0 }, { SYSCALL(0x20, 0x22), 0 },
		{ SIGNAL(0x20, 0x10), 0 }, { SIGRETURN(0x20, 0x10), 0 },
		{ GAP(0x10), 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(path_engine.unit(NULL, &cases[i].event),
				 cases[i].units);
}

static void test_sample(void **state)
{
	const struct stream_event back = COND(0x20, 0x10);
	const struct engine_params params = { 0 };
	struct engine_sample sample;

	path_engine.sample(&params, &back, 100, &sample);
	assert_int_equal(sample.ip, 0x20);
	assert_int_equal(sample.addr, 0x10);
	assert_int_equal(sample.path.row.type, HWPROF_ROW_PATH);
	assert_int_equal(sample.path.row.size, sizeof(sample.path));
	assert_int_equal(sample.path.end, 0x20);
	assert_int_equal(sample.path.target, 0x10);
	assert_int_equal(sample.path.count, 100);
	assert_int_equal(sample.path.flags, HWPROF_PATH_UNSEEN);
}

/* --- branch records ------------------------------------------------------- */

enum { RECORDS = 32, FAR = 1 << 16 };

/* Feeds the window's events to the oracle, in order. */
static void walk_window(struct bench *bench, struct window window)
{
	struct path_walk *walk = path_walk_new(&bench->exact);
	const struct stream_event *event;
	unsigned int i;

	while ((event = window_next(&window))) {
		for (i = 0; i < window.times; i++)
			bench->tables.produced += path_engine.unit(NULL, event);
		path_walk_event(walk, event);
	}
	path_walk_free(walk);
}

/*
 * Adds the path at the window's end, at @ip, which is the path that a return
 * would finish there. No line of code is as long as FAR.
 */
static void add_open(struct bench *bench, struct window window, u64 ip)
{
	const struct stream_event end = RET(ip, ip);
	struct exact_paths finished = { 0 };
	struct path_walk *walk = path_walk_new(&finished);
	const struct stream_event *event;
	struct exact_path path;

	while ((event = window_next(&window)))
		path_walk_event(walk, event);
	paths_free(&finished);
	memset(&finished, 0, sizeof(finished));
	path_walk_event(walk, &end);
	paths_finish(&finished);
	assert_int_equal(finished.count, 1);
	path = finished.items[0];
	if (ip - window.newest->to >= FAR)
		path = (struct exact_path){
			.space = 1, .flags = HWPROF_PATH_UNSEEN, .count = 1,
		};
	path.flags |= HWPROF_PATH_OPEN;
	path.end = ip;
	path.cycles = 0;
	paths_add(&bench->open, &path);
	path_walk_free(walk);
	paths_free(&finished);
}

static size_t count_with_jumps(const struct exact_paths *paths)
{
	size_t count = 0, i;

	for (i = 0; i < paths->count; i++)
		count += paths->items[i].spelled != 0;
	return count;
}

/* Samples come late, and sometimes from an unrelated place. */
static u64 choose_ip(struct bench *bench, const struct window *window)
{
	u64 last = window->newest->to;

	switch (random_below(&bench->random, 20)) {
	case 0:
		return last - 1;
	case 1:
		return last + FAR;
	default:
		return last + random_below(&bench->random, 4);
	}
}

static void test_records(void **state)
{
	size_t with_jumps = 0;
	u64 seed;

	for (seed = 700; seed < 700 + seeds(10); seed++) {
		const struct machine_style machine_style = { .stack = 16 };
		struct program *program = program_new(seed, &wild);
		struct window_counts counts = { 0 };
		struct machine machine;
		struct bench bench;
		unsigned int i, k;

		bench_init(&bench, BIG, BIG, HWPROF_BASIS_TIME);
		machine_init(&machine, program, &machine_style, seed, 1);
		for (i = 0; i < 1000; i++) {
			struct window_branch branches[RECORDS];
			u8 kinds[RECORDS];
			struct window window;
			u64 ip;

			for (k = RECORDS; k--;) {
				struct stream_event event;

				do
					machine_next(&machine, &event);
				while (!stream_is_branch(event.kind));
				branches[k] = (struct window_branch){
					event.from, event.to,
					(i + k) << WINDOW_CYCLES_SHIFT
				};
				kinds[k] = event.kind;
			}
			window_begin(&window, branches, kinds, RECORDS, 1);
			walk_window(&bench, window);
			ip = choose_ip(&bench, &window);
			add_open(&bench, window, ip);
			path_engine.feed_window(bench.tables.items[i % TABLES],
						&window, &counts);
			path_engine.taken(bench.tables.items[i % TABLES], ip,
					  1);
			if (i % 100 == 99)
				tables_retire(&bench.tables, i % TABLES, 100);
		}
		assert_int_equal(counts.units, bench.tables.produced);
		finish(&bench);
		assert_int_equal(bench.open.finished, 1000);
		with_jumps += count_with_jumps(&bench.open);
		assert_equal(&bench);
		bench_free(&bench);
		program_free(program);
	}
	print_message("%zu open paths with jumps\n", with_jumps);
	assert_true(with_jumps > seeds(10));
}

/* A burst's place is where it began, whatever it was fed. */
static void test_burst_taken(void **state)
{
	const struct stream_event events[] = {
		GAP(0x1000), COND(0x1008, 0x1010), COND(0x1020, 0x1000),
		COND(0x1008, 0x1010),
	};
	struct bench bench;
	size_t i;

	bench_init(&bench, 64 << 10, 64 << 10, HWPROF_BASIS_TIME);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		feed(&bench, 0, 0, &events[i]);
	path_engine.taken(bench.tables.items[0], 0x1014, 1);
	path_engine.taken(bench.tables.items[0], 0x1014, 1);
	path_engine.taken(bench.tables.items[0], 0x1014, 2);
	finish(&bench);
	assert_int_equal(bench.told_open.count, 2);
	for (i = 0; i < 2; i++) {
		const struct exact_path *open = &bench.told_open.items[i];

		assert_int_equal(open->space, 1 + i);
		assert_int_equal(open->flags,
				 HWPROF_PATH_OPEN | HWPROF_PATH_UNSEEN);
		assert_int_equal(open->end, 0x1014);
		assert_int_equal(open->count, 2 - i);
	}
	bench_free(&bench);
}

/*
 * A path that ends where a window was taken differs from the one in flight
 * there.
 */
static void test_taken_at_end(void **state)
{
	const struct window_branch branches[] = {
		{ .from = 0x1010, .to = HWPROF_PATH_OPEN },
		{ .from = 0x2008, .to = 0x1000 }, { .from = 1, .to = 0x2000 },
	};
	const u8 kinds[] = { STREAM_COND, STREAM_CALL, STREAM_JUMP };
	struct window_counts counts = { 0 };
	struct bench bench;
	unsigned int i;

	bench_init(&bench, 64 << 10, 64 << 10, HWPROF_BASIS_TIME);
	for (i = 0; i < 4; i++) {
		struct window window;

		window_begin(&window, branches + i % 2, kinds + i % 2,
			     3 - i % 2, 1);
		path_engine.feed_window(bench.tables.items[0], &window,
					&counts);
		path_engine.taken(bench.tables.items[0], 0x1010, 1);
	}
	bench.tables.produced = counts.units;
	tables_finish(&bench.tables, take_row, &bench);
	paths_finish(&bench.told);
	paths_finish(&bench.told_open);
	assert_int_equal(counts.units, 2);
	assert_int_equal(bench.tables.delivered, 2);
	assert_int_equal(bench.told.count, 1);
	assert_int_equal(bench.told.items[0].count, 2);
	assert_true(bench.told_open.count > 0);
	bench_free(&bench);
}

/* With little memory windows are evicted, too, and units still add up. */
static void test_taken_in_little_memory(void **state)
{
	struct bench bench;
	u64 i;

	bench_init(&bench, 64 << 10, 64 << 10, HWPROF_BASIS_TIME);
	for (i = 0; i < 100000; i++) {
		u64 at = 0x1000 + random_below(&bench.random, 0x1000) * 0x10;
		const struct stream_event back = COND(at + 8, at);

		feed(&bench, 0, 0, &back);
		path_engine.taken(bench.tables.items[0], at + 4, 1);
		if (i % 1000 == 0)
			read_rows(&bench);
	}
	finish(&bench);
	assert_bounded(&bench);
	assert_true(tables_evicted(&bench.tables) > 0);
	assert_true(bench.told_open.finished > 0);
	assert_true(bench.told_open.finished < 100000);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procedure),
		cmocka_unit_test(test_calls_are_stepped_over),
		cmocka_unit_test(test_longjmp),
		cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_far_jumps),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_wild_programs),
		cmocka_unit_test(test_chaos),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_deep_recursion),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_burst_taken),
		cmocka_unit_test(test_taken_at_end),
		cmocka_unit_test(test_taken_in_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
