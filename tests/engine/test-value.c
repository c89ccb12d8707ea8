// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the value engine with the simplest code, which counts every load and
 * value. For every stream, task, table and size of memory, the count of each
 * value is within its bounds, no run or stride spans a gap, and nothing is
 * counted twice or lost.
 */
#include "engine/engine.h"
#include "engine/value_table.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"

enum {
	TASKS = 4,
	TABLES = 3,
	SMALL = 128 << 10,		/* bytes of a table */
	TINY = 1600,			/* eight slots */
	DELAY = 8192,			/* loads until a table is retired */
};

/* --- the simplest code ---------------------------------------------------- */

struct execution {
	u32 space;
	u64 pc, value;
	bool unknown;		/* its value is unknown */
	bool follows;		/* follows another one of its task without a
				 * gap */
	u64 before;		/* value of that one */
};

/* Rows of a value, or of a load with all values. */
struct said {
	u32 space;
	u64 pc, value;
	u64 hits, missed;
};

struct said_load {
	u32 space;
	u64 pc;
	u64 loads, unseen, runs, breaks, strides, stride, rest;
};

struct bench {
	struct tables tables;
	u64 cursors[TASKS];
	unsigned int table_of[TASKS];
	struct execution *fed;
	size_t fed_count, fed_room;
	struct said *values;
	size_t value_count, value_room;
	struct said_load *loads;
	size_t load_count, load_room;
	u64 random;
	unsigned int refusals;	/* of rows: one in that many */
};

static const struct engine_params params = {
	.basis = HWPROF_BASIS_EXACT, .seed = 1,
};

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size)
{
	unsigned int i;

	*bench = (struct bench) {
		.tables = tables_make(&value_engine, &params, TABLES,
				      table_size, profile_size),
	};
	for (i = 0; i < TASKS; i++)
		value_engine.cursor_init(&bench->cursors[i], 100 + i);
}

static void bench_free(struct bench *bench)
{
	tables_free(&bench->tables);
	free(bench->fed);
	free(bench->values);
	free(bench->loads);
}

static void note(struct bench *bench, unsigned int task, u32 space, u64 pc,
		 u64 value)
{
	struct execution *execution;

	if (bench->fed_count == bench->fed_room) {
		bench->fed_room = 2 * bench->fed_room + 1024;
		bench->fed = realloc(bench->fed,
				     bench->fed_room * sizeof(*bench->fed));
	}
	execution = &bench->fed[bench->fed_count++];
	*execution = (struct execution) { space, pc, value, .before = task };
	bench->tables.produced++;
}

static bool feed_task(struct bench *bench, unsigned int task, u32 space,
		      u64 pc, u64 value)
{
	const struct stream_event event = {
		.kind = STREAM_LOAD, .from = pc, .to = 0x1000, .value = value,
		.width = 8, .space = space,
	};

	note(bench, task, space, pc, value);
	return value_engine.feed(bench->tables.items[bench->table_of[task]],
				 &bench->cursors[task], &event);
}

static void feed_unknown(struct bench *bench, unsigned int task, u32 space,
			 u64 pc)
{
	const struct stream_event event = {
		.kind = STREAM_LOAD, .from = pc, .flags = STREAM_NO_VALUE,
		.space = space,
	};

	note(bench, task, space, pc, 0);
	bench->fed[bench->fed_count - 1].unknown = true;
	value_engine.feed(bench->tables.items[bench->table_of[task]],
			  &bench->cursors[task], &event);
}

static bool feed(struct bench *bench, u64 pc, u64 value)
{
	return feed_task(bench, 0, 1, pc, value);
}

/* Feeds a gap, and notes it in the input without counting a load. */
static void gap(struct bench *bench, unsigned int task)
{
	const struct stream_event event = { .kind = STREAM_GAP };

	value_engine.feed(bench->tables.items[bench->table_of[task]],
			  &bench->cursors[task], &event);
	note(bench, task, 0, 0, 0);
	bench->tables.produced--;
}

