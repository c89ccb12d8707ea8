// SPDX-License-Identifier: GPL-2.0-only
/*
 * From rows to hot ranges: sums, places, bounds, the paper's rule, and rap_*().
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "found.h"
#include "reports/range_box.h"
#include "tests/engine/random.h"

static void begin(struct fixture *fixture)
{
	fixture_begin(fixture, "ranges,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	/* The file does not exist, so addresses are offsets in it. */
	fixture_map(fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
}

/* Begins a recording of the stream that the event names. */
static void begin_of(struct fixture *fixture, const char *event)
{
	fixture_begin(fixture, event);
	fixture_comm(fixture, 1, 100, "prog", true);
	fixture_comm(fixture, 1, 200, "prog", true);
	fixture_map(fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
	fixture_map(fixture, 2, 100, 0x410000, 0x1000, 0, "//anon", NULL);
	fixture_map(fixture, 2, 100, 0x800000, 0x10000, 0, "//anon", NULL);
	fixture_map(fixture, 2, 100, 0x60000000, 0x10000, 0, "//anon", NULL);
	fixture_map(fixture, 2, 100, 0x7ff000, 0x1000, 0, "[stack]", NULL);
}

static void add(struct fixture *fixture, uint32_t session, uint32_t pid,
		uint64_t low, uint32_t bits, uint64_t count)
{
	const struct hwprof_row_range row = {
		.row.type = HWPROF_ROW_RANGE,
		.row.size = sizeof(row),
		.row.session = session,
		.row.space = pid,
		.row.pid = pid,
		.low = low,
		.bits = bits,
		.count = count,
		.basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, low, low, count, &row.row);
}

static void add_box(struct fixture *fixture, uint32_t pid, uint64_t code,
		    uint32_t code_bits, uint64_t low, uint32_t bits,
		    uint64_t count)
{
	const struct hwprof_row_box row = {
		.row.type = HWPROF_ROW_BOX,
		.row.size = sizeof(row),
		.row.session = 1,
		.row.space = pid,
		.row.pid = pid,
		.code = code,
		.code_bits = code_bits,
		.low = low,
		.bits = bits,
		.count = count,
		.basis = HWPROF_BASIS_EXACT,
		.of = HWPROF_RANGE_IP_LOAD_ADDRESS,
	};

	fixture_row(fixture, 10, code, low, count, &row.row);
}

static void add_evicted(struct fixture *fixture, uint64_t delivered,
			uint64_t evicted)
{
	const struct hwprof_row_totals totals = {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(totals),
		.row.session = 1,
		.produced = delivered + evicted,
		.delivered = delivered, .evicted = evicted,
		.events = 1000, .basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 30, 0, 0, 0, &totals.row);
}

static int read_hot(struct fixture *fixture, struct hwprof_profile **ranges,
		    double hot, unsigned int flags)
{
	return fixture_try(fixture, HWPROF_KIND_RANGES,
			   &(struct hwprof_options){
				.flags = flags, .hot = hot,
			   },
			   ranges);
}

static struct hwprof_profile *read_ranges(struct fixture *fixture,
					 unsigned int flags)
{
	struct hwprof_profile *ranges;

	assert_int_equal(read_hot(fixture, &ranges, 0, flags), 0);
	return ranges;
}

static const struct hwprof_range *find(const struct hwprof_profile *ranges,
				       uint64_t low, unsigned int bits)
{
	size_t i;

	for (i = 1; i < hwprof_ranges_count(ranges); i++) {
		const struct hwprof_range *range = hwprof_ranges_get(ranges, i);

		if (range->low == low && range->bits == bits)
			return range;
	}
	return NULL;
}

/* --- streams -------------------------------------------------------------- */

/* Data is in objects, or in memory of one process. */
static void test_addresses(void **state)
{
	const struct hwprof_range *range;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin_of(&fixture, "ranges,of=load-address,step,rows");
	add(&fixture, 1, 100, 0x800040, 2, 300);
	add(&fixture, 1, 100, 0x7ff800, 6, 300);
	add(&fixture, 1, 100, 0x401000, 0, 400);
	add(&fixture, 1, 100, 0x60000040, 0, 200);
	add(&fixture, 1, 100, 0x410040, 0, 200);
	/* The heap and memory behind it: such a range has no single object. */
	add(&fixture, 1, 100, 0x800000, 20, 10);
	fixture_add_totals(&fixture, 30, 1, 1410);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_of(ranges), HWPROF_RANGE_LOAD_ADDRESS);
	range = find(ranges, 0x800040, 2);
	assert_non_null(range);
	assert_string_equal(range->object, "[heap]");
	assert_int_equal(range->pid, 100);
	assert_string_equal(range->comm, "prog");
	assert_int_equal(range->least, 300);
	assert_int_equal(range->most, 310);
	range = find(ranges, 0x7ff800, 6);
	assert_non_null(range);
	assert_string_equal(range->object, "[stack]");
	range = find(ranges, 0x1000, 0);
	assert_non_null(range);
	assert_string_equal(range->object, "/no/prog");
	assert_int_equal(range->pid, 0);
	/* Too far from the program to be its heap. */
	range = find(ranges, 0x60000040, 0);
	assert_non_null(range);
	assert_string_equal(range->object, "//anon");
	range = find(ranges, 0x410040, 0);	/* this is too near */
	assert_non_null(range);
	assert_string_equal(range->object, "//anon");
	hwprof_profile_free(ranges);
}

static char zeroed[1 << 16];		/* in .bss, on separate pages */

/* Adds the maps of this program, which has a .bss. */
static void map_itself(struct fixture *fixture)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], name[256];
	uint64_t start, end, offset;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		strcpy(name, "//anon");
		assert_true(sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
				   " %*s %*s %255s", &start, &end, &offset,
				   name) >= 3);
		fixture_map(fixture, 2, 100, start, end - start, offset, name,
			    NULL);
	}
	fclose(maps);
}

