// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop engine with little memory and extreme streams. Its memory does not
 * grow, the account always holds, and hot loops stay.
 */
#include <stdio.h>

#include "engine/loop_table.h"
#include "trace.h"
#include "harness.h"
#include "random.h"
#include "seeds.h"
#include "tests/oracle/array.h"

static const struct harness_style small = {
	.tasks = 2, .tables = 2,
	.table_size = 256 << 10, .profile_size = 1 << 20,
	.exchanges = 5000, .readings = 20000, .refusals = 5,
};

/* --- many loops ----------------------------------------------------------- */

enum { HOT = 40, TRIP = 25 };

static void feed(struct harness *h, unsigned int task, unsigned int kind,
		 u64 from, u64 to)
{
	const struct stream_event event = {
		.kind = kind, .from = from, .to = to, .space = 1,
	};

	harness_feed(h, task, &event);
}

/* Runs a procedure that is one loop of @trip iterations. */
static void run_loop(struct harness *h, u64 at, unsigned int trip)
{
	feed(h, 0, STREAM_CALL, 0x100, at);
	while (--trip)
		feed(h, 0, STREAM_COND, at + 0x10, at + 4);
	feed(h, 0, STREAM_RET, at + 0x12, 0x105);
	feed(h, 0, STREAM_JUMP, 0x110, 0x100);
}

/*
 * Returns true if the loop has the counts of @runs, except for one part in
 * @parts.
 */
static bool stayed(const struct seen_loop *loop, u64 runs, unsigned int parts)
{
	u64 least = runs - runs / parts;

	return loop->back_edges >= least * (TRIP - 1) &&
	       loop->entries >= (s64)least && loop->executions >= least;
}

/*
 * Many loops run once each, a million in the long run, and forty hot loops run
 * again and again in between. Each hot loop is reported with at least 99 % of
 * its back edges, entries and executions, and one of them with 95 %. If two hot
 * loops share a set of four, with two recent ones in the rest, a hot one is
 * sometimes evicted, and loses what no row has reported.
 */
static void test_many_loops(void **state)
{
	const unsigned int cold = seeds(333334);
	struct harness_style style = small;
	u64 random = 1, runs[HOT] = { 0 };
	unsigned int i, k, gone = 0;
	struct harness h;

	style.tasks = 1;
	harness_init(&h, &style, SPAN, 1);
	for (i = 0; i < cold; i++) {
		run_loop(&h, 0x10000000 + i * 64ULL, 2);
		if (i % 10)
			continue;
		k = random_below(&random, HOT);
		run_loop(&h, 0x4000 + k * 64, TRIP);
		runs[k]++;
	}
	harness_finish(&h);
	assert_true(loop_engine.evicted(h.tables.profile) > 0 ||
		    h.loops.count >= cold + HOT);
	for (k = 0; k < HOT; k++) {
		const struct seen_loop *loop;

		loop = harness_find(&h, 1, 0x4000 + k * 64 + 4);
		assert_non_null(loop);
		assert_true(stayed(loop, runs[k], 20));
		gone += !stayed(loop, runs[k], 100);
		assert_true(loop->back_edges <= runs[k] * (TRIP - 1));
		assert_true(loop->entries <= (s64)(runs[k] * 101 / 100));
		assert_true(loop->executions <= runs[k]);
		assert_int_equal(loop->trip_max, TRIP);
	}
	assert_in_range(gone, 0, 1);
	harness_free(&h);
}

/* A profile half full keeps all loops: no set is full before the others. */
static void test_half_full(void **state)
{
	struct harness_style style = small;
	struct harness h;
	u64 random = 1;
	unsigned int i;

	/* A third is for loops of 226 bytes, rounded to a power of two. */
	style.table_size = style.profile_size = 4 << 20;
	harness_init(&h, &style, SPAN, 1);
	for (i = 0; i < 4096 / 2; i++)
		run_loop(&h, 0x10000000 + (random_next(&random) >> 24) * 64, 2);
	harness_finish(&h);
	assert_int_equal(h.loops.count, 4096 / 2 + 1);
	assert_int_equal(loop_engine.evicted(h.tables.profile), 0);
	harness_free(&h);
}

/* --- many segments -------------------------------------------------------- */

enum { SEGMENTS = 4096 };

static u64 given_up;

static void give_up(struct flow_table *table,
		    const struct flow_segment *segment, u64 count)
{
	given_up += count;
}

