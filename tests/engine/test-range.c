// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the range engine with the simplest code, which counts every value.
 * For every stream and size of memory, the count of each range is within its
 * bounds, and nothing is counted twice or lost.
 */
#include "engine/engine.h"
#include "engine/range_tree.h"
#include "engine/window.h"
#include "random.h"
#include "range_streams.h"
#include "seeds.h"
#include "tables.h"

#define PPM	1000000

/* --- input, and rows ------------------------------------------------------ */

struct counted {
	u32 space;
	u64 value;
	u64 weight;
};

struct told {
	u32 space;
	u32 bits;
	u64 low;
	u64 count;
};

struct bench {
	struct tables tables;	/* each begins with a struct range_tree */
	struct counted *fed;
	size_t fed_count, fed_room;
	struct told *told;
	size_t told_count, told_room;
	enum hwprof_range_of of;
	u64 random;
	unsigned int refusals;	/* of rows: one in that many */
};

static struct engine_params params_of(enum hwprof_range_of of, u32 epsilon_ppm)
{
	return (struct engine_params) {
		.basis = HWPROF_BASIS_EXACT, .seed = 1,
		.epsilon_ppm = epsilon_ppm, .range_of = of,
	};
}

static void *make_table(size_t size, u32 epsilon_ppm)
{
	const struct engine_params params = params_of(HWPROF_RANGE_IP,
						      epsilon_ppm);

	return table_new(&range_engine, size, &params);
}

/* Compares all memory in use. */
static void assert_same(const struct range_tree *a, const struct range_tree *b)
{
	assert_int_equal(a->top, b->top);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->threshold, b->threshold);
	assert_memory_equal(a->blocks, b->blocks, a->top * sizeof(*a->blocks));
}

static void bench_init_of(struct bench *bench, enum hwprof_range_of of,
			  size_t table_size, size_t profile_size,
			  u32 epsilon_ppm)
{
	const struct engine_params params = params_of(of, epsilon_ppm);

	*bench = (struct bench) {
		.tables = tables_make(&range_engine, &params, 1, table_size,
				      profile_size),
		.of = of,
	};
}

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size, u32 epsilon_ppm)
{
	bench_init_of(bench, HWPROF_RANGE_IP, table_size, profile_size,
		      epsilon_ppm);
}

static void bench_free(struct bench *bench)
{
	tables_free(&bench->tables);
	free(bench->fed);
	free(bench->told);
}

static void retire(struct bench *bench, size_t limit)
{
	tables_retire(&bench->tables, 0, limit);
}

static void note(struct bench *bench, u32 space, u64 value, u64 weight)
{
	if (bench->fed_count == bench->fed_room) {
		bench->fed_room = 2 * bench->fed_room + 1024;
		bench->fed = realloc(bench->fed,
				     bench->fed_room * sizeof(*bench->fed));
	}
	bench->fed[bench->fed_count++] = (struct counted) {
		space, value, weight,
	};
	bench->tables.produced += weight;
}

static bool feed_weight(struct bench *bench, u32 space, u64 value, u64 weight)
{
	const struct stream_event event = {
		.kind = STREAM_SAMPLE, .from = value, .value = weight,
		.space = space,
	};

	note(bench, space, value, weight);
	return range_engine.feed(bench->tables.items[0], NULL, &event);
}

static bool feed(struct bench *bench, u64 value)
{
	return feed_weight(bench, 1, value, 1);
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_range *row = data;
	struct bench *bench = context;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_RANGE);
	assert_int_equal(row->row.size, sizeof(*row));
	assert_int_equal(row->of, bench->of);
	assert_int_equal(row->count, period);
	assert_true(period > 0);
	assert_int_equal(ip, row->low);
	assert_true(row->bits <= 64 && !(row->bits & 1));
	assert_int_equal(addr - ip,
			 row->bits == 64 ? ~0ULL : (1ULL << row->bits) - 1);
	assert_int_equal(row->bits == 64 ? row->low :
			 row->low & ((1ULL << row->bits) - 1), 0);
	if (bench->told_count == bench->told_room) {
		bench->told_room = 2 * bench->told_room + 1024;
		bench->told = realloc(bench->told,
				      bench->told_room * sizeof(*bench->told));
	}
	bench->told[bench->told_count++] = (struct told) {
		row->row.space, row->bits, row->low, row->count,
	};
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

