// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle on traces with counts worked out by hand. Each comment shows the
 * code. Addresses are hexadecimal; every jump has 2 bytes, every call 5 bytes.
 */
#include "trace.h"

static struct oracle *run(const struct stream_event *events, size_t count)
{
	struct oracle *oracle = oracle_new(SPAN);
	size_t i;

	for (i = 0; i < count; i++)
		oracle_add(oracle, 7, &events[i]);
	oracle_run(oracle);
	return oracle;
}

#define RUN(...)							       \
	({								       \
		const struct stream_event events_[] = { __VA_ARGS__ };	       \
		run(events_, sizeof(events_) / sizeof(*events_));	       \
	})

struct expected {
	uint64_t head, tail, back_edges, entries;
	uint64_t executions, singles, unclosed, partial, cut, open;
	uint64_t trip_min, trip_max;
};

static void expect_loop(const struct oracle *oracle, struct expected e)
{
	const struct oracle_loop *loop = oracle_find(oracle, 1, e.head);

	assert_non_null(loop);
	assert_int_equal(loop->tail, e.tail);
	assert_int_equal(loop->back_edges, e.back_edges);
	assert_int_equal(loop->entries, e.entries);
	assert_int_equal(loop->executions, e.executions);
	assert_int_equal(loop->singles, e.singles);
	assert_int_equal(loop->unclosed, e.unclosed);
	assert_int_equal(loop->partial, e.partial);
	assert_int_equal(loop->cut, e.cut);
	assert_int_equal(loop->open, e.open);
	assert_int_equal(loop->entries + loop->partial,
			 loop->executions + loop->singles + loop->unclosed +
			 loop->cut + loop->open);
	assert_int_equal(loop->trip_min, e.trip_min);
	assert_int_equal(loop->trip_max, e.trip_max);
}

#define EXPECT(oracle, ...) \
	expect_loop(oracle, (struct expected){ __VA_ARGS__ })

static void expect_count(const struct oracle *oracle, size_t count)
{
	const struct oracle_loop *loops;

	assert_int_equal(oracle_loops(oracle, &loops), count);
}

/*
 * 100 f:    test
 * 104 top:  jz 120 out
 * 110       body
 * 11e       jmp 104
 * 120 out:  ret
 * Called from 900 with three rounds, then from 910 with none: falls into 104
 * twice; the second time it jumps straight out.
 */
static void test_while(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100),
		JUMP(0x11e, 0x104), JUMP(0x11e, 0x104), JUMP(0x11e, 0x104),
		COND(0x104, 0x120), RET(0x120, 0x905),
		CALL(0x910, 0x100), COND(0x104, 0x120), RET(0x120, 0x915));

	expect_count(o, 1);
	EXPECT(o, 0x104, 0x11e, .back_edges = 3, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 4, .trip_max = 4);
	oracle_free(o);
}

/*
 * 100 f: ...
 * 104 top: ...
 * 110      jnz 104
 * 112      ret
 */
static void test_do_while(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x110, 0x104), COND(0x110, 0x104),
		RET(0x112, 0x905),
		CALL(0x910, 0x100), COND(0x110, 0x104), RET(0x112, 0x915),
		CALL(0x920, 0x100), RET(0x112, 0x925));

	EXPECT(o, 0x104, 0x110, .back_edges = 3, .entries = 3, .executions = 2,
	       .singles = 1, .trip_min = 2, .trip_max = 3);
	oracle_free(o);
}

/* A compiled `while`: 100 jmp 110 test; 104 body; 110 test; 114 jnz 104 */
static void test_jump_into_middle(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), JUMP(0x100, 0x110),
		COND(0x114, 0x104), COND(0x114, 0x104), RET(0x116, 0x905),
		CALL(0x910, 0x100), JUMP(0x100, 0x110), RET(0x116, 0x915));

	EXPECT(o, 0x104, 0x114, .back_edges = 2, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 3, .trip_max = 3);
	oracle_free(o);
}

/*
 * 100 f: 104 outer: 108 inner: 10c jnz 108; 110 jnz 104; 112 ret
 * Two rounds of the outer loop; the inner one: 3 rounds, then 1.
 */
