// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch stacks of Arm's BRBE, as Linux's driver writes them: kinds come with
 * the records, and one that leads to or from a level that is not recorded has
 * an address of 0. No emulator has such a CPU, so the stacks are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "engine/engine.h"
#include "engine/window.h"
#include "source/arm64/brbe.h"

#define KERNEL(address)	(0xffff800080000000ULL + (address))

enum { STACK = 64, TABLE = 1 << 20, SPACE = 1 };

/* Oldest first, as they are told; entries[] is newest first. */
struct brbe {
	struct perf_branch_entry entries[STACK];
	u8 kinds[STACK];
	unsigned int count;
};

static void record_new(struct brbe *brbe, uint64_t from, uint64_t to, int type,
		       int new_type)
{
	struct perf_branch_entry *entry =
		&brbe->entries[STACK - 1 - brbe->count++];

	*entry = (struct perf_branch_entry){
		.from = from, .to = to, .type = type, .new_type = new_type,
		.cycles = 3, .predicted = !!from,
		.priv = !to ? PERF_BR_PRIV_UNKNOWN :
			to >> 63 ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER,
	};
}

static void record(struct brbe *brbe, uint64_t from, uint64_t to, int type)
{
	record_new(brbe, from, to, type, 0);
}

static struct window walk(struct brbe *brbe, u32 space)
{
	const struct window_branch *branches =
		(const void *)&brbe->entries[STACK - brbe->count];
	struct window window;

	window_recorded_kinds(brbe->kinds, branches, brbe->count);
	window_begin(&window, branches, brbe->kinds, brbe->count, space);
	return window;
}

static void expect(struct window *window, u16 kind, u64 from, u64 to)
{
	const struct stream_event *event = window_next(window);

	assert_non_null(event);
	assert_int_equal(event->kind, kind);
	assert_true(event->from == from);
	assert_true(event->to == to);
}

static void expect_end(struct window *window, u32 broken)
{
	assert_null(window_next(window));
	assert_int_equal(window->broken, broken);
}

static u8 kind_of(int type, int new_type)
{
	struct brbe brbe = { .count = 0 };

	record_new(&brbe, 0x1000, 0x2000, type, new_type);
	walk(&brbe, SPACE);
	return brbe.kinds[0];
}

static void test_kinds(void **state)
{
	assert_int_equal(kind_of(PERF_BR_COND, 0), STREAM_COND);
	assert_int_equal(kind_of(PERF_BR_UNCOND, 0), STREAM_JUMP);
	assert_int_equal(kind_of(PERF_BR_IND, 0), STREAM_INDIRECT);
	assert_int_equal(kind_of(PERF_BR_CALL, 0), STREAM_CALL);
	assert_int_equal(kind_of(PERF_BR_IND_CALL, 0), STREAM_CALL);
	assert_int_equal(kind_of(PERF_BR_RET, 0), STREAM_RET);
	assert_int_equal(kind_of(PERF_BR_UNKNOWN, 0), 0);
	assert_int_equal(kind_of(PERF_BR_SYSCALL, 0), 0);
	assert_int_equal(kind_of(PERF_BR_ERET, 0), 0);
	assert_int_equal(kind_of(PERF_BR_IRQ, 0), 0);
	assert_int_equal(kind_of(PERF_BR_SERROR, 0), 0);
	assert_int_equal(kind_of(PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_DATA),
			 0);
}

/* Is it an exception? As perf's header numbers them. */
static void test_exceptions(void **state)
{
	const unsigned int exceptions =
		1U << PERF_BR_SYSCALL | 1U << PERF_BR_SYSRET |
		1U << PERF_BR_ERET | 1U << PERF_BR_IRQ | 1U << PERF_BR_SERROR |
		1U << PERF_BR_EXTEND_ABI;
	int type;

	for (type = 0; type <= PERF_BR_EXTEND_ABI; type++) {
		struct brbe brbe = { .count = 0 };
		u64 flags;

		record(&brbe, 0x1000, 0x2000, type);
		memcpy(&flags, (u64 *)&brbe.entries[STACK - 1] + 2,
		       sizeof(flags));
		assert_int_equal(window_type(flags), type);
		assert_int_equal(window_is_exception(flags),
				 exceptions >> type & 1);
	}
}

