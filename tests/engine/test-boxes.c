// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the range engine of pairs with the simplest code, which counts each
 * pair. For every stream and size of memory, the count of a box of code by
 * addresses is within its bounds.
 */
#include "engine/engine.h"
#include "engine/range_tree.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"

#define PPM	1000000

struct pair {
	u32 space;
	u64 code, address;
	u64 count;
};

struct box {
	u32 space;
	u64 code, low;
	u32 code_bits, bits;
	u64 count;
};

struct bench {
	struct tables tables;	/* each begins with a struct range_tree */
	struct pair *fed;
	size_t fed_count, fed_room;
	struct box *told;
	size_t told_count, told_room;
	u64 random;
	unsigned int refusals;	/* of rows: one in that many */
};

static struct engine_params params_of(u32 epsilon_ppm)
{
	return (struct engine_params) {
		.basis = HWPROF_BASIS_EXACT, .epsilon_ppm = epsilon_ppm,
		.range_of = HWPROF_RANGE_IP_LOAD_ADDRESS,
	};
}

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size, u32 epsilon_ppm)
{
	const struct engine_params params = params_of(epsilon_ppm);

	*bench = (struct bench) {
		.tables = tables_make(&range_engine, &params, 1, table_size,
				      profile_size),
	};
}

static void bench_free(struct bench *bench)
{
	tables_free(&bench->tables);
	free(bench->fed);
	free(bench->told);
}

static void retire(struct bench *bench)
{
	tables_retire(&bench->tables, 0, 100);
}

static struct stream_event event_of(u32 space, u64 code, u64 address)
{
	return (struct stream_event) {
		.kind = STREAM_LOAD, .from = code, .to = address, .width = 8,
		.space = space,
	};
}

static void feed(struct bench *bench, u32 space, u64 code, u64 address)
{
	const struct stream_event event = event_of(space, code, address);

	if (bench->fed_count == bench->fed_room) {
		bench->fed_room = 2 * bench->fed_room + 1024;
		bench->fed = realloc(bench->fed,
				     bench->fed_room * sizeof(*bench->fed));
	}
	bench->fed[bench->fed_count++] = (struct pair){space, code, address, 1};
	bench->tables.produced++;
	if (!range_engine.feed(bench->tables.items[0], NULL, &event))
		retire(bench);
}

/* Asserts that the ABI has a box of this shape. */
static void assert_is_box(const struct hwprof_row_box *row)
{
	int all = row->code_bits + row->bits, code = all / 2 - 6;

	if (code < 0)
		code = 0;
	if (code < all - 64)
		code = all - 64;
	assert_true(all <= 128 && all % 2 == 0);
	assert_int_equal(row->code_bits, code);
	if (row->code_bits)
		assert_int_equal(row->code << (64 - row->code_bits), 0);
	if (row->bits)
		assert_int_equal(row->low << (64 - row->bits), 0);
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_box *row = data;
	struct bench *bench = context;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_BOX);
	assert_int_equal(row->row.size, sizeof(*row));
	assert_int_equal(row->of, HWPROF_RANGE_IP_LOAD_ADDRESS);
	assert_int_equal(row->count, period);
	assert_true(period > 0);
	assert_int_equal(ip, row->code);
	assert_int_equal(addr, row->low);
	assert_is_box(row);
	if (bench->told_count == bench->told_room) {
		bench->told_room = 2 * bench->told_room + 1024;
		bench->told = realloc(bench->told,
				      bench->told_room * sizeof(*bench->told));
	}
	bench->told[bench->told_count++] = (struct box) {
		row->row.space, row->code, row->low, row->code_bits, row->bits,
		row->count,
	};
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

/* --- the simplest code ---------------------------------------------------- */

static bool is_within(u64 value, u64 low, u32 bits)
{
	return bits == 64 || (value >= low && value - low < 1ULL << bits);
}

static bool has(const struct box *box, u32 space, u64 code, u64 address)
{
	return box->space == space &&
	       is_within(code, box->code, box->code_bits) &&
	       is_within(address, box->low, box->bits);
}