/* Zeroed memory is in no file, but belongs to an object. */
static void test_zeroed(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)&zeroed[1 << 15];
	const struct hwprof_range *range;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	fixture_begin(&fixture, "ranges,of=store-address,step,rows");
	fixture_comm(&fixture, 1, 100, "prog", true);
	map_itself(&fixture);
	add(&fixture, 1, 100, address, 0, 100);
	add(&fixture, 1, 100, (uint64_t)(uintptr_t)&fixture & ~15ULL, 4, 100);
	fixture_add_totals(&fixture, 30, 1, 200);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_count(ranges), 3);
	range = hwprof_ranges_get(ranges, 1);
	if (range->pid)
		range = hwprof_ranges_get(ranges, 2);
	assert_int_equal(range->pid, 0);
	assert_non_null(strstr(range->object, "test-ranges"));
	assert_string_equal(range->function, "zeroed");
	assert_int_equal(range->function_offset, 1 << 15);
	hwprof_profile_free(ranges);
}

/* Values are the same in all processes, and have no place. */
static void test_load_values(void **state)
{
	const struct hwprof_range *range;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin_of(&fixture, "ranges,of=load-value,step,rows");
	add(&fixture, 1, 100, 0x400100, 0, 300);
	add(&fixture, 1, 200, 0x400100, 0, 300);
	add(&fixture, 1, 100, 0, 40, 100);
	add(&fixture, 1, 100, 0xffffffffffffff00, 8, 300);
	fixture_add_totals(&fixture, 30, 1, 1000);
	ranges = read_ranges(&fixture, 0);
	range = find(ranges, 0x400100, 0);
	assert_non_null(range);
	assert_null(range->object);
	assert_null(range->function);
	assert_int_equal(range->least, 600);
	assert_int_equal(range->most, 700);
	range = find(ranges, 0xffffffffffffff00, 8);
	assert_non_null(range);
	assert_int_equal(range->high, UINT64_MAX);
	assert_int_equal(range->least, 300);
	assert_int_equal(range->most, 300);
	assert_null(hwprof_profile_warning(ranges, 0));
	hwprof_profile_free(ranges);
}

/* Samples have no range. Their value is one of their addresses, or unknown. */
static void test_bare_samples_of(void **state)
{
	static const struct {
		const char *event;
		uint64_t low;
		unsigned int bits;
	} cases[] = {
		{ "ranges,of=store-address,step", 0x800040, 0 },
		{ "ranges,of=narrow-ip,step", 0x1000, 0 },
		{ "ranges,of=load-value,step", 0, 64 },
	};
	struct hwprof_profile *ranges;
	struct fixture fixture;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_of(&fixture, cases[i].event);
		fixture_bare(&fixture, 10, 100, 0x401000, 0x800040, 5);
		ranges = read_ranges(&fixture, 0);
		assert_int_equal(hwprof_ranges_get(ranges, 0)->least, 5);
		assert_non_null(find(ranges, cases[i].low, cases[i].bits));
		hwprof_profile_free(ranges);
	}
}

/* Ranges of another stream than the requested one are left out. */
static void test_of_another(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin_of(&fixture, "ranges,of=callee,step,rows");
	add(&fixture, 1, 100, 0x401000, 0, 400);
	fixture_add_totals(&fixture, 30, 1, 400);
	assert_int_equal(read_hot(&fixture, &ranges, 0, HWPROF_RANGES_OF_FLAG(
					HWPROF_RANGE_LOAD_VALUE)), 0);
	assert_int_equal(hwprof_ranges_of(ranges), HWPROF_RANGE_LOAD_VALUE);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->least, 0);
	assert_int_equal(hwprof_profile_totals(ranges)->produced, 0);
	hwprof_profile_free(ranges);
}

/* --- pairs ---------------------------------------------------------------- */

static const struct hwprof_range *
find_box(const struct hwprof_profile *ranges, uint64_t code,
	 unsigned int code_bits, uint64_t low, unsigned int bits)
{
	size_t i;

	for (i = 1; i < hwprof_ranges_count(ranges); i++) {
		const struct hwprof_range *range = hwprof_ranges_get(ranges, i);

		if (range->code.low == code && range->code.bits == code_bits &&
		    range->low == low && range->bits == bits)
			return range;
	}
	return NULL;
}

/* Code by data, each at its place in its object; and their bounds. */
static void test_boxes(void **state)
{
	const struct hwprof_range *inner, *outer, *whole, *stack;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin_of(&fixture, "ranges,of=ip-load-address,step,rows");
	add_box(&fixture, 100, 0x401044, 2, 0x800000, 14, 300);
	add_box(&fixture, 100, 0x401044, 2, 0x800000, 14, 50);
	add_box(&fixture, 100, 0x401040, 4, 0x800000, 16, 200);
	add_box(&fixture, 100, 0x401048, 0, 0x7ff800, 8, 400);
	/* A range larger than the heap, and the root. */
	add_box(&fixture, 100, 0x401040, 6, 0x800000, 18, 30);
	add_box(&fixture, 100, 0, 64, 0, 64, 20);
	fixture_add_totals(&fixture, 30, 1, 1000);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_of(ranges),
			 HWPROF_RANGE_IP_LOAD_ADDRESS);
	assert_true(hwprof_range_of_pairs(hwprof_ranges_of(ranges)));
	assert_int_equal(hwprof_ranges_count(ranges), 4);
	whole = hwprof_ranges_get(ranges, 0);
	assert_int_equal(whole->least, 1000);
	assert_int_equal(whole->own, 50);
	assert_int_equal(whole->code.bits, 64);
	assert_int_equal(whole->code.high, UINT64_MAX);
	assert_null(whole->code.object);
	outer = find_box(ranges, 0x1040, 4, 0x800000, 16);
	assert_non_null(outer);
	assert_true(outer->parent == whole);
	assert_int_equal(outer->least, 550);
	assert_int_equal(outer->most, 600);
	assert_int_equal(outer->own, 200);
	assert_int_equal(outer->code.high, 0x104f);
	assert_int_equal(outer->high, 0x80ffff);
	assert_string_equal(outer->code.object, "/no/prog");
	assert_string_equal(outer->object, "[heap]");
	assert_int_equal(outer->pid, 100);
	inner = find_box(ranges, 0x1044, 2, 0x800000, 14);
	assert_non_null(inner);
	assert_true(inner->parent == outer);
	assert_int_equal(inner->least, 350);
	assert_int_equal(inner->most, 350 + 200 + 50);
	stack = find_box(ranges, 0x1048, 0, 0x7ff800, 8);
	assert_non_null(stack);
	assert_string_equal(stack->object, "[stack]");
	assert_int_equal(stack->depth, 1);
	hwprof_profile_free(ranges);
}