/* --- the simplest code ---------------------------------------------------- */

static int compare_counted(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static bool inside(u64 low, const struct told *range)
{
	return range->bits == 64 || (low ^ range->low) >> range->bits == 0;
}

static u64 exact_count(const struct bench *bench, const struct told *range)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < bench->fed_count; i++)
		if (bench->fed[i].space == range->space &&
		    inside(bench->fed[i].value, range))
			sum += bench->fed[i].weight;
	return sum;
}

/* Merges equal values, so that the check is not quadratic in all events. */
static void sum_up(struct bench *bench)
{
	size_t kept = 0, i;

	qsort(bench->fed, bench->fed_count, sizeof(*bench->fed),
	      compare_counted);
	for (i = 0; i < bench->fed_count; i++) {
		if (kept && !compare_counted(&bench->fed[kept - 1],
					     &bench->fed[i]))
			bench->fed[kept - 1].weight += bench->fed[i].weight;
		else
			bench->fed[kept++] = bench->fed[i];
	}
	bench->fed_count = kept;
}

/*
 * Asserts lower <= exact <= upper. Returns upper - lower. Evicted events may
 * belong anywhere.
 */
static u64 check_range(const struct bench *bench, const struct told *range)
{
	u64 lower = 0, around = 0, exact = exact_count(bench, range);
	size_t i;

	for (i = 0; i < bench->told_count; i++) {
		const struct told *told = &bench->told[i];

		if (told->space != range->space)
			continue;
		if (told->bits <= range->bits && inside(told->low, range))
			lower += told->count;
		else if (told->bits > range->bits && inside(range->low, told))
			around += told->count;
	}
	assert_true(lower <= exact);
	assert_true(exact <= lower + around + tables_evicted(&bench->tables));
	return around;
}

/* Checks each reported range and each value, or a sample of them. */
static u64 check_bounds(struct bench *bench)
{
	size_t step, i;
	u64 worst = 0;

	sum_up(bench);
	step = 1 + bench->told_count / 500;
	for (i = 0; i < bench->told_count; i += step)
		worst = max(worst, check_range(bench, &bench->told[i]));
	step = 1 + bench->fed_count / 500;
	for (i = 0; i < bench->fed_count; i += step) {
		const struct told own = {
			.space = bench->fed[i].space,
			.low = bench->fed[i].value,
		};

		worst = max(worst, check_range(bench, &own));
	}
	return worst;
}

/* --- tests ---------------------------------------------------------------- */

/* Retires tables at any time, reads rows at any time, and refuses some. */
static void try_stream(enum stream stream, u64 seed, size_t table_size,
		       size_t profile_size)
{
	struct bench bench;
	u64 i;

	bench_init(&bench, table_size, profile_size,
		   seed % 3 ? 10000 : 100000);
	bench.random = seed;
	bench.refusals = seed % 2 * 5;
	for (i = 0; i < 20000; i++) {
		u64 value = next_value(stream, i, &bench.random);
		u64 weight = 1;

		if (seed % 5 == 0)
			weight = 1 + random_below(&bench.random, 1000);
		if (!feed_weight(&bench, 1 + random_below(&bench.random,
							  1 + seed % 4),
				 value, weight) ||
		    random_once_in(&bench.random, 3000))
			retire(&bench, 1 + random_below(&bench.random, 200));
		if (random_once_in(&bench.random, 5000))
			read_rows(&bench);
		if (random_once_in(&bench.random, 1000))
			tables_account(&bench.tables);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	assert_int_equal(range_engine.evicted(bench.tables.profile), 0);
	assert_int_equal(bench.tables.delivered, bench.tables.produced);
	check_bounds(&bench);
	bench_free(&bench);
}

static void test_bounds(void **state)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(6); seed++)
		for (stream = 0; stream < STREAMS; stream++)
			try_stream(stream, seed, 16 << 10, 64 << 10);
}

/* With the least memory every split is refused, and bounds still hold. */
static void test_tiny(void **state)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(2); seed++)
		for (stream = 0; stream < STREAMS; stream++)
			try_stream(stream, 100 + seed, range_engine.table_min,
				   range_engine.table_min);
}

/*
 * While no split was refused, errors are at most epsilon of the stream, even
 * after it passed through many tables into a profile.
 */