/* Returns true if both corners of the inner box are inside. */
static bool has_box(const struct box *outer, const struct box *inner)
{
	u64 code =
		inner->code_bits == 64 ? ~0ULL : (1ULL << inner->code_bits) - 1;
	u64 low = inner->bits == 64 ? ~0ULL : (1ULL << inner->bits) - 1;

	return has(outer, inner->space, inner->code, inner->low) &&
	       has(outer, inner->space, inner->code + code, inner->low + low);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Merges equal pairs, so that the check is not quadratic in all events. */
static void sum_up(struct bench *bench)
{
	size_t kept = 0, i;

	qsort(bench->fed, bench->fed_count, sizeof(*bench->fed), compare_pairs);
	for (i = 0; i < bench->fed_count; i++) {
		if (kept && !compare_pairs(&bench->fed[kept - 1],
					   &bench->fed[i]))
			bench->fed[kept - 1].count += bench->fed[i].count;
		else
			bench->fed[kept++] = bench->fed[i];
	}
	bench->fed_count = kept;
}

struct bounds {
	u64 least, most, exact;
};

static struct bounds bounds_of(const struct bench *bench, const struct box *box)
{
	struct bounds bounds = { 0 };
	size_t i;

	for (i = 0; i < bench->fed_count; i++)
		if (has(box, bench->fed[i].space, bench->fed[i].code,
			bench->fed[i].address))
			bounds.exact += bench->fed[i].count;
	for (i = 0; i < bench->told_count; i++) {
		const struct box *told = &bench->told[i];

		if (has_box(box, told))
			bounds.least += told->count;
		else if (has_box(told, box))
			bounds.most += told->count;
	}
	bounds.most += bounds.least;
	assert_true(bounds.least <= bounds.exact);
	assert_true(bounds.exact <= bounds.most);
	return bounds;
}

/* Asserts that two boxes are disjoint or nested, as in a tree. */
static void assert_nested(const struct box *a, const struct box *b)
{
	bool apart = a->space != b->space ||
		     !(is_within(a->code, b->code, b->code_bits) ||
		       is_within(b->code, a->code, a->code_bits)) ||
		     !(is_within(a->low, b->low, b->bits) ||
		       is_within(b->low, a->low, a->bits));

	assert_true(apart || has_box(a, b) || has_box(b, a));
}

/* Checks each reported box and pair, or a sample of them. */
static u64 check_bounds(struct bench *bench)
{
	size_t step = 1 + bench->told_count / 300, i;
	struct bounds bounds;
	u64 worst = 0;

	sum_up(bench);
	for (i = 0; i < bench->told_count; i += step) {
		bounds = bounds_of(bench, &bench->told[i]);
		worst = max(worst, bounds.most - bounds.least);
		assert_nested(&bench->told[i],
			      &bench->told[random_below(&bench->random,
							bench->told_count)]);
	}
	step = 1 + bench->fed_count / 300;
	for (i = 0; i < bench->fed_count; i += step) {
		const struct box own = {
			.space = bench->fed[i].space,
			.code = bench->fed[i].code,
			.low = bench->fed[i].address,
		};

		bounds = bounds_of(bench, &own);
		worst = max(worst, bounds.most - bounds.least);
	}
	return worst;
}

/* --- streams -------------------------------------------------------------- */

enum stream {
	LOOPS,		/* a few loops, each over its own memory */
	UNIFORM,	/* no two equal */
	STEPS,		/* an instruction that walks through memory */
	DIAGONAL,	/* code and memory advance together */
	CROSS,		/* one of the two is fixed, the other random */
	PHASES,		/* hot spots change */
	REVERSED,	/* neighbours in time are far apart */
	ENDS,		/* the first and last values */
	LATE,		/* a pair that begins when splits have become rare */
	STREAMS,
};

static u64 end(u64 *random)
{
	u64 distance = random_below(random, 8);

	return random_below(random, 2) ? distance : ~distance;
}

static void next_pair(enum stream stream, u64 i, u64 *random, u64 *code,
		      u64 *address)
{
	unsigned int loop = random_below(random, 1 + random_below(random, 6));

	*code = 0x401000 + 0x140 * loop + 4 * random_below(random, 8);
	*address = 0x7f0000000000 + ((u64)loop << 20) +
		   8 * random_below(random, 1 << 14);
	switch (stream) {
	case LOOPS:
	case STREAMS:
		return;
	case UNIFORM:
		*code = random_next(random);
		*address = random_next(random);
		return;
	case STEPS:
		*code = 0x401004;
		*address = 0x7ffff0000000 + 8 * i;
		return;
	case DIAGONAL:
		*code = 0x400000 + i;
		*address = 0x7f0000000000 + (i << 12);
		return;
	case CROSS:
		*(i % 2 ? code : address) = 0x401000;
		*(i % 2 ? address : code) = random_next(random);
		return;
	case PHASES:
		*code += i / 4000 * 0x12345;
		*address += i / 4000 * 0x123456789;
		return;
	case REVERSED:
		*code = reversed(i);
		*address = reversed(i / 3);
		return;
	case ENDS:
		*code = end(random);
		*address = end(random);
		return;
	case LATE:
		*code = *address = i % 3000 < 2000 ? 0x1000 : ~0x1000ULL;
		return;
	}
}

/* --- tests ---------------------------------------------------------------- */

/* Retires tables at any time, reads rows at any time, and refuses some. */
static void try_stream(enum stream stream, u64 seed, size_t table_size,
		       size_t profile_size)
{
	u64 code, address, i;
	struct bench bench;

	bench_init(&bench, table_size, profile_size,
		   seed % 3 ? 10000 : 100000);
	bench.random = seed;
	bench.refusals = seed % 2 * 5;
	for (i = 0; i < 15000; i++) {
		next_pair(stream, i, &bench.random, &code, &address);
		feed(&bench, 1 + random_below(&bench.random, 1 + seed % 4),
		     code, address);
		if (random_once_in(&bench.random, 3000))
			retire(&bench);
		if (random_once_in(&bench.random, 5000))
			read_rows(&bench);
	}
	retire(&bench);
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

	for (seed = 0; seed < seeds(2); seed++)
		for (stream = 0; stream < STREAMS; stream++)
			try_stream(stream, seed, 16 << 10, 64 << 10);
}

/*
 * With the least memory nearly every split is refused, and bounds still hold.
 */
static void test_tiny(void **state)
{
	unsigned int stream;
	u64 seed;

	for (seed = 0; seed < seeds(1); seed++)
		for (stream = 0; stream < STREAMS; stream++)
			try_stream(stream, 101 + seed, range_engine.table_min,
				   range_engine.table_min);
}

/* While no split was refused, errors are at most epsilon of the stream. */
static void try_epsilon(enum stream stream, u32 epsilon_ppm)
{
	u64 code, address, refused = 0, i;
	struct range_tree *tree, *profile;
	struct bench bench;

	bench_init(&bench, 32 << 20, 64 << 20, epsilon_ppm);
	tree = bench.tables.items[0];
	profile = bench.tables.profile;
	for (i = 0; i < 8000; i++) {
		next_pair(stream, i, &bench.random, &code, &address);
		feed(&bench, 1, code, address);
		if (i % 3000)
			continue;
		refused += tree->refused;
		retire(&bench);
	}
	refused += tree->refused;
	retire(&bench);
	read_rows(&bench);
	refused += profile->refused;
	assert_int_equal(refused, 0);
	assert_true(check_bounds(&bench) <=
		    bench.tables.produced * epsilon_ppm / PPM);
	bench_free(&bench);
}

static void test_epsilon(void **state)
{
	unsigned int stream;

	for (stream = 0; stream < STREAMS; stream++) {
		try_epsilon(stream, 10000);
		try_epsilon(stream, 200000);
	}
}

/* Without hints, the same boxes have the same counts. */
static void test_hints(void **state)
{
	const struct engine_params params = params_of(10000);
	unsigned int stream;
	u64 random = 3, i;

	for (stream = 0; stream < STREAMS; stream++) {
		void *with = table_new(&range_engine, 32 << 10, &params);
		void *without = table_new(&range_engine, 32 << 10, &params);
		struct range_tree *a = with, *b = without;

		for (i = 0; i < 20000; i++) {
			struct stream_event event;
			u64 code, address;

			next_pair(stream, i, &random, &code, &address);
			event = event_of(1 + i / 64 % 3, code, address);
			memset(b->hint, 0, sizeof(b->hint));
			memset(b->near, 0, sizeof(b->near));
			assert_int_equal(range_engine.feed(with, NULL, &event),
					 range_engine.feed(without, NULL,
							   &event));
		}
		assert_int_equal(a->top, b->top);
		assert_memory_equal(a->blocks, b->blocks,
				    a->top * sizeof(*a->blocks));
		assert_memory_equal(a->codes, b->codes,
				    a->top * sizeof(*a->codes));
		free(with);
		free(without);
	}
}

/* Nodes in use and free nodes always add up to the pool. */
static void test_pool(void **state)
{
	const struct engine_params params = params_of(1);
	void *table = table_new(&range_engine, range_engine.table_min, &params);
	struct range_tree *tree = table;
	u64 random = 5, i;
	u32 used, number;

	for (i = 0; i < 50000; i++) {
		const struct stream_event event = event_of(
			1, random_next(&random), random_next(&random));

		range_engine.feed(table, NULL, &event);
	}
	for (used = 0, number = tree->root_blocks; number < tree->top; number++)
		used += tree->blocks[number].root != RANGE_NO_ROOT;
	assert_true(tree->refused > 0);
	assert_true(tree->top <= tree->block_count);
	assert_int_equal(used + tree->room,
			 tree->block_count - tree->root_blocks);
	assert_true((char *)(tree->codes + tree->block_count) <=
		    (char *)table + range_engine.table_min);
	free(table);
}

/*
 * Two loops over two arrays: the own accesses of each are found, even in little
 * memory, and no loop gets those of the other.
 */
static void test_loops(void **state)
{
	static const u64 codes[] = { 0x401040, 0x401080 };
	static const u64 arrays[] = { 0x7f0000040000, 0x7f0000080000 };
	struct bench bench;
	unsigned int k;
	u64 i;

	bench_init(&bench, range_engine.table_min, 64 << 10, 10000);
	for (i = 0; i < 200000; i++) {
		unsigned int loop = i / 1000 % 2;

		feed(&bench, 1, codes[loop] + 4 * (i % 3),
		     arrays[loop] + 8 * (i % 32768));
		if (i % 50000 == 0)
			retire(&bench);
	}
	retire(&bench);
	read_rows(&bench);
	sum_up(&bench);
	for (k = 0; k < 4; k++) {
		const struct box box = {
			.space = 1, .code = codes[k % 2], .code_bits = 6,
			.low = arrays[k / 2], .bits = 18,
		};
		struct bounds bounds = bounds_of(&bench, &box);

		if (k % 2 == k / 2)
			assert_in_range(bounds.least, 97000, 100000);
		else
			assert_in_range(bounds.most, 0, 2000);
	}
	bench_free(&bench);
}

/* A space that ends makes room. */
static void test_forget(void **state)
{
	struct range_tree *profile;
	u64 code, address, i;
	struct bench bench;
	u32 room;

	bench_init(&bench, 64 << 10, 64 << 10, 10000);
	profile = bench.tables.profile;
	room = profile->room;
	for (i = 0; i < 9000; i++) {
		next_pair(LOOPS, i, &bench.random, &code, &address);
		feed(&bench, 1 + i % 3, code, address);
	}
	retire(&bench);
	for (i = 1; i <= 3; i++) {
		tables_forget(&range_engine, profile, i);
		tables_account(&bench.tables);
		assert_int_equal(range_engine.evicted(profile), 3000 * i);
	}
	assert_int_equal(profile->room, room);
	bench_free(&bench);
}

/* Which accesses belong to the stream, and the sample of a single one. */
static void test_events(void **state)
{
	struct engine_params params = {
		.range_of = HWPROF_RANGE_IP_LOAD_ADDRESS,
	};
	struct stream_event event = event_of(1, 0x1000, 0x2000);
	struct engine_sample sample;
	unsigned int k;

	for (k = 0; k < 2; k++) {
		event.kind = STREAM_LOAD;
		assert_int_equal(range_engine.unit(&params, &event), !k);
		event.kind = STREAM_STORE;
		assert_int_equal(range_engine.unit(&params, &event), k);
		event.kind = STREAM_CALL;
		assert_int_equal(range_engine.unit(&params, &event), 0);
		event.kind = STREAM_SAMPLE;
		assert_int_equal(range_engine.unit(&params, &event), 0);
		event.kind = k ? STREAM_STORE : STREAM_LOAD;
		range_engine.sample(&params, &event, 3, &sample);
		assert_int_equal(sample.ip, 0x1000);
		assert_int_equal(sample.addr, 0x2000);
		assert_int_equal(sample.row.type, HWPROF_ROW_BOX);
		assert_int_equal(sample.box.code, 0x1000);
		assert_int_equal(sample.box.low, 0x2000);
		assert_int_equal(sample.box.count, 3);
		assert_int_equal(sample.box.code_bits + sample.box.bits, 0);
		assert_int_equal(sample.box.of, params.range_of);
		params.range_of = HWPROF_RANGE_IP_STORE_ADDRESS;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_epsilon),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
