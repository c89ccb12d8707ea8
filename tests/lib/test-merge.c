// SPDX-License-Identifier: GPL-2.0-only
/* Recordings merged by build: rows add up, and say what they said before. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "merge/merge.h"

enum { SIZE = 0x10000 };

/* The last byte is not 0: a reader takes zeros at the end for padding. */
static const struct build_id one = { .size = 20, .bytes = { 0x11, [19] = 1 } };
static const struct build_id two = { .size = 20, .bytes = { 0x22, [19] = 2 } };

static struct hwprof_row head_of(unsigned int type, size_t size, uint32_t pid)
{
	return (struct hwprof_row){
		.type = type, .size = size, .space = pid, .session = 1,
		.pid = pid,
	};
}

/* A process that has one program at @base, and a library behind it. */
static void begin(struct fixture *fixture, uint32_t pid, uint64_t base)
{
	fixture_begin(fixture, "loops,calls,paths,edges,lbr,rows");
	fixture_comm(fixture, 1, pid, "prog", true);
	fixture_map(fixture, 2, pid, base, SIZE, 0, "/no/prog", &one);
	fixture_map(fixture, 2, pid, base + SIZE, SIZE, 0, "/no/lib.so", &two);
}

static void add_loop(struct fixture *fixture, uint32_t pid, uint64_t head,
		     uint64_t tail, uint64_t back_edges)
{
	struct hwprof_row_loop row = fixture_loop(pid, pid, head, tail,
						  back_edges, back_edges / 4);

	row.basis = HWPROF_BASIS_BRANCHES;
	row.sum_back_sq = back_edges * 3;
	fixture_add_loop(fixture, 10, &row);
}

static void add_call(struct fixture *fixture, uint32_t pid, uint64_t site,
		     uint64_t callee, uint64_t calls, uint64_t evicted)
{
	const struct hwprof_row_call row = {
		.row = head_of(HWPROF_ROW_CALL, sizeof(row), pid),
		.site = site, .callee = callee, .calls = calls, .error = 2,
		.evicted = evicted, .basis = HWPROF_BASIS_BRANCHES,
	};

	fixture_row(fixture, 11, site, callee, calls, &row.row);
}

static void add_edge(struct fixture *fixture, uint32_t pid, uint64_t from,
		     uint64_t to, uint64_t end, uint64_t count)
{
	const struct hwprof_row_edge row = {
		.row = head_of(HWPROF_ROW_EDGE, sizeof(row), pid),
		.from = from, .to = to, .end = end, .count = count,
		.kind = HWPROF_BRANCH_COND, .basis = HWPROF_BASIS_BRANCHES,
	};

	fixture_row(fixture, 12, from, to, count, &row.row);
}

static void add_path(struct fixture *fixture, uint32_t pid, uint64_t start,
		     uint64_t count)
{
	struct {
		struct hwprof_row_path path;
		struct hwprof_path_jump jumps[2];
	} row = {
		.path = {
			.row = head_of(HWPROF_ROW_PATH, sizeof(row), pid),
			.start = start, .end = start + 0x80, .target = start,
			.count = count, .length = 2, .spelled = 2,
			.basis = HWPROF_BASIS_BRANCHES,
		},
		.jumps = {
			{ start + 0x10, start + 0x20 },
			{ start + 0x30, start + 0x60 },
		},
	};

	fixture_row(fixture, 13, start, start + 0x80, count, &row.path.row);
}

static void add_totals(struct fixture *fixture, uint64_t delivered,
		       uint64_t lost, uint64_t evicted)
{
	const struct hwprof_row_totals row = {
		.row = head_of(HWPROF_ROW_TOTALS, sizeof(row), 0),
		.produced = delivered + lost + evicted,
		.delivered = delivered, .lost = lost, .evicted = evicted,
		.events = 1000, .cost_ns = 7, .task_ns = 700,
		.basis = HWPROF_BASIS_BRANCHES, .source = HWPROF_SOURCE_LBR,
		.budget_permille = 10,
	};

	fixture_row(fixture, 20, 0, 0, 0, &row.row);
}

/* 100 back edges, 30 calls, 50 edges and 20 paths, with some lost. */
static void make(struct fixture *fixture, uint32_t pid, uint64_t base)
{
	begin(fixture, pid, base);
	add_loop(fixture, pid, base + 0x100, base + 0x140, 60);
	add_loop(fixture, pid, base + SIZE + 0x100, base + SIZE + 0x120, 40);
	add_call(fixture, pid, base + 0x120, base + SIZE + 0x90, 30, 4);
	add_edge(fixture, pid, base + 0x140, base + 0x100, base + 0x140, 50);
	add_path(fixture, pid, base + 0x200, 20);
	add_totals(fixture, 200, 5, 9);
	fixture_end(fixture);
}

