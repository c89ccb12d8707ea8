// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the edge engine with the simplest code, which searches backwards
 * from each branch for the one before. For every stream and size of memory, the
 * count of an edge is within its bounds, and nothing is counted twice or lost.
 */
#include "engine/engine.h"
#include "engine/walk.h"
#include "engine/window.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"

enum {
	EDGES = 1 << 17,	/* slots of the simple table: enough */
	EVENTS = 20000,
	TASKS = 3,
	TABLES = 2,
	RECORDS = 32,
	/* A table of one set, which has room for seven edges. */
	ONE_SET = 1024,
};

/* --- input, and rows ---------------------------------------------------- */

struct edge {
	u64 from, to, end;
	u32 space;
	bool is;
	u64 exact, mispredicted, cycles;	/* fed */
	u64 sum_sq, in_window;
	bool predicted;
	u64 told, told_mispredicted, told_cycles, told_sq;	/* from rows */
	u64 error, evicted;			/* of the last row */
};

struct history {
	struct stream_event *events;
	size_t count;
};

struct bench {
	struct tables tables;
	void *cursors[TASKS];
	struct history histories[TASKS];
	struct edge *edges;
	u64 random;
	unsigned int refusals;	/* of rows: one in that many */
};

static struct engine_params params_of(u32 basis)
{
	return (struct engine_params) { .basis = basis, .seed = 7 };
}

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size, u32 basis)
{
	const struct engine_params params = params_of(basis);
	struct stream_event *events;
	unsigned int i;

	*bench = (struct bench) {
		.tables = tables_make(&edge_engine, &params, TABLES, table_size,
				      profile_size),
		.edges = calloc(EDGES, sizeof(struct edge)),
	};
	assert_non_null(bench->edges);
	for (i = 0; i < TASKS; i++) {
		bench->cursors[i] = cursor_new(&edge_engine, i);
		events = calloc(EVENTS, sizeof(*events));
		assert_non_null(events);
		bench->histories[i].events = events;
	}
}

static void bench_free(struct bench *bench)
{
	unsigned int i;

	for (i = 0; i < TASKS; i++) {
		free(bench->cursors[i]);
		free(bench->histories[i].events);
	}
	tables_free(&bench->tables);
	free(bench->edges);
}

static struct edge *get(struct bench *bench, u32 space, u64 from, u64 to,
			u64 end)
{
	u64 state = from * 31 + to * 17 + end * 13 + space;
	size_t i = random_next(&state) % EDGES;

	for (; bench->edges[i].is; i = (i + 1) % EDGES)
		if (bench->edges[i].from == from && bench->edges[i].to == to &&
		    bench->edges[i].end == end &&
		    bench->edges[i].space == space)
			return &bench->edges[i];
	bench->edges[i] = (struct edge) {
		.from = from, .to = to, .end = end, .space = space, .is = true,
	};
	return &bench->edges[i];
}

static bool feed(struct bench *bench, unsigned int table, unsigned int task,
		 const struct stream_event *event)
{
	struct history *history = &bench->histories[task];

	assert_true(history->count < EVENTS);
	history->events[history->count++] = *event;
	bench->tables.produced += edge_engine.unit(NULL, event);
	return edge_engine.feed(bench->tables.items[table],
				bench->cursors[task], event);
}

static void retire(struct bench *bench, size_t limit)
{
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		tables_retire(&bench->tables, i, limit);
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_edge *row = data;
	struct bench *bench = context;
	struct edge *edge;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_EDGE);
	assert_int_equal(row->row.size, sizeof(*row));
	assert_int_equal(period, row->end ? row->count : 0);
	assert_int_equal(ip, row->from ? row->from : row->end);
	assert_int_equal(addr, row->to);
	assert_true(row->count > 0);
	assert_true(row->mispredicted <= row->count);
	edge = get(bench, row->row.space, row->from, row->to, row->end);
	assert_true(row->evicted >= edge->evicted);
	edge->told += row->count;
	edge->told_mispredicted += row->mispredicted;
	edge->told_cycles += row->cycles;
	edge->told_sq += row->sum_sq;
	edge->predicted |= row->flags & HWPROF_EDGE_PREDICTION;
	edge->error = row->error;
	edge->evicted = row->evicted;
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

/* --- the simplest code --------------------------------------------------- */

