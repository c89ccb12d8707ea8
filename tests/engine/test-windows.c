// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the engine's sums over windows with the oracle's, which walks each
 * window by itself, and the results of lib/reports/estimate.c with the exact
 * counts of the whole run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "trace.h"
#include "engine/loop_table.h"
#include "machine.h"
#include "random.h"
#include "seeds.h"
#include "tests/oracle/array.h"
#include "tests/oracle/walk.h"

enum { TABLE = 8 << 20, EVENTS = 60000, WINDOW = 32, DISTANCE = 100 };

struct events {
	struct stream_event *items;
	size_t count, room;
};

struct sums {
	u64 back_edges, entries, back_sq, entry_sq, cross, windows;
};

static void run(struct events *events, u64 seed, bool wild)
{
	const struct program_style style = {
		.procedures = 10, .depth = 3, .recursion = wild,
		.tail_calls = wild, .gotos = wild, .longjmps = wild,
	};
	const struct machine_style machine_style = { .stack = 8 };
	struct program *program = program_new(seed, &style);
	struct machine machine;
	size_t i;

	machine_init(&machine, program, &machine_style, seed, 1);
	for (i = 0; i < EVENTS; i++)
		machine_next(&machine, array_push(events));
	program_free(program);
}

/*
 * Returns the start of a window of branch records. The target of the first
 * record is where the window begins; how control came there was not seen.
 */
static struct stream_event window_start(const struct stream_event *first)
{
	return (struct stream_event){
		.kind = STREAM_GAP, .to = first->to, .space = first->space,
	};
}

static size_t next_window(u64 *random, size_t at)
{
	return at + WINDOW + random_below(random, DISTANCE);
}

static const struct oracle_loop *smallest_around(const struct regions *regions,
						 u32 space, u64 ip)
{
	const struct oracle_loop *loop, *smallest = NULL;
	size_t i;

	for (i = 0; i < regions->loops.count; i++) {
		loop = &regions->loops.items[i];
		if (loop->space == space && loop->head <= ip &&
		    ip <= loop->tail &&
		    (!smallest || loop->tail - loop->head <
				  smallest->tail - smallest->head))
			smallest = loop;
	}
	return smallest;
}

/* --- the engine ----------------------------------------------------------- */

struct engine {
	void *table, *profile, *cursor;
	struct sums *sums;	/* of all rows, by index in regions */
	const struct regions *regions;
};

static void *table_new(u64 seed)
{
	const struct engine_params params = {
		.span = SPAN, .basis = HWPROF_BASIS_BRANCHES, .seed = seed,
	};
	void *table = calloc(1, TABLE);

	loop_engine.table_init(table, TABLE, &params);
	return table;
}

/* Attributes time as docs/rows.md specifies. */
static void take_time(struct engine *engine, const struct hwprof_row_time *row)
{
	const struct oracle_loop *loop = smallest_around(engine->regions,
							 row->row.space,
							 row->ip);

	assert_int_not_equal(row->windows, 0);
	if (loop)
		engine->sums[loop - engine->regions->loops.items].windows +=
			row->windows;
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_loop *row = data;
	struct engine *engine = context;
	struct sums *sums;
	size_t i;

	if (row->row.type == HWPROF_ROW_TIME) {
		take_time(engine, data);
		return true;
	}
	i = regions_from(engine->regions, 1, row->head);
	sums = &engine->sums[i];
	assert_int_equal(engine->regions->loops.items[i].head, row->head);
	sums->back_edges += row->back_edges;
	sums->entries += row->entries;
	sums->back_sq += row->sum_back_sq;
	sums->entry_sq += row->sum_entry_sq;
	sums->cross += row->sum_cross;
	return true;
}

/* Feeds a window as events. */
static void feed_events(struct engine *engine, const struct stream_event *first)
{
	struct stream_event start = window_start(first);
	size_t i;

	loop_engine.feed(engine->table, engine->cursor, &start);
	for (i = 1; i < WINDOW; i++)
		loop_engine.feed(engine->table, engine->cursor, &first[i]);
}

/* A window as records of branches. */
struct records {
	struct window_branch branches[WINDOW];
	u8 kinds[WINDOW];
};

static struct window records_window(struct records *records,
				    const struct stream_event *first)
{
	struct window window;
	size_t i;

	for (i = 0; i < WINDOW; i++) {
		records->branches[WINDOW - 1 - i] = (struct window_branch){
			.from = first[i].from, .to = first[i].to,
		};
		records->kinds[WINDOW - 1 - i] = first[i].kind;
	}
	window_begin(&window, records->branches, records->kinds, WINDOW,
		     first->space);
	return window;
}

