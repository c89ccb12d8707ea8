// SPDX-License-Identifier: GPL-2.0-only
/* From rows to paths: sums, places, procedures, and what is hot. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "found.h"

enum { BASE = 0x400000 };

/* A row with room for its jumps. */
struct row {
	struct hwprof_row_path path;
	struct hwprof_path_jump jumps[HWPROF_PATH_JUMPS_MAX + 1];
};

static void begin(struct fixture *fixture)
{
	fixture_begin(fixture, "paths,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	/* The files do not exist, so addresses are offsets in them. */
	fixture_map(fixture, 2, 100, BASE, 0x10000, 0, "/no/prog", NULL);
	fixture_map(fixture, 2, 100, 2 * BASE, 0x10000, 0, "/no/lib", NULL);
}

static struct row row_of(uint32_t pid, uint64_t start, uint64_t end,
			 uint64_t target, uint64_t count)
{
	return (struct row){ .path = {
		.row = { HWPROF_ROW_PATH, sizeof(struct hwprof_row_path), pid,
			 1, pid },
		.start = start, .end = end, .target = target, .count = count,
		.flags = HWPROF_PATH_CALLED, .basis = HWPROF_BASIS_EXACT,
	} };
}

static void add_jump(struct row *row, uint64_t from, uint64_t to)
{
	row->jumps[row->path.spelled++] = (struct hwprof_path_jump){ from, to };
	row->path.length++;
	row->path.row.size += sizeof(row->jumps[0]);
}

static void add(struct fixture *fixture, const struct row *row)
{
	fixture_row(fixture, 10, row->path.start, row->path.end,
		    row->path.count, &row->path.row);
}

static struct hwprof_profile *read_paths(struct fixture *fixture,
				       unsigned int flags)
{
	struct hwprof_profile *paths;

	assert_int_equal(fixture_try(fixture, HWPROF_KIND_PATHS,
				     &(struct hwprof_options){ .flags = flags },
				     &paths), 0);
	return paths;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/*
 * Rows of a path add up. Another number of jumps, or other ends, is another
 * path.
 */
static void test_sums(void **state)
{
	const struct hwprof_path *path;
	struct hwprof_block block;
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;

	begin(&fixture);
	row = row_of(100, BASE + 0x100, BASE + 0x150, 0, 30);
	add_jump(&row, BASE + 0x110, BASE + 0x120);
	add(&fixture, &row);
	row.path.count = 10;
	add(&fixture, &row);
	row.jumps[0].to++;
	row.path.count = 5;
	add(&fixture, &row);
	row = row_of(100, BASE + 0x100, BASE + 0x150, 0, 9);
	add(&fixture, &row);
	row.path.target = BASE + 0x140;
	row.path.count = 1;
	add(&fixture, &row);
	row.path.flags = HWPROF_PATH_UNSEEN;
	row.path.start = row.path.end = row.path.target = 0;
	row.path.count = 7;
	add(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, 62);
	paths = read_paths(&fixture, 0);
	assert_int_equal(hwprof_paths_count(paths), 4);
	path = hwprof_paths_get(paths, 0);
	assert_int_equal(path->count, 40);
	assert_int_equal(path->branches, 80);
	assert_true(is_near(path->share, 0.8));
	assert_int_equal(path->heat, HWPROF_HOT);
	assert_int_equal(path->length, 1);
	assert_int_equal(path->blocks, 2);
	assert_true(path->called);
	assert_true(path->returns);
	assert_int_equal(path->start, 0x100);
	assert_int_equal(path->end, 0x150);
	assert_string_equal(path->procedure->object, "/no/prog");
	assert_int_equal(path->basis, HWPROF_BASIS_EXACT);
	hwprof_paths_block(paths, 0, 0, &block);
	assert_int_equal(block.first, 0x100);
	assert_int_equal(block.last, 0x110);
	hwprof_paths_block(paths, 0, 1, &block);
	assert_int_equal(block.first, 0x120);
	assert_int_equal(block.last, 0x150);
	assert_string_equal(block.object, "/no/prog");
	assert_int_equal(hwprof_paths_get(paths, 1)->count, 5);
	assert_int_equal(hwprof_paths_get(paths, 2)->count, 9);
	assert_false(hwprof_paths_get(paths, 3)->returns);
	assert_int_equal(hwprof_paths_summary(paths)->unseen, 7);
	assert_int_equal(hwprof_paths_summary(paths)->count, 55);
	assert_int_equal(hwprof_paths_summary(paths)->branches, 100);
	assert_int_equal(hwprof_paths_summary(paths)->half, 1);
	assert_int_equal(hwprof_paths_summary(paths)->most, 2);
	assert_int_equal(hwprof_profile_totals(paths)->produced, 62);
	assert_false(warns(paths, "missing"));
	hwprof_profile_free(paths);
}

/* A path that is too long has blocks up to its last known jump. */
static void test_long_path(void **state)
{
	const struct hwprof_path *path;
	struct hwprof_block block;
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;
	unsigned int i;

	begin(&fixture);
	row = row_of(100, BASE, BASE + 0x2000, 0, 1);
	for (i = 0; i < HWPROF_PATH_JUMPS_MAX; i++)
		add_jump(&row, BASE + 16 * i + 4, BASE + 16 * i + 16);
	row.path.length = 1000;
	add(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, 1);
	paths = read_paths(&fixture, 0);
	path = hwprof_paths_get(paths, 0);
	assert_int_equal(path->length, 1000);
	assert_int_equal(path->branches, 1001);
	assert_int_equal(path->blocks, HWPROF_PATH_JUMPS_MAX);
	hwprof_paths_block(paths, 0, path->blocks - 1, &block);
	assert_int_equal(block.first, 16 * 63);
	assert_int_equal(block.last, 16 * 63 + 4);
	hwprof_profile_free(paths);
}

/*
 * The same code in two processes is one path, unless processes are kept apart.
 */
static void test_processes(void **state)
{
	const struct hwprof_path *path;
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int apart;

	for (apart = 0; apart < 2; apart++) {
		struct row row;

		begin(&fixture);
		fixture_comm(&fixture, 1, 101, "other", true);
		fixture_map(&fixture, 2, 101, 3 * BASE, 0x10000, 0, "/no/prog",
			    NULL);
		row = row_of(100, BASE + 0x100, BASE + 0x150, BASE + 0x140, 3);
		add_jump(&row, BASE + 0x110, BASE + 0x120);
		add(&fixture, &row);
		row = row_of(101, 3 * BASE + 0x100, 3 * BASE + 0x150,
			     3 * BASE + 0x140, 4);
		add_jump(&row, 3 * BASE + 0x110, 3 * BASE + 0x120);
		add(&fixture, &row);
		fixture_add_totals(&fixture, 30, 1, 7);
		paths = read_paths(&fixture, apart ? HWPROF_PER_PROCESS : 0);
		assert_int_equal(hwprof_paths_count(paths), 1 + apart);
		assert_int_equal(hwprof_paths_procedures(paths), 1 + apart);
		path = hwprof_paths_get(paths, 0);
		assert_int_equal(path->count, apart ? 4 : 7);
		assert_int_equal(path->procedure->pid, apart ? 101 : 0);
		if (apart)
			assert_string_equal(path->procedure->comm, "other");
		hwprof_profile_free(paths);
	}
}

/* Code in no file belongs to its process. */
static void test_no_file(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;

	begin(&fixture);
	row = row_of(100, 0x7000, 0x7010, 0, 3);
	add(&fixture, &row);
	row = row_of(101, 0x7000, 0x7010, 0, 4);
	add(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, 7);
	paths = read_paths(&fixture, 0);
	assert_int_equal(hwprof_paths_count(paths), 2);
	assert_int_equal(hwprof_paths_get(paths, 0)->start, 0x7000);
	assert_int_equal(hwprof_paths_get(paths, 0)->procedure->pid, 101);
	hwprof_profile_free(paths);
}

/*
 * With cycles, paths that take many are hot, and dense if they take more per
 * branch than the average.
 */
static void test_heat(void **state)
{
	static const struct {
		uint64_t count, cycles;
		enum hwprof_heat heat;
	} cases[] = {
		{ 100, 5000, HWPROF_DENSE },
		{ 800, 4900, HWPROF_SPARSE },
		{ 100, 99, HWPROF_COLD },
		{ 0, 0, HWPROF_HOT },
	};
	const struct hwprof_paths_summary *summary;
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int i;

	begin(&fixture);
	for (i = 0; cases[i].count; i++) {
		struct row row = row_of(100, (1 + i % 2) * BASE + 0x100 * i,
					(1 + i % 2) * BASE + 0x100 * i + 8, 0,
					cases[i].count);

		row.path.cycles = cases[i].cycles;
		row.path.basis = HWPROF_BASIS_BRANCHES;
		add(&fixture, &row);
	}
	fixture_add_totals(&fixture, 30, 1, 1000);
	paths = read_paths(&fixture, 0);
	for (i = 0; cases[i].count; i++) {
		const struct hwprof_path *path = hwprof_paths_get(paths, i);

		assert_int_equal(path->cycles, cases[i].cycles);
		assert_int_equal(path->heat, cases[i].heat);
		assert_true(is_near(path->share, cases[i].cycles / 9999.0));
	}
	summary = hwprof_paths_summary(paths);
	assert_string_equal(summary->metric, "cycles");
	assert_int_equal(summary->paths[HWPROF_DENSE].number, 1);
	assert_int_equal(summary->paths[HWPROF_SPARSE].branches, 800);
	assert_true(is_near(summary->paths[HWPROF_COLD].branch_share, 0.1));
	/*
	 * Procedures: /no/prog has the first and the last path, /no/lib the
	 * other.
	 */
	assert_int_equal(hwprof_paths_procedures(paths), 2);
	assert_int_equal(hwprof_paths_procedure(paths, 0)->paths, 2);
	assert_int_equal(hwprof_paths_procedure(paths, 0)->cycles, 5099);
	assert_int_equal(hwprof_paths_procedure(paths, 0)->heat, HWPROF_DENSE);
	assert_int_equal(hwprof_paths_procedure(paths, 1)->heat, HWPROF_SPARSE);
	assert_int_equal(summary->procedures[HWPROF_DENSE].paths, 2);
	hwprof_profile_free(paths);
}

/* The sum of cycles of several paths can exceed 64 bits. */
static void test_many_cycles(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int i;

	begin(&fixture);
	for (i = 1; i <= 2; i++) {
		struct row row = row_of(100, i * BASE, i * BASE + 8, 0, 10);

		row.path.cycles = 3ULL << 62;
		row.path.basis = HWPROF_BASIS_BRANCHES;
		add(&fixture, &row);
	}
	paths = read_paths(&fixture, 0);
	for (i = 0; i < 2; i++) {
		assert_true(is_near(hwprof_paths_get(paths, i)->share, 0.5));
		assert_true(is_near(hwprof_paths_procedure(paths, i)->share,
				    0.5));
	}
	hwprof_profile_free(paths);
}

/* --- windows -------------------------------------------------------------- */

static struct row row_by_time(uint32_t flags, uint64_t start, uint64_t end,
			      uint64_t count)
{
	struct row row = row_of(100, start, end, 0, count);

	row.path.basis = HWPROF_BASIS_TIME;
	row.path.flags = flags;
	return row;
}

static void add_open(struct fixture *fixture, const struct row *row)
{
	fixture_row(fixture, 10, row->path.end, 0, 0, &row->path.row);
}

static void add_windows(struct fixture *fixture, uint64_t produced,
			uint64_t windows)
{
	const struct hwprof_row_totals row = {
		.row.type = HWPROF_ROW_TOTALS, .row.size = sizeof(row),
		.row.session = 1, .basis = HWPROF_BASIS_TIME,
		.produced = produced, .delivered = produced,
		.events = produced, .windows = windows,
	};

	fixture_row(fixture, 30, 0, 0, 0, &row.row);
}

/*
 * Adds four paths through one procedure: two take a jump, one of them a second.
 */
static void add_four_paths(struct fixture *fixture)
{
	struct row row = row_by_time(HWPROF_PATH_CALLED, BASE + 0x100,
				     BASE + 0x150, 30);

	add_jump(&row, BASE + 0x110, BASE + 0x120);
	add(fixture, &row);
	row.path.flags = 0;
	row.path.count = 40;
	add(fixture, &row);
	row.path.flags = HWPROF_PATH_CALLED;
	row.path.count = 10;
	add_jump(&row, BASE + 0x130, BASE + 0x140);
	add(fixture, &row);
	row = row_by_time(HWPROF_PATH_CALLED, BASE + 0x100, BASE + 0x118, 20);
	add(fixture, &row);
}

/*
 * Windows are divided among the paths that continue from their place, by count.
 */
static void test_time(void **state)
{
	static const struct {
		unsigned int jumps;
		uint64_t ip, windows;
		uint32_t flags;
	} taken[] = {
		{ 0, 0x104, 60, HWPROF_PATH_CALLED },	/* 30, 10 and 20 */
		{ 0, 0x114, 6, HWPROF_PATH_CALLED },	/* no jump: the last
					 * path */
		{ 1, 0x128, 8, HWPROF_PATH_CALLED },	/* 6 and 2 */
		{ 1, 0x138, 5, HWPROF_PATH_CALLED },	/* no second jump */
		{ 2, 0x144, 7, HWPROF_PATH_CALLED },
		{ 0, 0x124, 16, HWPROF_PATH_UNSEEN },	/* 6, 2 and 8 */
		{ 0, 0x180, 9, HWPROF_PATH_UNSEEN },	/* on no path */
		{ 2, 0x170, 3, HWPROF_PATH_CALLED },
		{ 2, 0x144, 11, 0 },
		{ 0, 0xfc, 5, HWPROF_PATH_UNSEEN },
	};
	static const struct {
		uint64_t count;
		double windows;
		enum hwprof_heat heat;
	} expected[] = {
		{ 30, 47, HWPROF_DENSE }, { 20, 26, HWPROF_DENSE },
		{ 10, 21, HWPROF_DENSE }, { 40, 8, HWPROF_SPARSE },
	};
	const struct hwprof_paths_summary *summary;
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int i;

	begin(&fixture);
	add_four_paths(&fixture);
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		struct row row = row_by_time(HWPROF_PATH_OPEN | taken[i].flags,
					     BASE + 0x100, BASE + taken[i].ip,
					     taken[i].windows);

		if (taken[i].jumps > 0)
			add_jump(&row, BASE + 0x110, BASE + 0x120);
		if (taken[i].jumps > 1)
			add_jump(&row, BASE + 0x130, BASE + 0x140);
		add_open(&fixture, &row);
	}
	add_windows(&fixture, 100, 150);
	paths = read_paths(&fixture, 0);
	assert_int_equal(hwprof_paths_count(paths), 4);
	for (i = 0; i < 4; i++) {
		const struct hwprof_path *path = hwprof_paths_get(paths, i);

		assert_int_equal(path->count, expected[i].count);
		assert_true(is_near(path->windows, expected[i].windows));
		assert_true(is_near(path->share, path->windows / 150));
		assert_int_equal(path->heat, expected[i].heat);
	}
	summary = hwprof_paths_summary(paths);
	assert_string_equal(summary->metric, "time");
	assert_true(is_near(summary->windows, 102));
	assert_int_equal(summary->count, 100);
	assert_int_equal(summary->unseen, 0);
	assert_int_equal(summary->half, 3);
	assert_int_equal(summary->most, 0);
	assert_true(is_near(hwprof_paths_procedure(paths, 0)->windows, 102));
	hwprof_profile_free(paths);
}

/* A path in flight that is only partly known tells no more than its place. */
static void test_time_of_cut_path(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;

	begin(&fixture);
	add_four_paths(&fixture);
	row = row_by_time(HWPROF_PATH_OPEN | HWPROF_PATH_CALLED, BASE + 0x100,
			  BASE + 0x124, 16);
	row.path.length = 1;
	add_open(&fixture, &row);
	add_windows(&fixture, 100, 16);
	paths = read_paths(&fixture, 0);
	assert_int_equal(hwprof_paths_get(paths, 0)->count, 40);
	assert_true(is_near(hwprof_paths_get(paths, 0)->windows, 8));
	assert_true(is_near(hwprof_paths_get(paths, 1)->windows, 6));
	assert_int_equal(hwprof_paths_summary(paths)->most, 3);
	hwprof_profile_free(paths);
}

/* Time is no metric unless it chose all windows. */
static void test_no_time(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;

	begin(&fixture);
	add_four_paths(&fixture);
	row = row_of(100, BASE + 0x200, BASE + 0x210, 0, 1);
	add(&fixture, &row);
	row = row_by_time(HWPROF_PATH_OPEN | HWPROF_PATH_UNSEEN, 0,
			  BASE + 0x124, 16);
	add_open(&fixture, &row);
	add_windows(&fixture, 101, 16);
	paths = read_paths(&fixture, 0);
	assert_string_equal(hwprof_paths_summary(paths)->metric, "branches");
	assert_true(hwprof_paths_summary(paths)->windows == 0);
	assert_true(hwprof_paths_get(paths, 0)->windows == 0);
	hwprof_profile_free(paths);
}

enum { RANDOM_PATHS = 60, RANDOM_OPEN = 300, PLACES = 16 };

static unsigned int choose(uint64_t *random, unsigned int below)
{
	*random = *random * 6364136223846793005 + 1442695040888963407;
	return (*random >> 33) % below;
}

/* Makes a path with jumps forward over few places, so that many begin alike. */
static struct row random_path(uint64_t *random, uint32_t flags)
{
	uint64_t line = BASE + 0x100, from, to;
	struct row row = row_by_time(flags | choose(random, 2), line, line,
				     1 + choose(random, 9));
	unsigned int place = 0;

	while ((place += choose(random, 3)) + 2 < PLACES && choose(random, 4)) {
		from = BASE + 0x100 + 0x10 * place + 8;
		place += 1 + choose(random, 2);
		to = BASE + 0x100 + 0x10 * place;
		add_jump(&row, from, to);
		line = to;
	}
	row.path.end = line + choose(random, 0x20);
	return row;
}

/* Returns true if line @at of the path runs over @ip. */
static bool is_over(const struct row *path, unsigned int at, uint64_t ip)
{
	uint64_t first = at ? path->jumps[at - 1].to : path->path.start;
	uint64_t last = at < path->path.spelled ? path->jumps[at].from :
						  path->path.end;

	return at <= path->path.spelled && first <= ip && ip <= last;
}

static bool may_become(const struct row *open, const struct row *path)
{
	unsigned int at;

	if (!(open->path.flags & HWPROF_PATH_UNSEEN))
		return open->path.flags ==
			       (path->path.flags | HWPROF_PATH_OPEN) &&
		       !memcmp(open->jumps, path->jumps,
			       open->path.spelled * sizeof(open->jumps[0])) &&
		       is_over(path, open->path.spelled, open->path.end);
	for (at = 0; at <= path->path.spelled; at++)
		if (is_over(path, at, open->path.end))
			return true;
	return false;
}

/* Computes windows one path at a time. */
static void share_slowly(const struct row *all, const struct row *open,
			 double *windows)
{
	double runs = 0;
	unsigned int i;

	for (i = 0; i < RANDOM_PATHS; i++)
		runs += may_become(open, &all[i]) ? all[i].path.count : 0;
	for (i = 0; runs && i < RANDOM_PATHS; i++)
		if (may_become(open, &all[i]))
			windows[i] +=
				open->path.count * all[i].path.count / runs;
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->path.flags == b->path.flags && a->path.end == b->path.end &&
	       a->path.spelled == b->path.spelled &&
	       !memcmp(a->jumps, b->jumps,
		       a->path.spelled * sizeof(a->jumps[0]));
}

/* Returns the windows of all rows that are of the same path. */
static double sum_of(const struct row *all, const double *windows, size_t index)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < RANDOM_PATHS; i++)
		sum += is_same(&all[i], &all[index]) ? windows[i] : 0;
	return sum;
}