/* Sums rows as linux/hwprof.h specifies. */
static void add_row(struct bench *bench, const struct hwprof_row_value *row)
{
	u64 rest = row->loads - row->unseen;
	struct said_load *load = NULL;
	size_t i, k;

	for (i = 0; i < bench->load_count && !load; i++)
		if (bench->loads[i].pc == row->ip &&
		    bench->loads[i].space == row->row.space)
			load = &bench->loads[i];
	if (!load) {
		if (bench->load_count == bench->load_room) {
			bench->load_room = 2 * bench->load_room + 64;
			bench->loads = realloc(bench->loads, bench->load_room *
					       sizeof(*bench->loads));
		}
		load = &bench->loads[bench->load_count++];
		*load = (struct said_load) {
			.space = row->row.space, .pc = row->ip,
		};
	}
	for (k = 0; k < row->count; k++)
		rest -= row->values[k].hits;
	for (i = 0; i < bench->value_count; i++) {
		struct said *said = &bench->values[i];

		if (said->pc != row->ip || said->space != row->row.space)
			continue;
		for (k = 0; k < row->count; k++)
			if (row->values[k].value == said->value)
				break;
		said->hits += k < row->count ? row->values[k].hits : 0;
		said->missed += k < row->count ? row->values[k].missed : rest;
	}
	for (k = 0; k < row->count; k++) {
		struct said *said;

		for (i = 0; i < bench->value_count; i++)
			if (bench->values[i].pc == row->ip &&
			    bench->values[i].space == row->row.space &&
			    bench->values[i].value == row->values[k].value)
				break;
		if (i < bench->value_count)
			continue;
		if (bench->value_count == bench->value_room) {
			bench->value_room = 2 * bench->value_room + 64;
			bench->values = realloc(bench->values,
						bench->value_room *
						sizeof(*bench->values));
		}
		said = &bench->values[bench->value_count++];
		*said = (struct said) {
			row->row.space, row->ip, row->values[k].value,
			row->values[k].hits, row->values[k].missed + load->rest,
		};
	}
	load->loads += row->loads;
	load->unseen += row->unseen;
	load->runs += row->runs;
	load->breaks += row->breaks;
	load->rest += rest;
	if (row->strides > load->strides) {
		load->strides = row->strides;
		load->stride = row->stride;
	}
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_value *row = data;
	struct bench *bench = context;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_VALUE);
	assert_int_equal(row->row.size, sizeof(*row));
	assert_int_equal(row->ip, ip);
	assert_int_equal(row->loads, period);
	assert_true(period > 0);
	assert_true(row->count <= HWPROF_VALUES_MAX);
	assert_true(row->unseen <= row->loads);
	assert_true(row->breaks <= row->runs);
	assert_true(row->runs <= row->loads - row->unseen);
	assert_true(row->strides <= row->runs - row->breaks);
	add_row(bench, row);
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

static void finish(struct bench *bench)
{
	tables_finish(&bench->tables, take_row, bench);
}

/* Sorts by load, after the previous execution of each has been found. */
static int compare_executions(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static void sort_fed(struct bench *bench)
{
	size_t i, k;

	for (i = bench->fed_count; i--;) {
		struct execution *at = &bench->fed[i];
		u64 task = at->before;

		for (k = i; at->space && k--;) {
			const struct execution *older = &bench->fed[k];

			if (older->before != task)
				continue;
			if (older->space && (older->pc != at->pc ||
					     older->space != at->space))
				continue;
			at->follows = older->space && !older->unknown &&
				      !at->unknown;
			break;
		}
		at->before = at->follows ? bench->fed[k].value : 0;
	}
	qsort(bench->fed, bench->fed_count, sizeof(*bench->fed),
	      compare_executions);
}

static u64 exact_value(const struct bench *bench, const struct said *said)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < bench->fed_count; i++)
		sum += bench->fed[i].space == said->space &&
		       bench->fed[i].pc == said->pc &&
		       !bench->fed[i].unknown &&
		       bench->fed[i].value == said->value;
	return sum;
}

static void check_load(const struct bench *bench, const struct said_load *load,
		       bool whole)
{
	u64 loads = 0, pairs = 0, repeats = 0, strides = 0;
	size_t i;

	for (i = 0; i < bench->fed_count; i++) {
		const struct execution *at = &bench->fed[i];

		if (at->space != load->space || at->pc != load->pc)
			continue;
		loads++;
		pairs += at->follows;
		repeats += at->follows && at->before == at->value;
		strides +=
			at->follows && at->value - at->before == load->stride;
	}
	assert_true(load->loads <= loads);
	if (whole)
		assert_int_equal(load->loads, loads);
	assert_true(load->loads - load->unseen - load->breaks <= pairs);
	assert_true(load->loads - load->unseen - load->runs <= repeats);
	assert_true(load->strides <= strides);
}