static void add_segments(struct flow_table *table, u64 *keys, unsigned int from,
			 unsigned int to, u64 *random)
{
	for (; from < to; from++) {
		const struct flow_segment segment = { .start = from };

		keys[from] = random_next(random) | 1;
		flow_table_add(table, keys[from], &segment, 1);
	}
}

/* Counts segments, and asserts that those found are unchanged. */
static u64 count_segments(const struct flow_table *table, const u64 *keys,
			  unsigned int count)
{
	u64 found = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct flow_slot *slot = flow_table_find(table, keys[i]);

		if (!slot)
			continue;
		assert_int_equal(slot->count, 1);
		assert_int_equal(flow_segment(table, slot)->start, i);
		found++;
	}
	return found;
}

/*
 * A table asks to be retired when half of its segments are new. Up to then it
 * evicts none, and afterwards it counts each.
 */
static void test_segments_stay(void **state)
{
	static u64 keys[2 * SEGMENTS];
	u64 random = 1;
	int i;

	for (i = 0; i < 50; i++) {
		void *memory = calloc(1, flow_table_size(SEGMENTS));
		struct flow_table table;

		assert_non_null(memory);
		given_up = 0;
		flow_table_init(&table, memory, SEGMENTS, 1, give_up);
		add_segments(&table, keys, 0, SEGMENTS / 2, &random);
		assert_int_equal(given_up, 0);
		assert_int_equal(count_segments(&table, keys, SEGMENTS / 2),
				 SEGMENTS / 2);
		add_segments(&table, keys, SEGMENTS / 2, 2 * SEGMENTS, &random);
		assert_int_equal(count_segments(&table, keys, 2 * SEGMENTS) +
				 given_up, 2 * SEGMENTS);
		free(memory);
	}
}

/*
 * Tables much smaller than the profile. Executions that they evict are within
 * the loop's tolerance, except one that was in flight at a retirement. Evicted
 * back edges are counted.
 */
static void test_small_tables(void **state)
{
	enum { LOOPS = 1000, RUNS = 20000 };
	struct harness_style style = small;
	u64 random = 1, runs[LOOPS] = { 0 };
	unsigned int i, k, short_of = 0;
	struct harness h;
	u64 missing = 0, untold = 0;

	style.tasks = 1;
	style.table_size = loop_engine.table_min;
	style.profile_size = 4 << 20;
	style.exchanges = 20000;
	harness_init(&h, &style, SPAN, 1);
	for (i = 0; i < RUNS; i++) {
		k = random_below(&random, LOOPS);
		run_loop(&h, 0x10000000 + k * 64, 3);
		runs[k]++;
	}
	harness_finish(&h);
	for (k = 0; k < LOOPS; k++) {
		const struct seen_loop *loop;
		u64 known;

		loop = harness_find(&h, 1, 0x10000000 + k * 64 + 4);
		assert_non_null(loop);
		missing += 2 * runs[k] - loop->back_edges;
		short_of += loop->executions < runs[k];
		known = loop->executions + loop->tolerance;
		untold += known < runs[k] ? runs[k] - known : 0;
	}
	assert_int_not_equal(short_of, 0);
	assert_in_range(untold, 0, h.retirements);
	assert_int_equal(missing, loop_engine.evicted(h.tables.profile));
	harness_free(&h);
}

/* --- loops around much code ----------------------------------------------- */

/* As in kselftest/nests.h: all loops surround all lines. */
enum {
	NESTS_LOOPS	= 300,
	NESTS_LINES	= 8000,
	NESTS_AT	= 0x10000000,
	NESTS_LINE	= NESTS_AT + 0x1000,
	NESTS_TAIL	= NESTS_AT + 0x10000,
	LIMIT		= 1024,		/* of a call of merge(), as in the
					 * kernel */
	LOOKS		= 8,		/* loops looked at for an item:
					 * loop_profile.c */
};

struct nests {
	struct loop_table *table, *profile;
	struct { struct hwprof_row_loop *items; size_t count, room; } rows;
};

static void nests_feed(struct nests *nests, void *cursor, unsigned int kind,
		       u64 from, u64 to)
{
	const struct stream_event event = {
		.kind = kind, .from = from, .to = to, .space = 1,
	};

	assert_true(loop_engine.feed(nests->table, cursor, &event));
}

/* Calls a procedure that begins before all heads, and jumps once. */
static void nests_call(struct nests *nests, void *cursor, u64 from, u64 to)
{
	nests_feed(nests, cursor, STREAM_CALL, 0x100, NESTS_AT);
	nests_feed(nests, cursor, STREAM_COND, from, to);
	nests_feed(nests, cursor, STREAM_RET, max(from, to) + 4, 0x105);
	nests_feed(nests, cursor, STREAM_JUMP, 0x110, 0x100);
}