static struct hwprof_file *open_file(const char *path)
{
	struct hwprof_file *file;

	assert_int_equal(hwprof_file_open(&file, path), 0);
	return file;
}

static void add(struct merge *merge, const char *path)
{
	struct hwprof_file *file = open_file(path);
	int error = merge_add(merge, file);

	if (error)
		print_error("%s\n", hwprof_file_error(file));
	assert_int_equal(error, 0);
	hwprof_file_close(file);
}

/* Writes @part to a new file, whose name @path gets. */
static void write_part(struct merge *merge, long part, char path[64])
{
	char message[512] = "";
	int fd;

	strcpy(path, "/tmp/hwprof-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	if (merge_write(merge, part, path, message, sizeof(message)))
		fail_msg("%s", message);
}

static struct hwprof_profile *read_profile(enum hwprof_kind kind,
					   const char *path)
{
	const struct hwprof_options options = { .flags = HWPROF_NO_OBJECTS };
	struct hwprof_file *file = open_file(path);
	struct hwprof_profile *profile;
	int error = hwprof_profile_read(&profile, kind, &file, 1, &options);

	if (error)
		print_error("%s\n", hwprof_file_error(file));
	assert_int_equal(error, 0);
	hwprof_file_close(file);
	return profile;
}

/* The JSON of a profile up to its totals, which count files and sessions. */
static char *things_of(struct hwprof_profile *profile)
{
	char *text, *end;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(hwprof_profile_json(profile, NULL, out), 0);
	fclose(out);
	end = strstr(text, "\"totals\"");
	assert_non_null(end);
	*end = 0;
	hwprof_profile_free(profile);
	return text;
}

static struct hwprof_profile *read_both(enum hwprof_kind kind,
					const struct fixture *a,
					const struct fixture *b)
{
	struct hwprof_file *files[] = {
		open_file(a->path), open_file(b->path),
	};
	struct hwprof_profile *profile;

	assert_int_equal(hwprof_profile_read(&profile, kind, files, 2, NULL),
			 0);
	hwprof_file_close(files[0]);
	hwprof_file_close(files[1]);
	return profile;
}

static const enum hwprof_kind kinds[] = {
	HWPROF_KIND_LOOPS, HWPROF_KIND_EDGES, HWPROF_KIND_PATHS,
};

/* Two processes with the program elsewhere; merged once, and once more. */
static void test_same_profile(void **state)
{
	struct merge *merge = merge_new(), *again = merge_new();
	struct fixture a, b;
	char path[64], second[64];
	size_t i;

	make(&a, 100, 0x400000);
	make(&b, 200, 0x7f1234560000);
	add(merge, a.path);
	add(merge, b.path);
	write_part(merge, MERGE_ALL, path);
	add(again, path);
	write_part(again, MERGE_ALL, second);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char *before = things_of(read_both(kinds[i], &a, &b));
		char *after = things_of(read_profile(kinds[i], path));
		char *twice = things_of(read_profile(kinds[i], second));

		assert_string_equal(after, before);
		assert_string_equal(twice, before);
		free(before);
		free(after);
		free(twice);
	}
	merge_free(merge);
	merge_free(again);
	fixture_remove(&a);
	fixture_remove(&b);
	unlink(path);
	unlink(second);
}

/* A loop whose recent trip count is @trip at @time. */
static void make_recent(struct fixture *fixture, uint64_t time, uint64_t trip)
{
	struct hwprof_row_loop row = fixture_loop(100, 100, 0x400100, 0x400140,
						  60, 15);

	row.trip_recent = trip * 256;
	begin(fixture, 100, 0x400000);
	fixture_add_loop(fixture, time, &row);
	fixture_end(fixture);
}