/*
 * Two processes have the code at different addresses. Their boxes of shared
 * data are merged.
 */
static void test_boxes_of_processes(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		fixture_begin(&fixture, "ranges,of=ip-load-address,step,rows");
		fixture_map(&fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog",
			    NULL);
		fixture_map(&fixture, 2, 200, 0x705000, 0x10000, 0, "/no/prog",
			    NULL);
		add_box(&fixture, 100, 0x401040, 6, 0x400000, 18, 1);
		add_box(&fixture, 100, 0x401044, 2, 0x404000, 14, 300);
		add_box(&fixture, 200, 0x706044, 2, 0x708000, 14, 500);
		add_box(&fixture, 200, 0x706044, 0, 0x709000, 12, 200);
		fixture_add_totals(&fixture, 30, 1, 1001);
		ranges = read_ranges(&fixture, i ? HWPROF_PER_PROCESS : 0);
		assert_non_null(find_box(ranges, 0x1044, 2, 0x4000, 14));
		assert_int_equal(find_box(ranges, 0x1044, 2, 0x4000,
					  14)->least, i ? 300 : 500);
		/* 0x3000 to 0x6fff of the other process. */
		assert_non_null(find_box(ranges, 0x1040, 3, 0, 15));
		assert_int_equal(find_box(ranges, 0x1040, 3, 0, 15)->own, 500);
		assert_int_equal(find_box(ranges, 0x1044, 0, 0x4000, 12)->least,
				 200);
		hwprof_profile_free(ranges);
	}
}

/* The same data, accessed by other code, is another box. */
static void test_diff_of_boxes(void **state)
{
	struct hwprof_profile *both[2];
	struct hwprof_diff *diff;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin_of(&fixture, "ranges,of=ip-load-address,step,rows");
		add_box(&fixture, 100, 0x401044, 2, 0x800000, 14,
			600 - 200 * i);
		add_box(&fixture, 100, 0x402044, 2, 0x800000, 14,
			400 + 200 * i);
		both[i] = read_ranges(&fixture, 0);
	}
	assert_int_equal(hwprof_profile_diff(&diff, both[0], both[1]), 0);
	assert_int_equal(hwprof_diff_count(diff), 3);	/* with the root */
	for (i = 0; i < 3; i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		assert_true(change->before != HWPROF_NOTHING &&
			    change->after != HWPROF_NOTHING);
		assert_int_equal(
			hwprof_ranges_get(both[0], change->before)->code.low,
			hwprof_ranges_get(both[1], change->after)->code.low);
	}
	hwprof_diff_free(diff);
	hwprof_profile_free(both[0]);
	hwprof_profile_free(both[1]);
}

static void test_damaged_boxes(void **state)
{
	static const struct {
		uint64_t code, low;
		uint32_t code_bits, bits;
	} bad[] = {
		{ 0x401042, 0x800000, 2, 14 }, { 0x401044, 0x800040, 2, 14 },
		{ 0, 0, 2, 2 }, { 0, 0, 0, 14 }, { 0, 0, 3, 15 + 1 },
		{ 0, 0, 66, 62 }, { 0, 0, 64, 66 }, { 0, 0, 64, 62 },
		{ 1, 0, 64, 64 }, { 0, 0, 1, 12 },
	};
	struct hwprof_profile *ranges;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin_of(&fixture, "ranges,of=ip-load-address,step,rows");
		add_box(&fixture, 100, bad[i].code, bad[i].code_bits,
			bad[i].low, bad[i].bits, 70);
		assert_int_equal(read_hot(&fixture, &ranges, 0, 0), -EBADMSG);
		assert_null(ranges);
	}
}

static void test_bare_pairs(void **state)
{
	const struct hwprof_range *box;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin_of(&fixture, "ranges,of=ip-store-address,step");
	fixture_bare(&fixture, 10, 100, 0x401000, 0x800040, 5);
	ranges = read_ranges(&fixture, 0);
	box = find_box(ranges, 0x1000, 0, 0x800040, 0);
	assert_non_null(box);
	assert_int_equal(box->least, 5);
	hwprof_profile_free(ranges);
	begin_of(&fixture, "ranges,of=ip-store-address,step,rows");
	fixture_bare(&fixture, 10, 100, 0x401000, 0x800040, 5);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_count(ranges), 1);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->own, 5);
	assert_true(warns(ranges, "perf record -R"));
	hwprof_profile_free(ranges);
}

/*
 * Tests whether both are in one box of that many pairs, as docs/ranges.md
 * defines it.
 */