/* Returns true if code at @from, in @space, can follow the event before @i. */
static bool follows(const struct history *history, size_t i, u32 space,
		    u64 from)
{
	return i && history->events[i - 1].space == space &&
	       history->events[i - 1].to <= from;
}

static bool is_in_line(const struct history *history, size_t i)
{
	const struct stream_event *event = &history->events[i];

	return event->kind == STREAM_SYSCALL &&
	       event->to - event->from - 1 < WALK_CALL_MAX &&
	       follows(history, i, event->space, event->from);
}

/* Returns the event that begins the line of event @i; NULL if unknown. */
static const struct stream_event *head_of(const struct history *history,
					  size_t i)
{
	const struct stream_event *event = &history->events[i];
	u32 space = event->space;
	u64 from = event->from;

	while (follows(history, i, space, from)) {
		event = &history->events[--i];
		if (!is_in_line(history, i))
			return event;
		from = event->from;
	}
	return NULL;
}

static struct edge *edge_at(struct bench *bench, u32 space,
			    const struct stream_event *head, u64 end)
{
	if (!head)
		return get(bench, space, 0, 0, end);
	return get(bench, space, stream_is_branch(head->kind) ? head->from : 0,
		   head->to, end);
}

static void expect(struct edge *edge, const struct stream_event *head,
		   u32 cycles)
{
	edge->exact++;
	edge->cycles += cycles;
	if (head && stream_is_branch(head->kind))
		edge->mispredicted += head->flags & STREAM_MISPREDICTED;
}

/* Returns true if its line ended unseen, by an event of the same space. */
static bool is_left(const struct history *history, size_t i)
{
	const struct stream_event *event = &history->events[i];
	size_t next = i + 1;

	while (next < history->count && is_in_line(history, next))
		next++;
	return event->from && next < history->count &&
	       history->events[next].space == event->space &&
	       !(stream_is_branch(history->events[next].kind) &&
		 head_of(history, next) == event);
}

static void expect_all(struct bench *bench)
{
	unsigned int task;
	size_t i;

	for (task = 0; task < TASKS; task++) {
		const struct history *history = &bench->histories[task];

		for (i = 0; i < history->count; i++) {
			const struct stream_event *event = &history->events[i];
			const struct stream_event *head = head_of(history, i);

			if (!stream_is_branch(event->kind))
				continue;
			expect(edge_at(bench, event->space, head,
				       event->from ? event->from : 1), head,
			       event->cycles);
			if (is_left(history, i))
				expect(edge_at(bench, event->space, event, 0),
				       event, 0);
		}
	}
}

/*
 * Checks each edge, reported or not. Returns the largest difference of bounds.
 */
static u64 check_bounds(const struct bench *bench)
{
	u64 all = tables_evicted(&bench->tables), worst = 0, most;
	size_t i;

	for (i = 0; i < EDGES; i++) {
		const struct edge *edge = &bench->edges[i];

		most = edge->error + all - edge->evicted;
		assert_true(edge->told <= edge->exact);
		assert_true(edge->told_mispredicted <= edge->mispredicted);
		assert_true(edge->told_cycles <= edge->cycles);
		if (!edge->is || !edge->end)
			continue;
		assert_true(edge->exact <= edge->told + most);
		worst = max(worst, most);
	}
	return worst;
}

static void check_all(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < EDGES; i++) {
		const struct edge *edge = &bench->edges[i];

		assert_int_equal(edge->told, edge->exact);
		assert_int_equal(edge->told_mispredicted, edge->mispredicted);
		assert_int_equal(edge->told_cycles, edge->cycles);
		if (edge->mispredicted)
			assert_true(edge->predicted);
	}
}

/* --- streams ------------------------------------------------------------- */

enum stream {
	CODE,		/* few lines have most events, as in programs */
	UNIFORM,	/* no two equal */
	ROUND,		/* in turn, so that the next one was just evicted */
	PHASES,		/* hot edges change */
	SWAPPED,	/* edges with swapped ends */
	ENDS,		/* the first and last addresses */
	WILD,		/* any kind of event, nothing in order */
	STREAMS,
};

/* Makes the branch behind a line that begins at @at. */
static void next_branch(enum stream stream, u64 i, u64 at, u64 *random,
			struct stream_event *event)
{
	unsigned int ranks = 1 + random_below(random, 400);
	unsigned int rank;