static void test_epsilon(void **state)
{
	static const u32 epsilons[] = { 1000, 10000, 100000, PPM };
	struct range_tree *tree, *profile;
	unsigned int stream, k;
	struct bench bench;
	u64 i, refused;

	for (stream = 0; stream < STREAMS; stream++)
		for (k = 0; k < 4; k++) {
			bench_init(&bench, 16 << 20, 64 << 20, epsilons[k]);
			tree = bench.tables.items[0];
			profile = bench.tables.profile;
			for (i = refused = 0; i < 20000; i++) {
				feed(&bench, next_value(stream, i,
							&bench.random));
				if (i % 3000 || stream == LATE)
					continue;
				refused += tree->refused;
				retire(&bench, 1000);
				read_rows(&bench);
			}
			refused += tree->refused;
			retire(&bench, 1000);
			read_rows(&bench);
			refused += profile->refused;
			assert_int_equal(refused, 0);
			assert_true(check_bounds(&bench) <=
				    bench.tables.produced * epsilons[k] / PPM);
			bench_free(&bench);
		}
}

/* Merging removes ranges that became cold, and makes room. */
static void test_merging(void **state)
{
	struct range_tree *tree;
	struct bench bench;
	u32 most = 0;
	u64 i;

	bench_init(&bench, 512 << 10, 512 << 10, 100000);
	tree = bench.tables.items[0];
	for (i = 0; i < 4000; i++) {
		feed(&bench, 8 * i);
		most = max(most, tree->block_count - tree->room);
	}
	for (i = 0; i < 400000; i++)
		feed(&bench, 0x400000 + i % 2);
	assert_true(tree->block_count - tree->root_blocks - tree->room <
		    (most - tree->root_blocks) / 4);
	retire(&bench, 1000);
	read_rows(&bench);
	check_bounds(&bench);
	bench_free(&bench);
}

/* Without hints, the same ranges have the same counts. */
static void test_hints(void **state)
{
	unsigned int stream;
	u64 random = 3, i;

	for (stream = 0; stream < STREAMS; stream++) {
		size_t size = 32 << 10;
		void *with = make_table(size, 10000);
		void *without = make_table(size, 10000);
		struct range_tree *tree = without;

		for (i = 0; i < 100000; i++) {
			const struct stream_event event = {
				.kind = STREAM_COND, .space = 1 + i / 64 % 3,
				.to = next_value(stream, i, &random),
			};

			memset(tree->hint, 0, sizeof(tree->hint));
			memset(tree->near, 0, sizeof(tree->near));
			assert_int_equal(range_engine.feed(with, NULL, &event),
					 range_engine.feed(without, NULL,
							   &event));
		}
		assert_same(tree, with);
		free(with);
		free(without);
	}
}

/*
 * A value with a tenth of all events is alone in its range, whatever else there
 * is.
 */
static void test_hot_value(void **state)
{
	const u64 hot = 0x55d012345678;
	struct bench bench;
	u64 sum = 0, i;
	size_t k;

	bench_init(&bench, 64 << 10, 256 << 10, 10000);
	for (i = 0; i < 200000; i++) {
		feed(&bench, i % 10 ? random_next(&bench.random) : hot);
		if (i % 20000 == 0)
			retire(&bench, 1000);
	}
	retire(&bench, 1000);
	read_rows(&bench);
	for (k = 0; k < bench.told_count; k++)
		if (bench.told[k].low == hot && !bench.told[k].bits)
			sum += bench.told[k].count;
	assert_in_range(sum, 20000 * 90 / 100, 20000);
	bench_free(&bench);
}

/* The result of merging does not depend on the limit. */
static void test_limits(void **state)
{
	static const size_t limits[] = { 1, 7, 1000, SIZE_MAX };
	void *first = NULL, *profile;
	size_t size = 64 << 10;
	unsigned int k;
	u64 i;

	for (k = 0; k < 4; k++) {
		struct bench bench;

		bench_init(&bench, 16 << 10, size, 10000);
		bench.random = 9;
		for (i = 0; i < 30000; i++)
			feed(&bench, hot_spot(&bench.random));
		retire(&bench, limits[k]);
		profile = bench.tables.profile;
		assert_int_equal(range_engine.pending(profile), 30000);
		if (first)
			assert_same(first, profile);
		else
			first = profile, bench.tables.profile = NULL;
		bench_free(&bench);
	}
	free(first);
}