static void feed_records(struct engine *engine,
			 const struct stream_event *first, u32 times)
{
	struct records records;
	struct window window = records_window(&records, first);
	struct window_counts counts = { 0 };
	u64 back_edges = 0;
	size_t i;

	for (i = 1; i < WINDOW; i++)
		back_edges += walk_is_back_edge(&first[i], SPAN);
	window.times = times;
	loop_engine.feed_window(engine->table, &window, &counts);
	assert_int_equal(counts.events, times * WINDOW);
	assert_int_equal(counts.gaps, times);
	assert_int_equal(counts.units, times * back_edges);
	assert_int_equal(window.broken, 0);
}

static void read_rows(struct engine *engine)
{
	size_t at = 0;

	loop_engine.merge(engine->profile, engine->table, ~0UL);
	engine_settle(&loop_engine, engine->profile, 0);
	loop_engine.rows(engine->profile, 0, &at, ~0UL, take, engine);
}

/* Feeds all windows, and reads rows in between. */
static void feed_windows(struct engine *engine, const struct events *events,
			 u64 random)
{
	size_t at, windows = 0;

	for (at = 0; at + WINDOW <= events->count;
	     at = next_window(&random, at)) {
		if (windows++ % 3)	/* also two in a row */
			feed_events(engine, &events->items[at]);
		else
			feed_records(engine, &events->items[at], 1);
		loop_engine.taken(engine->table,
				  events->items[at + WINDOW - 1].to,
				  events->items[at + WINDOW - 1].space);
		if (random_once_in(&random, 50))
			read_rows(engine);
	}
	read_rows(engine);
}

/* --- the oracle ----------------------------------------------------------- */

static void find_regions(struct regions *regions, const struct events *events,
			 u64 random)
{
	size_t at, i;

	for (at = 0; at + WINDOW <= events->count;
	     at = next_window(&random, at)) {
		for (i = at + 1; i < at + WINDOW; i++) {
			const struct stream_event *event = &events->items[i];

			if (walk_is_back_edge(event, SPAN))
				regions_add(regions, event->space, event->to,
					    event->from);
		}
		random_once_in(&random, 50);
	}
	regions_finish(regions);
}

static void count_taken(const struct regions *regions, struct sums *sums,
			const struct stream_event *last)
{
	const struct oracle_loop *smallest = smallest_around(regions,
							     last->space,
							     last->to);

	if (smallest)
		sums[smallest - regions->loops.items].windows++;
}

static void walk_windows(struct regions *regions, struct sums *sums,
			 const struct events *events, u64 random)
{
	struct stream_event window[WINDOW + 1];
	struct oracle_depth depth = { 0 };
	size_t at, i;

	for (at = 0; at + WINDOW <= events->count;
	     at = next_window(&random, at)) {
		memcpy(window, &events->items[at],
		       WINDOW * sizeof(window[0]));
		window[0] = window_start(&window[0]);
		window[WINDOW] = window_start(&window[WINDOW - 1]);
		count_taken(regions, sums, &window[WINDOW - 1]);
		walk_thread(regions, SPAN, window, WINDOW + 1, &depth);
		for (i = 0; i < regions->loops.count; i++) {
			struct oracle_loop *loop = &regions->loops.items[i];
			u64 b = loop->back_edges, e = loop->entries;

			sums[i].back_edges += b;
			sums[i].entries += e;
			sums[i].back_sq += b * b;
			sums[i].entry_sq += e * e;
			sums[i].cross += b * e;
			loop->back_edges = loop->entries = 0;
		}
		random_once_in(&random, 50);
	}
}

/* --- the tests ------------------------------------------------------------ */