/* Checks each reported load and value, or a sample of them. */
static void check(struct bench *bench)
{
	bool whole = !tables_evicted(&bench->tables);
	size_t i, step;

	sort_fed(bench);
	step = 1 + bench->load_count / 200;
	for (i = 0; i < bench->load_count; i += step)
		check_load(bench, &bench->loads[i], whole);
	step = 1 + bench->value_count / 400;
	for (i = 0; i < bench->value_count; i += step) {
		const struct said *said = &bench->values[i];
		u64 exact = exact_value(bench, said);

		assert_true(said->hits <= exact);
		if (whole)
			assert_true(exact <= said->hits + said->missed);
	}
}

static const struct said *value_of(const struct bench *bench, u64 pc, u64 value)
{
	size_t i;

	for (i = 0; i < bench->value_count; i++)
		if (bench->values[i].pc == pc &&
		    bench->values[i].value == value)
			return &bench->values[i];
	return NULL;
}

static const struct said_load *load_of(const struct bench *bench, u64 pc)
{
	size_t i;

	for (i = 0; i < bench->load_count; i++)
		if (bench->loads[i].pc == pc)
			return &bench->loads[i];
	return NULL;
}

/* --- streams -------------------------------------------------------------- */

enum stream {
	ZIPF,		/* loads and values, some frequent and many rare */
	STRIDES,	/* walks, with other loads in between */
	PHASES,		/* a value for a long time, then another */
	TURNS,		/* more values in turn than are followed */
	NEW,		/* no value twice */
	CROWD,		/* more loads than slots */
	STREAMS,
};

static unsigned int skewed(u64 *random, unsigned int limit)
{
	return random_below(random, 1 + random_below(random, 1 +
			    random_below(random, limit)));
}

static void next_load(enum stream stream, u64 i, u64 *random, u64 *pc,
		      u64 *value)
{
	unsigned int load = skewed(random, 60);

	*pc = 0x401000 + 7 * load;
	switch (stream) {
	case ZIPF:
		*value = skewed(random, 1 + 40 * load);
		break;
	case STRIDES:
		*value = 0xffffffffffff0000 + i * (load + 1);
		break;
	case PHASES:
		*value = (u64)load << i / (500 + 400 * load) % 64;
		break;
	case TURNS:
		*value = i % (load + 1);
		break;
	case NEW:
		*value = random_next(random);
		break;
	case CROWD:
		*pc = 0x401000 + 5 * skewed(random, 8000);
		*value = *pc % 3 ? 0 : i % 2;
		break;
	case STREAMS:
		break;
	}
}

/* --- tests ---------------------------------------------------------------- */

static void try_stream(enum stream stream, u64 seed, size_t table_size,
		       size_t profile_size)
{
	struct bench bench;
	u64 i, pc, value;

	bench_init(&bench, table_size, profile_size);
	bench.random = seed;
	bench.refusals = seed % 2 * 5;
	for (i = 0; i < 6000; i++) {
		unsigned int task =
			random_below(&bench.random, 1 + seed % TASKS);
		unsigned int run = 1 + random_below(&bench.random, 8);

		if (random_once_in(&bench.random, 40))
			bench.table_of[task] =
				random_below(&bench.random, TABLES);
		if (random_once_in(&bench.random, 50))
			gap(&bench, task);
		while (run--) {
			next_load(stream, i, &bench.random, &pc, &value);
			if (random_once_in(&bench.random, 30))
				feed_unknown(&bench, task, 1 + task % 2, pc);
			if (!feed_task(&bench, task, 1 + task % 2, pc, value))
				tables_retire(&bench.tables,
					      bench.table_of[task],
					      1 + random_below(&bench.random,
							       99));
		}
		if (random_once_in(&bench.random, 700))
			tables_retire(&bench.tables,
				      random_below(&bench.random, TABLES), 64);
		if (random_once_in(&bench.random, 900))
			read_rows(&bench);
		if (random_once_in(&bench.random, 300))
			tables_account(&bench.tables);
	}
	finish(&bench);
	check(&bench);
	bench_free(&bench);
}

