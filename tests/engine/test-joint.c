// SPDX-License-Identifier: GPL-2.0-only
/*
 * A joint engine beside the engines that it is made of, each alone with the same
 * events and as much memory: row for row, they say the same.
 */
#include "trace.h"
#include "engine/joint.h"
#include "engine/window.h"
#include "machine.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"

enum {
	TASKS = 3, TABLES = 3, SPACES = 2, EVENTS = 20000, RECORDS = 32,
	ALL = (1 << JOINT_PARTS) - 1,
	WINDOWED = ALL & ~(1 << JOINT_CCT),
};

static const struct program_style wild = {
	.procedures = 12, .depth = 4, .recursion = true, .tail_calls = true,
	.gotos = true, .longjmps = true,
};

/* Rows as they came, with what was said of them. */
struct told {
	u8 *bytes;
	size_t size, room;
};

static void tell(struct told *told, const void *bytes, size_t size)
{
	if (told->room - told->size < size) {
		told->room = 2 * told->room + size;
		told->bytes = realloc(told->bytes, told->room);
		assert_non_null(told->bytes);
	}
	memcpy(told->bytes + told->size, bytes, size);
	told->size += size;
}

/* An engine at work: the joint one, or one of its parts alone. */
struct work {
	struct tables tables;
	void *cursors[TASKS];
	struct told told[JOINT_PARTS];
	u64 random;
	unsigned int refusals;		/* of rows: one in so many */
};

struct bench {
	struct engine_params params;
	struct work joint;
	struct work alone[JOINT_PARTS];
	u64 random;
};

static bool has(const struct bench *bench, unsigned int part)
{
	return bench->params.parts >> part & 1;
}

#define for_each_part(part, bench)					       \
	for ((part) = 0; (part) < JOINT_PARTS; (part)++)		       \
		if (has(bench, part))

static void work_init(struct work *work, const struct engine_ops *engine,
		      const struct engine_params *params, size_t table_size,
		      size_t profile_size)
{
	unsigned int i;

	*work = (struct work){
		.tables = tables_make(engine, params, TABLES, table_size,
				      profile_size),
	};
	for (i = 0; i < TASKS; i++)
		work->cursors[i] = cursor_new(engine, i);
}

static void work_free(struct work *work)
{
	unsigned int i;

	tables_free(&work->tables);
	for (i = 0; i < TASKS; i++)
		free(work->cursors[i]);
	for (i = 0; i < JOINT_PARTS; i++)
		free(work->told[i].bytes);
}

static size_t least_of_all(void)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < JOINT_PARTS; i++)
		sum += joint_parts[i]->table_min;
	return sum;
}

/* Each part has so many times what it needs at least, in tables and profiles. */
static void bench_init(struct bench *bench, u32 parts, u32 basis,
		       size_t table_times, size_t profile_times, u64 seed)
{
	size_t header = joint_engine.table_min - least_of_all(), least = 0;
	unsigned int i;

	*bench = (struct bench){
		.params = { .span = SPAN, .basis = basis, .seed = seed * 77 + 1,
			    .parts = parts },
		.random = seed,
	};
	for_each_part(i, bench) {
		size_t size = joint_parts[i]->table_min;

		work_init(&bench->alone[i], joint_parts[i], &bench->params,
			  table_times * size, profile_times * size);
		least += size;
	}
	work_init(&bench->joint, &joint_engine, &bench->params,
		  header + table_times * least, header + profile_times * least);
	bench->joint.random = seed;
}

static void bench_free(struct bench *bench)
{
	unsigned int i;

	work_free(&bench->joint);
	for_each_part(i, bench)
		work_free(&bench->alone[i]);
}

static enum joint_part part_of(const struct hwprof_row *row)
{
	switch (row->type) {
	case HWPROF_ROW_LOOP:
	case HWPROF_ROW_TIME:
		return JOINT_LOOPS;
	case HWPROF_ROW_CALL:
		return JOINT_CALLS;
	case HWPROF_ROW_PATH:
		return JOINT_PATHS;
	}
	assert_int_equal(row->type, HWPROF_ROW_CONTEXT);
	return JOINT_CCT;
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const u64 about[] = { ip, addr, period };
	const struct hwprof_row *row = data;
	struct work *work = context;
	struct told *told = &work->told[part_of(row)];