static bool share_a_box(struct pair a, struct pair b, int bits)
{
	int code_bits = bits / 2 - 6, address_bits;

	if (code_bits < 0)
		code_bits = 0;
	if (code_bits < bits - 64)
		code_bits = bits - 64;
	address_bits = bits - code_bits;
	return (code_bits == 64 || (a.code ^ b.code) >> code_bits == 0) &&
	       (address_bits == 64 ||
		(a.address ^ b.address) >> address_bits == 0);
}

/* Boxes are intervals of numbers, and each number is one pair. */
static void test_numbers(void **state)
{
	uint64_t random = 1;
	unsigned int i, bits;

	for (i = 0; i < 3000; i++) {
		struct pair a = { random_next(&random), random_next(&random) };
		struct pair b = {
			a.code ^ random_next(&random) >>
					 random_below(&random, 64),
			a.address ^ random_next(&random) >>
					    random_below(&random, 64),
		};
		range_number x = box_number(a), y = box_number(b);
		struct pair back = box_pair(x);

		assert_true(back.code == a.code && back.address == a.address);
		for (bits = 0; bits <= 128; bits += 2)
			assert_int_equal(share_a_box(a, b, bits),
					 !((x ^ y) & ~range_extent(bits)));
	}
}

static void test_json_of_boxes(void **state)
{
	char path[] = "/tmp/hwprof-test-XXXXXX", output[4096];
	struct hwprof_profile *ranges;
	struct fixture fixture;
	FILE *file;

	begin_of(&fixture, "ranges,of=ip-load-address,step,rows");
	add_box(&fixture, 100, 0x401044, 2, 0x800000, 14, 300);
	ranges = read_ranges(&fixture, 0);
	file = fdopen(mkstemp(path), "w");
	assert_int_equal(hwprof_profile_json(ranges, NULL, file), 0);
	fclose(file);
	assert_int_equal(
		fixture_shell(output, sizeof(output),
			      "python3 -c '\n"
			      "import json\n"
			      "d = json.load(open(\"%s\"))\n"
			      "r = d[\"ranges\"]\n"
			      "assert len(r) == 2 and d[\"of\"] == "
			      "\"ip-load-address\", d\n"
			      "c = r[1][\"code\"]\n"
			      "assert c[\"object\"] == \"/no/prog\" and "
			      "c[\"bits\"] == 2, c\n"
			      "assert (c[\"low\"], c[\"high\"]) == "
			      "(\"0x1044\", \"0x1047\"), c\n"
			      "assert r[1][\"object\"] == \"[heap]\" and "
			      "r[1][\"bits\"] == 14\n"
			      "assert r[0][\"code\"][\"object\"] is None, r\n"
			      "' 2>&1",
			      path),
		0);
	unlink(path);
	hwprof_profile_free(ranges);
}

/* --- sums and bounds ------------------------------------------------------ */

/*
 * Sums over many intervals and sessions. Events of surrounding ranges are part
 * of the upper bound.
 */
static void test_sums(void **state)
{
	const struct hwprof_range *range, *whole;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 1, 100, 0x400100, 0, 300);
	add(&fixture, 1, 100, 0x400100, 0, 100);
	add(&fixture, 2, 100, 0x400100, 0, 100);
	add(&fixture, 1, 100, 0x400100, 6, 30);
	add(&fixture, 1, 100, 0x400000, 12, 40);
	add(&fixture, 1, 100, 0, 64, 30);
	add(&fixture, 1, 100, 0x400800, 4, 400);
	fixture_add_totals(&fixture, 30, 1, 900);
	fixture_add_totals(&fixture, 30, 2, 100);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_count(ranges), 3);
	whole = hwprof_ranges_get(ranges, 0);
	assert_null(whole->object);
	assert_null(whole->parent);
	assert_int_equal(whole->least, 1000);
	assert_int_equal(whole->most, 1000);
	assert_int_equal(whole->own, 100);
	range = find(ranges, 0x100, 0);
	assert_non_null(range);
	assert_string_equal(range->object, "/no/prog");
	assert_int_equal(range->least, 500);
	assert_int_equal(range->most, 600);
	assert_int_equal(range->own, 500);
	assert_true(fabs(range->share - 0.5) < 1e-9);
	assert_true(range->parent == whole);
	assert_int_equal(range->depth, 1);
	assert_int_equal(range->basis, HWPROF_BASIS_EXACT);
	range = find(ranges, 0x800, 4);
	assert_non_null(range);
	assert_int_equal(range->high, 0x80f);
	assert_int_equal(range->least, 400);
	assert_int_equal(range->most, 470);
	assert_int_equal(hwprof_profile_totals(ranges)->produced, 1000);
	assert_int_equal(hwprof_profile_totals(ranges)->rows, 7);
	/* The only warning is that the object does not exist. */
	assert_null(hwprof_profile_warning(ranges, 1));
	hwprof_profile_free(ranges);
}

/*
 * Evicted events may belong to any range; those of a process, to its recording.
 */
static void test_evicted(void **state)
{
	static const uint64_t evicted[] = { 50, 7 };
	unsigned int each;
	size_t i;

	for (each = 0; each < 2; each++) {
		const struct hwprof_options options = {
			.flags = each ? HWPROF_PER_PROCESS : 0,
		};
		struct fixture fixtures[2];
		struct hwprof_profile *ranges;

		for (i = 0; i < 2; i++) {
			begin(&fixtures[i]);
			add(&fixtures[i], 1, 100, 0x400100 + 0x800 * i, 0, 400);
			add(&fixtures[i], 1, 100, 0x400000, 12, 10);
			add_evicted(&fixtures[i], 410, evicted[i]);
		}
		ranges = fixture_read(fixtures, 2, HWPROF_KIND_RANGES,
				      &options);
		assert_int_equal(hwprof_ranges_get(ranges, 0)->least, 820);
		assert_int_equal(hwprof_ranges_get(ranges, 0)->most, 877);
		assert_int_equal(find(ranges, 0x100, 0)->least, 400);
		assert_int_equal(find(ranges, 0x100, 0)->most,
				 each ? 400 + 10 + 50 : 400 + 20 + 57);
		assert_int_equal(find(ranges, 0x900, 0)->most,
				 each ? 400 + 10 + 7 : 400 + 20 + 57);
		hwprof_profile_free(ranges);
	}
}