/* Makes a table and a profile that has no room for half of the lines. */
static struct nests nests_new(void)
{
	const struct engine_params params = {
		.span = SPAN, .basis = HWPROF_BASIS_EXACT, .seed = 1,
	};
	void *cursor = cursor_new(&loop_engine, 1);
	struct nests nests = {
		.table = table_new(&loop_engine, 4 << 20, &params),
		.profile = table_new(&loop_engine, 512 << 10, &params),
	};
	unsigned int i, runs;

	for (i = 0; i < NESTS_LOOPS; i++)
		nests_call(&nests, cursor, NESTS_TAIL + 4 * i,
			   NESTS_AT + 2 + i);
	for (i = 0; i < NESTS_LINES; i++)
		for (runs = 0; runs <= i % 3; runs++)
			nests_call(&nests, cursor, NESTS_LINE + 4 * i,
				   NESTS_LINE + 4 * i + 100);
	assert_true(nests.profile->flow.slot_count <= NESTS_LINES * 2 / 3);
	free(cursor);
	return nests;
}

static void nests_free(struct nests *nests)
{
	free(nests->table);
	free(nests->profile);
	free(nests->rows.items);
}

static bool nests_take(void *context, const void *row, u64 ip, u64 addr,
		       u64 period)
{
	struct nests *nests = context;

	*array_push(&nests->rows) = *(const struct hwprof_row_loop *)row;
	return true;
}

/* Settles and reads. Returns the number of calls of settle(). */
static size_t nests_read(struct nests *nests, size_t limit)
{
	size_t at = 0, before, calls = 1;

	for (before = 0; !loop_engine.settle(nests->profile, 0, &at, limit);
	     before = at, calls++)
		assert_true(at > before);
	at = 0;
	assert_true(
		loop_engine.rows(nests->profile, 0, &at, ~0UL, nests_take,
				 nests));
	return calls;
}

static void assert_same_rows(const struct nests *a, const struct nests *b)
{
	assert_int_equal(a->rows.count, NESTS_LOOPS + 1);
	assert_int_equal(a->rows.count, b->rows.count);
	assert_memory_equal(a->rows.items, b->rows.items,
			    a->rows.count * sizeof(*a->rows.items));
}

/* Merges one item at a time. Returns the cost of each, to be freed. */
static u64 *merge_singly(struct nests *nests)
{
	struct { u64 *items; size_t count, room; } costs = { 0 };

	while (loop_engine.merge(nests->profile, nests->table, 1))
		*array_push(&costs) = 1 + nests->profile->looked / LOOKS;
	assert_true(costs.count > nests->table->flow.slot_count);
	return costs.items;
}

/*
 * Merges with a limit. Asserts that each call takes items until their work
 * reaches the limit. Returns the smallest number of items in a call.
 */
static size_t merge_limited(struct nests *nests, const u64 *costs)
{
	size_t fewest = LIMIT;

	for (;;) {
		size_t from = nests->table->merged, end, at;
		size_t taken = loop_engine.merge(nests->profile, nests->table,
						 LIMIT);
		u64 work = 0;

		if (taken < LIMIT)
			return fewest;
		end = nests->table->merged;
		assert_true(end > from);
		for (at = from; at < end - 1; at++)
			work += costs[at];
		assert_true(work < LIMIT);
		assert_true(work + costs[at] >= LIMIT);
		fewest = min(fewest, end - from);
	}
}

/* Calls bounded by work merge the same as a single call. */
static void test_nests_merge(void **state)
{
	struct nests once = nests_new(), singly = nests_new();
	struct nests limited = nests_new();
	u64 *costs = merge_singly(&singly);

	assert_in_range(loop_engine.merge(once.profile, once.table, ~0UL), 1,
			~0UL - 1);
	assert_in_range(merge_limited(&limited, costs), 1, LIMIT / 8);
	nests_read(&once, ~0UL);
	nests_read(&singly, ~0UL);
	nests_read(&limited, ~0UL);
	assert_same_rows(&once, &singly);
	assert_same_rows(&once, &limited);
	free(costs);
	nests_free(&once);
	nests_free(&singly);
	nests_free(&limited);
}

/*
 * Entries do not depend on the number of calls that find them, even bounded by
 * work.
 */