/* The latest in time says what is recent, in whichever order files come. */
static void test_recent(void **state)
{
	unsigned int order;

	for (order = 0; order < 2; order++) {
		struct merge *merge = merge_new();
		struct hwprof_profile *loops;
		struct fixture old, new;
		char path[64];

		make_recent(&old, 10, 9);
		make_recent(&new, 20, 17);
		add(merge, order ? new.path : old.path);
		add(merge, order ? old.path : new.path);
		write_part(merge, MERGE_ALL, path);
		loops = read_profile(HWPROF_KIND_LOOPS, path);
		assert_int_equal(hwprof_loops_count(loops), 1);
		assert_true(hwprof_loops_get(loops, 0)->trip_recent == 17);
		hwprof_profile_free(loops);
		merge_free(merge);
		fixture_remove(&old);
		fixture_remove(&new);
		unlink(path);
	}
}

/* The bound of a pair holds what was evicted after its row, and is not lost. */
static void test_bounds(void **state)
{
	struct hwprof_profile *before, *after;
	struct merge *merge = merge_new();
	const struct hwprof_pair *pair;
	struct fixture a, b;
	char path[64];

	make(&a, 100, 0x400000);
	make(&b, 200, 0x500000);
	add(merge, a.path);
	add(merge, b.path);
	write_part(merge, MERGE_ALL, path);
	before = read_both(HWPROF_KIND_CALLS, &a, &b);
	after = read_profile(HWPROF_KIND_CALLS, path);
	assert_int_equal(hwprof_calls_pair_count(after), 1);
	pair = hwprof_calls_pair(after, 0);
	assert_int_equal(pair->called.least, 60);
	/* 2 that it may lack, and 5 of 9 evicted later, each time. */
	assert_int_equal(pair->called.most, 60 + 2 * (2 + 5));
	assert_int_equal(pair->called.most,
			 hwprof_calls_pair(before, 0)->called.most);
	assert_string_equal(pair->callee.build_id,
			    "2200000000000000000000000000000000000002");
	hwprof_profile_free(before);
	hwprof_profile_free(after);
	merge_free(merge);
	fixture_remove(&a);
	fixture_remove(&b);
	unlink(path);
}

static void test_totals(void **state)
{
	const struct hwprof_totals *totals;
	struct merge *merge = merge_new();
	struct hwprof_profile *profile;
	struct fixture a, b;
	char path[64];

	make(&a, 100, 0x400000);
	make(&b, 200, 0x500000);
	add(merge, a.path);
	add(merge, b.path);
	write_part(merge, MERGE_ALL, path);
	profile = read_profile(HWPROF_KIND_LOOPS, path);
	totals = hwprof_profile_totals(profile);
	assert_int_equal(totals->produced, 428);
	assert_int_equal(totals->delivered, 400);
	assert_int_equal(totals->lost, 10);
	assert_int_equal(totals->evicted, 18);
	assert_int_equal(totals->events, 2000);
	assert_int_equal(totals->cost_ns, 14);
	assert_int_equal(totals->task_ns, 1400);
	assert_int_equal(totals->budget_permille, 10);
	assert_int_equal(totals->sessions, 1);
	hwprof_profile_free(profile);
	merge_free(merge);
	fixture_remove(&a);
	fixture_remove(&b);
	unlink(path);
}

/* A merge of some processes says what the rows are, and has no account. */
static void test_chosen(void **state)
{
	const struct label_filter filter = { .program = "prog" };
	struct merge *merge = merge_new();
	struct hwprof_row_totals totals;
	struct fixture fixture;

	make(&fixture, 100, 0x400000);
	merge_choose(merge, &filter);
	add(merge, fixture.path);
	totals = merge_totals(merge, true);
	assert_int_equal(totals.delivered, 200);
	assert_int_equal(totals.lost, 0);
	assert_int_equal(totals.task_ns, 0);
	assert_int_equal(totals.basis, HWPROF_BASIS_BRANCHES);
	assert_int_equal(totals.source, HWPROF_SOURCE_LBR);
	merge_free(merge);
	fixture_remove(&fixture);
}

static long find_part(const struct merge *merge, enum hwprof_kind kind,
		      const char *object)
{
	const struct merge_part *part;
	long i;

	for (i = 0; (part = merge_part(merge, i)); i++)
		if (part->kind == kind && !strcmp(part->object, object))
			return i;
	return -1;
}