/*
 * A range can be hot by the sum of its parts, but not by parts that are hot
 * themselves.
 */
static void test_hot(void **state)
{
	const struct hwprof_range *outer, *inner;
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 1, 100, 0x400000, 0, 60);
	add(&fixture, 1, 100, 0x400010, 0, 60);
	add(&fixture, 1, 100, 0x400020, 0, 500);
	add(&fixture, 1, 100, 0x408000, 0, 330);
	add(&fixture, 1, 100, 0x409000, 0, 50);
	fixture_add_totals(&fixture, 30, 1, 1000);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_count(ranges), 4);
	outer = find(ranges, 0, 6);
	inner = find(ranges, 0x20, 0);
	assert_non_null(outer);
	assert_non_null(inner);
	assert_non_null(find(ranges, 0x8000, 0));
	assert_int_equal(outer->own, 120);
	assert_int_equal(outer->least, 620);
	assert_true(inner->parent == outer);
	assert_int_equal(inner->depth, 2);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->own, 50);
	hwprof_profile_free(ranges);
}

static void test_threshold(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(&fixture);
		add(&fixture, 1, 100, 0x400000, 0, 50);
		add(&fixture, 1, 100, 0x408000, 0, 950);
		assert_int_equal(read_hot(&fixture, &ranges, i ? 0.05 : 0.051,
					  0), 0);
		assert_int_equal(hwprof_ranges_count(ranges), i ? 3 : 2);
		hwprof_profile_free(ranges);
	}
	begin(&fixture);
	assert_int_equal(read_hot(&fixture, &ranges, 1.01, 0), -EINVAL);
	assert_null(ranges);
}

/* --- places --------------------------------------------------------------- */

/*
 * The same code in two processes is merged. If its alignment differs, a range
 * that contains both is used.
 */
static void test_processes(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(&fixture);
		fixture_comm(&fixture, 3, 200, "prog", true);
		fixture_map(&fixture, 4, 200, 0x705000, 0x10000, 0, "/no/prog",
			    NULL);
		add(&fixture, 1, 100, 0x401000, 8, 300);
		add(&fixture, 1, 200, 0x706000, 8, 100);
		add(&fixture, 1, 100, 0x404000, 14, 300);
		add(&fixture, 1, 200, 0x708000, 14, 300);
		fixture_add_totals(&fixture, 30, 1, 1000);
		ranges = read_ranges(&fixture, i ? HWPROF_PER_PROCESS : 0);
		assert_non_null(find(ranges, 0x1000, 8));
		assert_int_equal(find(ranges, 0x1000, 8)->least, i ? 300 : 400);
		assert_int_equal(find(ranges, 0x1000, 8)->pid, i ? 100 : 0);
		assert_non_null(find(ranges, 0x4000, 14));
		assert_int_equal(find(ranges, 0x4000, 14)->least, 300);
		/* 0x3000 to 0x6fff of the other process. */
		assert_non_null(find(ranges, 0, 16));
		assert_int_equal(find(ranges, 0, 16)->own, 300);
		if (i)
			assert_string_equal(find(ranges, 0, 16)->comm, "prog");
		hwprof_profile_free(ranges);
	}
}

/* Ranges that are in no single object belong to the root. */
static void test_elsewhere(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 1, 100, 0x400000, 18, 100);	/* beyond its end */
	add(&fixture, 1, 100, 0, 40, 100);
	add(&fixture, 1, 100, 0x8000000000000000, 62, 200);
	add(&fixture, 1, 100, 0xffffffff81000000, 20, 200);
	add(&fixture, 1, 100, 0x900000, 4, 400);	/* no known memory */
	fixture_add_totals(&fixture, 30, 1, 1000);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->own, 200);
	assert_int_equal(find(ranges, 0x900000, 4)->most, 600);
	assert_string_equal(find(ranges, 0x900000, 4)->object, "[unknown]");
	assert_int_equal(find(ranges, 0x900000, 4)->pid, 100);
	assert_string_equal(find(ranges, 0xffffffff81000000, 20)->object,
			    "[kernel]");
	assert_int_equal(find(ranges, 0x8000000000000000, 62)->least, 200);
	assert_int_equal(find(ranges, 0xffffffff81000000, 20)->most, 400);
	hwprof_profile_free(ranges);
}

/* --- content of the file -------------------------------------------------- */

static void test_samples(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;

	fixture_begin(&fixture, "ranges,step");
	fixture_map(&fixture, 2, 100, 0x400000, 0x10000, 0, "/no/prog", NULL);
	fixture_bare(&fixture, 10, 100, 0x400010, 0x400020, 70);
	fixture_bare(&fixture, 10, 100, 0x400020, 0x400030, 30);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_count(ranges), 3);
	assert_int_equal(find(ranges, 0x10, 0)->least, 70);
	assert_int_equal(find(ranges, 0x10, 0)->most, 70);
	assert_int_equal(find(ranges, 0x10, 0)->basis, 0);
	hwprof_profile_free(ranges);
}

/* Without -R, a row tells where its range begins, but not where it ends. */
static void test_bare_rows(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin(&fixture);
	fixture_bare(&fixture, 10, 100, 0x400010, 0, 70);
	ranges = read_ranges(&fixture, 0);
	assert_int_equal(hwprof_ranges_count(ranges), 1);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->least, 70);
	assert_true(warns(ranges, "perf record -R"));
	hwprof_profile_free(ranges);
}