static bool has_path(const struct hwprof_profile *paths, const struct row *row,
		     double windows)
{
	struct hwprof_block block;
	unsigned int i, line;

	for (i = 0; i < hwprof_paths_count(paths); i++) {
		const struct hwprof_path *path = hwprof_paths_get(paths, i);

		if (path->called != (row->path.flags & 1) ||
		    path->end + BASE != row->path.end ||
		    path->spelled != row->path.spelled ||
		    fabs(path->windows - windows) > 1e-6)
			continue;
		for (line = 0; line < path->spelled; line++) {
			hwprof_paths_block(paths, i, line, &block);
			if (block.last + BASE != row->jumps[line].from)
				break;
		}
		if (line == path->spelled)
			return true;
	}
	return false;
}

static void test_random_time(void **state)
{
	struct row all[RANDOM_PATHS];
	struct hwprof_profile *paths;
	struct fixture fixture;
	uint64_t random, seed;
	size_t i;

	for (seed = 1; seed <= 20; seed++) {
		double windows[RANDOM_PATHS] = { 0 }, sum = 0;

		random = seed;
		begin(&fixture);
		for (i = 0; i < RANDOM_PATHS; i++) {
			all[i] = random_path(&random, 0);
			add(&fixture, &all[i]);
		}
		for (i = 0; i < RANDOM_OPEN; i++) {
			struct row open =
				random_path(&random, HWPROF_PATH_OPEN);

			if (!choose(&random, 3)) {
				open = row_by_time(HWPROF_PATH_OPEN |
						   HWPROF_PATH_UNSEEN, 0,
						   open.path.end,
						   open.path.count);
			}
			add_open(&fixture, &open);
			share_slowly(all, &open, windows);
		}
		add_windows(&fixture, 1, 10 * RANDOM_OPEN);
		paths = read_paths(&fixture, 0);
		for (i = 0; i < RANDOM_PATHS; i++) {
			assert_true(has_path(paths, &all[i],
					     sum_of(all, windows, i)));
			sum += windows[i];
		}
		assert_true(sum > RANDOM_OPEN);
		assert_true(fabs(hwprof_paths_summary(paths)->windows - sum) <
			    1e-6);
		hwprof_profile_free(paths);
	}
}

