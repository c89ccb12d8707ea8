// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the call engine with the simplest code, which counts every pair. For
 * every stream and size of memory, the count of each pair is within its bounds,
 * and nothing is counted twice or lost.
 */
#include "engine/engine.h"
#include "engine/window.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"

enum {
	PAIRS = 1 << 16,	/* slots of the simple table: more than
				 * needed */
	/* A table of one set, which has room for seven pairs. */
	ONE_SET = 1024,
};

/* --- input, and rows ------------------------------------------------------ */

struct pair {
	u64 site, callee;
	u32 space;
	bool is;
	u64 exact, sum_sq;	/* fed */
	u64 in_window;
	u64 told, told_sq;	/* from rows */
	u64 error, evicted;	/* of the last row */
};

struct bench {
	struct tables tables;
	struct pair *pairs;
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

	*bench = (struct bench) {
		.tables = tables_make(&call_engine, &params, 1, table_size,
				      profile_size),
		.pairs = calloc(PAIRS, sizeof(struct pair)),
	};
	assert_non_null(bench->pairs);
}

static void bench_free(struct bench *bench)
{
	tables_free(&bench->tables);
	free(bench->pairs);
}

static struct pair *get(struct bench *bench, u32 space, u64 site, u64 callee)
{
	u64 state = site * 31 + callee * 17 + space;
	size_t i = random_next(&state) % PAIRS;

	for (; bench->pairs[i].is; i = (i + 1) % PAIRS)
		if (bench->pairs[i].site == site &&
		    bench->pairs[i].callee == callee &&
		    bench->pairs[i].space == space)
			return &bench->pairs[i];
	bench->pairs[i] = (struct pair) {
		.site = site, .callee = callee, .space = space, .is = true,
	};
	return &bench->pairs[i];
}

static bool feed(struct bench *bench, u32 space, u64 site, u64 callee)
{
	const struct stream_event event = {
		.kind = STREAM_CALL, .from = site, .to = callee, .space = space,
	};

	get(bench, space, site, callee)->exact++;
	bench->tables.produced++;
	return call_engine.feed(bench->tables.items[0], NULL, &event);
}

static void retire(struct bench *bench, size_t limit)
{
	tables_retire(&bench->tables, 0, limit);
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_call *row = data;
	struct bench *bench = context;
	struct pair *pair;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_CALL);
	assert_int_equal(row->row.size, sizeof(*row));
	assert_int_equal(row->calls, period);
	assert_int_equal(row->site, ip);
	assert_int_equal(row->callee, addr);
	assert_true(period > 0);
	pair = get(bench, row->row.space, ip, addr);
	assert_true(pair->exact > 0);
	assert_true(row->evicted >= pair->evicted);
	pair->told += period;
	pair->told_sq += row->sum_sq;
	pair->error = row->error;
	pair->evicted = row->evicted;
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

/*
 * Checks each pair, reported or not. Returns the largest difference of bounds.
 */
static u64 check_bounds(const struct bench *bench)
{
	u64 all = tables_evicted(&bench->tables), worst = 0, most;
	size_t i;

	for (i = 0; i < PAIRS; i++) {
		const struct pair *pair = &bench->pairs[i];

		most = pair->error + all - pair->evicted;
		assert_true(pair->told <= pair->exact);
		assert_true(pair->exact <= pair->told + most);
		if (pair->is && most > worst)
			worst = most;
	}
	return worst;
}

/* --- streams -------------------------------------------------------------- */

enum stream {
	CODE,		/* few pairs have most calls, as in programs */
	UNIFORM,	/* no two equal */
	ROUND,		/* in turn, so that the next one was just evicted */
	PHASES,		/* hot pairs change */
	SWAPPED,	/* pairs with swapped ends */
	ENDS,		/* the first and last addresses */
	STREAMS,
};

static void next_pair(enum stream stream, u64 i, u64 *random, u64 *site,
		      u64 *callee)
{
	unsigned int rank = random_below(
		random,
		1 + random_below(random, 1 + random_below(random, 3000)));

	*site = 0x400000 + 28 * (u64)rank;
	*callee = 0x500000 + 64 * (u64)(rank % 300);
	switch (stream) {
	case UNIFORM:
		*site = random_next(random);
		*callee = random_next(random);
		break;
	case ROUND:
		*site = 0x1000 + 5 * (i % 700);
		*callee = 0x8000;
		break;
	case PHASES:
		*site += i / 4000 * 0x123456789ULL;
		break;
	case SWAPPED:
		*callee = 0x400000 + 28 * (u64)random_below(random, 40);
		*site = 0x400000 + 28 * (u64)random_below(random, 40);
		break;
	case ENDS:
		*site = random_below(random, 8) - 4ULL;
		*callee = random_below(random, 8) - 4ULL;
		break;
	case CODE:
	case STREAMS:
		break;
	}
}