static void test_bounds(void **state)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(4); seed++)
		for (stream = 0; stream < STREAMS; stream++)
			try_stream(stream, seed, SMALL, 4 * SMALL);
}

/* Eight slots: everything is replaced, divided and silenced. */
static void test_tiny(void **state)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(3); seed++)
		for (stream = 0; stream < STREAMS; stream++)
			try_stream(stream, 100 + seed, TINY, 4 * TINY);
}

/* One task and one table: runs and breaks are exact. */
static void test_runs(void **state)
{
	const struct said_load *load;
	struct bench bench;
	u64 i, k;

	bench_init(&bench, SMALL, SMALL);
	for (i = 0; i < 100; i++) {
		for (k = 0; k < 30; k++)
			feed(&bench, 0x10, i);		/* 100 runs */
		feed(&bench, 0x20, 8 * i);		/* a stride */
		feed(&bench, 0x30, 5);			/* one run */
		if (i == 50)
			gap(&bench, 0);
	}
	finish(&bench);
	load = load_of(&bench, 0x10);
	assert_int_equal(load->loads, 3000);
	assert_int_equal(load->runs, 100);
	assert_int_equal(load->breaks, 2);
	load = load_of(&bench, 0x20);
	assert_int_equal(load->stride, 8);
	assert_int_equal(load->strides, 98);
	assert_int_equal(load->breaks, 2);
	load = load_of(&bench, 0x30);
	assert_int_equal(load->runs, 2);
	assert_int_equal(load->breaks, 2);
	assert_int_equal(value_of(&bench, 0x30, 5)->hits, 100);
	assert_int_equal(value_of(&bench, 0x30, 5)->missed, 0);
	bench_free(&bench);
}

/* Runs span no gap, no other task and no other table. */
static void test_nothing_spans_a_gap(void **state)
{
	struct bench bench;
	unsigned int way;
	u64 i;

	for (way = 0; way < 3; way++) {
		bench_init(&bench, SMALL, SMALL);
		for (i = 0; i < 300; i++) {
			if (way == 0)
				gap(&bench, 0);
			if (way == 1)
				bench.table_of[0] = i % 2;
			feed_task(&bench, way == 2 ? i % 2 : 0, 1, 0x10, 4 * i);
		}
		finish(&bench);
		assert_int_equal(load_of(&bench, 0x10)->strides, 0);
		assert_int_equal(load_of(&bench, 0x10)->breaks, 300);
		bench_free(&bench);
	}
}

/* A load whose value is unknown. */
static void test_unknown(void **state)
{
	const struct said_load *load;
	struct bench bench;
	u64 i;

	bench_init(&bench, SMALL, SMALL);
	for (i = 0; i < 90; i++) {
		if (i % 3)
			feed(&bench, 0x10, 4 * i);
		else
			feed_unknown(&bench, 0, 1, 0x10);
		feed_unknown(&bench, 0, 1, 0x20);
	}
	finish(&bench);
	load = load_of(&bench, 0x10);
	assert_int_equal(load->loads, 90);
	assert_int_equal(load->unseen, 30);
	assert_int_equal(load->breaks, 30);
	assert_int_equal(load->strides, 30);
	assert_int_equal(load->stride, 4);
	assert_int_equal(load_of(&bench, 0x20)->unseen, 90);
	assert_int_equal(load_of(&bench, 0x20)->runs, 0);
	assert_null(value_of(&bench, 0x20, 0));
	check(&bench);
	bench_free(&bench);
}

