// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the cct engine with the simplest code for contexts. Both get the
 * same events. Tables are exchanged after any event, and rows are refused. The
 * tree of the rows must have the same counts.
 */
#include <inttypes.h>

#include "engine/engine.h"
#include "engine/walk.h"
#include "machine.h"
#include "random.h"
#include "seeds.h"
#include "tables.h"
#include "tests/oracle/array.h"
#include "tests/oracle/contexts.h"
#include "trace.h"

enum {
	TASKS		= 6,
	TABLES		= 3,
	FRAMES_KEPT	= 256,	/* docs/contexts.md: limits */
};

/* The sum of all rows of an id. */
struct told {
	struct hwprof_row_context row;
	struct context *context;	/* the oracle's, once found */
};

struct bench {
	struct tables tables;
	void *cursors[TASKS];
	unsigned int table_of[TASKS];
	struct context_thread threads[TASKS];
	struct contexts contexts;
	struct { struct told *items; size_t count, room; } told;
	u32 *slots;			/* hash table of told: number + 1 */
	size_t slot_count;
	u64 random;
	unsigned int refusals;		/* of rows: one in that many */
	u64 crowded;			/* events after which a table was
					 * crowded */
};

static void bench_init(struct bench *bench, size_t table_size,
		       size_t profile_size, u64 seed)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = seed * 7,
	};
	unsigned int i;

	*bench = (struct bench){
		.tables = tables_make(&cct_engine, &params, TABLES, table_size,
				      profile_size),
		.slot_count = 1 << 22, .random = seed,
	};
	for (i = 0; i < TASKS; i++) {
		bench->cursors[i] = cursor_new(&cct_engine, i);
		bench->table_of[i] = i % TABLES;
		bench->threads[i].contexts = &bench->contexts;
	}
	bench->slots = calloc(bench->slot_count, sizeof(*bench->slots));
}

static void bench_free(struct bench *bench)
{
	unsigned int i;

	tables_free(&bench->tables);
	for (i = 0; i < TASKS; i++)
		free(bench->cursors[i]);
	free(bench->told.items);
	free(bench->slots);
	contexts_free(&bench->contexts);
}

static struct told *told_of(struct bench *bench, u64 id)
{
	size_t slot = id >> 8 & (bench->slot_count - 1);

	for (; bench->slots[slot]; slot = (slot + 1) & (bench->slot_count - 1))
		if (bench->told.items[bench->slots[slot] - 1].row.id == id)
			return &bench->told.items[bench->slots[slot] - 1];
	assert_true(bench->told.count < bench->slot_count / 2);
	*array_push(&bench->told) = (struct told) { .row.id = id };
	bench->slots[slot] = bench->told.count;
	return &bench->told.items[bench->told.count - 1];
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_context *row = data;
	struct bench *bench = context;
	struct hwprof_row_context *sum;