/* Retires tables at any time, reads rows at any time, and refuses some. */
static u64 try_stream(enum stream stream, u64 seed, size_t table_size,
		      size_t profile_size, bool obeys)
{
	struct bench bench;
	u64 site, callee, i, worst;

	bench_init(&bench, table_size, profile_size, HWPROF_BASIS_EXACT);
	bench.random = seed;
	bench.refusals = seed % 2 * 5;
	for (i = 0; i < 20000; i++) {
		bool room;

		next_pair(stream, i, &bench.random, &site, &callee);
		room = feed(&bench, random_below(&bench.random, 1 + seed % 4),
			    site, callee);
		if ((obeys && !room) || random_once_in(&bench.random, 3000))
			retire(&bench, 1 + random_below(&bench.random, 20));
		if (random_once_in(&bench.random, 2000))
			read_rows(&bench);
		if (random_once_in(&bench.random, 1000))
			tables_account(&bench.tables);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	worst = check_bounds(&bench);
	bench_free(&bench);
	return worst;
}

/* --- tests ---------------------------------------------------------------- */

static void try_sizes(size_t table_size, size_t profile_size, u64 count)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(count); seed++)
		for (stream = 0; stream < STREAMS; stream++) {
			try_stream(stream, seed, table_size, profile_size,
				   true);
			try_stream(stream, seed, table_size, profile_size,
				   false);
		}
}

static void test_bounds(void **state)
{
	try_sizes(32 << 10, 128 << 10, 6);
	try_sizes(50 << 10, 77777, 2);
	/* A profile smaller than its tables. */
	try_sizes(64 << 10, 20 << 10, 2);
}

/* All pairs share one set: of the table, of the profile, of both. */
static void test_one_set(void **state)
{
	try_sizes(ONE_SET, 128 << 10, 2);
	try_sizes(32 << 10, ONE_SET, 2);
	try_sizes(ONE_SET, ONE_SET, 2);
}

/* With enough room, everything is exact. */
static void test_exact(void **state)
{
	unsigned int stream;

	for (stream = 0; stream < STREAMS; stream++)
		if (stream != UNIFORM)
			assert_int_equal(try_stream(stream, 2, 4 << 20,
						    16 << 20, true), 0);
}

/*
 * Space-saving guarantees that a pair with more than a seventh of its set's
 * calls is found, whatever else occurs, and lacks at most that many.
 */
static void test_frequent(void **state)
{
	struct bench bench;
	struct pair *hot;
	u64 i;

	bench_init(&bench, ONE_SET, 32 << 10, HWPROF_BASIS_EXACT);
	for (i = 0; i < 50000; i++) {
		if (i % 5)
			feed(&bench, 1, random_next(&bench.random), 1);
		else
			feed(&bench, 1, 0x1000, 0x2000);
	}
	retire(&bench, 10);
	read_rows(&bench);
	check_bounds(&bench);
	hot = get(&bench, 1, 0x1000, 0x2000);
	assert_true(hot->told > 0);
	assert_true(hot->error <= 50000 / 7);
	assert_true(hot->told + hot->error >= 10000);
	bench_free(&bench);
}

/* The result of merging does not depend on the limit. */
static void test_limits(void **state)
{
	static const size_t limits[] = { 1, 7, 1000, SIZE_MAX };
	u64 delivered = 0, worst = 0, site, callee, i;
	unsigned int k;

	for (k = 0; k < 4; k++) {
		struct bench bench;

		bench_init(&bench, 32 << 10, 64 << 10, HWPROF_BASIS_EXACT);
		bench.random = 9;
		for (i = 0; i < 30000; i++) {
			next_pair(CODE, i, &bench.random, &site, &callee);
			feed(&bench, 1, site, callee);
		}
		retire(&bench, limits[k]);
		read_rows(&bench);
		if (!k) {
			delivered = bench.tables.delivered;
			worst = check_bounds(&bench);
		}
		assert_int_equal(bench.tables.delivered, delivered);
		assert_int_equal(check_bounds(&bench), worst);
		bench_free(&bench);
	}
	assert_in_range(delivered, 1, 29999);
}