static void test_nested(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x10c, 0x108), COND(0x10c, 0x108),
		COND(0x110, 0x104), RET(0x112, 0x905));
	const struct oracle_loop *inner = oracle_find(o, 1, 0x108);
	const struct oracle_loop *outer = oracle_find(o, 1, 0x104);

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 1, .executions = 1,
	       .trip_min = 2, .trip_max = 2);
	EXPECT(o, 0x108, 0x10c, .back_edges = 2, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 3, .trip_max = 3);
	assert_true(inner->has_parent);
	assert_int_equal(inner->parent, 0x104);
	assert_false(outer->has_parent);
	oracle_free(o);
}

/* 100 [104 call 200; 110 jnz 104]; g: 200 [204 .. 208 jnz 204] 20a ret */
static void test_call_in_loop(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100),
		CALL(0x104, 0x200), COND(0x208, 0x204), RET(0x20a, 0x109),
		COND(0x110, 0x104),
		CALL(0x104, 0x200), RET(0x20a, 0x109),
		RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 1, .executions = 1,
	       .trip_min = 2, .trip_max = 2);
	EXPECT(o, 0x204, 0x208, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/*
 * 100 f: [104 .. 108 call f; 110 jnz 104] 112 ret
 * f calls itself in its first round; the inner f takes one back edge and the
 * outer f two: two frames, two entries.
 */
static void test_recursion(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100),
		CALL(0x108, 0x100), COND(0x110, 0x104), RET(0x112, 0x10d),
		COND(0x110, 0x104), COND(0x110, 0x104), RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 3, .entries = 2, .executions = 2,
	       .trip_min = 2, .trip_max = 3);
	oracle_free(o);
}

/* The function's first instruction is the head: 100 [100 .. 108 jnz 100] */
static void test_head_is_function(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x108, 0x100), RET(0x10a, 0x905),
		CALL(0x910, 0x100), RET(0x10a, 0x915));

	EXPECT(o, 0x100, 0x108, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* A call to the head from inside the loop is an entry in a new frame. */
static void test_recursion_to_head(void **state)
{
	/* 100 [100 .. 104 call 100; 10c jnz 100] 10e ret */
	struct oracle *o = RUN(
		CALL(0x900, 0x100), CALL(0x104, 0x100), RET(0x10e, 0x109),
		COND(0x10c, 0x100), RET(0x10e, 0x905));

	EXPECT(o, 0x100, 0x10c, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* A call into the region elsewhere than to its head is no entry. */
static void test_call_into_middle(void **state)
{
	/* [104 .. 110 jnz 104], called at 108: the back edge counts alone */
	struct oracle *o = RUN(
		CALL(0x900, 0x108), COND(0x110, 0x104), RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 1);
	oracle_free(o);
}

/* 100 call 200; 105 head .. 10a jnz 105: the line runs on behind the call. */
static void test_return_to_head(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), CALL(0x100, 0x200), RET(0x200, 0x105),
		COND(0x10a, 0x105), RET(0x10c, 0x905));

	EXPECT(o, 0x105, 0x10a, .back_edges = 1, .entries = 1, .executions = 1,
	       .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* A return into the region from a call inside is no entry. */
static void test_return_into_region(void **state)
{
	struct oracle *o = RUN(
		GAP(0x200), RET(0x200, 0x108), COND(0x110, 0x104),
		RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .unclosed = 1, .partial = 1);
	oracle_free(o);
}

/* 100 [104 jnz 104] 106 ret: like an unrolled `rep`, or a spin loop */
static void test_self_loop(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x104, 0x104), COND(0x104, 0x104),
		RET(0x106, 0x905));

	EXPECT(o, 0x104, 0x104, .back_edges = 2, .entries = 1, .executions = 1,
	       .trip_min = 3, .trip_max = 3);
	oracle_free(o);
}

/*
 * f: 100 [104 call 200; 10c jnz 104]; g: 200 jmp 300; h: 300 [304 jnz 304] ret
 * The tail call stays in g's frame, and its return ends that frame.
 */
static void test_tail_call(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100),
		CALL(0x104, 0x200), JUMP(0x200, 0x300), COND(0x304, 0x304),
		RET(0x306, 0x109), COND(0x10c, 0x104),
		CALL(0x104, 0x200), JUMP(0x200, 0x300), RET(0x306, 0x109),
		RET(0x10e, 0x905));

	EXPECT(o, 0x104, 0x10c, .back_edges = 1, .entries = 1, .executions = 1,
	       .trip_min = 2, .trip_max = 2);
	EXPECT(o, 0x304, 0x304, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/*
 * f: 100 [104 call setjmp 500; 10c call g 200; 118 jnz 104] 11a ret
 * g: 200 [204 call longjmp 600; 20c jnz 204]
 * longjmp jumps, in its own frame, to 109 inside f's region: an entry there.
 * Its frame then runs one back edge, and f's return closes all three frames.
 * f's own execution had one back edge, g's none.
 */
static void test_longjmp(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100),
		CALL(0x104, 0x500), RET(0x500, 0x109),
		CALL(0x10c, 0x200), COND(0x20c, 0x204), RET(0x20e, 0x111),
		COND(0x118, 0x104),
		CALL(0x104, 0x500), RET(0x500, 0x109),
		CALL(0x10c, 0x200), CALL(0x204, 0x600), INDIRECT(0x600, 0x109),
		COND(0x118, 0x104), RET(0x11a, 0x905));

	EXPECT(o, 0x104, 0x118, .back_edges = 2, .entries = 2, .executions = 2,
	       .trip_min = 2, .trip_max = 2);
	EXPECT(o, 0x204, 0x20c, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/*
 * f: 100 [104 .. 110 jnz 104] 112 ret, interrupted at 108 and, before anything
 * of a round was executed, at 104. The handler 200 [204 jnz 204] returns to
 * the restorer 300, which ends it. f is entered once.
 */
static void test_signal_in_loop(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100),
		SIGNAL(0x108, 0x200), COND(0x204, 0x204), RET(0x206, 0x300),
		SIGRETURN(0x307, 0x108),
		COND(0x110, 0x104),
		SIGNAL(0x104, 0x200), RET(0x206, 0x300),
		SIGRETURN(0x307, 0x104),
		COND(0x110, 0x104), RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 2, .entries = 1, .executions = 1,
	       .trip_min = 3, .trip_max = 3);
	EXPECT(o, 0x204, 0x204, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/*
 * Interrupted directly before the head: the line enters it after the handler.
 */
static void test_signal_before_head(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), SIGNAL(0x104, 0x200), RET(0x200, 0x300),
		SIGRETURN(0x307, 0x104), COND(0x110, 0x104), RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 1, .executions = 1,
	       .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* siglongjmp out of a handler: the caller's return closes the handler too. */
static void test_signal_left_by_jump(void **state)
{
	/* f: 100 [104 .. 110 jnz 104] 112 ret; handler 200 jmp 130; 134 ret */
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x110, 0x104),
		SIGNAL(0x108, 0x200), INDIRECT(0x200, 0x130), RET(0x134, 0x905),
		CALL(0x910, 0x100), RET(0x112, 0x915));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/*
 * [104 .. 110 jnz 104; 120 jnz 104]: the farther tail is seen only at the end,
 * but counts from the start: what goes from 112 to 120 stays inside.
 */