static void test_flags(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, 0x1000, 0x2000, PERF_BR_UNCOND);
	record(&brbe, 0x2010, 0x2000, PERF_BR_COND);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x2000);
	expect(&window, STREAM_COND, 0x2010, 0x2000);
	assert_int_equal(window.event.cycles, 3);
	assert_int_equal(window.event.flags, STREAM_PREDICTED);
	expect_end(&window, 0);
}

/* --- the program's side --------------------------------------------------- */

/* A loop, which is interrupted, calls the kernel and faults on its way. */
static void record_loop(struct brbe *brbe, bool kernel)
{
	uint64_t in = kernel ? KERNEL(0x400) : 0;
	uint64_t out = kernel ? KERNEL(0x700) : 0;

	record(brbe, 0x900, 0x1000, PERF_BR_CALL);
	record(brbe, 0x1020, 0x1000, PERF_BR_COND);
	record(brbe, 0x1008, in, PERF_BR_IRQ);
	if (kernel)
		record(brbe, KERNEL(0x420), KERNEL(0x600), PERF_BR_CALL);
	record(brbe, out, 0x1008, PERF_BR_ERET);
	record(brbe, 0x1020, 0x1000, PERF_BR_COND);
	record(brbe, 0x1010, in, PERF_BR_SYSCALL);
	record(brbe, out, 0x1014, PERF_BR_ERET);
	record(brbe, 0x1020, 0x1000, PERF_BR_COND);
	record_new(brbe, 0x101c, in, PERF_BR_EXTEND_ABI,
		   PERF_BR_NEW_FAULT_DATA);
	record(brbe, out, 0x101c, PERF_BR_ERET);
	record(brbe, 0x1020, 0x1000, PERF_BR_COND);
}

static void check_loop(bool kernel)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record_loop(&brbe, kernel);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x1000);
	expect(&window, STREAM_COND, 0x1020, 0x1000);
	expect(&window, STREAM_COND, 0x1020, 0x1000);
	expect(&window, STREAM_SYSCALL, 0x1010, 0x1014);
	expect(&window, STREAM_COND, 0x1020, 0x1000);
	expect(&window, STREAM_COND, 0x1020, 0x1000);
	expect_end(&window, 0);
}

static void test_both_levels(void **state)
{
	check_loop(true);
}

static void test_one_level(void **state)
{
	check_loop(false);
}

/* The engine sees one entry-free window of four back edges, without a hole. */
static void check_engine(bool kernel)
{
	const struct engine_params params = {
		.span = 1 << 20, .basis = HWPROF_BASIS_BRANCHES, .seed = 1,
	};
	struct window_counts counts = { 0 };
	void *table = calloc(1, TABLE);
	struct brbe brbe = { .count = 0 };
	struct window window;

	record_loop(&brbe, kernel);
	window = walk(&brbe, SPACE);
	loop_engine.table_init(table, TABLE, &params);
	loop_engine.feed_window(table, &window, &counts);
	assert_int_equal(counts.units, 4);
	assert_int_equal(counts.gaps, 1);
	assert_int_equal(window.broken, 0);
	free(table);
}

static void test_engine(void **state)
{
	check_engine(true);
	check_engine(false);
}

/* The kernel returned to another place, or to another program. */
static void test_elsewhere(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, 0x900, 0x1000, PERF_BR_CALL);
	record(&brbe, 0, 0x5000, PERF_BR_ERET);
	record(&brbe, 0x5010, 0x5000, PERF_BR_COND);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x1000);
	expect(&window, STREAM_GAP, 0, 0x5000);
	expect(&window, STREAM_COND, 0x5010, 0x5000);
	expect_end(&window, 0);
}

/* The window begins in the kernel, or where it is left. */
static void test_begins_behind(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, 0, 0x1000, PERF_BR_ERET);
	record(&brbe, 0x1010, 0x1000, PERF_BR_COND);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x1000);
	expect(&window, STREAM_COND, 0x1010, 0x1000);
	expect_end(&window, 0);

	brbe.count = 0;
	record(&brbe, 0x1008, 0, PERF_BR_IRQ);
	record(&brbe, 0, 0x1008, PERF_BR_ERET);
	record(&brbe, 0x1010, 0x1000, PERF_BR_COND);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x1008);
	expect(&window, STREAM_COND, 0x1010, 0x1000);
	expect_end(&window, 0);
}