/* A merged table is as new: it has room, and no old counts. */
static void test_table_is_empty(void **state)
{
	struct bench bench;
	bool room = true;
	u64 i;

	bench_init(&bench, 32 << 10, 16 << 20, HWPROF_BASIS_EXACT);
	for (i = 0; room; i++)
		room = feed(&bench, 1, 0x1000 + i, 0x2000);
	assert_in_range(i, 100, 400);
	retire(&bench, 10);
	for (i = 0; i < 50; i++)
		assert_true(feed(&bench, 1, 0x1000 + i, 0x2000));
	retire(&bench, 10);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, bench.tables.produced -
			 tables_evicted(&bench.tables));
	check_bounds(&bench);
	bench_free(&bench);
}

/* It also forgets its evicted counts, which another profile shows. */
static void test_floors_go(void **state)
{
	const struct engine_params params = params_of(HWPROF_BASIS_EXACT);
	struct bench bench;
	u64 i;

	bench_init(&bench, ONE_SET, 32 << 10, HWPROF_BASIS_EXACT);
	for (i = 0; i < 100; i++)
		feed(&bench, 1, 0x1000 + i % 20, 0x2000);
	retire(&bench, 10);
	assert_true(tables_evicted(&bench.tables) > 0);
	free(bench.tables.profile);
	bench.tables.profile = table_new(&call_engine, 32 << 10, &params);
	memset(bench.pairs, 0, PAIRS * sizeof(*bench.pairs));
	bench.tables.produced = 0;
	for (i = 0; i < 5; i++)
		feed(&bench, 1, 0x1000 + i, 0x2000);
	retire(&bench, 10);
	read_rows(&bench);
	assert_int_equal(check_bounds(&bench), 0);
	bench_free(&bench);
}

/* Reported counts are not lost with their pair, and not reported again. */
static void test_rows_once(void **state)
{
	struct bench bench;
	u64 site, callee, told, i;

	bench_init(&bench, 256 << 10, ONE_SET, HWPROF_BASIS_EXACT);
	for (i = 0; i < 20000; i++) {
		next_pair(ROUND, i, &bench.random, &site, &callee);
		feed(&bench, 1, site, callee);
		if (i % 5)
			continue;
		retire(&bench, 1000);
		read_rows(&bench);
		told = bench.tables.delivered;
		read_rows(&bench);
		assert_int_equal(bench.tables.delivered, told);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	assert_int_equal(check_bounds(&bench), 0);
	bench_free(&bench);
}

/* The same holds after many losses: reported pairs are evicted first. */
static void test_told_go_first(void **state)
{
	struct bench bench;
	u64 lost, i;

	bench_init(&bench, 256 << 10, ONE_SET, HWPROF_BASIS_EXACT);
	for (i = 0; i < 2000; i++)
		feed(&bench, 1, 0x1000 + i % 50, 0x2000);
	retire(&bench, 1000);
	read_rows(&bench);
	lost = tables_evicted(&bench.tables);
	assert_true(lost > 0);
	for (i = 0; i < 700; i++) {
		feed(&bench, 1, 0x1000 + i % 50, 0x2000);
		if (i % 5)
			continue;
		retire(&bench, 1000);
		read_rows(&bench);
	}
	assert_int_equal(tables_evicted(&bench.tables), lost);
	check_bounds(&bench);
	bench_free(&bench);
}

/* The same addresses in several spaces. One space ends, and the others stay. */
static void test_forget(void **state)
{
	struct bench bench;
	size_t at = 0;
	u64 i;

	bench_init(&bench, 256 << 10, 256 << 10, HWPROF_BASIS_EXACT);
	for (i = 0; i < 9000; i++)
		feed(&bench, 1 + i % 3, 0x1000 + i % 10, 0x2000);
	retire(&bench, 1000);
	assert_true(call_engine.rows(bench.tables.profile, 1, &at, ~0UL,
				     take_row, &bench));
	assert_int_equal(bench.tables.delivered, 3000);
	tables_forget(&call_engine, bench.tables.profile, 1);
	tables_account(&bench.tables);
	assert_int_equal(call_engine.evicted(bench.tables.profile), 0);
	tables_forget(&call_engine, bench.tables.profile, 2);
	tables_account(&bench.tables);
	assert_int_equal(call_engine.evicted(bench.tables.profile), 3000);
	tables_forget(&call_engine, bench.tables.profile, 77);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 6000);
	bench_free(&bench);
}

static void test_units(void **state)
{
	const struct engine_params params = params_of(HWPROF_BASIS_EXACT);
	unsigned int kind;

	for (kind = 0; kind <= STREAM_SAMPLE; kind++) {
		void *table = table_new(&call_engine, 32 << 10, &params);
		const struct stream_event event = {
			.kind = kind, .value = 1, .from = 0x1000, .to = 0x2000,
			.space = 1,
		};
		unsigned int units = kind == STREAM_CALL;

		assert_int_equal(call_engine.unit(&params, &event), units);
		assert_true(call_engine.feed(table, NULL, &event));
		assert_int_equal(call_engine.pending(table), units);
		free(table);
	}
}

