// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the cct engine, fed with sampled stacks, with the simplest code:
 * nodes with pointers, and each stack walked from its root. Tables are
 * exchanged at any time and rows refused. The tree of the rows must have the
 * same weights.
 */
#include "engine/engine.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"

enum {
	TABLES		= 2,
	PROCEDURE	= 0x1000,	/* bytes */
	STACK_KEPT	= 512,		/* docs/contexts.md: limits */
	STACK_MOST	= 700,
	TOLD_MOST	= 1 << 17,
};

/* --- the simplest code -------------------------------------------------- */

struct node {
	u64 site, callee, weight, deeper, samples;
	u64 metrics[HWPROF_METRICS_MAX];
	u32 space;
	struct node *up, *target;	/* target: a back edge */
	struct node *down, *next;
	bool found;			/* in rows */
};

static struct node *child_of(struct node **first, u64 site, u64 callee,
			     u32 space, struct node *up)
{
	struct node *node;

	for (node = *first; node; node = node->next)
		if (node->site == site && node->callee == callee &&
		    node->space == space)
			return node;
	node = calloc(1, sizeof(*node));
	assert_non_null(node);
	*node = (struct node) {
		.site = site, .callee = callee, .space = space, .up = up,
		.next = *first,
	};
	*first = node;
	return node;
}

static struct node *enter(struct node *at, u64 site, u64 callee)
{
	struct node *edge = child_of(&at->down, site, callee, at->space, at);
	struct node *above;

	for (above = at; above && callee; above = above->up)
		if (above->callee == callee)
			edge->target = above;
	return edge->target ? edge->target : edge;
}

static void count(struct node **roots, const struct stream_stack *stack,
		  u32 metrics)
{
	struct node *at = child_of(roots, 0, 0, stack->space, NULL);
	u64 site = 0;
	u32 i, kept = 0;

	for (i = stack->used; i-- && kept < STACK_KEPT; kept++) {
		at = enter(at, site, stack->procedures[i]);
		site = stack->sites[i];
	}
	/* The running procedure is one more. */
	if (stack->used <= STACK_KEPT) {
		at = enter(at, site, stack->procedure);
		at->weight += stack->weight;
		at->samples++;
	} else {
		i = stack->used - 1 - STACK_KEPT;
		at = enter(at, site, stack->procedures[i]);
		at->deeper += stack->weight;
	}
	for (i = 0; stack->metrics && i < metrics; i++)
		at->metrics[i] += stack->metrics[i];
}

static size_t free_all(struct node *node)
{
	size_t count = 0;

	while (node) {
		struct node *next = node->next;

		count += 1 + free_all(node->down);
		free(node);
		node = next;
	}
	return count;
}

/* --- the engine --------------------------------------------------------- */

struct told {
	struct hwprof_row_context row;
	struct node *node;
};

struct bench {
	struct tables tables;
	u32 metrics;
	struct node *roots;
	struct told *told;
	size_t told_count;
	u64 random;
	unsigned int refusals;		/* one row in that many is refused */
	u64 again;			/* repeated stacks */
};

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size, u64 seed, u32 metrics)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_TIME, .seed = seed, .metrics = metrics,
	};

	*bench = (struct bench) {
		.tables = tables_make(&cct_engine, &params, TABLES, table_size,
				      profile_size),
		.told = calloc(TOLD_MOST, sizeof(struct told)), .random = seed,
		.metrics = metrics,
	};
	assert_non_null(bench->told);
}

static size_t bench_free(struct bench *bench)
{
	tables_free(&bench->tables);
	free(bench->told);
	return free_all(bench->roots);
}

static struct told *told_of(struct bench *bench, u64 id)
{
	size_t slot = id * HASH_PRIME >> 32;

	for (;; slot++) {
		struct told *told = &bench->told[slot % TOLD_MOST];

		if (!told->row.id || told->row.id == id)
			return told;
	}
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_context *row = data;
	struct bench *bench = context;
	struct told *told;
	u32 i;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(period, row->weight + row->deeper);
	assert_int_equal(ip, row->callee);
	assert_int_equal(addr, row->site);
	assert_int_equal(row->row.size, bench->metrics ? sizeof(*row) :
			 HWPROF_ROW_CONTEXT_SIZE_VER0);
	assert_int_equal(row->metric_count, bench->metrics);
	told = told_of(bench, row->id);
	if (!told->row.id) {
		assert_true(++bench->told_count < TOLD_MOST / 2);
		told->row = *row;
	} else {
		told->row.weight += row->weight;
		told->row.deeper += row->deeper;
		if (row->kind == HWPROF_CONTEXT_RECURSION)
			assert_int_equal(told->row.target, row->target);
		else
			told->row.samples += row->samples;
		for (i = 0; i < HWPROF_METRICS_MAX; i++)
			told->row.metrics[i] += row->metrics[i];
	}
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take, bench);
}

