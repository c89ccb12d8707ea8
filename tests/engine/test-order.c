// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which loops of a table a segment enters, compared with checking each loop.
 * Regions are random; they nest, overlap, grow and are evicted.
 */
#include "trace.h"
#include "engine/loop_table.h"
#include "random.h"
#include "seeds.h"

enum { TABLE = 128 << 10, STEPS = 3000, SPACES = 3, CODE = 1 << 12 };

static struct loop_table *table_new(u64 seed, u32 basis)
{
	const struct engine_params params = {
		.span = SPAN, .basis = basis, .seed = seed,
	};
	void *table = calloc(1, TABLE);

	assert_non_null(table);
	loop_engine.table_init(table, TABLE, &params);
	return table;
}

/* Adds a loop. Most regions are short, but some are as long as all code. */
static void add_loop(struct loop_table *table, u64 *random)
{
	u64 head = 1 + random_below(random, CODE);
	u64 length = random_below(random,
				  2 + CODE / (1 + random_below(random, CODE)));

	loop_get(table, head, head + length, 1 + random_below(random, SPACES));
}

/* Makes forward jumps, and at the end any jump or call, or none. */
static struct flow_segment segment_new(u64 *random)
{
	struct flow_segment segment = {
		.space = 1 + random_below(random, SPACES),
		.start = 1 + random_below(random, CODE),
		.edges = random_below(random, FLOW_EDGES + 1),
		.called = random_below(random, 2),
	};
	u64 at = segment.start;
	unsigned int i;

	for (i = 0; i < segment.edges; i++) {
		segment.edge[i].from = at += random_below(random, 20);
		segment.edge[i].to = at += 1 + random_below(random, 400);
	}
	segment.end = at + random_below(random, 20);
	if (random_below(random, 4))
		segment.target = 1 + random_below(random, CODE);
	segment.call = segment.target && !random_below(random, 4);
	return segment;
}

static bool in_use(const struct loop_table *table, const struct loop *loop)
{
	return loop->head != 0 && loop < table->loops + table->slots;
}

/* Each entered loop is found once, and no other loop. */
static void check_segment(const struct loop_table *table,
			  const struct flow_segment *segment, u32 most)
{
	struct entered entered = entered_begin(table, segment, most);
	u8 *seen = calloc(table->slots, 1);
	struct loop *loop;
	u32 i;

	assert_non_null(seen);
	while ((loop = entered_next(table, &entered))) {
		assert_int_equal(seen[loop - table->loops], 0);
		assert_int_equal(loop->space, segment->space);
		assert_int_equal(entered.entries,
				 flow_entries(segment, loop->head, loop->tail));
		seen[loop - table->loops] = entered.entries;
	}
	for (i = 0; most == ~0U && i < table->slots; i++) {
		loop = &table->loops[i];
		if (!in_use(table, loop) || loop->space != segment->space)
			continue;
		assert_int_equal(seen[i], flow_entries(segment, loop->head,
						       loop->tail));
	}
	free(seen);
}

/*
 * Returns the loop at @at of table->order if it is of the same space, or an
 * empty one.
 */
static const struct loop *loop_before(const struct loop_table *table, u32 at,
				      const struct loop *loop)
{
	static const struct loop none;
	const struct loop *before = &table->loops[table->order[at]];

	return before->space == loop->space ? before : &none;
}

/* All loops in use are sorted, each with the last one that reaches farther. */
static void check_order(const struct loop_table *table)
{
	u32 i, k, used = 0;

	for (i = 0; i < table->slots; i++)
		used += in_use(table, &table->loops[i]);
	assert_int_equal(table->used, used);
	for (i = 0; i < used; i++) {
		const struct loop *loop = &table->loops[table->order[i]];

		u16 further = ORDER_NONE, slot = table->order[i];

		for (k = 0; k < i; k++)
			if (loop_before(table, k, loop)->tail > loop->tail)
				further = table->order[k];
		assert_int_equal(table->further[slot], further);
		assert_int_equal(table->before[slot],
				 i && loop_before(table, i - 1, loop)->tail ?
				 table->order[i - 1] : ORDER_NONE);
		assert_int_equal(order_last(table, loop->head, loop->space),
				 slot);
	}
}

static void run(u64 seed, u32 basis)
{
	struct loop_table *table = table_new(seed, basis);
	u64 random = seed, evicted = 0;
	unsigned int i;

	for (i = 0; i < STEPS; i++) {
		struct flow_segment segment = segment_new(&random);

		add_loop(table, &random);
		check_segment(table, &segment, ~0U);
		check_segment(table, &segment, 3);
		evicted += table->dropped;
		if (random_once_in(&random, 20))
			check_order(table);
		if (random_once_in(&random, 1000))
			loop_forget(table, 1 + random_below(&random, SPACES),
				    &(size_t){ 0 }, ~0UL);
	}
	check_order(table);
	assert_true(table->used > table->slots / 2);
	assert_true(evicted > 0);
	free(table);
}

/*
 * One loop hides all before it, which end in descending order, from all behind
 * it, which end in ascending order. Then it is evicted.
 */
static void test_hidden(void **state)
{
	struct loop_table *table = table_new(1, HWPROF_BASIS_BRANCHES);
	u32 third = table->slots / 3, i;
	u64 hiding = CODE + third, tail = CODE + 3 * third;

	for (i = 0; i < third; i++)
		loop_get(table, CODE + i, tail + third - i, 1);
	loop_get(table, hiding, tail + 2 * third, 1);
	for (i = 1; i < third; i++)
		loop_get(table, hiding + i, tail + i, 1);
	check_order(table);
	for (i = 1; loop_find(table, hiding, 1) && i < 100 * third; i++) {
		loop_get(table, 100 * CODE + 16 * i, 100 * CODE + 16 * i, 1);
		check_order(table);
	}
	assert_null(loop_find(table, hiding, 1));
	free(table);
}

static void test_exact(void **state)
{
	u64 seed;

	for (seed = 1; seed <= seeds(5); seed++)
		run(seed, HWPROF_BASIS_EXACT);
}

static void test_windows(void **state)
{
	u64 seed;

	for (seed = 100; seed < 100 + seeds(5); seed++)
		run(seed, HWPROF_BASIS_BRANCHES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