	if (random_once_in(&work->random, work->refusals))
		return false;
	tell(told, row, row->size);
	tell(told, about, sizeof(about));
	work->tables.delivered += period;
	return true;
}

/* --- the same for all ------------------------------------------------------ */

static void read_work(struct work *work)
{
	const struct engine_ops *engine = work->tables.engine;

	if (engine->settle)
		engine->settle(work->tables.profile, 0);
	tables_read(&work->tables, take_row, work);
}

static void read_rows(struct bench *bench)
{
	unsigned int i;

	read_work(&bench->joint);
	for_each_part(i, bench)
		read_work(&bench->alone[i]);
}

static void retire(struct bench *bench, unsigned int table)
{
	unsigned int i;

	tables_retire(&bench->joint.tables, table,
		      1 + random_below(&bench->random, 500));
	for_each_part(i, bench)
		tables_retire(&bench->alone[i].tables, table, 100);
}

static void retire_all(struct bench *bench)
{
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		retire(bench, i);
}

static void forget_work(struct work *work, u32 space)
{
	const struct engine_ops *engine = work->tables.engine;
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		engine->forget(work->tables.items[i], space);
	engine->forget(work->tables.profile, space);
	tables_account(&work->tables);
}

static void forget(struct bench *bench, u32 space)
{
	unsigned int i;

	retire_all(bench);
	forget_work(&bench->joint, space);
	for_each_part(i, bench)
		forget_work(&bench->alone[i], space);
}

static bool feed_work(struct work *work, const struct engine_params *params,
		      unsigned int task, unsigned int table,
		      const struct stream_event *event)
{
	const struct engine_ops *engine = work->tables.engine;

	work->tables.produced += engine->unit(params, event);
	return engine->feed(work->tables.items[table], work->cursors[task],
			    event);
}

/* A joint table is crowded where one of its parts is. */
static void feed(struct bench *bench, unsigned int task, unsigned int table,
		 const struct stream_event *event)
{
	bool room = true;
	unsigned int i;

	for_each_part(i, bench)
		room &= feed_work(&bench->alone[i], &bench->params, task,
				  table, event);
	assert_int_equal(feed_work(&bench->joint, &bench->params, task, table,
				   event), room);
	if (!room)
		retire(bench, table);
}

static void check_same(const struct bench *bench)
{
	u64 delivered = 0, evicted = 0;
	unsigned int i;

	for (i = 0; i < JOINT_PARTS; i++) {
		const struct told *joint = &bench->joint.told[i];
		const struct told *alone = &bench->alone[i].told[i];

		if (!has(bench, i)) {
			assert_int_equal(joint->size, 0);
			continue;
		}
		assert_true(alone->size > 0);
		assert_int_equal(joint->size, alone->size);
		assert_memory_equal(joint->bytes, alone->bytes, alone->size);
		delivered += bench->alone[i].tables.delivered;
		evicted += tables_evicted(&bench->alone[i].tables);
	}
	assert_int_equal(bench->joint.tables.delivered, delivered);
	assert_int_equal(tables_evicted(&bench->joint.tables), evicted);
	assert_int_equal(bench->joint.tables.produced, delivered + evicted);
}

static void finish(struct bench *bench)
{
	retire_all(bench);
	read_rows(bench);
	check_same(bench);
}

/* --- every branch ------------------------------------------------------------ */

struct run {
	struct machine_style machine;
	u32 basis, parts;
	size_t table_times, profile_times;
	unsigned int exchanges;		/* of tables: one in so many events */
};