static void check_sums(u64 seed, bool wild)
{
	struct engine engine = {
		.table = table_new(seed), .profile = table_new(seed),
		.cursor = array_more(NULL, 1, loop_engine.cursor_size),
	};
	struct regions regions = { 0 };
	struct events events = { 0 };
	struct sums *sums;
	size_t i;

	run(&events, seed, wild);
	find_regions(&regions, &events, seed);
	sums = calloc(regions.loops.count + 1, sizeof(*sums));
	engine.sums = calloc(regions.loops.count + 1, sizeof(*sums));
	engine.regions = &regions;
	walk_windows(&regions, sums, &events, seed);

	/* Once to learn the regions, and once to count. */
	loop_engine.cursor_init(engine.cursor, 1);
	feed_windows(&engine, &events, seed);
	memset(engine.sums, 0, regions.loops.count * sizeof(*engine.sums));
	feed_windows(&engine, &events, seed);
	assert_true(regions.loops.count);
	for (i = 0; i < regions.loops.count; i++)
		if (memcmp(&engine.sums[i], &sums[i], sizeof(*sums)))
			fail_msg(
				"seed %llu, loop %llx: engine %llu %llu %llu %llu %llu %llu, oracle %llu %llu %llu %llu %llu %llu",
				(unsigned long long)seed,
				(unsigned long long)regions.loops.items[i].head,
#define SUMS(s)	(unsigned long long)(s).back_edges,			       \
		(unsigned long long)(s).entries,			       \
		(unsigned long long)(s).back_sq,			       \
		(unsigned long long)(s).entry_sq,			       \
		(unsigned long long)(s).cross,				       \
		(unsigned long long)(s).windows
				SUMS(engine.sums[i]), SUMS(sums[i]));
#undef SUMS
	free(engine.sums);
	free(sums);
	free(events.items);
	regions_free(&regions);
	free(engine.table);
	free(engine.profile);
	free(engine.cursor);
}

static void test_sums(void **state)
{
	u64 seed;

	for (seed = 1; seed <= seeds(40); seed++)
		check_sums(seed, false);
}

static void test_sums_wild(void **state)
{
	u64 seed;

	for (seed = 1; seed <= seeds(40); seed++)
		check_sums(seed, true);
}

/* --- repeated windows ----------------------------------------------------- */

struct rows {
	struct hwprof_row_loop *items;
	size_t count, room;
};

static bool keep_row(void *context, const void *row, u64 ip, u64 addr,
		     u64 period)
{
	*array_push((struct rows *)context) =
		*(const struct hwprof_row_loop *)row;
	return true;
}

/* A window that was seen, and how often to feed it again. */
struct again {
	const struct stream_event *first;
	u32 times;
};

enum { AGAIN = 16 };

static bool knows(struct engine *engine, const struct stream_event *first)
{
	struct records records;
	struct window window = records_window(&records, first);

	return loop_engine.knows_window(engine->table, &window);
}

/* Feeds each postponed window, with all its repetitions at once. */
static void feed_again(struct engine *engine, struct again *again)
{
	size_t i;

	for (i = 0; i < AGAIN; i++) {
		if (again[i].times)
			feed_records(engine, again[i].first, again[i].times);
		again[i].times = 0;
	}
}

/*
 * Feeds new windows, and repeats some recent ones in between. Repetitions are
 * fed at once, or postponed until the table meets a window that it does not
 * know.
 */
static struct rows feed_repeated(const struct events *events, u64 seed,
				 bool put_off)
{
	struct engine engine = {
		.table = table_new(seed), .profile = table_new(seed),
	};
	struct again again[AGAIN] = { 0 };
	u64 random = seed;
	struct rows rows = { 0 };
	size_t at, row = 0, windows = 0;

	for (at = 0; at + WINDOW <= events->count;
	     at = next_window(&random, at)) {
		const struct stream_event *first = &events->items[at];
		struct again *one = &again[windows++ % AGAIN];

		/* Another window takes its place. */
		if (one->times || !knows(&engine, first))
			feed_again(&engine, again);
		feed_records(&engine, first, 1);
		one->first = first;
		while (!random_once_in(&random, 4)) {
			one = &again[random_below(&random,
						  windows < AGAIN ? windows :
								    AGAIN)];
			if (put_off)
				one->times++;
			else
				feed_records(&engine, one->first, 1);
		}
		if (random_once_in(&random, 50)) {
			feed_again(&engine, again);
			loop_engine.merge(engine.profile, engine.table, ~0UL);
		}
	}
	feed_again(&engine, again);
	loop_engine.merge(engine.profile, engine.table, ~0UL);
	engine_settle(&loop_engine, engine.profile, 0);
	loop_engine.rows(engine.profile, 0, &row, ~0UL, keep_row, &rows);
	free(engine.table);
	free(engine.profile);
	return rows;
}

static void test_repeated(void **state)
{
	u64 seed;

	for (seed = 1; seed <= seeds(40); seed++) {
		struct events events = { 0 };
		struct rows single, at_once;

		run(&events, seed, seed % 2);
		single = feed_repeated(&events, seed, false);
		at_once = feed_repeated(&events, seed, true);
		assert_true(single.count);
		assert_int_equal(single.count, at_once.count);
		assert_memory_equal(single.items, at_once.items,
				    single.count * sizeof(*single.items));
		free(single.items);
		free(at_once.items);
		free(events.items);
	}
}