static void test_sample(void **state)
{
	const struct stream_event event = {
		.kind = STREAM_CALL, .from = 0x1000, .to = 0x2000, .space = 1,
	};
	const struct engine_params params = { 0 };
	struct engine_sample sample;

	call_engine.sample(&params, &event, 7, &sample);
	assert_int_equal(sample.ip, 0x1000);
	assert_int_equal(sample.addr, 0x2000);
	assert_int_equal(sample.row.type, HWPROF_ROW_CALL);
	assert_int_equal(sample.row.size, sizeof(sample.call));
	assert_int_equal(sample.call.site, 0x1000);
	assert_int_equal(sample.call.callee, 0x2000);
	assert_int_equal(sample.call.calls, 7);
	assert_int_equal(sample.call.error, 0);
}

/* --- windows -------------------------------------------------------------- */

static void end_window(struct bench *bench, u32 times)
{
	size_t i;

	for (i = 0; i < PAIRS; i++) {
		struct pair *pair = &bench->pairs[i];

		pair->exact += times * pair->in_window;
		pair->sum_sq += times * pair->in_window * pair->in_window;
		bench->tables.produced += times * pair->in_window;
		pair->in_window = 0;
	}
}

static void check_squares(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < PAIRS; i++) {
		assert_int_equal(bench->pairs[i].told, bench->pairs[i].exact);
		assert_int_equal(bench->pairs[i].told_sq,
				 bench->pairs[i].sum_sq);
	}
}

/* Bursts: events after a gap. */
static void test_bursts(void **state)
{
	const struct stream_event gap = { .kind = STREAM_GAP, .space = 1 };
	struct bench bench;
	unsigned int window, i;

	bench_init(&bench, 1 << 20, 4 << 20, HWPROF_BASIS_TIME);
	for (window = 0; window < 200; window++) {
		/* The first gap may be missing: see lost events. */
		if (window)
			call_engine.feed(bench.tables.items[0], NULL, &gap);
		for (i = 0; i < (window + 7) % 20; i++) {
			u64 site = 0x1000 + random_below(&bench.random, 8);

			feed(&bench, 1, site, 0x2000);
			/* The end of the window counts it. */
			bench.tables.produced--;
			get(&bench, 1, site, 0x2000)->exact--;
			get(&bench, 1, site, 0x2000)->in_window++;
		}
		end_window(&bench, 1);
		if (window % 37 == 0)
			retire(&bench, 1000);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	check_squares(&bench);
	bench_free(&bench);
}

/* Stacks of branches, some of them repeated. */
static void test_stacks(void **state)
{
	struct window_counts counts = { 0 };
	struct window_branch branches[32];
	struct bench bench;
	struct window window;
	u8 kinds[32];
	unsigned int k, i;
	u64 events = 0;
	void *table;

	bench_init(&bench, 1 << 20, 4 << 20, HWPROF_BASIS_BRANCHES);
	table = bench.tables.items[0];
	for (k = 0; k < 300; k++) {
		/* Newest first. Lines do not lead backwards. */
		for (i = 0; i < 32; i++) {
			branches[i] = (struct window_branch) {
				.from = 0x2000 + random_below(&bench.random, 4),
				.to = 0x1000 + random_below(&bench.random, 4),
			};
			kinds[i] = STREAM_COND +
				   random_below(&bench.random, 5);
			if (kinds[i] == STREAM_CALL && i != 31)
				get(&bench, 1, branches[i].from,
				    branches[i].to)->in_window++;
		}
		window_begin(&window, branches, kinds, 32, 1);
		if (call_engine.knows_window(table, &window))
			assert_true(k > 0);
		window_begin(&window, branches, kinds, 32, 1);
		window.times = 1 + k % 3;
		events += 32 * window.times;
		assert_true(call_engine.feed_window(table, &window, &counts));
		window_begin(&window, branches, kinds, 32, 1);
		assert_true(call_engine.knows_window(table, &window));
		end_window(&bench, 1 + k % 3);
		assert_int_equal(counts.units, bench.tables.produced);
		if (k % 50 == 0)
			retire(&bench, 1000);
	}
	assert_int_equal(counts.events, events);
	retire(&bench, 1000);
	read_rows(&bench);
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
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_table_is_empty),
		cmocka_unit_test(test_floors_go),
		cmocka_unit_test(test_rows_once),
		cmocka_unit_test(test_told_go_first),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
