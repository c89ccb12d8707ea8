// SPDX-License-Identifier: GPL-2.0-only
/* Which thing of one recording is which of another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "contexts.h"
#include "loops.h"

#define MAX	8

/* Loops as if they had been read. */
struct side {
	struct hwprof_loops loops;
	struct loop_entry entries[MAX];
	struct loop_entry *order[MAX];
};

#define NO_LOOPS	{ .loops.profile.kind = &loops_kind }

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

static struct hwprof_diff *diff_of(const struct side *before,
					 const struct side *after)
{
	struct hwprof_diff *diff;

	assert_int_equal(hwprof_profile_diff(&diff, &before->loops.profile,
					     &after->loops.profile), 0);
	return diff;
}

static const struct hwprof_loop *loop_at(const struct side *side, size_t index)
{
	return index == HWPROF_NOTHING ? NULL :
	       hwprof_loops_get(&side->loops.profile, index);
}

/* Change @index of the diff of two sides. */
static void expect(const struct hwprof_diff *diff, size_t index,
		   const struct side *before_side,
		   const struct hwprof_loop *before,
		   const struct side *after_side,
		   const struct hwprof_loop *after, double share)
{
	const struct hwprof_change *change = hwprof_diff_get(diff, index);

	assert_ptr_equal(loop_at(before_side, change->before), before);
	assert_ptr_equal(loop_at(after_side, change->after), after);
	assert_true(change->share > share - 1e-9 && change->share < share + 1e-9);
	assert_true(change->share_before == (before ? before->share : 0));
	assert_true(change->share_after == (after ? after->share : 0));
}

/* One build: by address, whatever the source says. Largest change first. */
static void test_same_build(void **state)
{
	struct side before = NO_LOOPS, after = NO_LOOPS;
	struct hwprof_loop *a = add(&before, "b1", 0x100, 0.5);
	struct hwprof_loop *b = add(&before, "b1", 0x200, 0.4);
	struct hwprof_loop *gone = add(&before, "b1", 0x300, 0.1);
	struct hwprof_loop *b2 = add(&after, "b1", 0x200, 0.1);
	struct hwprof_loop *new = add(&after, "b1", 0x400, 0.35);
	struct hwprof_loop *a2 = add(&after, "b1", 0x100, 0.55);
	struct hwprof_diff *diff;

	on_line(a, 1);
	on_line(b2, 1);
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_diff_count(diff), 4);
	expect(diff, 0, &before, NULL, &after, new, 0.35);
	expect(diff, 1, &before, b, &after, b2, -0.3);
	expect(diff, 2, &before, gone, &after, NULL, -0.1);
	expect(diff, 3, &before, a, &after, a2, 0.05);
	hwprof_diff_free(diff);
}

/* Two builds: by line, if it is known, or else by offset; never by address. */
static void test_other_build(void **state)
{
	struct side before = NO_LOOPS, after = NO_LOOPS;
	struct hwprof_loop *lines = add(&before, "b1", 0x100, 0.50);
	struct hwprof_loop *offsets = add(&before, "b1", 0x200, 0.25);
	struct hwprof_loop *nameless = add(&before, "b1", 0x300, 0.125);
	struct hwprof_loop *lines2 = add(&after, "b2", 0x180, 0.25);
	struct hwprof_loop *offsets2 = add(&after, "b2", 0x100, 0.1875);
	struct hwprof_loop *nameless2 = add(&after, "b2", 0x300, 0.03125);
	struct hwprof_diff *diff;

	in_function(lines, "f", 8);
	on_line(lines, 10);
	in_function(lines2, "f", 24);
	on_line(lines2, 10);
	in_function(offsets, "g", 8);
	in_function(offsets2, "g", 8);
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_diff_count(diff), 4);
	expect(diff, 0, &before, lines, &after, lines2, -0.25);
	expect(diff, 1, &before, nameless, &after, NULL, -0.125);
	expect(diff, 2, &before, offsets, &after, offsets2, -0.0625);
	expect(diff, 3, &before, NULL, &after, nameless2, 0.03125);
	hwprof_diff_free(diff);
}

/* Several loops on a line: as many have a counterpart as there are in both. */
static void test_one_line(void **state)
{
	struct side before = NO_LOOPS, after = NO_LOOPS;
	struct hwprof_loop *loops[5];
	struct hwprof_diff *diff;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		loops[i] = i < 3 ? add(&before, "b1", 0x100 * (i + 1), i / 8.0) :
				   add(&after, "b2", 0x110 * i, 0.5);
		in_function(loops[i], "f", 0x100 * i);
		on_line(loops[i], 10);
	}
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_diff_count(diff), 3);
	expect(diff, 0, &before, loops[0], &after, loops[3], 0.5);
	expect(diff, 1, &before, loops[1], &after, loops[4], 0.375);
	expect(diff, 2, &before, loops[2], &after, NULL, -0.25);
	hwprof_diff_free(diff);
}