static void test_missing(void **state)
{
	struct hwprof_profile *ranges;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 1, 100, 0x400010, 0, 70);
	fixture_add_totals(&fixture, 30, 1, 100);
	ranges = read_ranges(&fixture, 0);
	assert_true(warns(ranges, "the file has 70 of the 100 events"));
	hwprof_profile_free(ranges);
}

static void test_damaged(void **state)
{
	static const struct {
		uint64_t low;
		uint32_t bits;
	} bad[] = { { 0x400010, 6 }, { 0, 3 }, { 0, 66 }, { 5, 64 } };
	struct hwprof_profile *ranges;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(&fixture);
		add(&fixture, 1, 100, bad[i].low, bad[i].bits, 70);
		assert_int_equal(read_hot(&fixture, &ranges, 0, 0), -EBADMSG);
		assert_null(ranges);
	}
}

static void test_json(void **state)
{
	char path[] = "/tmp/hwprof-test-XXXXXX", output[4096];
	struct hwprof_profile *ranges;
	struct fixture fixture;
	FILE *file;

	begin(&fixture);
	add(&fixture, 1, 100, 0x400000, 0, 60);
	add(&fixture, 1, 100, 0x400010, 0, 60);
	add(&fixture, 1, 100, 0x400020, 0, 500);
	add(&fixture, 1, 100, 0x900000, 4, 380);
	ranges = read_ranges(&fixture, 0);
	file = fdopen(mkstemp(path), "w");
	assert_int_equal(hwprof_profile_json(ranges, NULL, file), 0);
	fclose(file);
	assert_int_equal(
		fixture_shell(output, sizeof(output),
			      "python3 -c '\n"
			      "import json\n"
			      "d = json.load(open(\"%s\"))\n"
			      "r = d[\"ranges\"]\n"
			      "assert len(r) == 4 and d[\"hot\"] == 0.1, d\n"
			      "assert r[0][\"object\"] is None and "
			      "r[0][\"parent\"] is None\n"
			      "assert [x[\"parent\"] for x in r[1:]] == [0, 1, "
			      "0], r\n"
			      "assert r[1][\"high\"] == \"0x3f\" and "
			      "r[1][\"own\"] == 120, r\n"
			      "assert r[3][\"pid\"] == 100 and r[3][\"comm\"] "
			      "== \"prog\", r\n"
			      "assert abs(sum(x[\"share\"] for x in r) - 1) < "
			      "1e-9, r\n"
			      "assert any(\"no totals\" in w for w in "
			      "d[\"warnings\"])\n"
			      "' 2>&1",
			      path),
		0);
	unlink(path);
	hwprof_profile_free(ranges);
}

/* --- the tree, compared with the simplest code ---------------------------- */

struct row {
	range_number low;
	uint64_t count;
	uint32_t bits;
};

enum { ROWS = 60 };

static bool row_inside(const struct row *row, const struct range_node *node)
{
	return row->bits <= node->bits && row->low >= node->low &&
	       row->low <= range_last(node);
}

static bool node_inside(const struct range_node *inner,
			const struct range_node *outer)
{
	return inner->low >= outer->low &&
	       range_last(inner) <= range_last(outer);
}

static void check_node(const struct range_set *set, size_t i,
		       const struct row *rows, double hot)
{
	const struct range_node *node = &set->nodes[i];
	uint64_t count = 0, own = 0, around = 0, rest;
	size_t k;

	for (k = 0; k < ROWS; k++) {
		const struct range_node range = {
			.low = rows[k].low, .bits = rows[k].bits,
		};

		if (row_inside(&rows[k], node))
			count += rows[k].count;
		else if (node_inside(node, &range))
			around += rows[k].count;
		if (rows[k].low == node->low && rows[k].bits == node->bits)
			own += rows[k].count;
	}
	/*
	 * Without the hot ranges directly below it, and everything inside them.
	 */
	rest = count;
	for (k = i + 1; k < set->count; k++) {
		size_t up = set->nodes[k].parent;

		while (up != RANGE_NONE && up != i && !set->nodes[up].hot)
			up = set->nodes[up].parent;
		if (set->nodes[k].hot && up == i)
			rest -= set->nodes[k].count;
	}
	assert_int_equal(node->count, count);
	assert_int_equal(node->own, own);
	assert_int_equal(node->around, around);
	assert_int_equal(node->rest, rest);
	assert_int_equal(node->hot, rest && rest >= hot);
}

static void test_tree(void **state)
{
	static const unsigned int mosts[] = { 10, 64, 128 };
	uint64_t random = 1;
	unsigned int round, i;

	for (round = 0; round < 300; round++) {
		const unsigned int most = mosts[round % 3];
		struct range_set set = { 0 };
		struct row rows[ROWS];
		uint64_t total = 0;

		for (i = 0; i < ROWS; i++) {
			struct row *row = &rows[i];

			/* Crowded ranges, ranges of values, and of pairs. */
			row->bits = 2 * random_below(&random, most / 2 + 1);
			row->low = random_next(&random) >>
				   (most < 64 ? 52 : 0);
			if (most > 64)
				row->low =
					row->low << 64 | random_next(&random);
			row->low &= ~range_extent(row->bits);
			row->count = random_below(&random, 100);
			total += row->count;
			assert_int_equal(range_set_add(&set, row->low,
						       row->bits, row->count),
					 0);
		}
		assert_int_equal(range_set_build(&set, 0.1 * total), 0);
		assert_int_equal(set.nodes[0].count, total);
		for (i = 0; i < set.count; i++)
			check_node(&set, i, rows, 0.1 * total);
		range_set_free(&set);
	}
}

/* --- the paper's functions ------------------------------------------------ */