/* Values with at least 25 % are all found among others that occur once. */
static void test_invariance(void **state)
{
	static const unsigned int shares[][3] = {
		{ 25, 0, 0 }, { 25, 25, 0 }, { 30, 30, 30 }, { 90, 0, 0 },
		{ 50, 50, 0 }, { 34, 33, 33 }, { 60, 25, 10 },
	};
	struct bench bench;
	unsigned int k, v;
	u64 i;

	bench_init(&bench, SMALL, SMALL);
	for (i = 0; i < 100000; i++) {
		unsigned int draw = random_below(&bench.random, 100), sum = 0;
		u64 value = random_next(&bench.random);

		k = i % 7;
		for (v = 0; v < 3; v++) {
			if (draw >= sum && draw < sum + shares[k][v])
				value = v;
			sum += shares[k][v];
		}
		feed(&bench, 0x10 + k, value);
		if (i % 30000 == 0)
			tables_retire(&bench.tables, 0, 100);
	}
	finish(&bench);
	for (k = 0; k < 7; k++)
		for (v = 0; v < 3; v++) {
			const struct said *said = value_of(&bench, 0x10 + k, v);
			double exact, found;

			if (shares[k][v] < 25)
				continue;
			assert_non_null(said);
			exact = exact_value(&bench, said);
			found = said->hits;
			assert_true(found <= exact);
			assert_true(found >= 0.97 * exact);
		}
	bench_free(&bench);
}

/* --- one stream, whole and split ------------------------------------------ */

/* Returns the executions of a load that were fed. */
static u64 exact_loads(const struct bench *bench, u64 pc)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < bench->fed_count; i++)
		sum += bench->fed[i].pc == pc;
	return sum;
}

/*
 * Returns an upper bound of how often a value was returned, from rows. It is
 * the bound of the value's row, or else the executions of the load without a
 * known value, plus executions that were not looked at or are in no row. @loads
 * is the total.
 */
static u64 most_of(const struct bench *bench, u64 pc, u64 value, u64 loads)
{
	const struct said_load *load = load_of(bench, pc);
	const struct said *said = value_of(bench, pc, value);

	if (!load)
		return loads;
	assert_true(load->loads <= loads);
	return (said ? said->hits + said->missed : load->rest) +
	       load->unseen + loads - load->loads;
}

/* Counts of each value are allowed by the truth and by the other bench. */
static void check_against(const struct bench *bench, const struct bench *other)
{
	size_t i;

	for (i = 0; i < bench->value_count; i++) {
		const struct said *said = &bench->values[i];
		u64 loads = exact_loads(bench, said->pc);
		u64 exact = exact_value(bench, said);

		assert_true(said->hits <= exact);
		assert_true(exact <= most_of(bench, said->pc, said->value,
					     loads));
		assert_true(exact <= most_of(other, said->pc, said->value,
					     loads));
	}
}

/* Rows lack exactly the loads that were evicted. */
static void check_lost(const struct bench *bench, bool whole)
{
	u64 told = 0, unseen = 0;
	size_t i;

	for (i = 0; i < bench->load_count; i++) {
		told += bench->loads[i].loads;
		unseen += bench->loads[i].unseen;
	}
	assert_int_equal(told + tables_evicted(&bench->tables),
			 bench->tables.produced);
	assert_int_equal(!tables_evicted(&bench->tables), whole);
	if (whole)
		assert_int_equal(unseen, 0);
}

static void feed_split(struct bench *whole, struct bench *split,
		       enum stream stream)
{
	u64 i, pc, value, random = 5;

	for (i = 0; i < 20000; i++) {
		next_load(stream, i, &random, &pc, &value);
		split->table_of[0] = i / 1000 % TABLES;
		feed(whole, pc, value);
		feed(split, pc, value);
		if (i % 7000 == 0)
			tables_retire(&split->tables, i / 7000 % TABLES, 100);
	}
	finish(whole);
	finish(split);
}

static void try_split(enum stream stream, size_t size, bool is_enough)
{
	struct bench whole, split;
	size_t k;

	bench_init(&whole, size, size);
	bench_init(&split, size, size);
	feed_split(&whole, &split, stream);
	check_lost(&whole, is_enough);
	check_lost(&split, is_enough);
	if (is_enough) {
		assert_int_equal(whole.load_count, split.load_count);
		for (k = 0; k < whole.load_count; k++)
			assert_int_equal(
				load_of(&split, whole.loads[k].pc)->loads,
				whole.loads[k].loads);
	}
	check_against(&whole, &split);
	check_against(&split, &whole);
	bench_free(&whole);
	bench_free(&split);
}

/*
 * The same stream, whole and divided among several tables, with enough memory
 * and with loads without slots: no value has a higher count in one than the
 * bound in the other.
 */