/* A merged table is as new: it gives the same result again. */
static void test_table_is_empty(void **state)
{
	struct bench bench;
	void *fresh;
	u64 i, random;
	int pass;

	bench_init(&bench, 16 << 10, 64 << 10, 10000);
	fresh = make_table(16 << 10, 10000);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0, random = 4; i < 30000; i++) {
			const struct stream_event event = {
				.kind = STREAM_CALL, .space = 1,
				.to = hot_spot(&random),
			};

			feed(&bench, event.to);
			if (pass)
				range_engine.feed(fresh, NULL, &event);
		}
		if (!pass)
			retire(&bench, 100);
	}
	assert_same(bench.tables.items[0], fresh);
	free(fresh);
	bench_free(&bench);
}

/* --- address spaces ------------------------------------------------------- */

/* The same addresses in each space, and the kernel's. */
static void test_spaces(void **state)
{
	struct bench bench;
	u64 i;

	bench_init(&bench, 64 << 10, 256 << 10, 10000);
	for (i = 0; i < 50000; i++)
		feed_weight(&bench, i % 20, hot_spot(&bench.random), 1 + i % 3);
	retire(&bench, 1000);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, bench.tables.produced);
	check_bounds(&bench);
	bench_free(&bench);
}

/* More spaces than there is room for: those without room are counted. */
static void test_too_many_spaces(void **state)
{
	struct bench bench;
	bool told = false;
	u64 i, lost;

	bench_init(&bench, 16 << 10, 16 << 10, 10000);
	for (i = 0; i < 50000; i++)
		told |= !feed_weight(&bench, i % 1000, hot_spot(&bench.random),
				     2);
	tables_account(&bench.tables);
	assert_true(told);
	assert_true(range_engine.evicted(bench.tables.items[0]) > 0);
	retire(&bench, 10);
	read_rows(&bench);
	tables_account(&bench.tables);
	lost = range_engine.evicted(bench.tables.profile);
	assert_true(lost > 0);
	assert_int_equal(bench.tables.delivered + lost, bench.tables.produced);
	check_bounds(&bench);
	bench_free(&bench);
}

static bool refuse_row(void *context, const void *row, u64 ip, u64 addr,
		       u64 period)
{
	return false;
}

/* A space that ends makes room, and unreported counts are evicted. */
static void test_forget(void **state)
{
	struct range_tree *profile;
	struct bench bench;
	size_t at = 0;
	u32 room;
	u64 i;

	bench_init(&bench, 64 << 10, 64 << 10, 10000);
	profile = bench.tables.profile;
	room = profile->room;
	for (i = 0; i < 9000; i++)
		feed_weight(&bench, 1 + i % 3, hot_spot(&bench.random), 1);
	retire(&bench, 100);
	assert_true(range_engine.rows(profile, 1, &at, ~0UL, take_row, &bench));
	assert_int_equal(bench.tables.delivered, 3000);
	at = 0;
	assert_false(range_engine.rows(profile, 2, &at, ~0UL, refuse_row,
				       NULL));
	tables_forget(&range_engine, profile, 1);
	tables_account(&bench.tables);
	assert_int_equal(range_engine.evicted(profile), 0);
	tables_forget(&range_engine, profile, 2);
	tables_account(&bench.tables);
	assert_int_equal(range_engine.evicted(profile), 3000);
	tables_forget(&range_engine, profile, 77);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 6000);
	tables_forget(&range_engine, profile, 3);
	assert_int_equal(profile->room, room);
	assert_int_equal(profile->n, 0);
	bench_free(&bench);
}

/* --- rows and units ------------------------------------------------------- */

/*
 * Reported counts are not reported again, even if ranges were merged in
 * between.
 */
static void test_rows_once(void **state)
{
	struct bench bench;
	size_t told;
	u64 i;

	bench_init(&bench, 16 << 10, 32 << 10, 100000);
	for (i = 0; i < 100000; i++) {
		feed(&bench, next_value(PHASES, i, &bench.random));
		if (i % 1000)
			continue;
		retire(&bench, 100);
		read_rows(&bench);
		told = bench.told_count;
		read_rows(&bench);
		assert_int_equal(bench.told_count, told);
	}
	retire(&bench, 100);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 100000);
	check_bounds(&bench);
	bench_free(&bench);
}