	if (random_once_in(&bench->random, bench->refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_CONTEXT);
	assert_int_equal(row->row.size, HWPROF_ROW_CONTEXT_SIZE_VER0);
	assert_int_equal(row->calls + row->deeper, period);
	assert_int_equal(row->callee, ip);
	assert_int_equal(row->site, addr);
	assert_true(period || row->branches);
	assert_true(row->id && row->id != row->parent);
	sum = &told_of(bench, row->id)->row;
	if (sum->kind) {
		assert_int_equal(sum->kind, row->kind);
		assert_int_equal(sum->parent, row->parent);
		assert_int_equal(sum->callee, row->callee);
		assert_int_equal(sum->site, row->site);
		assert_int_equal(sum->target, row->target);
		assert_int_equal(sum->row.space, row->row.space);
		sum->calls += row->calls;
		sum->deeper += row->deeper;
		sum->branches += row->branches;
	} else {
		*sum = *row;
	}
	bench->tables.delivered += period;
	return true;
}

static void read_rows(struct bench *bench)
{
	tables_read(&bench->tables, take_row, bench);
}

static void feed_engine(struct bench *bench, unsigned int task,
			const struct stream_event *event)
{
	const struct engine_params params = { 0 };

	bench->tables.produced += cct_engine.unit(&params, event);
	bench->crowded +=
		!cct_engine.feed(bench->tables.items[bench->table_of[task]],
				 bench->cursors[task], event);
}

static void feed(struct bench *bench, unsigned int task,
		 const struct stream_event *event)
{
	feed_engine(bench, task, event);
	contexts_feed(&bench->threads[task], event);
}

static void finish(struct bench *bench)
{
	unsigned int i;

	for (i = 0; i < TASKS; i++) {
		/* The last branches of a task are counted at a gap. */
		const struct stream_event gap = {
			.kind = STREAM_GAP, .space = bench->threads[i].space,
		};

		feed(bench, i, &gap);
		contexts_finish(&bench->threads[i]);
	}
	tables_finish(&bench->tables, take_row, bench);
}

/* --- comparing ---------------------------------------------------------- */

static unsigned int differences;

static void differ(const struct told *told, const char *what, u64 engine,
		   u64 oracle)
{
	if (differences++ < 10)
		print_error("kind %u site %" PRIx64 " callee %" PRIx64
			    ": %s %" PRIu64 ", oracle %" PRIu64 "\n",
			    told->row.kind, (u64)told->row.site,
			    (u64)told->row.callee, what, engine, oracle);
}

/* Returns the oracle's context of a row; NULL if there is none. */
static struct context *place(struct bench *bench, struct told *told)
{
	struct context *first = bench->contexts.roots;