/* --- the kernel's side ---------------------------------------------------- */

/* An interrupt of the kernel ends its line, and so does the way back. */
static void test_in_kernel(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, 0x1010, KERNEL(0x100), PERF_BR_SYSCALL);
	record(&brbe, KERNEL(0x120), KERNEL(0x100), PERF_BR_COND);
	record(&brbe, KERNEL(0x108), KERNEL(0x800), PERF_BR_IRQ);
	record(&brbe, KERNEL(0x810), KERNEL(0x900), PERF_BR_CALL);
	record(&brbe, KERNEL(0x920), KERNEL(0x108), PERF_BR_ERET);
	record(&brbe, KERNEL(0x120), KERNEL(0x100), PERF_BR_COND);
	window = walk(&brbe, 0);
	expect(&window, STREAM_GAP, 0, KERNEL(0x100));
	expect(&window, STREAM_COND, KERNEL(0x120), KERNEL(0x100));
	expect(&window, STREAM_GAP, 0, KERNEL(0x800));
	expect(&window, STREAM_CALL, KERNEL(0x810), KERNEL(0x900));
	expect(&window, STREAM_GAP, 0, KERNEL(0x108));
	expect(&window, STREAM_COND, KERNEL(0x120), KERNEL(0x100));
	expect_end(&window, 0);
}

/* A call of a hypervisor, of which only the kernel's ends are recorded. */
static void test_hypervisor(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, KERNEL(0x80), KERNEL(0x100), PERF_BR_CALL);
	record(&brbe, KERNEL(0x108), 0, PERF_BR_SYSCALL);
	record(&brbe, 0, KERNEL(0x10c), PERF_BR_ERET);
	record(&brbe, KERNEL(0x120), KERNEL(0x100), PERF_BR_COND);
	window = walk(&brbe, 0);
	expect(&window, STREAM_GAP, 0, KERNEL(0x100));
	expect(&window, STREAM_GAP, 0, KERNEL(0x10c));
	expect(&window, STREAM_COND, KERNEL(0x120), KERNEL(0x100));
	expect_end(&window, 0);

	/* To the program, control was away all the time. */
	window = walk(&brbe, SPACE);
	expect_end(&window, 0);
}

/* --- damage --------------------------------------------------------------- */

/* No jump leads nowhere. */
static void test_dead(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, 0x900, 0x1000, PERF_BR_CALL);
	record(&brbe, 0x1010, 0, PERF_BR_COND);
	record(&brbe, 0, 0x1010, PERF_BR_COND);
	record(&brbe, 0, 0, PERF_BR_IRQ);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x1000);
	expect(&window, STREAM_GAP, 0, 0x1010);
	expect_end(&window, 3);
}

/* An interrupt before the line is somebody else's: records are missing. */
static void test_broken(void **state)
{
	struct brbe brbe = { .count = 0 };
	struct window window;

	record(&brbe, 0x900, 0x1000, PERF_BR_CALL);
	record(&brbe, 0x800, 0, PERF_BR_IRQ);
	record(&brbe, 0, 0x800, PERF_BR_ERET);
	window = walk(&brbe, SPACE);
	expect(&window, STREAM_GAP, 0, 0x1000);
	expect(&window, STREAM_GAP, 0, 0x800);
	expect_end(&window, 1);
}

/* --- the CPU -------------------------------------------------------------- */

static void test_feature(void **state)
{
	const u64 others = ~(0xfULL << 52);

	assert_int_equal(brbe_taken_branches(0), 0);
	assert_int_equal(brbe_taken_branches(others), 0);
	assert_int_equal(brbe_taken_branches(1ULL << 52), 0x811f);
	assert_int_equal(brbe_taken_branches(others | 2ULL << 52), 0x811f);
	assert_int_equal(brbe_taken_branches(3ULL << 52), 0);
	assert_int_equal(brbe_taken_branches(0xfULL << 52), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_both_levels),
		cmocka_unit_test(test_one_level),
		cmocka_unit_test(test_engine),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_begins_behind),
		cmocka_unit_test(test_in_kernel),
		cmocka_unit_test(test_hypervisor),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_feature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
