// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a multi engine with its parts, each alone with the same events and
 * as much memory: all rows must be equal. Paths with contexts are also compared
 * with the oracles.
 */
#include "trace.h"
#include "engine/multi.h"
#include "engine/window.h"
#include "machine.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"
#include "tests/oracle/array.h"
#include "tests/oracle/contexts.h"
#include "tests/oracle/paths.h"

enum {
	TASKS = 3, TABLES = 3, SPACES = 2, EVENTS = 20000, RECORDS = 32,
	ALL = (1 << MULTI_PARTS) - 1,
	WINDOWED = ALL & ~(1 << MULTI_CCT),
};

static const struct program_style wild = {
	.procedures = 12, .depth = 4, .recursion = true, .tail_calls = true,
	.gotos = true, .longjmps = true,
};

/* Rows in their order. */
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

/* A running engine: the multi one, or one part alone. */
struct work {
	struct tables tables;
	void *cursors[TASKS];
	struct told told[MULTI_PARTS];
	u64 random;
	unsigned int refusals;		/* of rows: one in that many */
};

struct bench {
	struct engine_params params;
	struct work multi;
	struct work alone[MULTI_PARTS];
	u64 random;
};

static bool has(const struct bench *bench, unsigned int part)
{
	return bench->params.parts >> part & 1;
}

#define for_each_part(part, bench)					       \
	for ((part) = 0; (part) < MULTI_PARTS; (part)++)		       \
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
	for (i = 0; i < MULTI_PARTS; i++)
		free(work->told[i].bytes);
}

static size_t least_of_all(void)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < MULTI_PARTS; i++)
		sum += multi_parts[i]->table_min;
	return sum;
}

/* Gives each part a multiple of its least memory, in tables and profiles. */
static void bench_init(struct bench *bench, u32 parts, u32 basis,
		       size_t table_times, size_t profile_times, u64 seed)
{
	size_t header = multi_engine.table_min - least_of_all(), least = 0;
	struct engine_params alone;
	unsigned int i;

	*bench = (struct bench){
		.params = { .span = SPAN, .basis = basis, .seed = seed * 77 + 1,
			    .parts = parts },
		.random = seed,
	};
	alone = bench->params;
	for_each_part(i, bench) {
		size_t size = multi_parts[i]->table_min;

		alone.parts = 1 << i;
		work_init(&bench->alone[i], multi_parts[i], &alone,
			  table_times * size, profile_times * size);
		least += size;
	}
	work_init(&bench->multi, &multi_engine, &bench->params,
		  header + table_times * least, header + profile_times * least);
	bench->multi.random = seed;
}

static void bench_free(struct bench *bench)
{
	unsigned int i;

	work_free(&bench->multi);
	for_each_part(i, bench)
		work_free(&bench->alone[i]);
}