	if (told->context || !told->row.kind)
		return told->context;
	if (told->row.parent) {
		struct told *parent = told_of(bench, told->row.parent);

		if (!parent->row.kind || !place(bench, parent))
			return NULL;
		first = parent->context->children;
	}
	told->context = contexts_find(first, told->row.kind,
				      told->row.row.space, told->row.site,
				      told->row.callee);
	return told->context;
}

static void compare_told(struct bench *bench, struct told *told)
{
	struct context *context = place(bench, told);

	if (!context) {
		differ(told, "is no context", told->row.calls, 0);
		return;
	}
	if (told->row.calls != context->calls)
		differ(told, "calls", told->row.calls, context->calls);
	if (told->row.branches != context->branches)
		differ(told, "branches", told->row.branches,
		       context->branches);
	if (told->row.kind == HWPROF_CONTEXT_RECURSION) {
		struct told *target = told_of(bench, told->row.target);

		if (!context->target || place(bench, target) != context->target)
			differ(told, "target", told->row.target, 0);
	}
}

/* Counts the contexts that need a row. */
static size_t count_contexts(const struct context *first)
{
	size_t count = 0;

	for (; first; first = first->next)
		count += (first->calls || first->branches) +
			 count_contexts(first->children);
	return count;
}

static void compare(struct bench *bench)
{
	size_t i;

	differences = 0;
	for (i = 0; i < bench->told.count; i++)
		compare_told(bench, &bench->told.items[i]);
	assert_int_equal(differences, 0);
	assert_int_equal(bench->told.count,
			 count_contexts(bench->contexts.roots));
}

/* --- random programs ---------------------------------------------------- */

struct scene {
	struct program_style program;
	struct machine_style machine;
	unsigned int exchanges, readings, refusals;
	unsigned int tasks, spaces;
	u64 events;
};

static const struct program_style plain = { .procedures = 8, .depth = 3 };

static const struct program_style wild = {
	.procedures = 12, .depth = 4, .recursion = true, .tail_calls = true,
	.gotos = true, .longjmps = true,
};

static const struct program_style chaos = {
	.procedures = 6, .recursion = true, .soup = true,
};

/* Returns false if the task has just called a stub. */
static bool may_exchange(const struct bench *bench, unsigned int task)
{
	return bench->threads[task].last.kind != STREAM_CALL;
}

static void keep_house(struct bench *bench, const struct scene *scene,
		       unsigned int task)
{
	if (random_once_in(&bench->random, scene->exchanges)) {
		unsigned int table = random_below(&bench->random, TABLES), i;
		bool free = may_exchange(bench, task);

		for (i = 0; i < scene->tasks; i++)
			if (bench->table_of[i] == table)
				free &= may_exchange(bench, i);
		if (free) {
			tables_retire(&bench->tables, table,
				      1 + random_below(&bench->random, 50));
			bench->table_of[task] = table;
		}
	}
	if (random_once_in(&bench->random, scene->readings))
		read_rows(bench);
}

/* Returns true if the events determine the machine's frames. */
static bool is_certain(const struct machine_style *style)
{
	return style->has_stack && !style->bare_calls && !style->signals &&
	       !style->gaps;
}

/* Returns false if nesting was too deep, so that nothing can be compared. */
static bool try_program(const struct scene *scene, u64 seed)
{
	struct program *program = program_new(seed, &scene->program);
	static struct machine machines[TASKS];
	struct stream_event event;
	struct bench bench;
	bool kept = true;
	unsigned int i, depth;
	u64 n;

	bench_init(&bench, 8 << 20, 16 << 20, seed + 1);
	bench.refusals = scene->refusals;
	for (i = 0; i < scene->tasks; i++)
		machine_init(&machines[i], program, &scene->machine,
			     seed + i, 1 + i % scene->spaces);
	for (n = 0; n < scene->events; n++) {
		unsigned int task = random_below(&bench.random, scene->tasks);

		depth = machines[task].depth;
		machine_next(&machines[task], &event);
		feed(&bench, task, &event);
		if (is_certain(&scene->machine) && n)
			assert_int_equal(bench.threads[task].stack.count,
					 depth + 1);
		keep_house(&bench, scene, task);
	}
	finish(&bench);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	for (i = 0; i < TASKS; i++)
		kept &= bench.threads[i].deepest <= FRAMES_KEPT;
	if (kept)
		compare(&bench);
	bench_free(&bench);
	program_free(program);
	return kept;
}

static void try_programs(const struct scene *scene, u64 count)
{
	u64 seed, compared = 0;

	for (seed = 0; seed < seeds(count); seed++)
		compared += try_program(scene, seed);
	/* Left frames accumulate in some programs, but not in most. */
	assert_true(compared > seed / 2);
}

static void test_plain(void **state)
{
	static const struct scene scene = {
		.program = plain, .machine = { .stack = 60 },
		.tasks = 1, .spaces = 1, .events = 20000,
	};

	try_programs(&scene, 20);
}

static void test_wild(void **state)
{
	static const struct scene scene = {
		.program = wild, .machine = { .stack = 30, .signals = 300 },
		.tasks = 3, .spaces = 2, .events = 20000,
		.exchanges = 100, .readings = 1000, .refusals = 3,
	};

	try_programs(&scene, 40);
}

/* The stack pointer shows which frames a longjmp or an exception leaves. */
static void test_stack(void **state)
{
	static const struct scene scene = {
		.program = wild,
		.machine = { .stack = 60, .has_stack = true, .throws = true },
		.tasks = 1, .spaces = 1, .events = 20000, .exchanges = 100,
	};

	try_programs(&scene, 40);
}

/* The same if procedures begin with a call, as only assembly does. */
static void test_lean_stack(void **state)
{
	static const struct scene scene = {
		.program = wild,
		.machine = {
			.stack = 60, .has_stack = true, .lean_frames = true,
			.throws = true,
		},
		.tasks = 1, .spaces = 1, .events = 20000, .exchanges = 100,
		.readings = 500,
	};

	try_programs(&scene, 40);
}

/* The same if calls push nothing, with handlers that are left. */
static void test_bare_stack(void **state)
{
	static const struct scene scene = {
		.program = wild,
		.machine = {
			.stack = 40, .has_stack = true, .bare_calls = true,
			.throws = true, .signals = 300, .gaps = 3000,
		},
		.tasks = TASKS, .spaces = 2, .events = 20000,
		.exchanges = 50, .readings = 500, .refusals = 3,
	};

	try_programs(&scene, 40);
}

static void test_gaps(void **state)
{
	static const struct scene scene = {
		.program = wild,
		.machine = { .stack = 40, .signals = 500, .gaps = 2000 },
		.tasks = TASKS, .spaces = 3, .events = 30000,
		.exchanges = 20, .readings = 500, .refusals = 4,
	};

	try_programs(&scene, 40);
}

static void test_chaos(void **state)
{
	static const struct scene scene = {
		.program = chaos,
		.machine = { .stack = 30, .signals = 1000, .gaps = 1000 },
		.tasks = TASKS, .spaces = 2, .events = 20000,
		.exchanges = 1, .readings = 300, .refusals = 3,
	};

	try_programs(&scene, 40);
}

/* --- by hand ------------------------------------------------------------ */

static void run(struct bench *bench, const struct stream_event *events,
		size_t count)
{
	while (count--)
		feed(bench, 0, events++);
}

#define RUN(bench, ...)							       \
	do {								       \
		const struct stream_event events_[] = { __VA_ARGS__ };	       \
									       \
		run(bench, events_, sizeof(events_) / sizeof(events_[0]));     \
	} while (0)

/* Returns the sum of all rows of this kind for a procedure. */
static struct hwprof_row_context sum_of(const struct bench *bench,
					enum hwprof_context_kind kind,
					u64 callee)
{
	struct hwprof_row_context sum = { .calls = 0 };
	size_t i;

	for (i = 0; i < bench->told.count; i++) {
		const struct hwprof_row_context *row =
			&bench->told.items[i].row;

		if (row->kind != kind || row->callee != callee)
			continue;
		sum.calls += row->calls;
		sum.deeper += row->deeper;
		sum.branches += row->branches;
		sum.basis++;		/* number of rows */
	}
	return sum;
}

/* The paper's figure 5: A calls B calls A, which calls C. */
static void test_recursion(void **state)
{
	struct hwprof_row_context a, b, c, back;
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 3);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x1000), CALL(0x1010, 0x2000),
	    CALL(0x2010, 0x1000), CALL(0x1020, 0x3000), RET(0x3010, 0x1025),
	    RET(0x1030, 0x2015), CALL(0x2020, 0x3000), RET(0x3010, 0x2025),
	    RET(0x2030, 0x1015), RET(0x1030, 0x115));
	finish(&bench);
	compare(&bench);
	a = sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000);
	b = sum_of(&bench, HWPROF_CONTEXT_CALL, 0x2000);
	c = sum_of(&bench, HWPROF_CONTEXT_CALL, 0x3000);
	back = sum_of(&bench, HWPROF_CONTEXT_RECURSION, 0x1000);
	assert_int_equal(a.basis, 1);
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.branches, 4);
	assert_int_equal(b.basis, 1);
	assert_int_equal(back.calls, 1);
	assert_int_equal(c.basis, 2);	/* below A, and below B */
	assert_int_equal(c.calls, 2);
	bench_free(&bench);
}