/* The path of a tail call begins outside its procedure. */
static void test_tail_call(void **state)
{
	const struct hwprof_path *path;
	struct hwprof_block block;
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;

	begin(&fixture);
	row = row_of(100, BASE + 0x100, 2 * BASE + 0x50, 0, 3);
	add_jump(&row, BASE + 0x110, 2 * BASE + 0x20);
	add(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, 3);
	paths = read_paths(&fixture, 0);
	path = hwprof_paths_get(paths, 0);
	assert_string_equal(path->start_object, "/no/prog");
	assert_string_equal(path->procedure->object, "/no/lib");
	hwprof_paths_block(paths, 0, 1, &block);
	assert_string_equal(block.object, "/no/lib");
	assert_int_equal(block.first, 0x20);
	hwprof_profile_free(paths);
}

static void test_samples(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;

	fixture_begin(&fixture, "paths,step");
	fixture_bare(&fixture, 3, 100, BASE, BASE + 8, 100);
	paths = read_paths(&fixture, 0);
	assert_int_equal(hwprof_paths_count(paths), 0);
	assert_true(warns(paths, "samples of paths are left out"));
	hwprof_profile_free(paths);
}

/* Overwrites the row of @path in the file by @with. */
static void overwrite(const struct fixture *fixture, const struct row *path,
		      const struct row *with)
{
	size_t length = path->path.row.size, size;
	FILE *file = fopen(fixture->path, "r+");
	static char bytes[1 << 16];
	char *at;

	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	at = memmem(bytes, size, path, length);
	assert_non_null(at);
	fseek(file, at - bytes, SEEK_SET);
	assert_int_equal(fwrite(with, length, 1, file), 1);
	fclose(file);
}