	rank = random_below(random, 1 + random_below(random, ranks));
	event->from = at + random_below(random, 3);
	event->to = 0x400000 + 28 * (u64)rank;
	switch (stream) {
	case UNIFORM:
		event->from = at + random_below(random, 1 << 16);
		event->to = random_next(random) >> 1;
		break;
	case ROUND:
		event->from = at;
		event->to = 0x1000 + 5 * (i % 700);
		break;
	case PHASES:
		event->to += i / 4000 * 0x123456789ULL;
		break;
	case SWAPPED:
		event->from = at < 0x400100 ? 0x400100 : 0x400200;
		event->to = 0x400000 + 0x100 * random_below(random, 3);
		break;
	case ENDS:
	case WILD:
		event->from = random_below(random, 8) - 4ULL;
		event->to = random_below(random, 8) - 4ULL;
		break;
	case CODE:
	case STREAMS:
		break;
	}
}

static void next_event(enum stream stream, u64 i, struct bench *bench,
		       unsigned int task, u32 spaces,
		       struct stream_event *event)
{
	const struct history *history = &bench->histories[task];
	const struct stream_event *last = history->count ?
		&history->events[history->count - 1] : NULL;
	u64 *random = &bench->random;

	*event = (struct stream_event) {
		.kind = STREAM_COND + random_below(random, 5),
		.space = last ? last->space : 1,
		.flags = random_below(random, 4),
		.cycles = random_below(random, 9),
	};
	next_branch(stream, i, last ? last->to : 0, random, event);
	if (event->flags & STREAM_MISPREDICTED)
		event->flags &= ~STREAM_PREDICTED;
	if (random_once_in(random, stream == WILD ? 3 : 40)) {
		event->kind = STREAM_SYSCALL + random_below(random, 4);
		if (event->kind == STREAM_SYSCALL && random_below(random, 4))
			event->to = event->from + 2;
	}
	if (random_once_in(random, 50))
		event->space = random_below(random, spaces);
}

/* Retires tables at any time, reads rows at any time, and refuses some. */
static u64 try_stream(enum stream stream, u64 seed, size_t table_size,
		      size_t profile_size, bool obeys, bool is_exact)
{
	struct stream_event event;
	struct bench bench;
	u64 i, worst;

	bench_init(&bench, table_size, profile_size, HWPROF_BASIS_EXACT);
	bench.random = seed;
	bench.refusals = seed % 2 * 5;
	for (i = 0; i < EVENTS; i++) {
		unsigned int task = random_below(&bench.random, TASKS);
		bool room;

		next_event(stream, i, &bench, task, 1 + seed % 4, &event);
		room = feed(&bench, random_below(&bench.random, TABLES), task,
			    &event);
		if ((obeys && !room) || random_once_in(&bench.random, 3000))
			retire(&bench, 1 + random_below(&bench.random, 20));
		if (random_once_in(&bench.random, 2000))
			read_rows(&bench);
		if (random_once_in(&bench.random, 1000))
			tables_account(&bench.tables);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	expect_all(&bench);
	worst = check_bounds(&bench);
	if (is_exact)
		check_all(&bench);
	bench_free(&bench);
	return worst;
}

/* --- tests --------------------------------------------------------------- */

static void try_sizes(size_t table_size, size_t profile_size, u64 count)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(count); seed++)
		for (stream = 0; stream < STREAMS; stream++) {
			try_stream(stream, seed, table_size, profile_size,
				   true, false);
			try_stream(stream, seed, table_size, profile_size,
				   false, false);
		}
}

static void test_bounds(void **state)
{
	size_t least = edge_engine.table_min;

	try_sizes(least, 4 * least, 3);
	try_sizes(50 << 10, 77777, 1);
	/* A profile smaller than its tables. */
	try_sizes(2 * least, least, 1);
}

/* All edges share one set: of the table, of the profile, of both. */
static void test_one_set(void **state)
{
	try_sizes(ONE_SET, 128 << 10, 1);
	try_sizes(32 << 10, ONE_SET, 1);
	try_sizes(ONE_SET, ONE_SET, 1);
}

/* With enough room, everything is exact. */
static void test_exact(void **state)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < 4; seed++)
		for (stream = 0; stream < STREAMS; stream++)
			if (stream != UNIFORM)
				assert_int_equal(try_stream(stream, seed,
							    8 << 20, 32 << 20,
							    true, true), 0);
}