/* Calls through a PLT: its entry is no context, whoever calls it. */
static void test_stubs(void **state)
{
	struct bench bench;
	unsigned int i;

	bench_init(&bench, 64 << 10, 64 << 10, 4);
	RUN(&bench, GAP(0x100));
	for (i = 0; i < 3; i++)
		RUN(&bench, CALL(0x110, 0x200), INDIRECT(0x204, 0x1000),
		    CALL(0x1010, 0x300), INDIRECT(0x300, 0x1000),
		    RET(0x1020, 0x1015), RET(0x1020, 0x115),
		    COND(0x120, 0x110));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).calls, 3);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x200).basis, 0);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_RECURSION,
				0x1000).calls, 3);
	bench_free(&bench);
}

/*
 * A procedure that computes where to jump, for example from a table, is no
 * stub.
 */
static void test_thunk(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 4);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x200), INDIRECT(0x203, 0x1000),
	    CALL(0x1010, 0x2000), RET(0x2020, 0x1015), RET(0x1020, 0x115));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x200).calls, 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).basis, 0);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x2000).calls, 1);
	bench_free(&bench);
}

/*
 * The table is exchanged between the call of a stub and its jump: nothing is
 * lost.
 */
static void test_stub_of_a_table_that_is_gone(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 4);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x200));
	tables_retire(&bench.tables, 0, 10);
	RUN(&bench, INDIRECT(0x204, 0x1000), RET(0x1020, 0x115),
	    CALL(0x120, 0x1000), RET(0x1020, 0x125));
	finish(&bench);
	assert_int_equal(bench.tables.delivered, 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x200).calls, 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).calls, 1);
	bench_free(&bench);
}

