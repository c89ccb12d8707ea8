// SPDX-License-Identifier: GPL-2.0-only
/* Which loop of one recording is which of another. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "loops.h"

#define MAX	8

/* Loops as if they had been read. */
struct side {
	struct hwprof_loops loops;
	struct loop_entry entries[MAX];
	struct loop_entry *order[MAX];
};

static struct hwprof_loop *add(struct side *side, const char *build,
			       uint64_t head, double share)
{
	struct loop_entry *entry = &side->entries[side->loops.count];

	side->order[side->loops.count++] = entry;
	side->loops.order = side->order;
	entry->loop = (struct hwprof_loop){
		.object = "/bin/prog", .build_id = build, .head = head,
		.tail = head + 16, .share = share, .share_of = "iterations",
	};
	return &entry->loop;
}

static void in_function(struct hwprof_loop *loop, const char *function,
			uint64_t offset)
{
	loop->function = function;
	loop->function_offset = offset;
}

static void on_line(struct hwprof_loop *loop, unsigned int line)
{
	loop->file = "prog.c";
	loop->line = line;
}

static struct hwprof_loops_diff *diff_of(const struct side *before,
					 const struct side *after)
{
	struct hwprof_loops_diff *diff;

	assert_int_equal(hwprof_loops_diff(&diff, &before->loops,
					   &after->loops), 0);
	return diff;
}

static void expect(const struct hwprof_loops_diff *diff, size_t index,
		   const struct hwprof_loop *before,
		   const struct hwprof_loop *after, double share)
{
	const struct hwprof_loops_change *change =
		hwprof_loops_diff_get(diff, index);

	assert_ptr_equal(change->before, before);
	assert_ptr_equal(change->after, after);
	assert_true(change->share > share - 1e-9 && change->share < share + 1e-9);
}

/* One build: by address, whatever the source says. Largest change first. */
static void test_same_build(void **state)
{
	struct side before = { .loops.count = 0 }, after = { .loops.count = 0 };
	struct hwprof_loop *a = add(&before, "b1", 0x100, 0.5);
	struct hwprof_loop *b = add(&before, "b1", 0x200, 0.4);
	struct hwprof_loop *gone = add(&before, "b1", 0x300, 0.1);
	struct hwprof_loop *b2 = add(&after, "b1", 0x200, 0.1);
	struct hwprof_loop *new = add(&after, "b1", 0x400, 0.35);
	struct hwprof_loop *a2 = add(&after, "b1", 0x100, 0.55);
	struct hwprof_loops_diff *diff;

	on_line(a, 1);
	on_line(b2, 1);
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_loops_diff_count(diff), 4);
	expect(diff, 0, NULL, new, 0.35);
	expect(diff, 1, b, b2, -0.3);
	expect(diff, 2, gone, NULL, -0.1);
	expect(diff, 3, a, a2, 0.05);
	hwprof_loops_diff_free(diff);
}

/* Two builds: by line, if it is known, or else by offset; never by address. */
static void test_other_build(void **state)
{
	struct side before = { .loops.count = 0 }, after = { .loops.count = 0 };
	struct hwprof_loop *lines = add(&before, "b1", 0x100, 0.50);
	struct hwprof_loop *offsets = add(&before, "b1", 0x200, 0.25);
	struct hwprof_loop *nameless = add(&before, "b1", 0x300, 0.125);
	struct hwprof_loop *lines2 = add(&after, "b2", 0x180, 0.25);
	struct hwprof_loop *offsets2 = add(&after, "b2", 0x100, 0.1875);
	struct hwprof_loop *nameless2 = add(&after, "b2", 0x300, 0.03125);
	struct hwprof_loops_diff *diff;

	in_function(lines, "f", 8);
	on_line(lines, 10);
	in_function(lines2, "f", 24);
	on_line(lines2, 10);
	in_function(offsets, "g", 8);
	in_function(offsets2, "g", 8);
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_loops_diff_count(diff), 4);
	expect(diff, 0, lines, lines2, -0.25);
	expect(diff, 1, nameless, NULL, -0.125);
	expect(diff, 2, offsets, offsets2, -0.0625);
	expect(diff, 3, NULL, nameless2, 0.03125);
	hwprof_loops_diff_free(diff);
}

/* Several loops on a line: as many have a counterpart as there are in both. */
static void test_one_line(void **state)
{
	struct side before = { .loops.count = 0 }, after = { .loops.count = 0 };
	struct hwprof_loop *loops[5];
	struct hwprof_loops_diff *diff;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		loops[i] = i < 3 ? add(&before, "b1", 0x100 * (i + 1), i / 8.0) :
				   add(&after, "b2", 0x110 * i, 0.5);
		in_function(loops[i], "f", 0x100 * i);
		on_line(loops[i], 10);
	}
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_loops_diff_count(diff), 3);
	expect(diff, 0, loops[0], loops[3], 0.5);
	expect(diff, 1, loops[1], loops[4], 0.375);
	expect(diff, 2, loops[2], NULL, -0.25);
	hwprof_loops_diff_free(diff);
}

/* Against itself, all is as it was, whatever there is of it. */
static void test_itself(void **state)
{
	struct side side = { .loops.count = 0 };
	struct hwprof_loops_diff *diff;
	size_t i;

	for (i = 0; i < MAX; i++)
		add(&side, i % 2 ? "b1" : NULL, 0x100 * i, 1.0 / MAX);
	diff = diff_of(&side, &side);
	assert_int_equal(hwprof_loops_diff_count(diff), MAX);
	for (i = 0; i < MAX; i++)
		expect(diff, i, hwprof_loops_diff_get(diff, i)->after,
		       hwprof_loops_diff_get(diff, i)->before, 0);
	hwprof_loops_diff_free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_build),
		cmocka_unit_test(test_other_build),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