static void test_units(void **state)
{
	static const struct {
		unsigned int kind;
		u64 value;
		unsigned int units;
	} cases[] = {
		{ STREAM_COND, 0, 1 }, { STREAM_JUMP, 5, 1 },
		{ STREAM_INDIRECT, 0, 1 }, { STREAM_CALL, 0, 1 },
		{ STREAM_RET, 0, 1 }, { STREAM_SYSCALL, 0, 0 },
		{ STREAM_SIGNAL, 0, 0 }, { STREAM_SIGRETURN, 0, 0 },
		{ STREAM_GAP, 0, 0 }, { STREAM_LOAD, 9, 0 },
		{ STREAM_STORE, 9, 0 }, { STREAM_SAMPLE, 0, 0 },
		{ STREAM_SAMPLE, 1000, 1000 },
		{ STREAM_SAMPLE, 1ULL << 40, UINT32_MAX },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *table = make_table(16 << 10, 0);
		const struct stream_event event = {
			.kind = cases[i].kind, .value = cases[i].value,
			.from = 0x1000, .to = 0x2000, .space = 1,
		};
		const struct engine_params params = { 0 };

		assert_int_equal(range_engine.unit(&params, &event),
				 cases[i].units);
		assert_true(range_engine.feed(table, NULL, &event));
		assert_int_equal(range_engine.pending(table), cases[i].units);
		free(table);
	}
}

static bool take_place(void *context, const void *row, u64 ip, u64 addr,
		       u64 period)
{
	*(u64 *)context = ip;
	return true;
}

/* A branch counts at its target, a sample at its address. */
static void test_values(void **state)
{
	const struct engine_params params = { 0 };
	static const struct stream_event events[] = {
		{.kind = STREAM_RET, .from = 0x1000, .to = 0x2000, .space = 1},
		{.kind = STREAM_SAMPLE, .from = 0x1000, .value = 1, .space = 1},
	};
	static const u64 wanted[] = { 0x2000, 0x1000 };
	struct engine_sample sample;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		void *table = make_table(16 << 10, 0);
		size_t at = 0;
		u64 place;

		range_engine.feed(table, NULL, &events[i]);
		assert_true(range_engine.rows(table, 0, &at, ~0UL, take_place,
					      &place));
		assert_int_equal(place, wanted[i]);
		range_engine.sample(&params, &events[i], 7, &sample);
		assert_int_equal(sample.ip, wanted[i]);
		assert_int_equal(sample.range.low, wanted[i]);
		assert_int_equal(sample.range.count, 7);
		free(table);
	}
}

/* --- other streams -------------------------------------------------------- */

/* Makes events of few places and values, so that some repeat. */
static struct stream_event random_event(u64 *random)
{
	static const u64 values[] = {
		0, 1, 0x7fff, 0x8000, 0xffff, 0x10000, 0x80000000, 0xffff8000,
		0xffff7fff, 0xffffffff, 0xffffffffffff8000, 0xffffffffffff7fff,
		0xffffffffffffffff, 0x123456789abcdef,
	};
	static const u8 widths[] = { 1, 2, 4, 8, 16, 32 };
	u32 width = widths[random_below(random, 6)];
	u64 value = values[random_below(random, 14)];

	return (struct stream_event) {
		.kind = 1 + random_below(random, STREAM_STORE),
		.from = 0x401000 + random_below(random, 64),
		.to = 0x7fff0000 + 8 * random_below(random, 512),
		.value = width < 8 ? value & ((1ULL << 8 * width) - 1) : value,
		.width = width,
		.flags = random_once_in(random, 8) ? STREAM_NO_VALUE : 0,
		.space = 1,
	};
}

/*
 * Finds the value as docs/ranges.md defines it. Returns false if the event is
 * not in the stream.
 */