/*
 * After a gap behind the call of a stub, the jump belongs to another procedure.
 */
static void test_gap_behind_a_stub(void **state)
{
	struct stream_event jump = INDIRECT(0x200, 0x1000);
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 4);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x200));
	jump.space = 2;
	run(&bench, &jump, 1);
	RUN(&bench, CALL(0x110, 0x200), GAP(0x200), INDIRECT(0x200, 0x1000));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x200).calls, 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).basis, 0);
	bench_free(&bench);
}

/* Returns the event with the stack pointer after it. */
static struct stream_event with(struct stream_event event, u64 stack)
{
	event.flags = STREAM_STACK;
	event.value = stack;
	return event;
}

#define EVENT(event)	((struct stream_event)event)

/*
 * Switching stacks ends no frames: jumps to and from a stack above all frames,
 * and a return on a stack below them.
 */
static void test_other_stacks(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 12);
	RUN(&bench, GAP(0x100), with(EVENT(CALL(0x110, 0x1000)), 0x7000),
	    with(EVENT(CALL(0x1010, 0x2000)), 0x6000),
	    with(EVENT(INDIRECT(0x2010, 0x2100)), 0x9000),
	    with(EVENT(INDIRECT(0x2110, 0x2200)), 0x5800),
	    with(EVENT(RET(0x2210, 0x3000)), 0x3000),	/* of a root */
	    with(EVENT(CALL(0x3010, 0x4000)), 0x2ff0),
	    with(EVENT(RET(0x4010, 0x3080)), 0x3000),	/* of a landing pad */
	    with(EVENT(RET(0x3110, 0x1015)), 0x6008),
	    with(EVENT(RET(0x1020, 0x115)), 0x7008));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x2000).branches,
			 3);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).branches,
			 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x4000).branches,
			 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_ROOT, 0).branches, 3);
	bench_free(&bench);
}

/*
 * The caller of the lowest kept frame is unknown. That frame is not left, even
 * if others used the places below it.
 */
static void test_stack_of_lowest_frame(void **state)
{
	enum { CALLS = WALK_DEPTH + 10, LOWEST = CALLS - WALK_DEPTH };
	struct bench bench;
	u64 i;

	bench_init(&bench, 256 << 10, 256 << 10, 13);
	RUN(&bench, GAP(0x100));
	for (i = 1; i <= CALLS; i++) {
		struct stream_event call =
			CALL((i << 12) + 0x10, (i + 1) << 12);

		if (i <= WALK_DEPTH)
			call = with(call, 0x80000000 - 16 * i);
		run(&bench, &call, 1);
	}
	while (--i > LOWEST)
		RUN(&bench, RET(((i + 1) << 12) + 0x20, (i << 12) + 0x15));
	RUN(&bench, with(EVENT(INDIRECT(0xb020, 0xb080)), 0x7ffffff0),
	    CALL(0xb090, 0x100000));
	finish(&bench);
	/* Its earlier call, the jump, and this call. */
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0xb000).branches,
			 3);
	bench_free(&bench);
}

/*
 * A thunk calls, and returns to its target above that frame. The target runs in
 * the thunk's frame, which continues until the target returns.
 */
static void test_return_for_a_jump(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 15);
	RUN(&bench, GAP(0x100), with(EVENT(CALL(0x110, 0x1000)), 0x7008),
	    with(EVENT(CALL(0x1010, 0x2000)), 0x6008),
	    with(EVENT(CALL(0x2000, 0x2010)), 0x6000),
	    with(EVENT(RET(0x2014, 0x3000)), 0x6008),
	    with(EVENT(CALL(0x3010, 0x4000)), 0x5ff8),
	    with(EVENT(RET(0x4010, 0x3015)), 0x6000),
	    with(EVENT(RET(0x3020, 0x1015)), 0x6010),
	    with(EVENT(RET(0x1020, 0x115)), 0x7010));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).branches,
			 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x2000).branches,
			 3);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x2010).branches,
			 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x4000).branches,
			 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_ROOT, 0).branches, 1);
	bench_free(&bench);
}