/* Impossible rows are damage, with a message. */
static void test_damage(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct row row = row_of(100, BASE, BASE + 8, 0, 1), damaged;
		struct hwprof_file *file;

		add_jump(&row, BASE + 2, BASE + 4);
		begin(&fixture);
		add(&fixture, &row);
		fixture_end(&fixture);
		damaged = row;
		if (i == 0)
			damaged.path.spelled = damaged.path.length = 2;
		else if (i == 1)
			damaged.path.length = 0;
		else if (i == 2)
			damaged.path.flags |= HWPROF_PATH_IN_CONTEXT;
		else
			damaged.path.row.size -= sizeof(row.jumps[0]) + 8;
		overwrite(&fixture, &row, &damaged);
		assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
		assert_int_equal(hwprof_profile_read(&paths, HWPROF_KIND_PATHS,
						     &file, 1, NULL), -EBADMSG);
		assert_null(paths);
		hwprof_file_close(file);
		fixture_remove(&fixture);
	}
}

static void test_json(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	struct row row;
	char *text;
	size_t size;
	FILE *out;

	begin(&fixture);
	row = row_of(100, BASE + 0x100, BASE + 0x150, BASE + 0x120, 3);
	add_jump(&row, BASE + 0x110, BASE + 0x120);
	add(&fixture, &row);
	row = row_of(100, BASE + 0x200, BASE + 0x250, 0, 1);
	add(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, 4);
	paths = read_paths(&fixture, 0);
	out = open_memstream(&text, &size);
	assert_int_equal(
		hwprof_profile_json(
			paths, &(struct hwprof_json_options){.limit = 1}, out),
		0);
	fclose(out);
	assert_non_null(strstr(text, "\"metric\": \"branches\""));
	assert_non_null(strstr(text, "\"start\": \"0x100\""));
	assert_non_null(strstr(text, "\"first\": \"0x120\""));
	assert_non_null(strstr(text, "\"ends\": \"back edge\""));
	assert_non_null(strstr(text, "\"cycles\": null"));
	assert_non_null(strstr(text, "\"contexts\": null"));
	assert_null(strstr(text, "\"start\": \"0x200\""));
	free(text);
	hwprof_profile_free(paths);
}