static void run(struct bench *bench, const struct run *style, u64 seed)
{
	struct machine *machines = calloc(TASKS, sizeof(*machines));
	struct program *programs[TASKS];
	unsigned int table_of[TASKS] = { 0 }, task = 0, i;

	for (i = 0; i < TASKS; i++) {
		programs[i] = program_new(seed * 7 + i % SPACES, &wild);
		machine_init(&machines[i], programs[i], &style->machine,
			     seed * 31 + i, 1 + i % SPACES);
	}
	for (i = 0; i < EVENTS; i++) {
		struct stream_event event;

		if (random_once_in(&bench->random, 50))
			task = random_below(&bench->random, TASKS);
		if (random_once_in(&bench->random, style->exchanges))
			table_of[task] = random_below(&bench->random, TABLES);
		machine_next(&machines[task], &event);
		event.cycles = random_below(&bench->random, 50);
		feed(bench, task, table_of[task], &event);
		if (random_once_in(&bench->random, style->exchanges))
			retire(bench, random_below(&bench->random, TABLES));
		if (random_once_in(&bench->random, 2000))
			read_rows(bench);
		if (random_once_in(&bench->random, 5000))
			forget(bench, 1 + random_below(&bench->random, SPACES));
	}
	finish(bench);
	for (i = 0; i < TASKS; i++)
		program_free(programs[i]);
	free(machines);
}

static bool is_several(u32 parts)
{
	return parts & (parts - 1);
}

/* Of the parts any that are two or more; what was evicted. */
static u64 check_runs(const struct run *style, u64 seed)
{
	u64 evicted = 0;
	u32 parts;

	for (parts = 1; parts <= style->parts; parts++) {
		struct bench bench;

		if (parts & ~style->parts || !is_several(parts))
			continue;
		bench_init(&bench, parts, style->basis, style->table_times,
			   style->profile_times, seed);
		bench.joint.refusals = seed % 2 * 5;
		run(&bench, style, seed);
		evicted += tables_evicted(&bench.joint.tables);
		bench_free(&bench);
	}
	return evicted;
}

static void test_exact(void **state)
{
	const struct run style = {
		.machine = { .stack = 16, .signals = 3000, .gaps = 2000 },
		.basis = HWPROF_BASIS_EXACT, .parts = ALL,
		.table_times = 4, .profile_times = 16, .exchanges = 300,
	};
	u64 seed;

	for (seed = 0; seed < seeds(4); seed++)
		check_runs(&style, seed);
}

/* No part takes room from another, and each evicts what it would alone. */
static void test_little_memory(void **state)
{
	const struct run style = {
		.machine = { .stack = 3000, .signals = 1000 },
		.basis = HWPROF_BASIS_EXACT, .parts = ALL,
		.table_times = 1, .profile_times = 1, .exchanges = 10000,
	};
	u64 seed;

	for (seed = 100; seed < 100 + seeds(2); seed++)
		assert_true(check_runs(&style, seed) > 0);
}

static void test_bursts(void **state)
{
	const struct run style = {
		.machine = { .stack = 16, .window = 50 },
		.basis = HWPROF_BASIS_TIME, .parts = WINDOWED,
		.table_times = 4, .profile_times = 16, .exchanges = 300,
	};
	u64 seed;

	for (seed = 200; seed < 200 + seeds(2); seed++)
		check_runs(&style, seed);
}

/* --- windows ------------------------------------------------------------------ */

struct records {
	struct window_branch branches[RECORDS];
	u8 kinds[RECORDS];
};

static void record(struct records *records, struct machine *machine)
{
	unsigned int i;

	for (i = RECORDS; i--;) {
		struct stream_event event;

		do
			machine_next(machine, &event);
		while (!stream_is_branch(event.kind));
		records->branches[i] = (struct window_branch){
			event.from, event.to, i << WINDOW_CYCLES_SHIFT
		};
		/* One that could not be read is a gap. */
		records->kinds[i] = event.from % 97 ? event.kind : 0;
	}
}

static struct window_counts feed_window(struct work *work, unsigned int table,
					struct window window, u64 ip)
{
	const struct engine_ops *engine = work->tables.engine;
	struct window_counts counts = { 0 };

	engine->feed_window(work->tables.items[table], &window, &counts);
	assert_null(window_next(&window));
	if (engine->taken)
		engine->taken(work->tables.items[table], ip, 1);
	work->tables.produced += counts.units;
	return counts;
}