/* A jump into the first of many recursive calls. */
static void test_jump_into_recursion(void **state)
{
	struct bench bench;
	u64 stack;

	bench_init(&bench, 64 << 10, 64 << 10, 16);
	RUN(&bench, GAP(0x100), with(EVENT(CALL(0x110, 0x1000)), 0x7008));
	for (stack = 0x7000; stack > 0x6f00; stack -= 8)
		RUN(&bench, with(EVENT(CALL(0x1010, 0x1000)), stack));
	RUN(&bench, with(EVENT(CALL(0x1018, 0x3000)), stack),
	    with(EVENT(INDIRECT(0x3020, 0x1030)), 0x7000),
	    with(EVENT(RET(0x1040, 0x1015)), 0x7008),
	    with(EVENT(CALL(0x1040, 0x2000)), 0x7000),
	    with(EVENT(RET(0x2010, 0x1045)), 0x7008),
	    with(EVENT(RET(0x1050, 0x115)), 0x7010));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).branches,
			 32 + 1 + 1 + 1 + 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x2000).calls, 1);
	bench_free(&bench);
}

/*
 * Without the stack pointer, the next return below closes the frames that a
 * longjmp left.
 */
static void test_longjmp(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 5);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x1000), CALL(0x1010, 0x2000),
	    CALL(0x2010, 0x3000), INDIRECT(0x3010, 0x1020), RET(0x1030, 0x115),
	    CALL(0x120, 0x4000), RET(0x4010, 0x125));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_ROOT, 0).branches, 2);
	bench_free(&bench);
}

/* The same for an exception: until then, the landing pad is a root. */
static void test_exception(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 6);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x1000), CALL(0x1010, 0x2000),
	    CALL(0x2010, 0x9000), RET(0x9010, 0x1080), CALL(0x1090, 0x3000),
	    RET(0x3010, 0x1095), RET(0x1100, 0x115), CALL(0x120, 0x1000),
	    RET(0x1100, 0x125));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).calls, 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).basis, 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x3000).basis, 1);
	bench_free(&bench);
}

/* A handler is a root, even if it calls the procedure that it interrupted. */
static void test_signal(void **state)
{
	struct bench bench;

	bench_init(&bench, 64 << 10, 64 << 10, 7);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x1000), SIGNAL(0x1004, 0x5000),
	    CALL(0x5010, 0x1000), RET(0x1010, 0x5015), RET(0x5020, 0x9000),
	    SIGRETURN(0x9008, 0x1004), RET(0x1010, 0x115));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_SIGNAL, 0x5000).calls,
			 1);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL, 0x1000).basis, 2);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_RECURSION,
				0x1000).basis, 0);
	bench_free(&bench);
}

/*
 * Procedures that begin with a call, as only in assembly: their frames begin at
 * the same stack pointer that they have after that call.
 */
static struct stream_event on_stack(struct stream_event event, u64 *stack)
{
	if (event.kind == STREAM_CALL)
		*stack -= 8;
	else if (event.kind == STREAM_RET)
		*stack += 8;
	return with(event, *stack);
}

/*
 * The table is exchanged after any event of a cycle of calls, and rows are
 * read.
 */
static void cycle_of_a_table_that_is_gone(bool has_stack)
{
	static const struct stream_event events[] = {
		GAP(0x100), CALL(0x110, 0x1000), CALL(0x1000, 0x2000),
		CALL(0x2004, 0x1000), CALL(0x1000, 0x2000),
		CALL(0x2004, 0x1000), CALL(0x1000, 0x2000),
		COND(0x2002, 0x2009), RET(0x2009, 0x1005), RET(0x1005, 0x2009),
		RET(0x2009, 0x1005), RET(0x1005, 0x2009),
		RET(0x2009, 0x1005), RET(0x1005, 0x115),
	};
	enum { EVENTS = sizeof(events) / sizeof(events[0]) };
	unsigned int first, second;

	for (first = 0; first < EVENTS; first++)
		for (second = first; second < EVENTS; second++) {
			struct bench bench;
			u64 stack = 0x7000;
			unsigned int i;

			bench_init(&bench, 64 << 10, 64 << 10, 14);
			for (i = 0; i < EVENTS; i++) {
				struct stream_event event = events[i];

				if (has_stack)
					event = on_stack(event, &stack);
				run(&bench, &event, 1);
				if (i != first && i != second)
					continue;
				tables_retire(&bench.tables, 0, 10);
				bench.table_of[0] = (i == first);
				read_rows(&bench);
			}
			finish(&bench);
			compare(&bench);
			/* Calls and returns; for B also the jump. */
			assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL,
						0x1000).branches, 3 + 3);
			assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_CALL,
						0x2000).branches, 2 + 1 + 3);
			bench_free(&bench);
		}
}