/* Parts, and the account, merge into what they were parts of. */
static void test_parts(void **state)
{
	struct merge *merge = merge_new(), *whole = merge_new();
	struct hwprof_profile *profile;
	struct fixture fixture;
	char path[64], all[64];
	char *before, *after;
	long part, count;

	make(&fixture, 100, 0x400000);
	add(merge, fixture.path);
	part = find_part(merge, HWPROF_KIND_LOOPS, "/no/lib.so");
	assert_true(part >= 0);
	assert_string_equal(merge_part(merge, part)->build_id,
			    "2200000000000000000000000000000000000002");
	assert_int_equal(merge_part(merge, part)->units, 40);
	write_part(merge, part, path);
	profile = read_profile(HWPROF_KIND_LOOPS, path);
	assert_int_equal(hwprof_loops_count(profile), 1);
	assert_int_equal(hwprof_loops_get(profile, 0)->head, 0x100);
	assert_int_equal(hwprof_profile_totals(profile)->produced, 40);
	assert_null(hwprof_profile_warning(profile, 0));
	hwprof_profile_free(profile);
	unlink(path);
	for (count = 0; merge_part(merge, count); count++)
		;
	assert_int_equal(count, 5);
	for (part = MERGE_ACCOUNT; part < count; part++) {
		write_part(merge, part, path);
		add(whole, path);
		unlink(path);
	}
	write_part(whole, MERGE_ALL, path);
	write_part(merge, MERGE_ALL, all);
	before = things_of(read_profile(HWPROF_KIND_LOOPS, all));
	after = things_of(read_profile(HWPROF_KIND_LOOPS, path));
	assert_string_equal(after, before);
	assert_int_equal(merge_totals(whole, true).produced,
			 merge_totals(merge, true).produced);
	assert_int_equal(merge_totals(whole, true).lost, 5);
	free(before);
	free(after);
	merge_free(merge);
	merge_free(whole);
	fixture_remove(&fixture);
	unlink(path);
	unlink(all);
}

enum { MANY = 300 };

/* A recording of MANY programs, each of which loops in its own file. */
static void make_many(struct fixture *fixture)
{
	char name[32];
	uint32_t i;

	fixture_begin(fixture, "loops,calls,paths,edges,lbr,rows");
	for (i = 1; i <= MANY; i++) {
		struct build_id id = { .size = 20, .bytes = { i, i >> 8,
							      [19] = 1 } };

		snprintf(name, sizeof(name), "/no/prog%u", i);
		fixture_comm(fixture, 1, i, name + 4, true);
		fixture_map(fixture, 2, i, 0x400000, SIZE, 0, name, &id);
		add_loop(fixture, i, 0x400100, 0x400140, 4 * i);
		add_edge(fixture, i, 0x400140, 0x400100, 0x400140, i);
	}
	fixture_end(fixture);
}

/* Each part has its own rows, also after more have been added. */
static void test_many_parts(void **state)
{
	struct merge *merge = merge_new();
	const struct merge_part *part;
	struct hwprof_profile *profile;
	struct fixture fixture;
	char path[64];
	int round;
	long i;

	make_many(&fixture);
	for (round = 1; round <= 2; round++) {
		add(merge, fixture.path);
		for (i = 0; (part = merge_part(merge, i)); i++) {
			if (part->kind != HWPROF_KIND_LOOPS)
				continue;
			write_part(merge, i, path);
			profile = read_profile(HWPROF_KIND_LOOPS, path);
			unlink(path);
			assert_int_equal(part->rows, 1);
			assert_int_equal(hwprof_loops_count(profile), 1);
			assert_int_equal(part->units, 4 * round *
					 atoi(part->object + 8));
			assert_int_equal(hwprof_profile_totals(profile)->
					 produced, part->units);
			hwprof_profile_free(profile);
		}
		assert_int_equal(i, 2 * MANY);
	}
	merge_free(merge);
	fixture_remove(&fixture);
}

/* Code in no object is not lost, but has no place. */
static void test_unknown(void **state)
{
	struct merge *merge = merge_new();
	struct hwprof_profile *profile;
	struct fixture fixture;
	char path[64];

	begin(&fixture, 100, 0x400000);
	add_loop(&fixture, 100, 0x9000100, 0x9000140, 60);
	add_loop(&fixture, 100, 0x9000400, 0x9000440, 4);
	add_path(&fixture, 100, 0x9000200, 20);
	add_totals(&fixture, 84, 0, 0);
	fixture_end(&fixture);
	add(merge, fixture.path);
	write_part(merge, MERGE_ALL, path);
	assert_string_equal(merge_part(merge, 0)->object, "[unknown]");
	profile = read_profile(HWPROF_KIND_LOOPS, path);
	assert_int_equal(hwprof_loops_count(profile), 1);
	assert_int_equal(hwprof_loops_get(profile, 0)->back_edges_seen, 64);
	assert_string_equal(hwprof_loops_get(profile, 0)->comm, "prog");
	assert_null(hwprof_profile_warning(profile, 0));
	hwprof_profile_free(profile);
	merge_free(merge);
	fixture_remove(&fixture);
	unlink(path);
}