/* --- paths inside contexts ------------------------------------------------ */

/* Maps each program at its pid * BASE. */
static void begin_contexts(struct fixture *fixture, const char *event)
{
	uint32_t pid;

	fixture_begin(fixture, event);
	for (pid = 1; pid < 3; pid++) {
		fixture_comm(fixture, 1, pid, "prog", true);
		fixture_map(fixture, 2, pid, pid * BASE, 0x10000, 0,
			    "/no/prog", NULL);
	}
}

static void add_context(struct fixture *fixture, uint32_t pid,
			unsigned int kind, uint64_t id, uint64_t parent,
			uint64_t site, uint64_t callee)
{
	const struct hwprof_row_context row = {
		.row = { HWPROF_ROW_CONTEXT, sizeof(row), pid, 1, pid },
		.id = pid << 16 | id, .parent = parent ? pid << 16 | parent : 0,
		.site = site ? pid * BASE + site : 0,
		.callee = callee ? pid * BASE + callee : 0,
		.target = kind == HWPROF_CONTEXT_RECURSION ? pid << 16 | 2 : 0,
		.calls = kind != HWPROF_CONTEXT_ROOT, .kind = kind,
		.basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, row.callee, row.site, row.calls, &row.row);
}

/*
 * The root calls 0x200 and 0x400. Both call 0x300, and 0x200 does so from two
 * sites.
 */