static bool naive_value(enum hwprof_range_of of,
			const struct stream_event *event, u64 *value)
{
	bool known = event->width <= 8 && event->flags != STREAM_NO_VALUE;
	bool load = event->kind == STREAM_LOAD;
	s64 number = event->value;

	if (event->width == 4)
		number = (s32)event->value;
	*value = event->to;
	switch (of) {
	case HWPROF_RANGE_IP:
		return event->kind <= STREAM_RET;
	case HWPROF_RANGE_LOAD_VALUE:
		*value = event->value;
		return load && known;
	case HWPROF_RANGE_LOAD_ADDRESS:
		return load;
	case HWPROF_RANGE_STORE_ADDRESS:
		return event->kind == STREAM_STORE;
	case HWPROF_RANGE_CALLEE:
		return event->kind == STREAM_CALL;
	case HWPROF_RANGE_ZERO_ADDRESS:
		return load && known && number == 0;
	default:
		*value = event->from;
		return (load || event->kind == STREAM_STORE) &&
		       (event->width < 4 ||
			(known && number >= -0x8000 && number <= 0xffff));
	}
}

static void feed_random(struct bench *bench)
{
	struct stream_event event = random_event(&bench->random);
	const struct engine_params params = { .range_of = bench->of };
	u64 value;
	bool is_in = naive_value(bench->of, &event, &value);

	assert_int_equal(range_engine.unit(&params, &event), is_in);
	if (is_in)
		note(bench, 1, value, 1);
	assert_true(range_engine.feed(bench->tables.items[0], NULL, &event));
}

static void test_streams(void **state)
{
	enum hwprof_range_of of;
	int i;

	for (of = 0; of <= HWPROF_RANGE_NARROW_IP; of++) {
		struct bench bench;

		bench_init_of(&bench, of, 16 << 10, 32 << 10, 100000);
		for (i = 0; i < 20000; i++) {
			feed_random(&bench);
			if (i % 7000 == 0)
				retire(&bench, 10);
		}
		retire(&bench, 10);
		read_rows(&bench);
		assert_true(bench.tables.produced > 100);
		assert_int_equal(bench.tables.delivered, bench.tables.produced);
		check_bounds(&bench);
		bench_free(&bench);
	}
}

/* A sample's ip is the code, even if the stream is of accesses. */
static void test_samples(void **state)
{
	static const struct stream_event load = {
		.kind = STREAM_LOAD, .from = 0x1000, .to = 0x2000, .width = 8,
		.value = 0,
	};
	static const u64 wanted[] = {
		[HWPROF_RANGE_LOAD_VALUE] = 0,
		[HWPROF_RANGE_LOAD_ADDRESS] = 0x2000,
		[HWPROF_RANGE_ZERO_ADDRESS] = 0x2000,
		[HWPROF_RANGE_NARROW_IP] = 0x1000,
	};
	struct engine_params params = { 0 };
	struct engine_sample sample;

	for (; params.range_of <= HWPROF_RANGE_NARROW_IP; params.range_of++) {
		if (!range_engine.unit(&params, &load))
			continue;
		range_engine.sample(&params, &load, 3, &sample);
		assert_int_equal(sample.ip, 0x1000);
		assert_int_equal(sample.addr, 0x2000);
		assert_int_equal(sample.range.low, wanted[params.range_of]);
		assert_int_equal(sample.range.of, params.range_of);
	}
}

/* Branches of a stack. The oldest one only tells where the window begins. */
static void test_window(void **state)
{
	static const struct window_branch branches[] = {
		{.from = 0x1018, .to = 0x1000}, {.from = 0x1018, .to = 0x1000},
		{.from = 0x2004, .to = 0x1010}, {.from = 0x1008, .to = 0x2000},
		{.from = 0x1018, .to = 0x1000},
	};
	static const u8 kinds[] = {
		STREAM_COND, STREAM_COND, STREAM_RET, STREAM_CALL, STREAM_COND,
	};
	struct window_counts counts = { 0 };
	struct window window;
	struct bench bench;
	size_t i;

	bench_init(&bench, 16 << 10, 16 << 10, 0);
	window_begin(&window, branches, kinds, 5, 1);
	assert_true(range_engine.feed_window(bench.tables.items[0], &window,
					     &counts));
	assert_int_equal(counts.units, 4);
	assert_int_equal(counts.gaps, 1);
	assert_int_equal(counts.events, 5);
	for (i = 0; i < 4; i++)
		note(&bench, 1, branches[i].to, 1);
	retire(&bench, 10);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 4);
	assert_int_equal(check_bounds(&bench), 0);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_epsilon),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_hot_value),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_table_is_empty),
		cmocka_unit_test(test_spaces),
		cmocka_unit_test(test_too_many_spaces),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_rows_once),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