static void feed(struct bench *bench, const struct stream_stack *stack)
{
	unsigned int table = random_below(&bench->random, TABLES);
	struct stream_stack known = *stack;

	known.procedures = NULL;
	count(&bench->roots, stack, bench->metrics);
	bench->tables.produced += stack->weight;
	if (cct_engine.count_stack(bench->tables.items[table], &known))
		bench->again++;
	else if (!cct_engine.feed_stack(bench->tables.items[table], stack))
		tables_retire(&bench->tables, table, 100);
	if (random_once_in(&bench->random, 500))
		tables_retire(&bench->tables, table, 100);
	/* Merge some of its nodes, and continue. */
	if (random_once_in(&bench->random, 50))
		cct_engine.merge(bench->tables.profile,
				 bench->tables.items[table], 3);
	if (random_once_in(&bench->random, 3000))
		read_rows(bench);
}

static void finish(struct bench *bench)
{
	tables_finish(&bench->tables, take, bench);
}

/* --- comparison --------------------------------------------------------- */

/* Returns the oracle's node of a row. The row of its caller must exist. */
static struct node *node_of(struct bench *bench, struct told *told)
{
	const struct hwprof_row_context *row = &told->row;
	struct node *up = NULL, *node;

	if (told->node)
		return told->node;
	if (row->parent) {
		struct told *caller = told_of(bench, row->parent);

		assert_int_equal(caller->row.id, row->parent);
		assert_int_not_equal(caller->row.kind,
				     HWPROF_CONTEXT_RECURSION);
		up = node_of(bench, caller);
	}
	for (node = up ? up->down : bench->roots; node; node = node->next)
		if (node->site == row->site && node->callee == row->callee &&
		    node->space == row->row.space)
			break;
	assert_non_null(node);
	assert_false(node->found);
	node->found = true;
	told->node = node;
	return node;
}

static void compare(struct bench *bench)
{
	size_t i, count = 0;

	for (i = 0; i < TOLD_MOST; i++) {
		struct told *told = &bench->told[i];
		const struct hwprof_row_context *row = &told->row;
		struct node *node;

		if (!row->id)
			continue;
		count++;
		node = node_of(bench, told);
		assert_int_equal(row->weight, node->weight);
		assert_int_equal(row->deeper, node->deeper);
		assert_memory_equal(row->metrics, node->metrics,
				    sizeof(node->metrics));
		assert_int_equal(row->kind == HWPROF_CONTEXT_RECURSION,
				 node->target != NULL);
		if (node->target)
			assert_ptr_equal(node->target,
					 node_of(bench, told_of(bench,
								row->target)));
		else
			assert_int_equal(row->samples, node->samples);
	}
	assert_int_equal(count, bench->told_count);
}

/* --- stacks ------------------------------------------------------------- */

struct style {
	unsigned int procedures;
	unsigned int depth;
	unsigned int change;	/* calls of the last stack that change */
	unsigned int spaces;
	unsigned int stacks;
	u32 metrics;		/* each eighth stack has none */
	bool unknown;		/* each fourth procedure is 0 */
	unsigned int doubted;	/* calls by this procedure are not trusted, nor
				 * calls above them; 0: all are trusted */
};

struct walker {
	u64 sites[STACK_MOST], of[STACK_MOST];	/* outermost first */
	u32 depth;
	u64 leaf;
};

/* Makes the next stack, most of which is unchanged. */
static void move(struct walker *walker, const struct style *style, u64 *random)
{
	u32 keep = random_below(random, style->change + 1);

	walker->depth -= min(keep, walker->depth);
	while (walker->depth < style->depth && random_below(random, 8)) {
		u64 callee = random_below(random, style->procedures) + 1;
		u32 at = walker->depth++;

		walker->of[at] = callee * PROCEDURE;
		walker->sites[at] = callee * PROCEDURE + 8 +
				    random_below(random, 3);
		if (style->unknown && callee % 4 == 0)
			walker->of[at] = 0;
	}
	walker->leaf = (random_below(random, style->procedures) + 1) *
		       PROCEDURE;
}

static void feed_walker(struct bench *bench, const struct walker *walker,
			const struct style *style)
{
	u64 sites[STACK_MOST], of[STACK_MOST], metrics[HWPROF_METRICS_MAX];
	struct stream_stack stack = {
		.sites = sites, .procedures = of, .procedure = walker->leaf,
		.depth = walker->depth,
		.weight = 1 + random_below(&bench->random, 1000),
		.space = 1 + random_below(&bench->random, style->spaces),
	};
	u32 i;

	for (i = 0; i < walker->depth; i++) {
		sites[i] = walker->sites[walker->depth - 1 - i];
		of[i] = walker->of[walker->depth - 1 - i];
	}
	for (i = 0; i < bench->metrics; i++)
		metrics[i] = random_below(&bench->random, 1 << 20);
	if (bench->metrics && !random_once_in(&bench->random, 8))
		stack.metrics = metrics;
	while (stack.used < stack.depth &&
	       (!style->doubted ||
		of[stack.used] != style->doubted * PROCEDURE))
		stack.used++;
	feed(bench, &stack);
}