/* Against itself, all is as it was, whatever there is of it. */
static void test_itself(void **state)
{
	struct side side = NO_LOOPS;
	struct hwprof_diff *diff;
	size_t i;

	for (i = 0; i < MAX; i++)
		add(&side, i % 2 ? "b1" : NULL, 0x100 * i, 1.0 / MAX);
	diff = diff_of(&side, &side);
	assert_int_equal(hwprof_diff_count(diff), MAX);
	for (i = 0; i < MAX; i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		assert_int_equal(change->before, change->after);
		assert_true(change->share == 0);
	}
	hwprof_diff_free(diff);
}

static void test_kinds(void **state)
{
	struct side loops = NO_LOOPS;
	struct hwprof_contexts contexts = { .profile.kind = &contexts_kind };
	struct hwprof_diff *diff;

	assert_int_equal(hwprof_profile_diff(&diff, &loops.loops.profile,
					     &contexts.profile), -EINVAL);
	assert_null(diff);
	assert_int_equal(hwprof_loops_count(&contexts.profile), 0);
	assert_int_equal(hwprof_kind_of("cct"), HWPROF_KIND_CCT);
	assert_string_equal(hwprof_kind_name(HWPROF_KIND_CCT), "cct");
	assert_int_equal(hwprof_kind_of("contexts"), -EINVAL);
	assert_null(hwprof_kind_name(HWPROF_KINDS));
}

/* A tree as if it had been read: each node is in the one before it. */
struct chain {
	struct hwprof_contexts contexts;
	struct context_node nodes[MAX];
	struct hwprof_context *order[MAX];
};

static struct hwprof_context *add_context(struct chain *chain,
					  const char *build,
					  const char *function, uint64_t address,
					  uint64_t site_offset)
{
	size_t count = chain->contexts.tree.count++;
	struct hwprof_context *context = &chain->nodes[count].context;

	*context = (struct hwprof_context){
		.kind = count ? HWPROF_CONTEXT_CALL : HWPROF_CONTEXT_ROOT,
		.object = count ? "/bin/prog" : NULL,
		.build_id = build, .function = function, .address = address,
		.site_object = count > 1 ? "/bin/prog" : NULL,
		.site_function = count > 1 ? context[-1].function : NULL,
		.site_offset = site_offset, .site = address + site_offset,
		.share = 1.0 / (count + 1), .depth = count,
		.comm = count ? NULL : "prog",
	};
	context->parent = count ? chain->order[count - 1] : NULL;
	chain->order[count] = context;
	chain->contexts.order = chain->order;
	chain->contexts.tree.nodes = chain->nodes;
	return context;
}

/*
 * Another build: f's call of g has moved in f, h is called by another function, and
 * so is what h calls, although that has not changed.
 */
static void test_contexts(void **state)
{
	struct chain before = { .contexts.profile.kind = &contexts_kind };
	struct chain after = { .contexts.profile.kind = &contexts_kind };
	static const char *const functions[2][5] = {
		{ "f", "g", "x", "h", "i" }, { "f", "g", "y", "h", "i" },
	};
	bool found[6] = { false };
	struct hwprof_diff *diff;
	size_t i;

	add_context(&before, NULL, NULL, 0, 0);
	add_context(&after, NULL, NULL, 0, 0);
	for (i = 0; i < 5; i++) {
		add_context(&before, "b1", functions[0][i], 0x100 * i, 8);
		add_context(&after, "b2", functions[1][i], 0x110 * i,
			    i == 1 ? 12 : 8);
	}
	assert_int_equal(hwprof_profile_diff(&diff, &before.contexts.profile,
					     &after.contexts.profile), 0);
	/* The root, f and g; x, h and i of before; y, h and i of after. */
	assert_int_equal(hwprof_diff_count(diff), 9);
	for (i = 0; i < 9; i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		if (change->before == HWPROF_NOTHING)
			continue;
		found[change->before] = true;
		assert_true(change->after == (change->before < 3 ?
					      change->before : HWPROF_NOTHING));
	}
	for (i = 0; i < 6; i++)
		assert_true(found[i]);
	hwprof_diff_free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_build),
		cmocka_unit_test(test_other_build),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_itself),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