static void test_split(void **state)
{
	unsigned int stream;

	for (stream = 0; stream < STREAMS; stream++) {
		try_split(stream, SMALL, stream != CROWD);
		try_split(stream, TINY, false);
	}
}

/* --- merging, and little memory ------------------------------------------- */

/* The result of merging does not depend on the limit. */
static void test_limits(void **state)
{
	static const size_t limits[] = { 1, 7, 1000, SIZE_MAX };
	struct value_table *first = NULL;
	unsigned int k;
	u64 i, pc, value;

	for (k = 0; k < 4; k++) {
		struct value_table *table;
		struct bench bench;

		bench_init(&bench, SMALL, SMALL);
		bench.random = 9;
		for (i = 0; i < 30000; i++) {
			next_load(ZIPF, i, &bench.random, &pc, &value);
			feed(&bench, pc, value);
		}
		tables_retire(&bench.tables, 0, limits[k]);
		table = bench.tables.profile;
		assert_int_equal(table->pending, 30000);
		if (first)
			assert_memory_equal(first->slots, table->slots,
					    table->slot_count *
					    sizeof(*table->slots));
		else
			first = table, bench.tables.profile = NULL;
		bench_free(&bench);
	}
	free(first);
}

/*
 * Far more loads than slots, all alike: parts of them take turns until all were
 * seen.
 */
static void test_thrashing(void **state)
{
	enum { LOADS = 4000 };
	struct value_table *table;
	struct bench bench;
	u32 most = 0;
	u64 i;

	bench_init(&bench, SMALL, 64 * SMALL);
	table = bench.tables.items[0];
	assert_true(table->slot_count <= LOADS / 4);
	for (i = 0; i < 3000000; i++) {
		const struct stream_event event = {
			.kind = STREAM_LOAD,
			.space = 1,
			.width = 4,
			.from = 0x401000 +
				3 * random_below(&bench.random, LOADS),
		};

		bench.tables.produced++;
		/* The kernel needs some time to retire it. */
		if (!value_engine.feed(table, &bench.cursors[0], &event) &&
		    i % DELAY == 0) {
			most = max(most, table->mask);
			tables_retire(&bench.tables, 0, 1000);
		}
	}
	finish(&bench);
	assert_true(most >= 3);
	/*
	 * Every load was looked at, and none twice as often as would be fair.
	 */
	assert_in_range(bench.load_count, LOADS * 99 / 100, LOADS);
	bench_free(&bench);
}

/*
 * While loads are divided into parts, known ones are only counted, but not for
 * ever.
 */
static void test_quiet(void **state)
{
	const struct said_load *load;
	const struct said *late;
	struct value_table *table;
	struct bench bench;
	u64 i;

	bench_init(&bench, SMALL, 64 * SMALL);
	table = bench.tables.items[0];
	for (i = 0; i < 4000000; i++) {
		bool hot = i % 2;
		const struct stream_event event = {
			.kind = STREAM_LOAD,
			.space = 1,
			.width = 4,
			.from = hot ? 0x10
				    : 0x401000 + 3 * random_below(&bench.random,
								  9000),
			.value = hot ? i > 2000000 : i,
		};

		bench.tables.produced++;
		if (!value_engine.feed(table, &bench.cursors[0], &event) &&
		    i % DELAY == 0)
			tables_retire(&bench.tables, 0, 1000);
	}
	finish(&bench);
	load = load_of(&bench, 0x10);
	late = value_of(&bench, 0x10, 1);
	assert_non_null(load);
	assert_non_null(late);
	assert_true(load->unseen > load->loads / 4);
	/*
	 * Half of its executions returned the other value, but not all have the
	 * same weight.
	 */
	assert_in_range(100 * late->hits / (load->loads - load->unseen), 15,
			85);
	bench_free(&bench);
}

static bool refuse_row(void *context, const void *row, u64 ip, u64 addr,
		       u64 period)
{
	return false;
}

static u64 first_value;

static bool take_first_value(void *context, const void *data, u64 ip, u64 addr,
			     u64 period)
{
	const struct hwprof_row_value *row = data;
	struct bench *bench = context;

	if (!first_value)
		first_value = row->values[0].value;
	bench->tables.delivered += period;
	return true;
}