static void test_growing_tail(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x110, 0x104), COND(0x112, 0x118),
		COND(0x120, 0x104), RET(0x122, 0x905));

	EXPECT(o, 0x104, 0x120, .back_edges = 2, .entries = 1, .executions = 1,
	       .trip_min = 3, .trip_max = 3);
	oracle_free(o);
}

/* Two calls run through before the first back edge is taken. */
static void test_entries_before_loop_known(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), RET(0x112, 0x905),
		CALL(0x900, 0x100), RET(0x112, 0x905),
		CALL(0x900, 0x100), COND(0x110, 0x104), RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 3, .executions = 1,
	       .singles = 2, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/*
 * A gap cuts the execution in flight. The beginning of the next one was not
 * seen, and the one after it is seen whole.
 */
static void test_gap(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x110, 0x104), COND(0x110, 0x104),
		GAP(0x108), COND(0x110, 0x104), RET(0x112, 0x905),
		CALL(0x910, 0x100), COND(0x110, 0x104), RET(0x112, 0x915));

	EXPECT(o, 0x104, 0x110, .back_edges = 4, .entries = 2, .executions = 1,
	       .unclosed = 2, .partial = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* The first instruction after a gap is no entry, even at the head. */
static void test_gap_at_head(void **state)
{
	struct oracle *o = RUN(
		GAP(0x104), COND(0x110, 0x104), GAP(0), COND(0x110, 0x104));

	EXPECT(o, 0x104, 0x110, .back_edges = 2, .unclosed = 1, .partial = 2,
	       .open = 1);
	oracle_free(o);
}

/* A system call is an instruction of the line, unless it returns elsewhere. */
static void test_syscall(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), SYSCALL(0x102, 0x104),
		COND(0x110, 0x104), SYSCALL(0x106, 0x108), RET(0x112, 0x905),
		CALL(0x900, 0x100), SYSCALL(0x106, 0x800));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 2, .executions = 1,
	       .cut = 1, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* The trace ends in the loop: neither closed nor cut. */