static void test_rap(void **state)
{
	unsigned long long low, high, own, least, most, sum[2] = { 0 };
	char path[] = "/tmp/hwprof-test-XXXXXX";
	unsigned int type;
	uint64_t random = 1, i;
	struct rap *rap;
	FILE *file;

	assert_int_equal(rap_init(&rap, 0), -EINVAL);
	assert_int_equal(rap_init(&rap, 2), 0);
	for (i = 0; i < 100000; i++) {
		rap_add_points(rap, random_next(&random), 1, 0);
		rap_add_points(rap, i % 4 ? 0x1234 : i, 3, 1);
	}
	file = fdopen(mkstemp(path), "w+");
	assert_int_equal(rap_finalize(rap, file), 0);
	rewind(file);
	while (fscanf(file, "%u %llx %llx %llu %llu %llu", &type, &low, &high,
		      &own, &least, &most) == 6) {
		assert_true(type < 2 && low <= high && own <= least &&
			    least <= most);
		sum[type] += own;
		if (type == 1 && low == 0x1234 && high == low)
			assert_true(least <= 225003 && 225000 <= most &&
				    most - least <= 3000);
	}
	assert_int_equal(sum[0], 100000);
	assert_int_equal(sum[1], 300000);
	fclose(file);
	unlink(path);
	file = fopen("/dev/full", "w");
	assert_int_equal(rap_finalize(rap, file), -EIO);
	fclose(file);
	rap_free(rap);
	rap_free(NULL);
}

static void test_rap_pairs(void **state)
{
	unsigned long long code, code_high, low, high, own, least, most,
		sum = 0;
	char path[] = "/tmp/hwprof-test-XXXXXX";
	unsigned int type, found = 0;
	uint64_t random = 1, i;
	struct rap *rap;
	FILE *file;

	assert_int_equal(rap_init_pairs(&rap, 0), -EINVAL);
	assert_int_equal(rap_init_pairs(&rap, 1), 0);
	for (i = 0; i < 100000; i++)
		rap_add_pairs(rap, i % 4 ? 0x401000 : random_next(&random),
			      i % 4 ? 0x1234 : random_next(&random), 3, 0);
	file = fdopen(mkstemp(path), "w+");
	assert_int_equal(rap_finalize(rap, file), 0);
	rewind(file);
	while (fscanf(file, "%u %llx %llx %llx %llx %llu %llu %llu", &type,
		      &code, &code_high, &low, &high, &own, &least,
		      &most) == 8) {
		assert_true(!type && code <= code_high && low <= high &&
			    own <= least && least <= most);
		sum += own;
		if (code != 0x401000 || code_high != code || low != 0x1234 ||
		    high != low)
			continue;
		found++;
		assert_true(least <= 225000 && 225000 <= most &&
			    most - least <= 3000);
	}
	assert_true(feof(file));
	assert_int_equal(found, 1);
	assert_int_equal(sum, 300000);
	fclose(file);
	unlink(path);
	rap_free(rap);
}

/* Ranges of one profile, as the iterator gives them. */
struct iterated {
	uint64_t sum;			/* of all ranges' own events */
	uint64_t widest;		/* greatest difference of bounds */
	unsigned int ranges, stop;	/* stop: end after so many */
	bool pairs;
	FILE *lines;			/* as rap_finalize() writes them */
	unsigned int type;
};

static int take_range(void *context, const struct rap_range *range)
{
	struct iterated *iterated = context;
	uint64_t width = range->at_most - range->at_least;

	assert_true(range->low <= range->high &&
		    range->code_low <= range->code_high &&
		    range->own <= range->at_least);
	iterated->sum += range->own;
	iterated->widest = width > iterated->widest ? width : iterated->widest;
	if (!iterated->pairs)
		assert_int_equal(0, range->code_high);
	if (!iterated->lines)
		return ++iterated->ranges == iterated->stop ? 7 : 0;
	fprintf(iterated->lines, "%u ", iterated->type);
	if (iterated->pairs)
		fprintf(iterated->lines, "0x%llx 0x%llx ",
			(unsigned long long)range->code_low,
			(unsigned long long)range->code_high);
	fprintf(iterated->lines, "0x%llx 0x%llx %llu %llu %llu\n",
		(unsigned long long)range->low, (unsigned long long)range->high,
		(unsigned long long)range->own,
		(unsigned long long)range->at_least,
		(unsigned long long)range->at_most);
	return 0;
}

static void refuse_rap(struct rap_options options)
{
	struct rap *rap;

	assert_int_equal(rap_init_options(&rap, &options, 1), -EINVAL);
	assert_null(rap);
}

static void test_rap_refused(void **state)
{
	const struct rap_options fine = { .epsilon = 1 };
	struct rap *rap;

	refuse_rap((struct rap_options){ .epsilon = 1.01 });
	refuse_rap((struct rap_options){ .epsilon = -0.1 });
	refuse_rap((struct rap_options){ .epsilon = 1e-7 });
	refuse_rap((struct rap_options){ .epsilon = NAN });
	refuse_rap((struct rap_options){ .dimensions = 3 });
	refuse_rap((struct rap_options){ .memory = RAP_MEMORY_MIN - 1 });
	refuse_rap((struct rap_options){ .memory = RAP_MEMORY_MAX + 1UL });
	refuse_rap((struct rap_options){ .reserved = 1 });
	assert_int_equal(rap_init_options(&rap, &fine, 0), -EINVAL);
	assert_int_equal(rap_init_options(&rap, &fine, 1), 0);
	assert_int_equal(rap_ranges(rap, 1, take_range, NULL), -EINVAL);
	rap_free(rap);
}