static void feed_branch(struct bench *bench, u64 from, u64 to)
{
	const struct stream_event event = {
		.kind = STREAM_JUMP, .from = from, .to = to, .space = 1,
	};

	bench->tables.produced++;
	edge_engine.feed(bench->tables.items[0], bench->cursors[0], &event);
}

/*
 * Hot edges stay beside a million edges that occur once. An edge with more than
 * a seventh of its set's branches is found, and lacks at most that many.
 */
static void test_frequent(void **state)
{
	struct bench bench;
	struct edge *hot;
	u64 i;

	bench_init(&bench, edge_engine.table_min, 4 * edge_engine.table_min,
		   HWPROF_BASIS_EXACT);
	for (i = 0; i < 1000000; i++) {
		/* To the side, back to the hot edge, and on to the next. */
		feed_branch(&bench, 0x3000, 0x1000);
		feed_branch(&bench, 0x1004, 0x2000);
		feed_branch(&bench, 0x2004, 0x100000 + 8 * i);
		feed_branch(&bench, 0x100000 + 8 * i, 0x3000);
		if (i % 1000 == 0)
			retire(&bench, 1000);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	hot = get(&bench, 1, 0x1004, 0x2000, 0x2004);
	assert_in_range(hot->told, 999000, 1000000);
	assert_true(tables_evicted(&bench.tables) > 1900000);
	assert_int_equal(bench.tables.produced, bench.tables.delivered +
			 tables_evicted(&bench.tables));
	bench_free(&bench);
}

/* A merged table is as new: it has room, and no old counts. */
static void test_table_is_empty(void **state)
{
	struct bench bench;
	u64 i, turn;

	bench_init(&bench, 32 << 10, 16 << 20, HWPROF_BASIS_EXACT);
	for (turn = 0; turn < 3; turn++) {
		bool room = true;

		for (i = 0; room; i++) {
			const struct stream_event event = {
				.kind = STREAM_JUMP, .space = 1,
				.from = 0x1000 + 8 * i, .to = 0x1004 + 8 * i,
			};

			room = feed(&bench, 0, 0, &event);
		}
		assert_in_range(i, 100, 400);
		retire(&bench, 10);
	}
	read_rows(&bench);
	expect_all(&bench);
	assert_int_equal(bench.tables.delivered, bench.tables.produced -
			 tables_evicted(&bench.tables));
	check_bounds(&bench);
	bench_free(&bench);
}

/* The same addresses in several spaces. One space ends, and the others stay. */
static void test_forget(void **state)
{
	struct stream_event event = {
		.kind = STREAM_JUMP, .from = 0x2000, .to = 0x1000,
	};
	struct bench bench;
	size_t at = 0;
	u64 i;

	bench_init(&bench, 256 << 10, 256 << 10, HWPROF_BASIS_EXACT);
	for (i = 0; i < 9000; i++) {
		event.space = 1 + i % 3;
		feed(&bench, 0, i % 3, &event);
	}
	retire(&bench, 1000);
	assert_true(edge_engine.rows(bench.tables.profile, 1, &at, ~0UL,
				     take_row, &bench));
	assert_int_equal(bench.tables.delivered, 3000);
	tables_forget(&edge_engine, bench.tables.profile, 1);
	assert_int_equal(edge_engine.evicted(bench.tables.profile), 0);
	tables_forget(&edge_engine, bench.tables.profile, 2);
	tables_account(&bench.tables);
	assert_int_equal(edge_engine.evicted(bench.tables.profile), 3000);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 6000);
	bench_free(&bench);
}

static void test_units(void **state)
{
	const struct engine_params params = params_of(HWPROF_BASIS_EXACT);
	unsigned int kind;

	for (kind = 0; kind <= STREAM_SAMPLE; kind++) {
		void *table = table_new(&edge_engine, 32 << 10, &params);
		void *cursor = cursor_new(&edge_engine, 1);
		const struct stream_event event = {
			.kind = kind, .value = 1, .from = 0x1000, .to = 0x2000,
			.space = 1,
		};
		unsigned int units = kind >= STREAM_COND && kind <= STREAM_RET;

		assert_int_equal(edge_engine.unit(&params, &event), units);
		assert_true(edge_engine.feed(table, cursor, &event));
		assert_int_equal(edge_engine.pending(table), units);
		free(cursor);
		free(table);
	}
}