/* --- little memory -------------------------------------------------------- */

enum { PROGRAMS = 12, WINDOWS = 4000 };

/*
 * Feeds windows of many programs into a table without room for all their loops.
 * The effects of their lines are remembered, or found anew each time.
 */
static struct rows feed_crowded(const struct events *programs, u64 seed,
				bool anew, u64 *evicted)
{
	size_t size = loop_engine.table_min, i, row = 0;
	const struct engine_params params = {
		.span = SPAN, .basis = HWPROF_BASIS_BRANCHES, .seed = seed,
	};
	struct engine engine = {
		.table = calloc(1, size), .profile = table_new(seed),
	};
	u64 random = seed;
	struct rows rows = { 0 };

	loop_engine.table_init(engine.table, size, &params);
	for (i = 0; i < WINDOWS; i++) {
		u32 program = random_below(&random, PROGRAMS);
		size_t at = random_below(&random, EVENTS - WINDOW);

		if (anew)
			loop_forget_effects(engine.table);
		feed_records(&engine, &programs[program].items[at], 1);
		if (random_once_in(&random, 500))
			loop_engine.merge(engine.profile, engine.table, ~0UL);
	}
	*evicted = loop_engine.evicted(engine.table);
	loop_engine.merge(engine.profile, engine.table, ~0UL);
	*evicted += loop_engine.evicted(engine.profile);
	engine_settle(&loop_engine, engine.profile, 0);
	loop_engine.rows(engine.profile, 0, &row, ~0UL, keep_row, &rows);
	free(engine.table);
	free(engine.profile);
	return rows;
}

static void test_crowded(void **state)
{
	struct events programs[PROGRAMS];
	struct rows remembered, anew;
	u64 seed, evicted[2], all = 0;
	size_t i, k;

	for (seed = 1; seed <= seeds(4); seed++) {
		memset(programs, 0, sizeof(programs));
		for (i = 0; i < PROGRAMS; i++) {
			run(&programs[i], seed * PROGRAMS + i, i % 2);
			for (k = 0; k < programs[i].count; k++)
				programs[i].items[k].space = 1 + i;
		}
		remembered = feed_crowded(programs, seed, false, &evicted[0]);
		anew = feed_crowded(programs, seed, true, &evicted[1]);
		all += evicted[0];
		assert_int_equal(evicted[0], evicted[1]);
		assert_int_equal(remembered.count, anew.count);
		assert_memory_equal(remembered.items, anew.items,
				    anew.count * sizeof(*anew.items));
		free(remembered.items);
		free(anew.items);
		for (i = 0; i < PROGRAMS; i++)
			free(programs[i].items);
	}
	assert_true(all > 0);
}

/* --- what ends a line ----------------------------------------------------- */

/* A signal ends a line before a jump, and leads to its handler. */
static void test_signal(void **state)
{
	enum { START = 0x1000, END = 0x1040 };
	const struct stream_event begin = {
		.kind = STREAM_GAP, .to = START, .space = 1,
	};
	const struct stream_event signal = {
		.kind = STREAM_SIGNAL, .from = END, .to = START, .space = 1,
	};
	const struct stream_event jump = {
		.kind = STREAM_COND, .from = END, .to = START, .space = 1,
	};
	void *table = table_new(1), *cursor = malloc(loop_engine.cursor_size);

	loop_engine.cursor_init(cursor, 1);
	loop_engine.feed(table, cursor, &begin);
	loop_engine.feed(table, cursor, &signal);
	assert_int_equal(loop_engine.pending(table), 0);
	loop_engine.feed(table, cursor, &begin);
	loop_engine.feed(table, cursor, &jump);
	assert_int_equal(loop_engine.pending(table), 1);
	free(cursor);
	free(table);
}

/* The last address jumps to itself and then far away, which is no back edge. */
static void test_last_address(void **state)
{
	const struct stream_event back = {
		.kind = STREAM_COND, .from = ~0ULL, .to = ~0ULL,
	};
	const struct stream_event away = {
		.kind = STREAM_COND, .from = ~0ULL, .to = 0x1000,
	};
	void *table = table_new(1), *cursor = malloc(loop_engine.cursor_size);

	loop_engine.cursor_init(cursor, 1);
	loop_engine.feed(table, cursor, &back);
	loop_engine.cursor_init(cursor, 2);
	loop_engine.feed(table, cursor, &away);
	assert_int_equal(loop_engine.pending(table), 1);
	free(cursor);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_address),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_sums_wild),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_crowded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