static void test_nests_settle(void **state)
{
	static const size_t limits[] = { 1, 7, 300, LIMIT };
	struct nests once = nests_new();
	unsigned int i;

	loop_engine.merge(once.profile, once.table, ~0UL);
	assert_int_equal(nests_read(&once, ~0UL), 1);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct nests nests = nests_new();
		size_t segments = nests.profile->flow.slot_count;

		loop_engine.merge(nests.profile, nests.table, ~0UL);
		/* Most segments look at all loops. */
		assert_true(nests_read(&nests, limits[i]) >=
			    segments / 2 / (1 + limits[i] / NESTS_LOOPS));
		assert_same_rows(&once, &nests);
		nests_free(&nests);
	}
	nests_free(&once);
}

/* --- streams without sense ----------------------------------------------- */

typedef void (*make_event)(u64 *random, u64 number, struct stream_event *event);

static void torture(make_event make, u64 events, u64 span)
{
	struct stream_event event;
	struct harness h;
	u64 seed, i;

	for (seed = 1; seed <= seeds(1); seed++) {
		u64 random = seed;

		harness_init(&h, &small, span, seed);
		for (i = 0; i < events; i++) {
			memset(&event, 0, sizeof(event));
			event.space = 1;
			make(&random, i, &event);
			harness_feed(&h, random_below(&random, 2), &event);
			if (!random_below(&random, 10000))
				tables_account(&h.tables);
		}
		harness_finish(&h);
		harness_free(&h);
	}
}

/* Returns addresses at both ends of the space, and random ones. */
static u64 any_address(u64 *random)
{
	u64 any = random_next(random);

	switch (random_below(random, 6)) {
	case 0:
		return 0;
	case 1:
		return ~0ULL;
	case 2:
		return ~0ULL - (any & 0xff);
	case 3:
		return any & 0xff;
	case 4:
		return 0x400000 + (any & 0xfff);
	default:
		return any;
	}
}

static void anything(u64 *random, u64 number, struct stream_event *event)
{
	event->from = any_address(random);
	event->to = any_address(random);
	event->kind = 1 + random_below(random, STREAM_GAP);
	event->space = random_below(random, 3);
}

static void test_anything(void **state)
{
	torture(anything, part(200000), SPAN);
	torture(anything, part(200000), ~0ULL);
	torture(anything, part(200000), 0);
}

static void any_kind(u64 *random, u64 number, struct stream_event *event)
{
	anything(random, number, event);
	event->kind = random_below(random, 4) ? random_below(random, 16) :
						random_next(random);
	event->flags = random_next(random);
	event->value = random_next(random);
	event->cycles = random_next(random);
}

static void test_any_kind(void **state)
{
	torture(any_kind, part(200000), SPAN);
}

static void near_jumps(u64 *random, u64 number, struct stream_event *event)
{
	event->from = 0x1000 + random_below(random, 4096);
	event->to = 0x1000 + random_below(random, 4096);
	event->kind = 1 + random_below(random, 3);
}

static void test_near_jumps(void **state)
{
	torture(near_jumps, part(200000), SPAN);
	torture(near_jumps, part(200000), 64);
}

static void gaps_everywhere(u64 *random, u64 number, struct stream_event *event)
{
	near_jumps(random, number, event);
	if (number & 1)
		event->kind = STREAM_GAP;
}

static void test_gaps_everywhere(void **state)
{
	torture(gaps_everywhere, part(200000), SPAN);
}

static void returns_only(u64 *random, u64 number, struct stream_event *event)
{
	near_jumps(random, number, event);
	if (random_below(random, 4))
		event->kind = STREAM_RET;
}

static void test_returns_only(void **state)
{
	torture(returns_only, part(200000), SPAN);
}

/* A million nested calls, and most of their returns. */
static void deep(u64 *random, u64 number, struct stream_event *event)
{
	if (number < 1000000) {
		event->kind = number % 3 ? STREAM_CALL : STREAM_COND;
		event->from = 0x1010;
		event->to = 0x1000;
	} else {
		event->kind = number % 3 ? STREAM_RET : STREAM_COND;
		event->from = 0x1020;
		event->to = number % 3 ? 0x1015 : 0x1000;
	}
}

static void test_deep(void **state)
{
	torture(deep, 1900000, SPAN);
}

static void spaces_alternate(u64 *random, u64 number,
			     struct stream_event *event)
{
	near_jumps(random, number, event);
	event->space = number;
}

static void test_spaces_alternate(void **state)
{
	torture(spaces_alternate, part(200000), SPAN);
}

static void signals_nest(u64 *random, u64 number, struct stream_event *event)
{
	near_jumps(random, number, event);
	if (random_below(random, 3))
		event->kind = random_below(random, 3) ? STREAM_SIGNAL :
							STREAM_SIGRETURN;
}