static void test_sample(void **state)
{
	const struct stream_event event = {
		.kind = STREAM_INDIRECT, .from = 0x1000, .to = 0x2000,
		.space = 1,
	};
	const struct engine_params params = { 0 };
	struct engine_sample sample;

	edge_engine.sample(&params, &event, 7, &sample);
	assert_int_equal(sample.ip, 0x1000);
	assert_int_equal(sample.addr, 0x2000);
	assert_int_equal(sample.row.type, HWPROF_ROW_EDGE);
	assert_int_equal(sample.row.size, sizeof(sample.edge));
	assert_int_equal(sample.edge.from, 0x1000);
	assert_int_equal(sample.edge.to, 0x2000);
	assert_int_equal(sample.edge.end, 0);
	assert_int_equal(sample.edge.count, 7);
	assert_int_equal(sample.edge.kind, HWPROF_BRANCH_INDIRECT);
}

/* --- windows ------------------------------------------------------------- */

static void note(struct bench *bench, u64 from, u64 to, u64 end,
		 const struct window_branch *branch, u32 cycles, u32 times)
{
	struct edge *edge = get(bench, 1, from, to, end);

	edge->in_window++;
	edge->exact += times;
	edge->cycles += (u64)cycles * times;
	if (from)
		edge->mispredicted += (branch->flags & WINDOW_MISPREDICTED) *
				      times;
}

static void end_window(struct bench *bench, u32 times)
{
	size_t i;

	for (i = 0; i < EDGES; i++) {
		struct edge *edge = &bench->edges[i];

		edge->sum_sq += times * edge->in_window * edge->in_window;
		edge->in_window = 0;
	}
}

/* Each record but the oldest ends a line, if a line can lead to it. */
static void expect_window(struct bench *bench,
			  const struct window_branch *branches,
			  const u8 *kinds, u32 times)
{
	unsigned int i;

	for (i = RECORDS - 1; i < RECORDS; i--) {
		const struct window_branch *now = &branches[i];
		const struct window_branch *last = now + 1;
		bool oldest = i == RECORDS - 1, known, line;

		/* Was the record before it where its own line led? */
		known = !oldest && kinds[i + 1] &&
			(i + 1 == RECORDS - 1 || last->from >= last[1].to);
		line = !oldest && kinds[i] && now->from >= last->to;
		if (line) {
			note(bench, known ? last->from : 0, last->to, now->from,
			     last, window_cycles(now), times);
			bench->tables.produced += times;
		} else if (known) {
			note(bench, last->from, last->to, 0, last, 0, times);
		}
		if (!i && line)
			note(bench, now->from, now->to, 0, now, 0, times);
	}
	end_window(bench, times);
}

static void check_squares(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < EDGES; i++)
		assert_int_equal(bench->edges[i].told_sq,
				 bench->edges[i].sum_sq);
}

static void make_window(u64 *random, struct window_branch *branches, u8 *kinds)
{
	unsigned int i;

	/* Newest first. Some lines lead backwards. */
	for (i = 0; i < RECORDS; i++) {
		unsigned int flags = random_below(random, 3);

		branches[i] = (struct window_branch) {
			.from = 0x2000 + random_below(random, 4),
			.to = random_once_in(random, 9) ? 0x3000 :
			      0x1000 + random_below(random, 4),
			.flags = flags | (u64)random_below(random, 7) <<
					 WINDOW_CYCLES_SHIFT,
		};
		kinds[i] = random_once_in(random, 20) ? 0 :
			   STREAM_COND + random_below(random, 5);
	}
}

/* Stacks of branches, some of them repeated. */
static void test_stacks(void **state)
{
	struct window_branch branches[RECORDS];
	struct window_counts counts = { 0 };
	struct window window;
	struct bench bench;
	u8 kinds[RECORDS];
	unsigned int k;

	bench_init(&bench, 1 << 20, 4 << 20, HWPROF_BASIS_BRANCHES);
	for (k = 0; k < 300; k++) {
		make_window(&bench.random, branches, kinds);
		window_begin(&window, branches, kinds, RECORDS, 1);
		window.times = 1 + k % 3;
		assert_true(edge_engine.feed_window(bench.tables.items[0],
						    &window, &counts));
		expect_window(&bench, branches, kinds, 1 + k % 3);
		assert_int_equal(counts.units, bench.tables.produced);
		tables_account(&bench.tables);
		if (k % 50 == 0)
			retire(&bench, 1000);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	check_all(&bench);
	check_squares(&bench);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_one_set),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_frequent),
		cmocka_unit_test(test_table_is_empty),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