static void add_contexts(struct fixture *fixture, uint32_t pid)
{
	add_context(fixture, pid, HWPROF_CONTEXT_RECURSION, 7, 3, 0x310, 0x200);
	add_context(fixture, pid, HWPROF_CONTEXT_CALL, 6, 5, 0x410, 0x300);
	add_context(fixture, pid, HWPROF_CONTEXT_CALL, 5, 1, 0x120, 0x400);
	add_context(fixture, pid, HWPROF_CONTEXT_CALL, 4, 2, 0x220, 0x300);
	add_context(fixture, pid, HWPROF_CONTEXT_CALL, 3, 2, 0x210, 0x300);
	add_context(fixture, pid, HWPROF_CONTEXT_CALL, 2, 1, 0x110, 0x200);
	add_context(fixture, pid, HWPROF_CONTEXT_ROOT, 1, 0, 0, 0);
}

static void add_ran(struct fixture *fixture, uint32_t pid, uint64_t context,
		    uint64_t count)
{
	struct row row = row_of(pid, pid * BASE + 0x300, pid * BASE + 0x350, 0,
				count);

	add_jump(&row, pid * BASE + 0x310, pid * BASE + 0x320);
	row.path.cycles = 3 * count;
	if (context) {
		row.path.flags |= HWPROF_PATH_IN_CONTEXT;
		row.path.row.size += sizeof(uint64_t);
		row.jumps[row.path.spelled].from = pid << 16 | context;
	}
	add(fixture, &row);
}