static void feed_all(struct bench *bench, const struct style *style)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	unsigned int i;

	assert_non_null(walker);
	for (i = 0; i < style->stacks; i++) {
		move(walker, style, &bench->random);
		feed_walker(bench, walker, style);
	}
	free(walker);
}

/* --- tests -------------------------------------------------------------- */

static void try_style(const struct style *style, u64 seed, size_t size)
{
	struct bench bench;
	size_t nodes;

	bench_init(&bench, size, 4 * size, seed, style->metrics);
	bench.refusals = 5;
	feed_all(&bench, style);
	finish(&bench);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	compare(&bench);
	nodes = bench.told_count;
	assert_true(style->change == 0 || bench.again > 0);
	assert_int_equal(bench_free(&bench), nodes);
}

static void test_random(void **state)
{
	static const struct style styles[] = {
		{ .procedures = 40, .depth = 12, .change = 2, .spaces = 1 },
		{ .procedures = 40, .depth = 12, .change = 2, .spaces = 1,
		  .metrics = 1 },
		{ .procedures = 5, .depth = 40, .change = 4, .spaces = 2 },
		{ .procedures = 3, .depth = 100, .change = 9, .spaces = 3,
		  .metrics = HWPROF_METRICS_MAX },
		{ .procedures = 20, .depth = 8, .change = 3, .spaces = 2,
		  .unknown = true },
		{ .procedures = 20, .depth = 20, .change = 3, .spaces = 1,
		  .doubted = 7 },
	};
	u64 seed;
	size_t i;

	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		for (seed = 1; seed <= seeds(5); seed++) {
			struct style style = styles[i];

			style.stacks = 4000;
			try_style(&style, seed * 7919 + i, 8 << 20);
		}
}

/*
 * One more call than is kept, and many more. And again, in tables whose nodes
 * were others before.
 */
static void test_deep(void **state)
{
	static const u32 depths[] = { 1, STACK_KEPT - 1, STACK_KEPT,
				      STACK_KEPT + 1, STACK_MOST - 1 };
	const struct style style = { .spaces = 1 };
	struct walker *walker = calloc(1, sizeof(*walker));
	unsigned int i, again, nodes;
	struct bench bench;
	u32 at;

	assert_non_null(walker);
	bench_init(&bench, 1 << 20, 4 << 20, 5, 3);
	for (i = 0; i < 50; i++) {
		if (i % 5 == 0)
			tables_retire(&bench.tables, i % TABLES, 100);
		walker->depth = depths[i % 5];
		for (at = 0; at < walker->depth; at++) {
			walker->of[at] = (at + 1) * PROCEDURE;
			walker->sites[at] = walker->of[at] + 8;
		}
		walker->leaf = (STACK_MOST + 1) * PROCEDURE;
		for (again = 0; again < 3; again++)
			feed_walker(&bench, walker, &style);
	}
	finish(&bench);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	compare(&bench);
	nodes = bench.told_count;
	assert_int_equal(bench_free(&bench), nodes);
	free(walker);
}

/* A procedure is on a chain once, however deep the recursion. */
static void test_recursion(void **state)
{
	const struct style style = { .spaces = 1 };
	struct walker *walker = calloc(1, sizeof(*walker));
	struct bench bench;
	u32 at;

	assert_non_null(walker);
	bench_init(&bench, 1 << 20, 4 << 20, 6, 0);
	for (walker->depth = 1; walker->depth < STACK_KEPT; walker->depth++) {
		at = walker->depth - 1;
		walker->of[at] = (1 + at % 2) * PROCEDURE;
		walker->sites[at] = walker->of[at] + 8;
		walker->leaf = (1 + (at + 1) % 2) * PROCEDURE;
		feed_walker(&bench, walker, &style);
	}
	finish(&bench);
	compare(&bench);
	/* The root, two procedures, and a back edge. */
	assert_int_equal(bench.told_count, 4);
	bench_free(&bench);
	free(walker);
}

/* Without room, units are counted as evicted, and the sums are right. */
static void test_crowded(void **state)
{
	const struct style style = {
		.procedures = 300, .depth = 30, .change = 20, .spaces = 2,
		.stacks = 20000, .metrics = 2,
	};
	struct bench bench;
	size_t i;

	bench_init(&bench, cct_engine.table_min, cct_engine.table_min, 9,
		   style.metrics);
	feed_all(&bench, &style);
	finish(&bench);
	assert_true(tables_evicted(&bench.tables) > 0);
	for (i = 0; i < TOLD_MOST; i++)
		assert_true(!bench.told[i].row.id ||
			    bench.told[i].row.kind != HWPROF_CONTEXT_SIGNAL);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_crowded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