/* When values occur equally often, the one that was first stays first. */
static void test_equal_values(void **state)
{
	struct bench bench;
	u64 i, k;

	bench_init(&bench, SMALL, SMALL);
	for (i = 1; i <= 4; i++) {
		for (k = 0; k < 10; k++)
			feed(&bench, 0x10, 5 - i);
		tables_retire(&bench.tables, 0, 1000);
	}
	first_value = 0;
	tables_read(&bench.tables, take_first_value, &bench);
	assert_int_equal(first_value, 4);
	bench_free(&bench);
}

/* A space that ends makes room, and unreported counts are evicted. */
static void test_forget(void **state)
{
	struct value_table *profile;
	struct bench bench;
	size_t at = 0;
	u64 i;

	bench_init(&bench, SMALL, SMALL);
	profile = bench.tables.profile;
	for (i = 0; i < 9000; i++)
		feed_task(&bench, i % 3, 1 + i % 3, 0x10 + i % 50, i % 4);
	tables_retire(&bench.tables, 0, 100);
	assert_true(value_engine.rows(profile, 1, &at, ~0UL, take_row, &bench));
	assert_int_equal(bench.tables.delivered, 3000);
	at = 0;
	assert_false(value_engine.rows(profile, 2, &at, ~0UL, refuse_row,
				       NULL));
	tables_forget(&value_engine, profile, 1);
	tables_account(&bench.tables);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	tables_forget(&value_engine, profile, 2);
	tables_account(&bench.tables);
	assert_int_equal(tables_evicted(&bench.tables), 3000);
	tables_forget(&value_engine, profile, 77);
	read_rows(&bench);
	assert_int_equal(bench.tables.delivered, 6000);
	tables_forget(&value_engine, profile, 3);
	assert_int_equal(profile->used, 0);
	/* The same in a table, whose runs are not counted yet. */
	feed_task(&bench, 0, 4, 0x10, 1);
	feed_task(&bench, 0, 4, 0x10, 1);
	tables_forget(&value_engine, bench.tables.items[0], 4);
	tables_account(&bench.tables);
	assert_int_equal(tables_evicted(&bench.tables), 3002);
	bench_free(&bench);
}

/* Reported counts are not reported again, and values in progress continue. */
static void test_rows_once(void **state)
{
	struct bench bench;
	u64 i, before;

	bench_init(&bench, SMALL, SMALL);
	for (i = 0; i < 20000; i++) {
		feed(&bench, 0x10 + i % 90, i % 90 < 45 ? 7 : i);
		if (i % 500)
			continue;
		tables_retire(&bench.tables, 0, 100);
		read_rows(&bench);
		before = bench.tables.delivered;
		read_rows(&bench);
		assert_int_equal(bench.tables.delivered, before);
	}
	finish(&bench);
	assert_int_equal(bench.tables.delivered, 20000);
	check(&bench);
	bench_free(&bench);
}

static void test_units(void **state)
{
	unsigned int kind;

	for (kind = 0; kind <= STREAM_SAMPLE; kind++) {
		const struct stream_event event = {
			.kind = kind, .from = 0x1000, .to = 0x2000,
			.value = 7, .space = 1, .width = 8,
		};
		void *table = table_new(&value_engine, SMALL, &params);
		u64 cursor;

		value_engine.cursor_init(&cursor, 1);
		assert_int_equal(value_engine.unit(&params, &event),
				 kind == STREAM_LOAD);
		assert_true(value_engine.feed(table, &cursor, &event));
		assert_int_equal(value_engine.pending(table),
				 kind == STREAM_LOAD);
		free(table);
	}
}

static void test_sample(void **state)
{
	const struct stream_event event = {
		.kind = STREAM_LOAD, .from = 0x1000, .to = 0x2000,
		.value = 0x123456789abcdef0, .width = 8, .space = 1,
	};
	struct engine_sample sample;

	value_engine.sample(&params, &event, 7, &sample);
	assert_int_equal(sample.ip, 0x1000);
	assert_int_equal(sample.addr, 0x2000);
	assert_int_equal(sample.value.loads, 7);
	assert_int_equal(sample.value.count, 1);
	assert_int_equal(sample.value.values[0].value, 0x123456789abcdef0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_nothing_spans_a_gap),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_invariance),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_thrashing),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_equal_values),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_rows_once),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