static void add_context(struct fixture *fixture, uint32_t pid, uint64_t id,
			uint64_t parent, uint64_t site, uint64_t callee,
			uint64_t weight)
{
	const struct hwprof_row_context row = {
		.row = head_of(HWPROF_ROW_CONTEXT,
			       HWPROF_ROW_CONTEXT_SIZE_VER0, pid),
		.id = id, .parent = parent, .callee = callee, .site = site,
		.weight = weight, .samples = weight,
		.kind = parent ? HWPROF_CONTEXT_CALL : HWPROF_CONTEXT_ROOT,
		.basis = HWPROF_BASIS_TIME,
	};

	fixture_row(fixture, 11, callee, site, weight, &row.row);
}

static void make_contexts(struct fixture *fixture, uint32_t pid, uint64_t base,
			  uint64_t first_id)
{
	fixture_begin(fixture, "cct,sample,rows");
	fixture_comm(fixture, 1, pid, "prog", true);
	fixture_map(fixture, 2, pid, base, SIZE, 0, "/no/prog", &one);
	fixture_map(fixture, 2, pid, base + SIZE, SIZE, 0, "/no/lib.so", &two);
	/* A callee's row may come before its caller's. */
	add_context(fixture, pid, first_id + 1, first_id, base + 0x20,
		    base + SIZE + 0x100, 7);
	add_context(fixture, pid, first_id, 0, 0, base + 0x10, 3);
	add_context(fixture, pid, first_id + 1, first_id, base + 0x20,
		    base + SIZE + 0x100, 2);
	fixture_end(fixture);
}

static char *folded(struct hwprof_profile *profile)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(hwprof_contexts_folded(profile, out), 0);
	fclose(out);
	hwprof_profile_free(profile);
	return text;
}

/* Contexts have other numbers in each recording; the chains are the same. */
static void test_contexts(void **state)
{
	struct merge *merge = merge_new(), *again = merge_new();
	struct fixture a, b;
	char path[64], second[64];
	char *before, *after, *twice;

	make_contexts(&a, 100, 0x400000, 10);
	make_contexts(&b, 200, 0x500000, 77);
	add(merge, a.path);
	add(merge, b.path);
	assert_int_equal(merge_part(merge, 0)->rows, 2);
	assert_int_equal(merge_part(merge, 0)->units, 24);
	assert_null(merge_part(merge, 1));
	write_part(merge, 0, path);
	add(again, path);
	write_part(again, MERGE_ALL, second);
	before = folded(read_both(HWPROF_KIND_CCT, &a, &b));
	after = folded(read_profile(HWPROF_KIND_CCT, path));
	twice = folded(read_profile(HWPROF_KIND_CCT, second));
	assert_non_null(strstr(before, " 18\n"));
	assert_string_equal(after, before);
	assert_string_equal(twice, before);
	free(before);
	free(after);
	free(twice);
	merge_free(merge);
	merge_free(again);
	fixture_remove(&a);
	fixture_remove(&b);
	unlink(path);
	unlink(second);
}

/* Contexts that call each other in a circle end, and nothing is lost. */
static void test_circle(void **state)
{
	struct merge *merge = merge_new();
	struct hwprof_profile *profile;
	struct fixture fixture;
	char path[64];

	fixture_begin(&fixture, "cct,sample,rows");
	fixture_map(&fixture, 2, 100, 0x400000, SIZE, 0, "/no/prog", &one);
	add_context(&fixture, 100, 1, 2, 0x400020, 0x400100, 3);
	add_context(&fixture, 100, 2, 1, 0x400120, 0x400200, 4);
	add_context(&fixture, 100, 5, 9, 0x400120, 0x400200, 1);
	fixture_end(&fixture);
	add(merge, fixture.path);
	assert_int_equal(merge_part(merge, 0)->units, 8);
	write_part(merge, MERGE_ALL, path);
	profile = read_profile(HWPROF_KIND_CCT, path);
	assert_int_equal(hwprof_profile_totals(profile)->delivered, 8);
	hwprof_profile_free(profile);
	merge_free(merge);
	fixture_remove(&fixture);
	unlink(path);
}