static void test_cycle_of_a_table_that_is_gone(void **state)
{
	cycle_of_a_table_that_is_gone(false);
	cycle_of_a_table_that_is_gone(true);
}

/* --- bounds ------------------------------------------------------------- */

/* Returns the length of the longest chain of rows. */
static unsigned int depth_of(struct bench *bench)
{
	unsigned int depth, most = 0;
	size_t i;

	for (i = 0; i < bench->told.count; i++) {
		const struct told *told = &bench->told.items[i];

		for (depth = 0; told->row.parent; depth++)
			told = told_of(bench, told->row.parent);
		most = max(most, depth);
	}
	return most;
}

/* Direct recursion takes one frame, however deep. */
static void test_deep_recursion(void **state)
{
	struct bench bench;
	unsigned int i;

	bench_init(&bench, 64 << 10, 64 << 10, 8);
	RUN(&bench, GAP(0x100), CALL(0x110, 0x1000));
	for (i = 0; i < 1000000; i++)
		RUN(&bench, CALL(0x1010, 0x1000));
	for (i = 0; i < 1000000; i++)
		RUN(&bench, RET(0x1020, 0x1015));
	RUN(&bench, RET(0x1020, 0x115), CALL(0x120, 0x2000),
	    RET(0x2000, 0x125));
	finish(&bench);
	compare(&bench);
	assert_int_equal(sum_of(&bench, HWPROF_CONTEXT_RECURSION,
				0x1000).calls, 1000000);
	bench_free(&bench);
}

/* A cycle of more procedures than kept frames: chains end all the same. */
static void test_long_cycle(void **state)
{
	enum { CYCLE = 300, TURNS = 100 };
	struct bench bench;
	unsigned int i;

	bench_init(&bench, 1 << 20, 1 << 20, 9);
	RUN(&bench, GAP(0x100));
	for (i = 0; i < CYCLE * TURNS; i++)
		RUN(&bench, CALL(0x1000 * (i % CYCLE) + 0x110,
				 0x1000 * ((i + 1) % CYCLE) + 0x100));
	for (; i--;)
		RUN(&bench, RET(0x1000 * ((i + 1) % CYCLE) + 0x200,
				0x1000 * (i % CYCLE) + 0x115));
	finish(&bench);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	/* Back edges lead from the last one. */
	assert_in_range(depth_of(&bench), 200, FRAMES_KEPT + 1);
	assert_in_range(bench.told.count, 200, CYCLE + 1);
	bench_free(&bench);
}

/* A million contexts through 64 KiB: with rows being read, nothing is lost. */
static void test_many_contexts(void **state)
{
	enum { CONTEXTS = 1000000 };
	struct bench bench;
	u64 site = 0x1000;
	unsigned int i, k;
	size_t n;

	bench_init(&bench, 64 << 10, 512 << 10, 10);
	for (i = 0; i < CONTEXTS; i++, site += 16) {
		const struct stream_event events[] = {
			CALL(site, 0x100000000), RET(0x100000010, site + 5),
		};

		for (k = 0; k < 2; k++)
			feed_engine(&bench, 0, &events[k]);
		if (!bench.crowded)
			continue;
		bench.crowded = 0;
		tables_retire(&bench.tables, 0, 1000);
		read_rows(&bench);
	}
	tables_retire(&bench.tables, 0, 1000);
	read_rows(&bench);
	assert_int_equal(tables_evicted(&bench.tables), 0);
	assert_int_equal(bench.tables.delivered, CONTEXTS);
	assert_in_range(bench.told.count, CONTEXTS, CONTEXTS + 1);
	for (n = 0; n < bench.told.count; n++)
		assert_true(bench.told.items[n].row.calls <= 1);
	bench_free(&bench);
}