/* Events and gaps are counted once, and units for each. */
static void feed_windows(struct bench *bench, unsigned int table,
			 const struct window *window)
{
	u64 ip = window->newest->to + random_below(&bench->random, 4);
	struct window_counts joint, alone;
	unsigned int i;
	u64 units = 0;

	joint = feed_window(&bench->joint, table, *window, ip);
	for_each_part(i, bench) {
		alone = feed_window(&bench->alone[i], table, *window, ip);
		assert_int_equal(alone.events, joint.events);
		assert_int_equal(alone.gaps, joint.gaps);
		units += alone.units;
	}
	assert_int_equal(joint.units, units);
}

static void check_windows(u32 parts, u64 seed)
{
	const struct machine_style style = { .stack = 16 };
	struct program *program = program_new(seed, &wild);
	struct records records;
	struct machine machine;
	struct window window;
	struct bench bench;
	unsigned int i;

	bench_init(&bench, parts, HWPROF_BASIS_TIME, 4, 16, seed);
	bench.joint.refusals = seed % 2 * 5;
	machine_init(&machine, program, &style, seed, 1);
	for (i = 0; i < 1000; i++) {
		record(&records, &machine);
		window_begin(&window, records.branches, records.kinds, RECORDS,
			     1);
		window.times = 1 + i % 3;
		feed_windows(&bench, i % TABLES, &window);
		if (i % 100 == 99)
			retire(&bench, i / 100 % TABLES);
	}
	finish(&bench);
	bench_free(&bench);
	program_free(program);
}

static void test_windows(void **state)
{
	u64 seed;
	u32 parts;

	for (seed = 300; seed < 300 + seeds(4); seed++)
		for (parts = 1; parts <= WINDOWED; parts++)
			if (is_several(parts))
				check_windows(parts, seed);
}

/* --- the rest of engine_ops ----------------------------------------------------- */

static void test_units(void **state)
{
	static const struct {
		struct stream_event event;
		unsigned int units;
		u16 type;		/* of the sample's row */
	} cases[] = {
		{ COND(0x20, 0x10), 2, HWPROF_ROW_LOOP },
		{ INDIRECT(0x9000000, 0x10), 1, HWPROF_ROW_PATH },
		{ RET(0x20, 0x10), 1, HWPROF_ROW_PATH },
		{ CALL(0x20, 0x10), 2, HWPROF_ROW_CALL },
		{ SIGNAL(0x20, 0x10), 1, HWPROF_ROW_CONTEXT },
		{ COND(0x20, 0x21), 0, HWPROF_ROW_LOOP },
	};
	const struct engine_params params = { .span = SPAN, .parts = ALL };
	struct engine_sample sample;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(joint_engine.unit(&params, &cases[i].event),
				 cases[i].units);
		joint_engine.sample(&params, &cases[i].event, 7, &sample);
		assert_int_equal(sample.row.type, cases[i].type);
	}
}

/* A table suffices for all parts, also where they come with windows. */
static void test_smallest(void **state)
{
	assert_true(joint_engine.table_min >= least_of_all());
	assert_int_equal(joint_engine.table_min % 64, 0);
}

/* Where rows() is goes on from one part to the next, and stays at the end. */
static void test_rows_at(void **state)
{
	const struct stream_event events[] = {
		GAP(0x1000), CALL(0x1008, 0x2000), COND(0x2010, 0x2000),
		RET(0x2020, 0x100d),
	};
	struct bench bench;
	size_t at = 0, last = 0, i;
	struct work *joint;

	bench_init(&bench, ALL, HWPROF_BASIS_EXACT, 1, 1, 1);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		feed(&bench, 0, 0, &events[i]);
	joint = &bench.joint;
	joint->refusals = 2;
	tables_retire(&joint->tables, 0, 100);
	joint_engine.settle(joint->tables.profile, 0);
	while (!joint_engine.rows(joint->tables.profile, 0, &at, take_row,
				  joint)) {
		assert_true(at >= last);
		last = at;
	}
	assert_int_equal(joint_engine.pending(joint->tables.profile), 0);
	last = at;
	i = joint->tables.delivered;
	assert_true(joint_engine.rows(joint->tables.profile, 0, &at, take_row,
				      joint));
	assert_int_equal(at, last);
	assert_int_equal(joint->tables.delivered, i);
	for (i = 0; i < JOINT_PARTS; i++)
		assert_true(joint->told[i].size > 0);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_rows_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