static void is_ran(const struct hwprof_profile *paths, size_t number,
		   uint64_t count, const char *chain)
{
	struct hwprof_path_context of;
	char *got;

	hwprof_paths_context(paths, 0, number, &of);
	got = hwprof_context_chain(of.context);
	assert_string_equal(got, chain);
	free(got);
	assert_int_equal(of.count, count);
	assert_int_equal(of.cycles, 3 * count);
}

/* One path, and the chains of procedures that ran it. */
static void test_contexts(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;

	begin_contexts(&fixture, "paths,cct,step,rows");
	add_ran(&fixture, 1, 3, 10);
	add_contexts(&fixture, 1);
	add_ran(&fixture, 1, 4, 5);
	add_ran(&fixture, 1, 6, 15);
	add_ran(&fixture, 1, 6, 5);
	add_ran(&fixture, 1, 0, 2);	/* as in a row of an older module */
	add_ran(&fixture, 1, 99, 3);	/* evicted */
	add_ran(&fixture, 1, 7, 1);	/* a recursive call counts at the
					 * ancestor */
	fixture_add_totals(&fixture, 30, 1, 41 + 6);
	paths = read_paths(&fixture, 0);
	assert_int_equal(hwprof_paths_count(paths), 1);
	assert_int_equal(hwprof_paths_get(paths, 0)->count, 41);
	assert_int_equal(hwprof_paths_get(paths, 0)->cycles, 3 * 41);
	assert_int_equal(hwprof_paths_contexts(paths, 0), 3);
	is_ran(paths, 0, 20, "prog;prog+0x400;prog+0x300");
	is_ran(paths, 1, 15, "prog;prog+0x200;prog+0x300");
	is_ran(paths, 2, 1, "prog;prog+0x200");
	assert_int_equal(hwprof_profile_totals(paths)->rows, 7);
	assert_false(warns(paths, "missing"));
	hwprof_profile_free(paths);
}