/*
 * Without reading or retiring, what is reported is true, and the rest is
 * counted.
 */
static void test_full(void **state)
{
	struct bench bench;
	unsigned int turn;
	u64 site;
	size_t i;

	bench_init(&bench, 64 << 10, 64 << 10, 11);
	RUN(&bench, GAP(0x100));
	for (turn = 0; turn < 3; turn++)
		for (site = 0x1000; site < 0x1000 + 16 * 3000; site += 16)
			RUN(&bench, CALL(site, 0x800000),
			    CALL(0x800010, site + 0x800),
			    RET(site + 0x810, 0x800015),
			    RET(0x800020, site + 5), JUMP(site + 8, 0x100));
	finish(&bench);
	assert_true(tables_evicted(&bench.tables) > 0);
	assert_true(bench.crowded > 0);
	for (i = 0; i < bench.told.count; i++) {
		struct told *told = &bench.told.items[i];
		struct context *context = place(&bench, told);

		if (!context)
			continue;	/* the parent's row is missing */
		assert_true(told->row.calls <= context->calls);
		assert_true(told->row.branches <= context->branches);
	}
	bench_free(&bench);
}

/* --- the rest of engine_ops --------------------------------------------- */

static void test_forget(void **state)
{
	struct stream_event call = CALL(0x110, 0x1000);
	struct bench bench;
	unsigned int i;

	bench_init(&bench, 64 << 10, 64 << 10, 12);
	for (i = 0; i < 60; i++) {
		call.space = 1 + i % 3;
		call.to += 16;
		feed(&bench, i % 3, &call);
	}
	tables_retire(&bench.tables, 0, 1000);
	tables_retire(&bench.tables, 1, 1000);
	tables_retire(&bench.tables, 2, 1000);
	tables_forget(&cct_engine, bench.tables.profile, 2);
	tables_account(&bench.tables);
	assert_int_equal(cct_engine.evicted(bench.tables.profile), 20);
	finish(&bench);
	assert_int_equal(bench.tables.delivered, 40);
	for (i = 0; i < bench.told.count; i++)
		if (bench.told.items[i].row.calls)
			assert_int_not_equal(bench.told.items[i].row.row.space,
					     2);
	bench_free(&bench);
}

static void test_units(void **state)
{
	static const struct stream_event events[] = {
		COND(1, 2), JUMP(1, 2), INDIRECT(1, 2), CALL(1, 2), RET(1, 2),
		SYSCALL(1, 2), SIGNAL(1, 2), SIGRETURN(1, 2), GAP(2),
	};
	const struct engine_params params = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_int_equal(cct_engine.unit(&params, &events[i]),
				 events[i].kind == STREAM_CALL ||
				 events[i].kind == STREAM_SIGNAL);
}

static void test_sample(void **state)
{
	static const struct stream_event call = CALL(0x110, 0x1000);
	const struct engine_params params = { 0 };
	struct engine_sample sample;

	cct_engine.sample(&params, &call, 7, &sample);
	assert_int_equal(sample.ip, 0x1000);
	assert_int_equal(sample.addr, 0x110);
	assert_int_equal(sample.context.row.type, HWPROF_ROW_CONTEXT);
	assert_int_equal(sample.context.row.size, HWPROF_ROW_CONTEXT_SIZE_VER0);
	assert_int_equal(sample.context.calls, 7);
	assert_int_equal(sample.context.id, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_wild),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_chaos),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_thunk),
		cmocka_unit_test(test_stub_of_a_table_that_is_gone),
		cmocka_unit_test(test_cycle_of_a_table_that_is_gone),
		cmocka_unit_test(test_gap_behind_a_stub),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_lean_stack),
		cmocka_unit_test(test_bare_stack),
		cmocka_unit_test(test_other_stacks),
		cmocka_unit_test(test_return_for_a_jump),
		cmocka_unit_test(test_jump_into_recursion),
		cmocka_unit_test(test_stack_of_lowest_frame),
		cmocka_unit_test(test_longjmp),
		cmocka_unit_test(test_exception),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_deep_recursion),
		cmocka_unit_test(test_long_cycle),
		cmocka_unit_test(test_many_contexts),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
