// SPDX-License-Identifier: GPL-2.0-only
/* Matching the things of one recording with those of another. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/calls.h"
#include "check.h"
#include "reports/contexts.h"
#include "fixture.h"
#include "reports/loops.h"
#include "reports/paths.h"
#include "reports/ranges.h"
#include "reports/values.h"

#define MAX	8

/* Loops as if they had been read from a file. */
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

/* Asserts change @index of the difference of two sides. */
static void expect(const struct hwprof_diff *diff, size_t index,
		   const struct side *before_side,
		   const struct hwprof_loop *before,
		   const struct side *after_side,
		   const struct hwprof_loop *after, double share)
{
	const struct hwprof_change *change = hwprof_diff_get(diff, index);

	assert_ptr_equal(loop_at(before_side, change->before), before);
	assert_ptr_equal(loop_at(after_side, change->after), after);
	assert_true(change->share > share - 1e-9 &&
		    change->share < share + 1e-9);
	assert_true(change->share_before == (before ? before->share : 0));
	assert_true(change->share_after == (after ? after->share : 0));
}

/*
 * One build: matched by address, whatever the source says. Largest change
 * first.
 */
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

/*
 * Two builds: matched by line if known, otherwise by offset; never by address.
 */
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

static struct hwprof_loop *add_in(struct side *side, const char *object,
				  const char *build, unsigned int line)
{
	struct hwprof_loop *loop = add(side, build, 0x100 + line, 0.25);

	loop->object = object;
	in_function(loop, "f", line);
	on_line(loop, line);
	return loop;
}

/* Asserts that loop @index of @before has this counterpart and match. */
static void expect_match(const struct hwprof_diff *diff, size_t index,
			 size_t after, const char *match)
{
	size_t i;

	for (i = 0; i < hwprof_diff_count(diff); i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);
		const char *name = hwprof_match_name(change->match);

		if (change->before != index)
			continue;
		assert_int_equal(change->after, after);
		assert_true(match ? name && !strcmp(name, match) : !name);
		return;
	}
	fail();
}

/*
 * An object that only one side has at its path is known by its file name, and
 * its sources by theirs. One that both have stays what it is.
 */
static void test_other_folder(void **state)
{
	struct side before = NO_LOOPS, after = NO_LOOPS;
	struct hwprof_diff *diff;

	add_in(&before, "/old/prog", "b1", 10)->file = "/old/prog.c";
	add_in(&before, "/old/same.so", "b3", 10);
	add_in(&before, "/lib/prog", "b4", 11);
	add_in(&before, "/old/bin/twin", "b6", 12);
	add_in(&before, "/old/sbin/twin", "b6", 12);
	add_in(&after, "/new/prog", "b2", 10)->file = "/new/prog.c";
	add_in(&after, "/new/same.so", "b3", 10);
	add_in(&after, "/lib/prog", "b5", 13)->function = "g";
	add_in(&after, "/new/prog", "b2", 11);
	add_in(&after, "/new/twin", "b6", 12);
	diff = diff_of(&before, &after);
	assert_int_equal(hwprof_diff_count(diff), 8);
	expect_match(diff, 0, 0, "line");
	expect_match(diff, 1, 1, "address");
	expect_match(diff, 2, HWPROF_NOTHING, NULL);
	expect_match(diff, 3, HWPROF_NOTHING, NULL);
	expect_match(diff, 4, HWPROF_NOTHING, NULL);
	hwprof_diff_free(diff);
}