static void test_signals_nest(void **state)
{
	torture(signals_nest, part(200000), SPAN);
}

/* --- a space that ends --------------------------------------------------- */

/* forget() counts what it drops as evicted, and keeps the rest. */
static void test_forget(void **state)
{
	struct harness_style style = small;
	struct harness h;
	u64 before;

	style.tasks = style.tables = 1;
	style.exchanges = style.readings = style.refusals = 0;
	harness_init(&h, &style, SPAN, 1);
	for (u32 space = 1; space <= 3; space++) {
		const struct stream_event events[] = {
			{ .kind = STREAM_CALL, .from = 0x900, .to = 0x100,
			  .space = space },
			{ .kind = STREAM_COND, .from = 0x110, .to = 0x104,
			  .space = space },
			{ .kind = STREAM_RET, .from = 0x112, .to = 0x905,
			  .space = space },
		};

		for (size_t i = 0; i < 3; i++)
			harness_feed(&h, 0, &events[i]);
	}
	tables_retire(&h.tables, 0, 100);
	before = loop_engine.pending(h.tables.profile);
	assert_int_equal(before, 3);
	tables_forget(&loop_engine, h.tables.profile, 2);
	assert_int_equal(loop_engine.pending(h.tables.profile), 2);
	assert_int_equal(loop_engine.evicted(h.tables.profile), 1);
	harness_finish(&h);
	assert_non_null(harness_find(&h, 1, 0x104));
	assert_null(harness_find(&h, 2, 0x104));
	assert_int_equal(harness_find(&h, 3, 0x104)->entries, 1);
	harness_free(&h);
}

static bool take_none(void *context, const void *row, u64 ip, u64 addr,
		      u64 period)
{
	fail_msg("a row of %lld entries",
		 ((const struct hwprof_row_loop *)row)->entries);
	return true;
}

/* All of a space was told. While it is forgotten, nothing of it is said. */
static void test_rows_while_forgetting(void **state)
{
	struct harness_style style = small;
	struct harness h;
	size_t at = 0, row;
	u64 i, base;

	style.tasks = style.tables = 1;
	style.exchanges = style.readings = style.refusals = 0;
	harness_init(&h, &style, SPAN, 1);
	for (i = 0; i < 20; i++) {
		base = 0x1000 * (i + 1);
		const struct stream_event events[] = {
			{ .kind = STREAM_CALL, .from = 0x900,
			  .to = base + 0x100, .space = 2 },
			{ .kind = STREAM_COND, .from = base + 0x110,
			  .to = base + 0x104, .space = 2 },
			{ .kind = STREAM_RET, .from = base + 0x112,
			  .to = 0x905, .space = 2 },
		};

		for (size_t k = 0; k < 3; k++)
			harness_feed(&h, 0, &events[k]);
	}
	harness_finish(&h);
	while (!loop_engine.forget(h.tables.profile, 2, &at, 1)) {
		engine_settle(&loop_engine, h.tables.profile, 0);
		row = 0;
		loop_engine.rows(h.tables.profile, 0, &row, ~0UL, take_none,
				 NULL);
	}
	assert_true(at > 1);
	harness_free(&h);
}

/* The smallest allowed table works. */
static void test_smallest_table(void **state)
{
	struct harness_style style = small;
	u64 random = 1;
	struct stream_event event;
	struct harness h;
	int i;

	style.table_size = style.profile_size = loop_engine.table_min;
	harness_init(&h, &style, SPAN, 1);
	for (i = 0; i < 300000; i++) {
		memset(&event, 0, sizeof(event));
		near_jumps(&random, i, &event);
		event.space = 1;
		harness_feed(&h, i % 2, &event);
	}
	harness_finish(&h);
	harness_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_loops),
		cmocka_unit_test(test_half_full),
		cmocka_unit_test(test_segments_stay),
		cmocka_unit_test(test_small_tables),
		cmocka_unit_test(test_nests_merge),
		cmocka_unit_test(test_nests_settle),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_any_kind),
		cmocka_unit_test(test_near_jumps),
		cmocka_unit_test(test_gaps_everywhere),
		cmocka_unit_test(test_returns_only),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_spaces_alternate),
		cmocka_unit_test(test_signals_nest),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_rows_while_forgetting),
		cmocka_unit_test(test_smallest_table),
	};

	return cmocka_run_group_tests_name("loop engine, bounds", tests, NULL,
					   NULL);
}