static enum multi_part part_of(const struct hwprof_row *row)
{
	switch (row->type) {
	case HWPROF_ROW_LOOP:
	case HWPROF_ROW_TIME:
		return MULTI_LOOPS;
	case HWPROF_ROW_CALL:
		return MULTI_CALLS;
	case HWPROF_ROW_PATH:
		return MULTI_PATHS;
	case HWPROF_ROW_EDGE:
		return MULTI_EDGES;
	}
	assert_int_equal(row->type, HWPROF_ROW_CONTEXT);
	return MULTI_CCT;
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

/* --- helpers -------------------------------------------------------------- */

static void read_work(struct work *work)
{
	const struct engine_ops *engine = work->tables.engine;

	engine_settle(engine, work->tables.profile, 0);
	tables_read(&work->tables, take_row, work);
}

static void read_rows(struct bench *bench)
{
	unsigned int i;

	read_work(&bench->multi);
	for_each_part(i, bench)
		read_work(&bench->alone[i]);
}

static void retire(struct bench *bench, unsigned int table)
{
	unsigned int i;

	tables_retire(&bench->multi.tables, table,
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
		tables_forget(engine, work->tables.items[i], space);
	tables_forget(engine, work->tables.profile, space);
	tables_account(&work->tables);
}

static void forget(struct bench *bench, u32 space)
{
	unsigned int i;

	retire_all(bench);
	forget_work(&bench->multi, space);
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

/* A multi table is crowded if one of its parts is. */
static void feed(struct bench *bench, unsigned int task, unsigned int table,
		 const struct stream_event *event)
{
	bool room = true, multi;
	unsigned int i;

	for_each_part(i, bench)
		room &= feed_work(&bench->alone[i], &bench->params, task,
				  table, event);
	multi = feed_work(&bench->multi, &bench->params, task, table, event);
	if (!multi_has_context(&bench->params))
		assert_int_equal(multi, room);
	if (!multi || !room)
		retire(bench, table);
}

/* Adds paths; the same path in several contexts is one. */
static void add_paths(struct exact_paths *paths, const struct told *told)
{
	const u8 *at = told->bytes, *end = at + told->size;
	struct hwprof_row_path row;

	for (; at < end; at += row.row.size + 3 * sizeof(u64)) {
		struct exact_path path = { 0 };

		memcpy(&row, at, sizeof(row));
		path.space = row.row.space;
		path.flags = row.flags & ~HWPROF_PATH_IN_CONTEXT;
		path.start = row.start;
		path.end = row.end;
		path.target = row.target;
		path.count = row.count;
		path.cycles = row.cycles;
		path.length = row.length;
		path.spelled = row.spelled;
		memcpy(path.jumps, at + sizeof(row),
		       row.spelled * sizeof(row.jumps[0]));
		paths_add(paths, &path);
	}
	paths_finish(paths);
}

/* With contexts there are more paths, and not all have room. */
static void check_paths(const struct bench *bench)
{
	struct exact_paths multi = { 0 }, alone = { 0 };
	size_t i;

	add_paths(&multi, &bench->multi.told[MULTI_PATHS]);
	add_paths(&alone, &bench->alone[MULTI_PATHS].told[MULTI_PATHS]);
	if (!tables_evicted(&bench->multi.tables)) {
		assert_int_equal(multi.finished, alone.finished);
		assert_int_equal(multi.count, alone.count);
	}
	for (i = 0; i < multi.count; i++) {
		const struct exact_path *path = &multi.items[i];
		const struct exact_path *same = paths_find(&alone, path);

		if (tables_evicted(&bench->multi.tables))
			break;
		assert_non_null(same);
		assert_int_equal(path->count, same->count);
		assert_int_equal(path->cycles, same->cycles);
	}
	paths_free(&multi);
	paths_free(&alone);
}

static void check_same(const struct bench *bench)
{
	u64 delivered = 0, evicted = 0;
	unsigned int i;

	for (i = 0; i < MULTI_PARTS; i++) {
		const struct told *multi = &bench->multi.told[i];
		const struct told *alone = &bench->alone[i].told[i];

		if (!has(bench, i)) {
			assert_int_equal(multi->size, 0);
			continue;
		}
		assert_true(alone->size > 0);
		if (i == MULTI_PATHS && multi_has_context(&bench->params)) {
			check_paths(bench);
			continue;
		}
		assert_int_equal(multi->size, alone->size);
		assert_memory_equal(multi->bytes, alone->bytes, alone->size);
		delivered += bench->alone[i].tables.delivered;
		evicted += tables_evicted(&bench->alone[i].tables);
	}
	assert_int_equal(bench->multi.tables.produced,
			 bench->multi.tables.delivered +
			 tables_evicted(&bench->multi.tables));
	if (multi_has_context(&bench->params))
		return;
	assert_int_equal(bench->multi.tables.delivered, delivered);
	assert_int_equal(tables_evicted(&bench->multi.tables), evicted);
}

static void finish(struct bench *bench)
{
	retire_all(bench);
	read_rows(bench);
	check_same(bench);
}

/* --- every branch --------------------------------------------------------- */

struct run {
	struct machine_style machine;
	u32 basis, parts;
	size_t table_times, profile_times;
	unsigned int exchanges;		/* of tables: one in that many events */
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

/* Checks all sets of two or more parts. Returns the number of evicted units. */
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
		bench.multi.refusals = seed % 2 * 5;
		run(&bench, style, seed);
		evicted += tables_evicted(&bench.multi.tables);
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

/*
 * Parts do not take room from each other, and each evicts what it would alone.
 */
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

/* --- windows -------------------------------------------------------------- */

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
		/* A branch that could not be read is a gap. */
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

/* Feeds windows. Events and gaps count once, units for each part. */
static void feed_windows(struct bench *bench, unsigned int table,
			 const struct window *window)
{
	u64 ip = window->newest->to + random_below(&bench->random, 4);
	struct window_counts multi, alone;
	unsigned int i;
	u64 units = 0;

	multi = feed_window(&bench->multi, table, *window, ip);
	for_each_part(i, bench) {
		alone = feed_window(&bench->alone[i], table, *window, ip);
		assert_int_equal(alone.events, multi.events);
		assert_int_equal(alone.gaps, multi.gaps);
		units += alone.units;
	}
	assert_int_equal(multi.units, units);
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
	bench.multi.refusals = seed % 2 * 5;
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
			if (is_several(parts) && !(parts & ~WINDOWED))
				check_windows(parts, seed);
}

/* --- paths in contexts ---------------------------------------------------- */

/* Paths of a context, from the oracles; NULL if its beginning was unseen. */
struct place {
	const struct context *context;
	struct exact_paths paths;
};

struct places {
	struct contexts contexts;
	struct context_thread threads[TASKS];
	struct path_walk *walks[TASKS];
	struct exact_paths last;	/* the path that just ended, if any */
	struct { struct place *items; size_t count, room; } list;
};

static void places_init(struct places *places)
{
	unsigned int i;

	memset(places, 0, sizeof(*places));
	for (i = 0; i < TASKS; i++) {
		places->threads[i].contexts = &places->contexts;
		places->walks[i] = path_walk_new(&places->last);
	}
}

static struct place *place_of(struct places *places,
			      const struct context *context)
{
	struct place *place;
	size_t i;

	for (i = 0; i < places->list.count; i++)
		if (places->list.items[i].context == context)
			return &places->list.items[i];
	place = array_push(&places->list);
	*place = (struct place){ .context = context };
	return place;
}

/* The context oracle is one event behind, which is where the path is. */
static void places_feed(struct places *places, unsigned int task,
			const struct stream_event *event)
{
	struct context_thread *thread = &places->threads[task];
	const struct context *context = NULL;
	const struct exact_path *path;

	contexts_feed(thread, event);
	path_walk_event(places->walks[task], event);
	if (!places->last.finished)
		return;
	paths_finish(&places->last);
	path = &places->last.items[0];
	if (!(path->flags & HWPROF_PATH_UNSEEN))
		context = thread->stack.items[thread->stack.count - 1].context;
	paths_add(&place_of(places, context)->paths, path);
	paths_free(&places->last);
	memset(&places->last, 0, sizeof(places->last));
}

static void places_free(struct places *places)
{
	size_t i;

	for (i = 0; i < TASKS; i++) {
		contexts_finish(&places->threads[i]);
		path_walk_free(places->walks[i]);
	}
	for (i = 0; i < places->list.count; i++)
		paths_free(&places->list.items[i].paths);
	free(places->list.items);
	contexts_free(&places->contexts);
}

/* Calls @see for each row. */
static void for_each_row(const struct told *told,
			 void (*see)(const void *row, void *context),
			 void *context)
{
	u8 room[4096] __attribute__((aligned(8)));
	size_t at = 0;

	while (at < told->size) {
		const struct hwprof_row *row = (const void *)room;

		memcpy(room, told->bytes + at, sizeof(*row));
		assert_true(row->size <= sizeof(room));
		memcpy(room, told->bytes + at, row->size);
		see(row, context);
		at += row->size + 3 * sizeof(u64);
	}
}

/* Rows of contexts, by id. */
struct named {
	struct hwprof_row_context *items;
	size_t count, room;
};

static void see_context(const void *row, void *context)
{
	struct named *named = context;

	*array_push(named) = *(const struct hwprof_row_context *)row;
}

static const struct hwprof_row_context *name_of(const struct named *named,
						u64 id)
{
	size_t i;

	for (i = 0; i < named->count; i++)
		if (named->items[i].id == id)
			return &named->items[i];
	fail_msg("there is no context %#llx", (unsigned long long)id);
	return NULL;
}

/* Returns the oracle's context of an id. */
static const struct context *context_of(const struct places *places,
					const struct named *named, u64 id)
{
	const struct hwprof_row_context *row = name_of(named, id);
	struct context *first = places->contexts.roots;

	if (row->parent)
		first = context_of(places, named, row->parent)->children;
	return contexts_find(first, row->kind, row->row.space, row->site,
			     row->callee);
}

struct check {
	struct places *places;
	struct named named;
	size_t rows, contexts;
};

static void see_path(const void *data, void *context)
{
	const struct hwprof_row_path *row = data;
	const struct context *place = NULL;
	const struct exact_path *exact;
	struct check *check = context;
	struct exact_paths *paths;
	struct exact_path path;
	u64 id;

	assert_true(row->flags & HWPROF_PATH_IN_CONTEXT);
	assert_int_equal(row->row.size, sizeof(*row) + sizeof(id) +
			 row->spelled * sizeof(row->jumps[0]));
	memcpy(&id, &row->jumps[row->spelled], sizeof(id));
	assert_int_equal(!id, !!(row->flags & HWPROF_PATH_UNSEEN));
	if (id) {
		place = context_of(check->places, &check->named, id);
		assert_non_null(place);
	}
	path = path_of_row(row);
	path.flags &= ~HWPROF_PATH_IN_CONTEXT;
	paths = &place_of(check->places, place)->paths;
	exact = paths_find(paths, &path);
	assert_non_null(exact);
	assert_int_equal(exact->count, row->count);
	check->rows++;
}

/* Each finished path was reported once, in the context where it ended. */
static void check_places(struct places *places, const struct work *multi)
{
	struct check check = { .places = places };
	size_t rows = 0, i;

	for (i = 0; i < places->list.count; i++) {
		paths_finish(&places->list.items[i].paths);
		rows += places->list.items[i].paths.count;
	}
	for_each_row(&multi->told[MULTI_CCT], see_context, &check.named);
	for_each_row(&multi->told[MULTI_PATHS], see_path, &check);
	assert_int_equal(check.rows, rows);
	assert_true(rows > 0);
	free(check.named.items);
}

/* Uses one table per task, merged at times when no call is uncertain. */
static void run_in_contexts(u64 seed)
{
	const struct machine_style style = {
		.stack = 16, .signals = 3000, .gaps = seed % 2 * 2000,
	};
	struct machine *machines = calloc(TASKS, sizeof(*machines));
	struct program *programs[TASKS];
	struct places places;
	struct bench bench;
	unsigned int i;

	bench_init(&bench, 1 << MULTI_PATHS | 1 << MULTI_CCT,
		   HWPROF_BASIS_EXACT, 16, 64, seed);
	places_init(&places);
	for (i = 0; i < TASKS; i++) {
		programs[i] = program_new(seed * 7 + i, &wild);
		machine_init(&machines[i], programs[i], &style, seed * 31 + i,
			     1 + i);
	}
	for (i = 0; i < EVENTS; i++) {
		struct stream_event event;
		unsigned int task = i / 100 % TASKS;

		machine_next(&machines[task], &event);
		places_feed(&places, task, &event);
		feed(&bench, task, task, &event);
		if (event.kind == STREAM_RET &&
		    random_once_in(&bench.random, 300))
			retire(&bench, task);
	}
	finish(&bench);
	assert_int_equal(tables_evicted(&bench.multi.tables), 0);
	check_places(&places, &bench.multi);
	for (i = 0; i < TASKS; i++)
		program_free(programs[i]);
	free(machines);
	places_free(&places);
	bench_free(&bench);
}

static void test_contexts(void **state)
{
	u64 seed;

	for (seed = 400; seed < 400 + seeds(8); seed++)
		run_in_contexts(seed);
}

static void check_trace(const struct stream_event *events, size_t count)
{
	struct places places;
	struct bench bench;
	size_t i;

	bench_init(&bench, 1 << MULTI_PATHS | 1 << MULTI_CCT,
		   HWPROF_BASIS_EXACT, 1, 1, 1);
	places_init(&places);
	for (i = 0; i < count; i++) {
		places_feed(&places, 0, &events[i]);
		feed(&bench, 0, 0, &events[i]);
	}
	finish(&bench);
	check_places(&places, &bench.multi);
	places_free(&places);
	bench_free(&bench);
}

#define CHECK_TRACE(events)						       \
	check_trace(events, sizeof(events) / sizeof((events)[0]))

/* Two procedures call a third, one of them twice, and it calls itself. */
static void test_callers(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x10),
		CALL(0x18, 0x100), CALL(0x108, 0x300), COND(0x310, 0x300),
		RET(0x320, 0x10d), RET(0x110, 0x1d),
		CALL(0x20, 0x200), CALL(0x208, 0x300), RET(0x320, 0x20d),
		CALL(0x218, 0x300), CALL(0x308, 0x300), RET(0x320, 0x30d),
		RET(0x320, 0x21d), COND(0x240, 0x220), RET(0x250, 0x25),
		SIGNAL(0x28, 0x300), RET(0x320, 0x800),
		SIGRETURN(0x807, 0x28), COND(0x30, 0x20), COND(0x30, 0x20),
	};

	CHECK_TRACE(events);
}

/*
 * A stub's target is known only at its jump. A path in it, or ending there,
 * belongs to the target's procedure.
 */
static void test_stubs(void **state)
{
	static const struct stream_event events[] = {
		GAP(0x1010),
		CALL(0x1018, 0x2000), INDIRECT(0x2004, 0x3000),
		RET(0x3010, 0x101d),
		CALL(0x1020, 0x2000), INDIRECT(0x2004, 0x3000),
		RET(0x3010, 0x1025),
		CALL(0x1028, 0x2010), INDIRECT(0x2010, 0x500),
		COND(0x510, 0x500), RET(0x520, 0x102d),
		CALL(0x1030, 0x2010), INDIRECT(0x2010, 0x500),
		RET(0x520, 0x1035),
		CALL(0x1038, 0x2010), INDIRECT(0x2010, 0x700),
		RET(0x720, 0x103d),
	};

	CHECK_TRACE(events);
}

/* --- the rest of engine_ops ----------------------------------------------- */

static void test_units(void **state)
{
	static const struct {
		struct stream_event event;
		unsigned int units;
		u16 type;		/* type of the sample's row */
	} cases[] = {
		{ COND(0x20, 0x10), 3, HWPROF_ROW_LOOP },
		{ INDIRECT(0x9000000, 0x10), 2, HWPROF_ROW_PATH },
		{ RET(0x20, 0x10), 2, HWPROF_ROW_PATH },
		{ CALL(0x20, 0x10), 3, HWPROF_ROW_CALL },
		{ SIGNAL(0x20, 0x10), 1, HWPROF_ROW_CONTEXT },
		{ COND(0x20, 0x21), 1, HWPROF_ROW_EDGE },
		{ GAP(0x20), 0, HWPROF_ROW_LOOP },
	};
	const struct engine_params params = { .span = SPAN, .parts = ALL };
	struct engine_sample sample;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(multi_engine.unit(&params, &cases[i].event),
				 cases[i].units);
		multi_engine.sample(&params, &cases[i].event, 7, &sample);
		assert_int_equal(sample.row.type, cases[i].type);
	}
}

/* The smallest table has room for all parts, also with windows. */
static void test_smallest(void **state)
{
	assert_true(multi_engine.table_min >= least_of_all());
	assert_int_equal(multi_engine.table_min % 64, 0);
}

/* The position of rows() continues from part to part, and stays at the end. */
static void test_rows_at(void **state)
{
	const struct stream_event events[] = {
		GAP(0x1000), CALL(0x1008, 0x2000), COND(0x2010, 0x2000),
		RET(0x2020, 0x100d),
	};
	struct bench bench;
	size_t at = 0, last = 0, i;
	struct work *multi;

	bench_init(&bench, ALL, HWPROF_BASIS_EXACT, 1, 1, 1);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		feed(&bench, 0, 0, &events[i]);
	multi = &bench.multi;
	multi->refusals = 2;
	tables_retire(&multi->tables, 0, 100);
	engine_settle(&multi_engine, multi->tables.profile, 0);
	while (!multi_engine.rows(multi->tables.profile, 0, &at, TABLES_LOOKS,
				  take_row, multi)) {
		assert_true(at >= last);
		last = at;
	}
	assert_int_equal(multi_engine.pending(multi->tables.profile), 0);
	last = at;
	i = multi->tables.delivered;
	assert_true(multi_engine.rows(multi->tables.profile, 0, &at, ~0UL,
				      take_row, multi));
	assert_int_equal(at, last);
	assert_int_equal(multi->tables.delivered, i);
	for (i = 0; i < MULTI_PARTS; i++)
		assert_true(multi->told[i].size > 0);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_rows_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