/* Values and pairs, mixed, with different errors and memories. */
static void test_rap_options(void **state)
{
	static const struct rap_options options[] = {
		{ .epsilon = 0.1 }, { .dimensions = 2, .memory = 1 << 20 },
		{ .epsilon = 0.001, .memory = 1 << 22 },
		{ .memory = RAP_MEMORY_MIN + 5 },
	};
	enum { PROFILES = 4, EVENTS = 100000 };
	char *expected = NULL, *got = NULL;
	size_t expected_size, got_size;
	FILE *text = open_memstream(&expected, &expected_size);
	FILE *lines = open_memstream(&got, &got_size);
	uint64_t widest[PROFILES], random = 1, i;
	struct iterated few = { .stop = 2 };
	struct rap *rap;

	assert_int_equal(rap_init_options(&rap, options, PROFILES), 0);
	for (i = 0; i < EVENTS; i++) {
		uint64_t value = i % 4 ? 0x1234 + i % 64 :
					 random_next(&random);

		rap_add_points(rap, value, 1, 0);
		rap_add_pairs(rap, 0x401000 + i % 3, value, 1, 1);
		rap_add_points(rap, value, 1, 2);
		rap_add_points(rap, value, 1, 3);
	}
	assert_int_equal(rap_finalize(rap, text), 0);
	for (i = 0; i < PROFILES; i++) {
		struct iterated iterated = {
			.lines = lines, .type = i, .pairs = i == 1,
		};

		assert_int_equal(rap_ranges(rap, i, take_range, &iterated), 0);
		assert_int_equal(iterated.sum, EVENTS);
		widest[i] = iterated.widest;
	}
	assert_true(widest[0] <= 0.1 * EVENTS && widest[1] <= 0.01 * EVENTS &&
		    widest[2] <= 0.001 * EVENTS && widest[0] > widest[2]);
	assert_int_equal(rap_ranges(rap, 2, take_range, &few), 7);
	assert_int_equal(few.ranges, 2);
	fclose(text);
	fclose(lines);
	assert_string_equal(expected, got);
	free(expected);
	free(got);
	rap_free(rap);
}

static int read_two(struct hwprof_profile **ranges,
		    const struct fixture *fixtures, unsigned int flags,
		    char *message, size_t size)
{
	struct hwprof_file *files[2];
	unsigned int i;
	int error;

	for (i = 0; i < 2; i++)
		assert_int_equal(hwprof_file_open(&files[i], fixtures[i].path),
				 0);
	error = hwprof_profile_read(ranges, HWPROF_KIND_RANGES, files, 2,
				    &(struct hwprof_options){ .flags = flags });
	assert_string_equal(hwprof_file_error(files[0]), "");
	snprintf(message, size, "%s", hwprof_file_error(files[1]));
	for (i = 0; i < 2; i++)
		hwprof_file_close(files[i]);
	return error;
}

/*
 * Memory of one process in two files is two ranges, unless the files are of the
 * same processes: then it is one, in which the evicted events of both may be.
 */
static void test_same_processes(void **state)
{
	struct fixture fixtures[2];
	struct hwprof_profile *ranges;
	char message[512];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin_of(&fixtures[i], "ranges,step,rows,range_of=load-address");
		add(&fixtures[i], 1, 100, 0x60000000, 0, 10);
		add_evicted(&fixtures[i], 10, 3);
		fixture_end(&fixtures[i]);
	}
	assert_int_equal(read_two(&ranges, fixtures, 0, message,
				  sizeof(message)), 0);
	assert_int_equal(hwprof_ranges_count(ranges), 3);
	assert_int_equal(hwprof_ranges_get(ranges, 1)->own, 10);
	assert_int_equal(hwprof_ranges_get(ranges, 1)->most, 13);
	hwprof_profile_free(ranges);
	assert_int_equal(read_two(&ranges, fixtures, HWPROF_SAME_PROCESSES,
				  message, sizeof(message)), 0);
	assert_int_equal(hwprof_ranges_count(ranges), 2);
	assert_int_equal(hwprof_ranges_get(ranges, 1)->own, 20);
	assert_int_equal(hwprof_ranges_get(ranges, 1)->most, 26);
	assert_int_equal(hwprof_ranges_get(ranges, 1)->pid, 100);
	hwprof_profile_free(ranges);
	for (i = 0; i < 2; i++)
		fixture_remove(&fixtures[i]);
}

/* Two files of different streams. The message names the file. */
static void test_files_of(void **state)
{
	static const char *const events[] = {
		"ranges,step,rows", "ranges,step,rows,range_of=load-value",
	};
	struct fixture fixtures[2];
	struct hwprof_profile *ranges;
	char message[512];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin_of(&fixtures[i], events[i]);
		add(&fixtures[i], 1, 100, 0x400000, 0, 10);
		fixture_end(&fixtures[i]);
	}
	assert_int_equal(read_two(&ranges, fixtures, 0, message,
				  sizeof(message)), -EINVAL);
	assert_null(ranges);
	assert_non_null(strstr(message,
			       "and the files before it have ranges of several things: choose one (--of) of ip, load-value"));
	assert_int_equal(read_two(&ranges, fixtures, HWPROF_RANGES_OF_FLAG(
					HWPROF_RANGE_LOAD_VALUE),
				  message, sizeof(message)), 0);
	assert_int_equal(hwprof_ranges_get(ranges, 0)->least, 10);
	hwprof_profile_free(ranges);
	for (i = 0; i < 2; i++)
		fixture_remove(&fixtures[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_load_values),
		cmocka_unit_test(test_bare_samples_of),
		cmocka_unit_test(test_of_another),
		cmocka_unit_test(test_files_of),
		cmocka_unit_test(test_same_processes),
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_boxes_of_processes),
		cmocka_unit_test(test_diff_of_boxes),
		cmocka_unit_test(test_damaged_boxes),
		cmocka_unit_test(test_bare_pairs),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_json_of_boxes),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_evicted),
		cmocka_unit_test(test_hot),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_bare_rows),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_rap),
		cmocka_unit_test(test_rap_pairs),
		cmocka_unit_test(test_rap_options),
		cmocka_unit_test(test_rap_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