/* Contexts of all processes are merged, unless processes are kept apart. */
static void test_contexts_of_processes(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int apart;

	for (apart = 0; apart < 2; apart++) {
		begin_contexts(&fixture, "paths,cct,step,rows");
		add_contexts(&fixture, 1);
		add_contexts(&fixture, 2);
		add_ran(&fixture, 1, 3, 10);
		add_ran(&fixture, 2, 4, 20);
		add_ran(&fixture, 2, 6, 3);
		paths = read_paths(&fixture, apart ? HWPROF_PER_PROCESS : 0);
		assert_int_equal(hwprof_paths_count(paths), 1 + apart);
		assert_int_equal(hwprof_paths_contexts(paths, 0), 2);
		is_ran(paths, 0, apart ? 20 : 30, "prog;prog+0x200;prog+0x300");
		is_ran(paths, 1, 3, "prog;prog+0x400;prog+0x300");
		hwprof_profile_free(paths);
	}
}

/* Ids belong to a file, but counts of the same contexts add up. */
static void test_contexts_of_files(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin_contexts(&fixture[i], "paths,cct,step,rows");
		add_contexts(&fixture[i], 1 + i);
		add_ran(&fixture[i], 1 + i, 3 + i, 10);
	}
	paths = fixture_read(fixture, 2, HWPROF_KIND_PATHS, NULL);
	assert_int_equal(hwprof_paths_contexts(paths, 0), 1);
	is_ran(paths, 0, 20, "prog;prog+0x200;prog+0x300");
	hwprof_profile_free(paths);
}

/* Contexts are unknown without their rows. */
static void test_no_contexts(void **state)
{
	static const char *const events[] = {
		"paths,step,rows",
		"paths,cct,step,rows",
		"paths,loops,step,rows",
	};
	struct hwprof_profile *paths;
	struct fixture fixture;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		begin_contexts(&fixture, events[i]);
		add_ran(&fixture, 1, 3, 10);
		add_ran(&fixture, 1, 0, 10);
		paths = read_paths(&fixture, 0);
		assert_int_equal(hwprof_paths_count(paths), 1);
		assert_int_equal(hwprof_paths_get(paths, 0)->count, 20);
		assert_int_equal(hwprof_paths_contexts(paths, 0), 0);
		hwprof_profile_free(paths);
	}
}

/* An impossible tree is damage for paths, too. */
static void test_damaged_contexts(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;

	begin_contexts(&fixture, "paths,cct,step,rows");
	add_context(&fixture, 1, HWPROF_CONTEXT_CALL, 1, 2, 0x110, 0x200);
	add_context(&fixture, 1, HWPROF_CONTEXT_CALL, 2, 1, 0x210, 0x300);
	add_ran(&fixture, 1, 1, 10);
	assert_int_equal(fixture_try(&fixture, HWPROF_KIND_PATHS, NULL,
				     &paths), -EBADMSG);
}

static void test_contexts_json(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;
	char *text, *contexts;
	size_t size;
	FILE *out;

	begin_contexts(&fixture, "paths,cct,step,rows");
	add_contexts(&fixture, 1);
	add_ran(&fixture, 1, 3, 10);
	paths = read_paths(&fixture, 0);
	out = open_memstream(&text, &size);
	assert_int_equal(hwprof_profile_json(paths, NULL, out), 0);
	fclose(out);
	contexts = strstr(text, "\"contexts\": [");
	assert_non_null(contexts);
	assert_non_null(
		strstr(contexts, "\"chain\": \"prog;prog+0x200;prog+0x300\""));
	assert_non_null(strstr(contexts, "\"cycles\": 30"));
	free(text);
	hwprof_profile_free(paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_many_cycles),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_time_of_cut_path),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_random_time),
		cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_contexts_of_processes),
		cmocka_unit_test(test_contexts_of_files),
		cmocka_unit_test(test_no_contexts),
		cmocka_unit_test(test_damaged_contexts),
		cmocka_unit_test(test_contexts_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