static void test_open(void **state)
{
	struct oracle *o = RUN(CALL(0x900, 0x100), COND(0x110, 0x104));

	EXPECT(o, 0x104, 0x110, .back_edges = 1, .entries = 1, .open = 1);
	oracle_free(o);
}

/*
 * A jump back over more than the span belongs to no loop. The line behind it
 * runs into the head of a loop exactly as long as the span.
 */
static void test_span(void **state)
{
	struct oracle *o = RUN(JUMP(0x10000 + SPAN + 1, 0x10000),
			       JUMP(0x20000 + SPAN, 0x20000));

	expect_count(o, 1);
	EXPECT(o, 0x20000, 0x20000 + SPAN, .back_edges = 1, .entries = 1,
	       .open = 1);
	oracle_free(o);
}

/*
 * Regions that overlap without nesting: A [104, 114], B [10c, 120].
 * Falls into A and, at 10c, into B; A's back edge leaves B, whose head is then
 * run into again; B's back edge goes from outside of A into A.
 */
static void test_overlap(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x114, 0x104), COND(0x120, 0x10c),
		RET(0x122, 0x905));

	EXPECT(o, 0x104, 0x114, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	EXPECT(o, 0x10c, 0x120, .back_edges = 1, .entries = 2, .executions = 1,
	       .singles = 1, .trip_min = 2, .trip_max = 2);
	assert_false(oracle_find(o, 1, 0x10c)->has_parent);
	oracle_free(o);
}

/*
 * 100 [104 .. 108 jmp 120; 110 jnz 104] 112 ret; 120 .. 124 jmp 10c
 * Going out to 120 ends an execution of [104, 110], coming back begins one.
 * 124 -> 10c is a back edge too, of the loop [10c, 124]: run into at 10c in
 * the first round and in the last one, and jumped into at 120.
 */
static void test_leave_and_come_back(void **state)
{
	struct oracle *o = RUN(
		CALL(0x900, 0x100), COND(0x110, 0x104), JUMP(0x108, 0x120),
		JUMP(0x124, 0x10c), COND(0x110, 0x104), RET(0x112, 0x905));

	EXPECT(o, 0x104, 0x110, .back_edges = 2, .entries = 2, .executions = 2,
	       .trip_min = 2, .trip_max = 2);
	EXPECT(o, 0x10c, 0x124, .back_edges = 1, .entries = 3, .executions = 1,
	       .singles = 2, .trip_min = 2, .trip_max = 2);
	oracle_free(o);
}

/* Two threads and two spaces at the same addresses are independent. */
static void test_threads_and_spaces(void **state)
{
	static const struct stream_event trace[] = {
		CALL(0x900, 0x100), COND(0x110, 0x104), RET(0x112, 0x905),
	};
	struct oracle *o = oracle_new(SPAN);
	struct stream_event event;
	size_t i, thread;

	for (i = 0; i < 3; i++) {
		for (thread = 0; thread < 3; thread++) {
			event = trace[i];
			event.space = 1 + thread / 2;
			oracle_add(o, thread, &event);
		}
	}
	oracle_run(o);
	expect_count(o, 2);
	EXPECT(o, 0x104, 0x110, .back_edges = 2, .entries = 2, .executions = 2,
	       .trip_min = 2, .trip_max = 2);
	assert_int_equal(oracle_find(o, 2, 0x104)->back_edges, 1);
	assert_int_equal(oracle_find(o, 2, 0x104)->entries, 1);
	oracle_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_while),
		cmocka_unit_test(test_do_while),
		cmocka_unit_test(test_jump_into_middle),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_call_in_loop),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_head_is_function),
		cmocka_unit_test(test_recursion_to_head),
		cmocka_unit_test(test_call_into_middle),
		cmocka_unit_test(test_return_to_head),
		cmocka_unit_test(test_return_into_region),
		cmocka_unit_test(test_self_loop),
		cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_longjmp),
		cmocka_unit_test(test_signal_in_loop),
		cmocka_unit_test(test_signal_before_head),
		cmocka_unit_test(test_signal_left_by_jump),
		cmocka_unit_test(test_growing_tail),
		cmocka_unit_test(test_entries_before_loop_known),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_gap_at_head),
		cmocka_unit_test(test_syscall),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_leave_and_come_back),
		cmocka_unit_test(test_threads_and_spaces),
	};

	return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