/* Several loops on a line: as many are matched as both sides have. */
static void test_one_line(void **state)
{
	struct side before = NO_LOOPS, after = NO_LOOPS;
	struct hwprof_loop *loops[5];
	struct hwprof_diff *diff;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		loops[i] = i < 3 ? add(&before, "b1", 0x100 * (i + 1), i / 8.0)
				 : add(&after, "b2", 0x110 * i, 0.5);
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

/* A profile compared with itself has no change. */
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

/* A tree as if it had been read: each node is a child of the one before. */
struct chain {
	struct hwprof_contexts contexts;
	struct context_node nodes[MAX];
	struct hwprof_context *order[MAX];
};

static struct hwprof_context *
add_context(struct chain *chain, const char *build, const char *function,
	    uint64_t address, uint64_t site_offset)
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
 * Another build: f's call of g has moved inside f. Another function calls h, so
 * that the callees of h are different contexts, although h has not changed.
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

static bool contains_zero(const struct hwprof_change *change)
{
	return change->share_low <= 0 && change->share_high >= 0;
}

/* 100 samples each: as Wilson's intervals have it, half may be 40 to 60 %. */
static void test_sampled_contexts(void **state)
{
	struct chain before = { .contexts.profile.kind = &contexts_kind };
	struct chain after = { .contexts.profile.kind = &contexts_kind };
	const struct hwprof_change *change;
	struct hwprof_diff *diff;

	add_context(&before, NULL, NULL, 0, 0);
	add_context(&after, NULL, NULL, 0, 0);
	add_context(&before, "b1", "f", 0x100, 8)->share = 0.5;
	add_context(&after, "b1", "f", 0x100, 8)->share = 0.7;
	before.contexts.samples = after.contexts.samples = 100;
	assert_int_equal(hwprof_profile_diff(&diff, &before.contexts.profile,
					     &after.contexts.profile), 0);
	change = hwprof_diff_get(diff, 0);
	assert_true(fabs(change->share_low - 0.0642) < 0.001);
	assert_true(fabs(change->share_high - 0.3258) < 0.001);
	hwprof_diff_free(diff);

	before.contexts.samples = after.contexts.samples = 10;
	hwprof_profile_diff(&diff, &before.contexts.profile,
			    &after.contexts.profile);
	assert_true(contains_zero(hwprof_diff_get(diff, 0)));
	hwprof_diff_free(diff);

	before.contexts.samples = after.contexts.samples = 0;
	hwprof_profile_diff(&diff, &before.contexts.profile,
			    &after.contexts.profile);
	assert_true(isnan(hwprof_diff_get(diff, 0)->share_low));
	hwprof_diff_free(diff);
}

/* Adds a loop that only one side has, with its interval. */
static void add_alone(struct side *side, uint64_t head, double share,
		      double low, double high)
{
	struct hwprof_loop *loop = add(side, "b1", head, share);

	loop->share_low = low;
	loop->share_high = high;
}

/*
 * A loop that many windows found, and one that few did: chance may have hidden
 * the latter from the other recording. If that had few windows, it may have
 * hidden the former, too.
 */
static void test_missing(void **state)
{
	struct side before = NO_LOOPS, after = NO_LOOPS;
	struct hwprof_diff *diff;

	before.loops.profile.totals.windows = 100;
	after.loops.profile.totals.windows = 100;
	add_alone(&after, 0x100, 0.2, 0.16, 0.25);
	add_alone(&after, 0x200, 0.1, 0.02, 0.5);
	diff = diff_of(&before, &after);
	assert_true(hwprof_diff_get(diff, 0)->share_low > 0.15);
	assert_true(hwprof_diff_get(diff, 0)->share_high < 0.26);
	assert_true(contains_zero(hwprof_diff_get(diff, 1)));
	hwprof_diff_free(diff);

	diff = diff_of(&after, &before);
	assert_true(hwprof_diff_get(diff, 0)->share_high < -0.15);
	assert_true(contains_zero(hwprof_diff_get(diff, 1)));
	hwprof_diff_free(diff);

	before.loops.profile.totals.windows = 1;
	diff = diff_of(&before, &after);
	assert_true(contains_zero(hwprof_diff_get(diff, 0)));
	hwprof_diff_free(diff);
}

/* --- two builds of the other kinds --------------------------------------- */

#define NONE	HWPROF_NOTHING

/* Returns a share that differs between all things of both sides. */
static double share(unsigned int side, size_t index)
{
	return (index + 1) / (side ? 64.0 : 1024.0);
}

static void expect_share(double is, unsigned int side, size_t index)
{
	assert_true(is == (index == NONE ? 0 : share(side, index)));
}

/* Asserts that thing i of @count before matches @after[i] of @after_count. */
static void expect_counterparts(const struct hwprof_diff *diff,
				const size_t *after, size_t count,
				size_t after_count)
{
	size_t changes = after_count, i;

	for (i = 0; i < count; i++)
		changes += after[i] == NONE;
	assert_int_equal(hwprof_diff_count(diff), changes);
	for (i = 0; i < changes; i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		if (change->before != NONE) {
			assert_true(change->before < count);
			assert_int_equal(change->after, after[change->before]);
		}
		expect_share(change->share_before, 0, change->before);
		expect_share(change->share_after, 1, change->after);
		assert_true(change->share ==
			    change->share_after - change->share_before);
	}
}

static struct hwprof_diff *compare(const struct hwprof_profile *before,
				   const struct hwprof_profile *after)
{
	struct hwprof_diff *diff;

	assert_int_equal(hwprof_profile_diff(&diff, before, after), 0);
	return diff;
}

/* The place of a thing; @line 0: unknown. */
struct spot {
	const char *function;
	uint64_t address, offset;
	unsigned int line;
};

static const char *const builds[2] = { "b1", "b2" };

struct call_side {
	struct hwprof_calls calls;
	struct pair_entry pairs[MAX];
	struct method_entry methods[MAX];
};

#define NO_CALLS	{ .calls.profile.kind = &calls_kind }

static struct hwprof_code code_at(unsigned int side, const struct spot *spot)
{
	return (struct hwprof_code){
		.object = "/bin/prog", .build_id = builds[side],
		.function = spot->function, .address = spot->address,
		.function_offset = spot->offset,
		.file = spot->line ? "prog.c" : NULL, .line = spot->line,
	};
}

static void add_pair(struct call_side *to, unsigned int side, struct spot site,
		     struct spot callee)
{
	size_t index = to->calls.pair_count++;

	to->calls.pairs = to->pairs;
	to->pairs[index].pair = (struct hwprof_pair){
		.called.share = share(side, index),
		.site = code_at(side, &site), .callee = code_at(side, &callee),
	};
}

static void add_method(struct call_side *to, unsigned int side,
		       struct spot entry)
{
	size_t index = to->calls.method_count++;

	to->calls.methods = to->methods;
	to->methods[index].method = (struct hwprof_method){
		.called.share = share(side, index),
		.entry = code_at(side, &entry), .sites = 1,
	};
}

/*
 * Matched by line or offset of the site, and always by callee, whose line may
 * have changed.
 */
static void test_pairs(void **state)
{
	static const size_t counterparts[] = { 3, 2, NONE, NONE, NONE };
	static const struct spot
		g = { "g", 0x200, 0, 20 }, g2 = { "g", 0x280, 0, 25 },
		h = { "h", 0x300, 0, 0 }, h2 = { "h", 0x200, 0, 0 };
	struct call_side before = NO_CALLS, after = NO_CALLS;
	struct hwprof_diff *diff;

	add_pair(&before, 0, (struct spot){ "f", 0x108, 8, 10 }, g);
	add_pair(&before, 0, (struct spot){ "f", 0x120, 0x20, 0 }, h);
	add_pair(&before, 0, (struct spot){ "f", 0x130, 0x30, 11 }, g);
	add_pair(&before, 0, (struct spot){ NULL, 0x500, 0, 0 }, g);
	add_pair(&before, 0, (struct spot){ "f", 0x140, 0x40, 0 },
		 (struct spot){ NULL, 0x600, 0, 0 });
	/*
	 * The first is at the address of another one, but elsewhere in the
	 * program.
	 */
	add_pair(&after, 1, (struct spot){ "k", 0x108, 8, 10 }, h2);
	add_pair(&after, 1, (struct spot){ "f", 0x1b0, 0x30, 11 }, h2);
	add_pair(&after, 1, (struct spot){ "f", 0x1a0, 0x20, 0 }, h2);
	add_pair(&after, 1, (struct spot){ "f", 0x18c, 0xc, 10 }, g2);
	add_pair(&after, 1, (struct spot){ NULL, 0x500, 0, 0 }, g2);
	add_pair(&after, 1, (struct spot){ "f", 0x1c0, 0x40, 0 },
		 (struct spot){ NULL, 0x600, 0, 0 });
	diff = compare(&before.calls.profile, &after.calls.profile);
	expect_counterparts(diff, counterparts, 5, 6);
	hwprof_diff_free(diff);
}

static void add_methods(struct call_side *before, struct call_side *after)
{
	add_method(before, 0, (struct spot){ "g", 0x200, 0, 20 });
	add_method(before, 0, (struct spot){ "h", 0x300, 0, 0 });
	add_method(before, 0, (struct spot){ "gone", 0x400, 0, 30 });
	add_method(before, 0, (struct spot){ NULL, 0x500, 0, 0 });
	add_method(after, 1, (struct spot){ "h", 0x200, 0, 20 });
	add_method(after, 1, (struct spot){ NULL, 0x500, 0, 0 });
	add_method(after, 1, (struct spot){ "g", 0x280, 0, 25 });
}

static void test_methods(void **state)
{
	static const size_t counterparts[] = { 2, 0, NONE, NONE };
	struct call_side before = NO_CALLS, after = NO_CALLS;
	struct hwprof_diff *diff;

	add_methods(&before, &after);
	diff = compare(&before.calls.profile, &after.calls.profile);
	assert_int_equal(hwprof_diff_count(diff), 0);
	expect_counterparts(hwprof_diff_procedures(diff), counterparts, 4, 3);
	assert_null(hwprof_diff_procedures(hwprof_diff_procedures(diff)));
	hwprof_diff_free(diff);
}

/*
 * Each side has the fields of its own build. Methods are listed beside pairs.
 */
static void test_json(void **state)
{
	struct call_side before = NO_CALLS, after = NO_CALLS;
	char path[] = "/tmp/hwprof-test-XXXXXX", output[4096];
	struct hwprof_diff *diff;
	FILE *file;

	add_methods(&before, &after);
	add_pair(&before, 0, (struct spot){ "f", 0x108, 8, 10 },
		 (struct spot){ "g", 0x200, 0, 20 });
	diff = compare(&before.calls.profile, &after.calls.profile);
	file = fdopen(mkstemp(path), "w");
	assert_int_equal(hwprof_diff_json(diff, 2, file), 0);
	fclose(file);
	assert_int_equal(
		fixture_shell(
			output, sizeof(output),
			"python3 -c '\n"
			"import json\n"
			"d = json.load(open(\"%s\"))\n"
			"assert list(d) == [\"changes\", \"methods\"], d\n"
			"pair, = d[\"changes\"]\n"
			"assert pair[\"before\"][\"site\"][\"function\"] == "
			"\"f\", pair\n"
			"assert pair[\"after\"] is None, pair\n"
			"g, other = d[\"methods\"]\n"
			"b, a = g[\"before\"], g[\"after\"]\n"
			"assert b[\"entry\"][\"address\"] == \"0x200\", b\n"
			"assert a[\"entry\"][\"address\"] == \"0x280\", a\n"
			"assert b[\"entry\"][\"build_id\"] == \"b1\", b\n"
			"assert g[\"share_change\"] == a[\"share\"] - "
			"b[\"share\"], g\n"
			"assert a[\"sites\"] == 1, a\n"
			"' 2>&1",
			path),
		0);
	unlink(path);
	hwprof_diff_free(diff);
}

struct value_side {
	struct hwprof_values values;
	struct value_entry entries[MAX];
};

#define NO_VALUES	{ .values.profile.kind = &values_kind }

static void add_load(struct value_side *to, unsigned int side, struct spot spot)
{
	size_t index = to->values.count++;

	to->values.entries = to->entries;
	to->entries[index].load = (struct hwprof_load){
		.object = "/bin/prog", .build_id = builds[side],
		.function = spot.function, .function_offset = spot.offset,
		.address = spot.address, .file = spot.line ? "prog.c" : NULL,
		.line = spot.line, .share = share(side, index),
	};
}

static void test_loads(void **state)
{
	static const size_t counterparts[] = { 2, 0, NONE, NONE };
	struct value_side before = NO_VALUES, after = NO_VALUES;
	struct hwprof_diff *diff;

	add_load(&before, 0, (struct spot){ "f", 0x108, 8, 10 });
	add_load(&before, 0, (struct spot){ "g", 0x200, 0x10, 0 });
	add_load(&before, 0, (struct spot){ "g", 0x204, 0x14, 0 });
	add_load(&before, 0, (struct spot){ NULL, 0x300, 0, 0 });
	add_load(&after, 1, (struct spot){ "g", 0x108, 0x10, 0 });
	add_load(&after, 1, (struct spot){ "f", 0x208, 8, 11 });
	add_load(&after, 1, (struct spot){ "f", 0x20c, 0xc, 10 });
	add_load(&after, 1, (struct spot){ NULL, 0x300, 0, 0 });
	diff = compare(&before.values.profile, &after.values.profile);
	expect_counterparts(diff, counterparts, 4, 4);
	assert_null(hwprof_diff_procedures(diff));
	hwprof_diff_free(diff);
}

struct range_side {
	struct hwprof_ranges ranges;
	struct hwprof_range all[MAX];
};

#define NO_RANGES	{ .ranges.profile.kind = &ranges_kind }

/* Adds a range. The root has no @spot.function. */
static struct hwprof_range *add_range(struct range_side *to, unsigned int side,
				      unsigned int bits, struct spot spot)
{
	size_t index = to->ranges.count++;

	to->ranges.ranges = to->all;
	to->all[index] = (struct hwprof_range){
		.object = spot.function ? "/bin/prog" : NULL,
		.build_id = spot.function ? builds[side] : NULL,
		.function = spot.function, .function_offset = spot.offset,
		.low = spot.address, .bits = bits, .share = share(side, index),
	};
	return &to->all[index];
}

/*
 * All functions have moved by 16 bytes, and so have small ranges, but no large
 * one.
 */
static void test_ranges(void **state)
{
	static const size_t counterparts[] = { 0, 3, NONE, NONE };
	struct range_side before = NO_RANGES, after = NO_RANGES;
	struct hwprof_diff *diff;

	add_range(&before, 0, 64, (struct spot){ NULL, 0, 0, 0 });
	add_range(&before, 0, 4, (struct spot){ "f", 0x1000, 0, 0 });
	add_range(&before, 0, 6, (struct spot){ "g", 0x1080, 0x10, 0 });
	add_range(&before, 0, 4, (struct spot){ "h", 0x1100, 0, 0 });
	add_range(&after, 1, 64, (struct spot){ NULL, 0, 0, 0 });
	add_range(&after, 1, 6, (struct spot){ "g", 0x1080, 0, 0 });
	add_range(&after, 1, 2, (struct spot){ "h", 0x1110, 0, 0 });
	add_range(&after, 1, 4, (struct spot){ "f", 0x1010, 0, 0 });
	diff = compare(&before.ranges.profile, &after.ranges.profile);
	expect_counterparts(diff, counterparts, 4, 4);
	hwprof_diff_free(diff);
}

static void add_box(struct range_side *to, unsigned int side, struct spot code,
		    struct spot data)
{
	struct hwprof_range *range = add_range(to, side, 4, data);

	range->code = (struct hwprof_span){
		.object = "/bin/prog", .build_id = builds[side],
		.function = code.function, .function_offset = code.offset,
		.low = code.address, .bits = 4,
	};
}

/* Matched by both code and data. */
static void test_boxes(void **state)
{
	static const struct spot
		f = { "f", 0x1000, 0, 0 }, f2 = { "f", 0x1010, 0, 0 },
		g = { "g", 0x1010, 0, 0 }, g2 = { "g", 0x1020, 0, 0 },
		a = { "a", 0x8000, 0, 0 }, a2 = { "a", 0x8100, 0, 0 },
		b = { "b", 0x8100, 0, 0 }, b2 = { "b", 0x8200, 0, 0 };
	static const size_t counterparts[] = { 1, NONE, 0 };
	struct range_side before = NO_RANGES, after = NO_RANGES;
	struct hwprof_diff *diff;

	add_box(&before, 0, f, a);
	add_box(&before, 0, f, b);
	add_box(&before, 0, g, b);
	add_box(&after, 1, g2, b2);
	add_box(&after, 1, f2, a2);
	add_box(&after, 1, g2, a2);
	diff = compare(&before.ranges.profile, &after.ranges.profile);
	expect_counterparts(diff, counterparts, 3, 3);
	hwprof_diff_free(diff);
}

/* --- paths, named from the file of a program ------------------------------ */

/* The function f follows PAD bytes, and contains EXTRA bytes. */
static const char source[] =
"	.text\n"
"	.skip PAD, 0x90\n"
"	.type f, @function\n"
"f:\n"
"	nop\n"
"	.skip EXTRA, 0x90\n"
"	nop\n"
"	nop\n"
"	.size f, . - f\n"
"	.type g, @function\n"
"g:\n"
"	nop\n"
"	nop\n"
"	nop\n"
"	.size g, . - g\n";

enum { TEXT = 0x10000, PAD = 8, EXTRA = 4 };	/* of the second build */

struct path_side {
	struct hwprof_paths paths;
	struct objects *objects;
	struct object *object;
	struct path_entry *entries[MAX];
	struct hwprof_procedure procedures[MAX];
	struct hwprof_procedure *order[MAX];
	uint64_t f, g;
};

/* Reads the program at @path, which may be removed afterwards. */
static void open_build(struct path_side *to, unsigned int side,
		       const char *path, bool lines)
{
	const struct build_id none = { .size = 0 };
	unsigned int extra = side ? EXTRA : 0;
	char output[4096];
	uint64_t offset;

	assert_int_equal(
		fixture_shell(output, sizeof(output),
			      "rm -f %s; printf '%%s' '%s' > %s.s &&"
			      " gcc %s -Wa,--defsym,PAD=%u,--defsym,EXTRA=%u "
			      "-nostdlib -static"
			      " -no-pie -Wl,-e,0,--section-start=.text=0x%x -o "
			      "%s %s.s 2>&1;"
			      " rm -f %s.s",
			      path, source, path, lines ? "-g" : "",
			      side ? PAD : 0, extra, TEXT, path, path, path),
		0);
	to->paths.profile.kind = &paths_kind;
	to->f = TEXT + (side ? PAD : 0);
	to->g = to->f + 3 + extra;
	to->objects = objects_new(false);
	to->object = objects_get(to->objects, path, &none);
	assert_string_equal(object_symbol(to->object, to->g, &offset), "g");
	assert_int_equal(offset, 0);
}

static void close_build(struct path_side *side)
{
	size_t i;

	for (i = 0; i < side->paths.count; i++)
		free(side->entries[i]);
	objects_free(side->objects);
}

static void add_procedure(struct path_side *to, unsigned int side,
			  const char *function, uint64_t address)
{
	size_t index = to->paths.procedure_count++;

	to->paths.order = to->order;
	to->order[index] = &to->procedures[index];
	to->procedures[index] = (struct hwprof_procedure){
		.object = object_name(to->object), .build_id = builds[side],
		.function = function, .address = address,
		.share = share(side, index),
	};
}

/* Adds the path over one or two lines between @points. */
static struct path_entry *add_path(struct path_side *to, unsigned int side,
				   const uint64_t *points, unsigned int lines)
{
	struct path_entry *entry = calloc(1, sizeof(*entry) + path_points(1) *
					     sizeof(entry->points[0]));
	size_t index = to->paths.count++;
	unsigned int i;

	assert_non_null(entry);
	to->paths.entries = to->entries;
	to->entries[index] = entry;
	entry->path.procedure = &to->procedures[0];
	entry->path.length = entry->spelled = lines - 1;
	entry->path.start = points[0];
	entry->path.share = share(side, index);
	for (i = 0; i < 2 * lines; i++)
		entry->points[i] = (struct path_point){ to->object, points[i] };
	return entry;
}

/*
 * Paths of f, which has grown, and of g, which has not. The fourth jumps
 * elsewhere than the last, and the fifth has a later beginning.
 */
static void add_paths(struct path_side *before, struct path_side *after)
{
	const uint64_t f = before->f, g = before->g;
	const uint64_t f2 = after->f, g2 = after->g;

	add_procedure(before, 0, "f", f);
	add_procedure(before, 0, "gone", TEXT + 0x100);
	add_procedure(before, 0, "g", g);
	add_procedure(after, 1, "g", f);
	add_procedure(after, 1, "f", f2);
	add_path(before, 0, (uint64_t[]){ f + 1, f + 2 }, 1);
	add_path(before, 0, (uint64_t[]){ f, f + 2 }, 1);
	add_path(before, 0, (uint64_t[]){ g, g + 2 }, 1);
	add_path(before, 0, (uint64_t[]){ f, f, g + 2, g + 2 }, 2);
	add_path(before, 0, (uint64_t[]){ g + 1, g + 2 }, 1);
	add_path(before, 0, (uint64_t[]){ f, f, g + 1, g + 2 }, 2);
	add_path(after, 1, (uint64_t[]){ f2, f2, g2 + 1, g2 + 2 }, 2);
	add_path(after, 1, (uint64_t[]){g2 + 1, g2 + 2}, 1)->path.called = true;
	add_path(after, 1, (uint64_t[]){ g2, g2 + 2 }, 1);
	add_path(after, 1, (uint64_t[]){ f2, f2 + 6 }, 1);
	add_path(after, 1, (uint64_t[]){ f2 + 5, f2 + 6 }, 1);
}

/* Matched by source lines if known, otherwise by offsets. */
static void test_paths(void **state)
{
	static const size_t counterparts[2][6] = {
		{ NONE, NONE, 2, NONE, NONE, 0 }, { 4, 3, 2, NONE, NONE, 0 },
	};
	static const size_t procedures[] = { 1, NONE, 0 };
	char path[] = "/tmp/hwprof-test-XXXXXX";
	unsigned int lines;

	close(mkstemp(path));
	for (lines = 0; lines < 2; lines++) {
		struct path_side before = { 0 }, after = { 0 };
		struct hwprof_diff *diff;

		open_build(&before, 0, path, lines);
		open_build(&after, 1, path, lines);
		add_paths(&before, &after);
		diff = compare(&before.paths.profile, &after.paths.profile);
		expect_counterparts(diff, counterparts[lines], 6, 5);
		expect_counterparts(hwprof_diff_procedures(diff), procedures, 3,
				    2);
		hwprof_diff_free(diff);
		close_build(&before);
		close_build(&after);
	}
	unlink(path);
}

/* --- builds of one program ------------------------------------------------ */

#define REST \
	"__attribute__((noinline)) int red(int x) { return x * 7 + 1; }\n" \
	"__attribute__((noinline)) int blue(int x) { return x ^ 5; }\n" \
	"int main(int c, char **v) { volatile int s = 0;\n"
#define SUM	"for (int i = 0; i < c; i++) s += i * s;\n"
#define RED	"for (int i = 0; i < c; i++) s += red(i);\n"
#define RED_TOO	"for (int i = 0; i < c; i++) s += red(i ^ c) << 3;\n"
#define BLUE	"for (int i = 0; i < 9; i++) s ^= blue(i);\n"
#define PAIR	"for (int i = 0; i < c; i++) s -= c, s -= i;\n"
#define OTHER	"for (int i = 0; i < c; i++) s ^= c, s /= 3;\n"
#define END	"return s; }\n"

/*
 * Builds @source in a new folder, and makes a recording of its loops: loop n
 * has n * 10 back edges.
 */
static void make_build(struct fixture *fixture, const char *source,
		       char folder[])
{
	char output[4096], path[64], *at = output;
	uint64_t head, tail;
	int used, n = 0;

	strcpy(folder, "/tmp/hwprof-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(
		fixture_shell(
			output, sizeof(output),
			"cd %s && printf '%%s' '%s' > prog.c &&"
			"cc -g -O1 -no-pie -Wl,--build-id=sha1 -o prog prog.c "
			"&&"
			"objdump -d prog | awk '/^[0-9a-f]+ <main>:/ { on = 1 "
			"} /^$/ { on = 0 }"
			" on && $0 ~ /\\tj[a-z]+ / { sub(\":\", \"\", $1);"
			"  for (i = 2; i <= NF; i++) if ($i ~ /^j/)"
			"   print \"0x\" $(i + 1), \"0x\" $1 }'",
			folder, source),
		0);
	snprintf(path, sizeof(path), "%s/prog", folder);
	fixture_begin(fixture, "loops,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	fixture_map(fixture, 2, 100, 0x400000, 0x10000, 0, path, NULL);
	for (; sscanf(at, "%lx %lx\n%n", &head, &tail, &used) == 2;
	     at += used) {
		const struct hwprof_row_loop row =
			fixture_loop(1, 100, head, tail, 10 * (n + 1), 1);

		if (head > tail)
			continue;
		fixture_add_loop(fixture, 10, &row);
		n++;
	}
	fixture_end(fixture);
}

static void remove_folder(const char *folder)
{
	char output[64];

	fixture_shell(output, sizeof(output), "rm -r %s", folder);
}

/* Returns the match of loop @before with @after; NULL if there is none. */
static const char *match_of(const struct hwprof_diff *diff,
			    const struct hwprof_profile *profiles[2],
			    int before, int after)
{
	size_t i;

	for (i = 0; i < hwprof_diff_count(diff); i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		if (change->before != HWPROF_NOTHING &&
		    change->after != HWPROF_NOTHING &&
		    hwprof_loops_get(profiles[0], change->before)->
			back_edges_seen == 10U * before &&
		    hwprof_loops_get(profiles[1], change->after)->
			back_edges_seen == 10U * after)
			return hwprof_match_name(change->match);
	}
	return NULL;
}

/*
 * An edit moves all loops to other lines, where other loops used to be, and the
 * new build is in another folder. Loops that do the same are matched, and so is
 * the one that calls the same.
 */
static void test_edited(void **state)
{
	static const char *const sources[2] = {
		REST SUM RED BLUE PAIR END,
		REST OTHER SUM RED_TOO BLUE END,
	};
	struct hwprof_profile *profiles[2];
	struct fixture fixtures[2];
	struct hwprof_diff *diff;
	char folders[2][32];
	int i;

	for (i = 0; i < 2; i++) {
		make_build(&fixtures[i], sources[i], folders[i]);
		profiles[i] = fixture_loops(&fixtures[i], 0);
		assert_int_equal(hwprof_loops_count(profiles[i]), 4);
	}
	assert_int_equal(hwprof_profile_diff(&diff, profiles[0], profiles[1]),
			 0);
	const struct hwprof_profile *both[2] = { profiles[0], profiles[1] };

	assert_string_equal(match_of(diff, both, 1, 2), "code");  /* SUM */
	assert_string_equal(match_of(diff, both, 2, 3), "calls"); /* RED */
	assert_string_equal(match_of(diff, both, 3, 4), "code");  /* BLUE */
	assert_string_equal(match_of(diff, both, 4, 1), "nesting");
	hwprof_diff_free(diff);
	for (i = 0; i < 2; i++) {
		hwprof_profile_free(profiles[i]);
		fixture_remove(&fixtures[i]);
		remove_folder(folders[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_build),
		cmocka_unit_test(test_other_build),
		cmocka_unit_test(test_other_folder),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_itself),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_sampled_contexts),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_edited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