/* A window in which nothing ran is a recording, too. */
static void test_empty(void **state)
{
	struct merge *merge = merge_new(), *again = merge_new();
	struct fixture fixture;
	char path[64];

	begin(&fixture, 100, 0x400000);
	fixture_end(&fixture);
	add(merge, fixture.path);
	assert_null(merge_part(merge, 0));
	write_part(merge, MERGE_ACCOUNT, path);
	add(again, path);
	assert_int_equal(merge_totals(again, true).produced, 0);
	merge_free(merge);
	merge_free(again);
	fixture_remove(&fixture);
	unlink(path);
}

/* Branches are no profile. */
static void test_no_profile(void **state)
{
	struct merge *merge = merge_new();
	struct hwprof_file *file;
	struct fixture fixture;

	fixture_begin(&fixture, "branches,rows");
	fixture_end(&fixture);
	file = open_file(fixture.path);
	assert_int_equal(merge_add(merge, file), -ENOENT);
	assert_non_null(strstr(hwprof_file_error(file), "has no profile"));
	hwprof_file_close(file);
	merge_free(merge);
	fixture_remove(&fixture);
}

/* The masks of all recordings are told, each once. */
static void test_masks(void **state)
{
	static const char *const masks[] = { "kind=call", NULL, "part=0/2",
					     "kind=call" };
	struct merge *merge = merge_new();
	struct hwprof_profile *profile;
	struct fixture fixture;
	char path[64];
	unsigned int i;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		begin(&fixture, 100, 0x400000);
		add_totals(&fixture, 0, 1, 0);
		if (masks[i])
			fixture_mask(&fixture, masks[i]);
		fixture_end(&fixture);
		add(merge, fixture.path);
		fixture_remove(&fixture);
	}
	write_part(merge, MERGE_ALL, path);
	profile = read_profile(HWPROF_KIND_LOOPS, path);
	assert_string_equal(hwprof_profile_mask(profile, 0), "kind=call");
	assert_string_equal(hwprof_profile_mask(profile, 1), "part=0/2");
	assert_null(hwprof_profile_mask(profile, 2));
	hwprof_profile_free(profile);
	unlink(path);
	merge_free(merge);
}

/* Two files claim one build id: a split merge has parts of each. */
static void test_split(void **state)
{
	struct merge *merge = merge_new(), *again = merge_new();
	const struct merge_part *part;
	struct fixture fixture;
	size_t i, forged = 0, true_ones = 0;

	fixture_begin(&fixture, "loops,lbr,rows");
	fixture_comm(&fixture, 1, 5, "prog", true);
	fixture_comm(&fixture, 1, 6, "prog", true);
	fixture_map(&fixture, 2, 5, 0x10000, SIZE, 0, "/no/prog", &one);
	fixture_map(&fixture, 2, 6, 0x20000, SIZE, 0, "/no/forged", &one);
	add_loop(&fixture, 6, 0x20100, 0x20140, 40);
	add_loop(&fixture, 5, 0x10100, 0x10140, 60);
	fixture_end(&fixture);
	merge_split(merge);
	add(merge, fixture.path);
	add(again, fixture.path);
	for (i = 0; (part = merge_part(merge, i)); i++) {
		assert_int_equal(strlen(part->build_id), 40);
		if (!strcmp(part->object, "/no/forged"))
			forged += part->units;
		else if (!strcmp(part->object, "/no/prog"))
			true_ones += part->units;
	}
	assert_int_equal(i, 2);
	assert_int_equal(forged, 40);
	assert_int_equal(true_ones, 60);
	assert_int_equal(merge_part(again, 0)->units, 100);
	assert_null(merge_part(again, 1));
	merge_free(merge);
	merge_free(again);
	fixture_remove(&fixture);
}

static void test_refusals(void **state)
{
	struct merge *merge = merge_new();
	struct hwprof_file *file;
	char message[256];
	FILE *out = fopen("/tmp/hwprof-test-merge-none", "w");

	assert_int_equal(merge_write(merge, MERGE_ALL, "/tmp/hwprof-no",
				     message, sizeof(message)), -ENODATA);
	assert_non_null(strstr(message, "nothing"));
	assert_non_null(out);
	fputs("no recording", out);
	fclose(out);
	assert_int_equal(hwprof_file_open(&file, "/tmp/hwprof-test-merge-none"),
			 -EBADMSG);
	hwprof_file_close(file);
	unlink("/tmp/hwprof-test-merge-none");
	merge_free(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_profile),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_profile),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
