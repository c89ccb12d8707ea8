// SPDX-License-Identifier: GPL-2.0-only
/* Distances in files, and the weights of rows that follow from them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "merge/merge.h"
#include "profile/stretches.h"

/* --- distances, also hostile ones ----------------------------------------- */

static void add(struct distances *distances, uint32_t session, uint32_t number,
		uint64_t begin, uint64_t period)
{
	const struct distance distance = {
		.session = session, .number = number, .begin = begin,
		.period = period,
	};

	assert_int_equal(distances_add(distances, &distance), 0);
}

static void test_section(void **state)
{
	struct distances distances = { .count = 0 }, again = { .count = 0 };
	struct distance same = { .session = 5, .number = 1 };
	char *body = NULL;
	size_t size, i;
	FILE *out;

	add(&distances, 7, 0, 0, 100);
	add(&distances, 5, 1, 20, 200);
	add(&distances, 5, 0, 0, 100);
	add(&distances, UINT32_MAX, UINT32_MAX, DISTANCE_NEVER, INT64_MAX);
	assert_int_equal(distances_add(&distances, &same), -EEXIST);
	out = open_memstream(&body, &size);
	assert_int_equal(distances_put(&distances, out), 4);
	fclose(out);
	assert_int_equal(distances_parse(&again, reader_of(body, size)), 0);
	assert_int_equal(again.count, 4);
	assert_int_equal(again.all[1].period, 200);
	assert_int_equal(again.all[3].begin, DISTANCE_NEVER);
	assert_int_equal(again.all[0].session, 5);
	/* Twice the same, not in order, or cut off anywhere. */
	assert_int_equal(distances_parse(&again, reader_of(body, size)),
			 -EBADMSG);
	for (i = 0; i < size; i++) {
		distances_free(&again);
		if (i % 40 != 4)
			assert_int_equal(distances_parse(&again,
							 reader_of(body, i)),
					 -EBADMSG);
	}
	distances_free(&again);
	distances_forget(&distances, 5);
	assert_int_equal(distances.count, 3);
	assert_int_equal(distances.all[0].number, 1);
	assert_int_equal(distances.all[0].begin, 0);
	assert_int_equal(distances.all[1].session, 7);
	free(body);
	distances_free(&distances);
}

/* A session cannot have these. */
static void test_impossible(void **state)
{
	static const struct distance wrong[] = {
		{ .period = (uint64_t)INT64_MAX + 1 },
		{ .period = 1, .budget_permille = 1001 },
	};
	size_t i, size;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct distances distances = { .count = 0 };
		char *body = NULL;
		FILE *out = open_memstream(&body, &size);

		assert_int_equal(distances_add(&distances, &wrong[i]), 0);
		distances_put(&distances, out);
		fclose(out);
		distances_free(&distances);
		assert_int_equal(distances_parse(&distances,
						 reader_of(body, size)),
				 -EBADMSG);
		assert_int_equal(distances.count, 0);
		distances_free(&distances);
		free(body);
	}
}

/* Notes the totals of a session that is at @number. */
static void note_basis(struct stretches *stretches, uint32_t session,
		       uint32_t number, uint64_t windows, uint64_t task_ns,
		       uint32_t basis)
{
	const struct hwprof_row_totals row = {
		.row.session = session, .changes = number, .windows = windows,
		.task_ns = task_ns, .basis = basis,
	};

	assert_int_equal(stretches_note(stretches, &row), 0);
}

static void note(struct stretches *stretches, uint32_t session, uint32_t number,
		 uint64_t windows, uint64_t task_ns)
{
	note_basis(stretches, session, number, windows, task_ns,
		   HWPROF_BASIS_BRANCHES);
}

static double weight_at(struct stretches *stretches, uint32_t session,
			uint64_t time)
{
	return stretches_row(stretches,
			     stretches_at(stretches, session, time), 0).weight;
}

/*
 * A machine that was late took windows five times as far apart as asked, until
 * they were asked for eight times as far apart.
 */
static void test_late(void **state)
{
	struct distances distances = { .count = 0 };
	struct stretches *stretches = stretches_new(&distances);
	uint32_t session;

	for (session = 1; session <= 3; session++) {
		add(&distances, session, 0, 0, 100);
		add(&distances, session, 1, 10, 800);
	}
	/* Code that a filter leaves out takes time, too. */
	distances.all[4].filtered = distances.all[5].filtered = true;
	note_basis(stretches, 1, 0, 10, 5000, HWPROF_BASIS_TIME);
	note_basis(stretches, 1, 1, 15, 9000, HWPROF_BASIS_TIME);
	note_basis(stretches, 3, 0, 10, 5000, HWPROF_BASIS_TIME);
	note_basis(stretches, 3, 1, 15, 9000, HWPROF_BASIS_TIME);
	note(stretches, 2, 0, 10, 5000);
	note(stretches, 2, 1, 15, 9000);
	assert_int_equal(stretches_weigh(stretches), 0);
	assert_true(weight_at(stretches, 1, 10) == 1);
	assert_true(weight_at(stretches, 1, 11) == 1.6);
	assert_true(weight_at(stretches, 2, 11) == 8);
	assert_true(weight_at(stretches, 3, 11) == 8);
	stretches_free(stretches);
	distances_free(&distances);
}

static void test_stretches(void **state)
{
	struct distances distances = { .count = 0 };
	struct stretches *stretches = stretches_new(&distances);

	/* Periods are weights. The time of the change is still before it. */
	add(&distances, 1, 0, 0, 100);
	add(&distances, 1, 1, 10, 400);
	add(&distances, 1, 2, 20, 50);
	/* Nobody knows how the second session came to its third distance. */
	add(&distances, 2, 0, 0, 100);
	add(&distances, 2, 2, 10, 400);
	/* The third one changed once more. */
	add(&distances, 3, 0, 0, 100);
	add(&distances, 3, 1, 10, 400);
	note(stretches, 3, 2, 5, 5);
	assert_int_equal(stretches_weigh(stretches), 0);
	assert_true(weight_at(stretches, 1, 10) == 2);
	assert_true(weight_at(stretches, 1, 11) == 8);
	assert_true(weight_at(stretches, 1, UINT64_MAX) == 1);
	assert_true(weight_at(stretches, 2, 11) == 1);
	assert_true(weight_at(stretches, 3, 11) == 1);
	assert_true(weight_at(stretches, 4, 11) == 1);
	assert_true(stretches_know(stretches, 1));
	assert_false(stretches_know(stretches, 2));
	assert_false(stretches_know(stretches, 3));
	assert_false(stretches_know(stretches, 4));
	assert_false(stretches_know(NULL, 1));
	assert_true(stretches_most(stretches, 1) == 8);
	assert_true(stretches_most(stretches, 2) == 1);
	assert_true(stretches_most(stretches, 4) == 1);
	/* Weights are computed again for each snapshot. */
	note(stretches, 1, 3, 5, 5);
	assert_int_equal(stretches_weigh(stretches), 0);
	assert_true(stretches_most(stretches, 1) == 1);
	stretches_free(stretches);
	distances_free(&distances);
}

/* With budgets: time by windows, and stretches without windows. */
static void test_budget_stretches(void **state)
{
	const uint32_t budgets[] = { 10, 5, 2, 10 };
	struct distances distances = { .count = 0 };
	struct stretches *stretches = stretches_new(&distances);
	uint32_t i;

	for (i = 0; i < 4; i++) {
		const struct distance distance = {
			.session = 1, .number = i, .begin = 10 * i,
			.period = 1, .budget_permille = budgets[i],
		};

		assert_int_equal(distances_add(&distances, &distance), 0);
	}
	note(stretches, 1, 0, 100, 1000);
	note(stretches, 1, 1, 100, 1500);	/* no window: 500 ns more */
	note(stretches, 1, 2, 200, 3000);
	assert_int_equal(stretches_weigh(stretches), 0);
	assert_true(weight_at(stretches, 1, 5) == 1);
	assert_true(weight_at(stretches, 1, 25) == 2);
	/* Time after the last window belongs to it. */
	note(stretches, 1, 3, 200, 4000);
	assert_int_equal(stretches_weigh(stretches), 0);
	assert_true(weight_at(stretches, 1, 25) == 3);
	stretches_free(stretches);
	distances_free(&distances);
}

/* Rounding keeps sums, also of counts of 1. */
static void test_rounding(void **state)
{
	struct distances distances = { .count = 0 };
	struct stretches *stretches = stretches_new(&distances);
	const struct row_weight huge = { .weight = 1e30 };
	uint64_t sum = 0;
	int i;

	add(&distances, 1, 0, 0, 10);
	add(&distances, 1, 1, 10, 14);
	assert_int_equal(stretches_weigh(stretches), 0);
	for (i = 0; i < 1000; i++) {
		struct row_weight row = stretches_row(stretches, 2, 1);

		sum += weighed(&row, 1);
	}
	assert_in_range(sum, 1399, 1401);
	assert_true(weighed(&huge, 1) == UINT64_MAX);
	assert_int_equal(stretches_unseen(stretches, 2, 10), 0);
	assert_int_equal(stretches_more(stretches), 4);
	distances.all[1].period = INT64_MAX;
	assert_int_equal(stretches_weigh(stretches), 0);
	assert_int_equal(stretches_unseen(stretches, 2, UINT64_MAX), 0);
	assert_true(stretches_more(stretches) == UINT64_MAX);
	stretches_free(stretches);
	distances_free(&distances);
}

/* Damaged files: any distances, any totals. */
static void test_hostile(void **state)
{
	unsigned int run, i;

	for (run = 0; run < 200; run++) {
		struct distances distances = { .count = 0 };
		struct stretches *stretches = stretches_new(&distances);
		double spread = 0;

		srandom(run);
		for (i = 0; i < 20; i++) {
			const struct distance distance = {
				.session = random() % 3, .number = random() % 5,
				.begin = (uint64_t)random() << random() % 33,
				.period = (uint64_t)(random() % 3) <<
					  random() % 64,
				.frequency = random() % 2,
				.budget_permille = random() % 2 * random(),
			};

			distances_add(&distances, &distance);
			note(stretches, random() % 4, random() % 6, random(),
			     (uint64_t)random() << random() % 33);
		}
		assert_int_equal(stretches_weigh(stretches), 0);
		for (i = 0; i < 100; i++) {
			double weight = weight_at(stretches, random() % 4,
						  (uint64_t)random() <<
						  random() % 33);

			assert_true(weight >= 1);
			assert_true(isfinite(weight));
		}
		stretches_windows(stretches, 1, &spread);
		stretches_free(stretches);
		distances_free(&distances);
	}
}

/* --- kinds of rows -------------------------------------------------------- */

enum { BASE = 0x400000, CHANGE = 100 };

static struct hwprof_row head_of(unsigned int type, size_t size)
{
	return (struct hwprof_row){
		.type = type, .size = size, .space = 1, .session = 1,
		.pid = 100,
	};
}

/* The distance becomes four times as long at CHANGE. */
static void begin(struct fixture *fixture, const char *event)
{
	fixture_begin(fixture, event);
	fixture_comm(fixture, 1, 100, "prog", true);
	fixture_map(fixture, 2, 100, BASE, 0x10000, 0, "/no/prog", NULL);
	add(&fixture->distances, 1, 0, 0, 1000);
	add(&fixture->distances, 1, 1, CHANGE, 4000);
}

static void end(struct fixture *fixture, uint64_t units, uint64_t evicted)
{
	struct hwprof_row_totals totals = {
		.row = head_of(HWPROF_ROW_TOTALS, sizeof(totals)),
		.produced = units, .delivered = units, .evicted = 0,
		.windows = units / 2, .basis = HWPROF_BASIS_BRANCHES,
		.source = HWPROF_SOURCE_LBR,
	};

	fixture_row(fixture, CHANGE - 1, 0, 0, 0, &totals.row);
	totals.changes = 1;
	totals.windows = units;
	totals.evicted = evicted;
	totals.produced += evicted;
	fixture_row(fixture, CHANGE + 50, 0, 0, 0, &totals.row);
}

/* The counts of the file are those of its account. */
static void check_warnings(const struct hwprof_profile *profile)
{
	size_t i;

	for (i = 0; hwprof_profile_warning(profile, i); i++) {
		const char *warning = hwprof_profile_warning(profile, i);

		assert_null(strstr(warning, "have changed"));
		assert_null(strstr(warning, "rows are missing"));
		assert_null(strstr(warning, "add up"));
	}
	assert_true(hwprof_profile_distances(profile)->weighed);
}

static void add_loop(struct fixture *fixture, uint64_t time, uint64_t head,
		     int64_t entries)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, head, head + 0x40,
						  1000, 1000);

	row.row.session = 1;
	row.entries = entries;
	row.sum_back_sq = row.sum_entry_sq = 40000;
	row.sum_cross = 0;
	row.basis = HWPROF_BASIS_BRANCHES;
	fixture_row(fixture, time, head, row.tail, row.back_edges, &row.row);
}

/* A region that grew has entries below 0, and a damaged file has any. */
static void test_loops(void **state)
{
	const struct hwprof_loop *loop;
	struct hwprof_profile *profile;
	struct fixture fixture;

	begin(&fixture, "loops,lbr,rows");
	add_loop(&fixture, 10, BASE + 0x100, 500);
	add_loop(&fixture, CHANGE + 10, BASE + 0x100, -10);
	add_loop(&fixture, CHANGE + 10, BASE + 0x200, -1001);
	add_loop(&fixture, CHANGE + 10, BASE + 0x300, INT64_MIN);
	end(&fixture, 4000, 0);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_LOOPS, NULL);
	check_warnings(profile);
	loop = hwprof_loops_get(profile, 0);
	assert_int_equal(loop->head, 0x100);
	assert_int_equal(loop->back_edges_seen, 1000 + 4 * 1000);
	assert_int_equal(loop->entries_seen, 500 - 4 * 10);
	/* The sum of all units is known well, though some were taken back. */
	assert_true(loop->share_low > loop->share / 2);
	assert_int_equal(hwprof_loops_get(profile, 1)->entries_seen, 0);
	assert_int_equal(hwprof_loops_get(profile, 2)->entries_seen, 0);
	hwprof_profile_free(profile);
}

static void add_call(struct fixture *fixture, uint64_t time, uint64_t site,
		     uint64_t evicted)
{
	const struct hwprof_row_call row = {
		.row = head_of(HWPROF_ROW_CALL, sizeof(row)),
		.site = site, .callee = BASE + 0x1000, .calls = 10, .error = 1,
		.evicted = evicted, .sum_sq = 20,
		.basis = HWPROF_BASIS_BRANCHES,
	};

	fixture_row(fixture, time, site, row.callee, row.calls, &row.row);
}

static void test_calls(void **state)
{
	const struct hwprof_called *called;
	struct hwprof_profile *profile;
	struct fixture fixture;

	begin(&fixture, "calls,lbr,rows");
	/* Rows come in any order. */
	add_call(&fixture, CHANGE + 10, BASE + 0x200, 3);
	add_call(&fixture, 10, BASE + 0x100, 0);
	add_call(&fixture, CHANGE + 20, BASE + 0x100, 3);
	end(&fixture, 30, 5);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_CALLS, NULL);
	check_warnings(profile);
	assert_int_equal(hwprof_calls_pair_count(profile), 2);
	called = &hwprof_calls_pair(profile, 0)->called;
	assert_int_equal(called->least, 10 + 4 * 10);
	/* Evicted calls may have been of the longer distance. */
	assert_in_range(called->most, 50 + 4 * (1 + 2), 50 + 4 * 5);
	assert_true(fabs(called->share - 50 / 90.) < 1e-9);
	assert_true(called->share_low < called->share &&
		    called->share < called->share_high);
	called = &hwprof_calls_pair(profile, 1)->called;
	assert_int_equal(called->least, 4 * 10);
	assert_int_equal(called->most, 40 + 4 * (1 + 2));
	assert_int_equal(hwprof_calls_method(profile, 0)->called.least, 90);
	hwprof_profile_free(profile);
}

static void add_edge(struct fixture *fixture, uint64_t time, uint64_t end)
{
	const struct hwprof_row_edge row = {
		.row = head_of(HWPROF_ROW_EDGE, sizeof(row)),
		.from = BASE + 0x100, .to = BASE + 0x200, .end = end,
		.count = 10, .mispredicted = 2, .cycles = 30, .sum_sq = 20,
		.kind = HWPROF_BRANCH_JUMP, .flags = HWPROF_EDGE_PREDICTION,
		.basis = HWPROF_BASIS_BRANCHES,
	};

	fixture_row(fixture, time, row.from, row.to, end ? row.count : 0,
		    &row.row);
}

static void test_edges(void **state)
{
	const struct hwprof_branch_site *site;
	struct hwprof_profile *profile;
	struct fixture fixture;

	begin(&fixture, "edges,lbr,rows");
	add_edge(&fixture, 10, BASE + 0x220);
	add_edge(&fixture, CHANGE + 10, BASE + 0x220);
	add_edge(&fixture, CHANGE + 10, 0);
	end(&fixture, 20, 0);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	check_warnings(profile);
	site = hwprof_edges_get(profile, 0);
	assert_int_equal(site->taken, 10 + 40 + 40);
	assert_int_equal(site->mispredicted, 2 + 8 + 8);
	hwprof_profile_free(profile);
}

static void add_path(struct fixture *fixture, uint64_t time, uint64_t start,
		     unsigned int flags)
{
	struct hwprof_row_path row = {
		.row = head_of(HWPROF_ROW_PATH, sizeof(row)),
		.start = start, .end = start ? start + 0x20 : 0, .count = 10,
		.cycles = 30, .flags = flags, .basis = HWPROF_BASIS_BRANCHES,
	};

	fixture_row(fixture, time, row.start, row.end, row.count, &row.row);
}

static void test_paths(void **state)
{
	const struct hwprof_paths_summary *summary;
	const struct hwprof_path *path;
	struct hwprof_profile *profile;
	struct fixture fixture;

	begin(&fixture, "paths,lbr,rows");
	add_path(&fixture, 10, BASE + 0x100, HWPROF_PATH_CALLED);
	add_path(&fixture, CHANGE + 10, BASE + 0x100, HWPROF_PATH_CALLED);
	add_path(&fixture, 10, 0, HWPROF_PATH_UNSEEN);
	add_path(&fixture, CHANGE + 10, 0, HWPROF_PATH_UNSEEN);
	end(&fixture, 40, 0);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_PATHS, NULL);
	check_warnings(profile);
	assert_int_equal(hwprof_paths_count(profile), 1);
	path = hwprof_paths_get(profile, 0);
	assert_int_equal(path->count, 50);
	assert_int_equal(path->cycles, 30 + 120);
	summary = hwprof_paths_summary(profile);
	assert_int_equal(summary->unseen, 50);
	hwprof_profile_free(profile);
}

/* Returns the upper end of a loop's share, with so many rows of paths. */
static double upper_share(uint64_t paths)
{
	const struct hwprof_options options = {
		.flags = HWPROF_BY_INSTRUCTIONS,
	};
	struct hwprof_profile *profile;
	struct fixture fixture;
	double high;

	begin(&fixture, "loops,paths,lbr,rows");
	add_loop(&fixture, 10, BASE + 0x100, 500);
	add_loop(&fixture, CHANGE + 10, BASE + 0x200, 500);
	while (paths--)
		add_path(&fixture, CHANGE + 10, BASE + 0x100,
			 HWPROF_PATH_CALLED);
	end(&fixture, 4000, 0);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_LOOPS, &options);
	high = hwprof_loops_get(profile, 1)->share_high;
	hwprof_profile_free(profile);
	return high;
}

/* Rows of paths say how long loops are, and not how much they are. */
static void test_paths_of_loops(void **state)
{
	double high = upper_share(0);

	assert_true(high > 0 && high < 1);
	assert_true(upper_share(10) == high);
}

static void add_context(struct fixture *fixture, uint64_t time, uint64_t id,
			uint64_t weight, uint64_t samples)
{
	const struct hwprof_row_context row = {
		.row = head_of(HWPROF_ROW_CONTEXT, sizeof(row)),
		.id = id, .callee = BASE + (id << 8), .weight = weight,
		.samples = samples, .kind = HWPROF_CONTEXT_ROOT,
		.basis = HWPROF_BASIS_TIME,
	};

	fixture_row(fixture, time, row.callee, 0, weight, &row.row);
}

/* Returns how wide the interval of a change from nothing to nothing is. */
static double width_of(bool converges)
{
	struct hwprof_profile *profile;
	struct fixture fixture;
	struct hwprof_diff *diff;
	double width;

	begin(&fixture, "cct,sample,rows");
	if (!converges)
		distances_free(&fixture.distances);
	add_context(&fixture, 10, 1, 50000, 50);
	add_context(&fixture, 10, 2, 50000, 50);
	add_context(&fixture, CHANGE + 10, 2, 100000, 25);
	end(&fixture, 200000, 0);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_CCT, NULL);
	assert_int_equal(hwprof_profile_diff(&diff, profile, profile), 0);
	width = hwprof_diff_get(diff, 0)->share_high -
		hwprof_diff_get(diff, 0)->share_low;
	hwprof_diff_free(diff);
	hwprof_profile_free(profile);
	return width;
}

/*
 * Samples need no weights. But 125 of two distances are as sure as 80 of one:
 * the square of 200,000 by 100,000² / 100 + 100,000² / 25.
 */
static void test_samples(void **state)
{
	double ratio = width_of(true) / width_of(false), z = 1.96 * 1.96;

	/* Wilson's interval of a share of 1. */
	assert_true(fabs(ratio - (125 + z) / (80 + z)) < 1e-6);
}

/* A mask does not change what the rest stands for. */
static void test_mask(void **state)
{
	const struct hwprof_distances *distances;
	struct hwprof_profile *profile;
	struct fixture fixture;
	char *json = NULL;
	size_t size;
	FILE *out;

	begin(&fixture, "edges,lbr,rows");
	fixture_mask(&fixture, "kind=jump");
	add_edge(&fixture, 10, BASE + 0x220);
	add_edge(&fixture, CHANGE + 10, BASE + 0x220);
	end(&fixture, 20, 0);
	profile = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	check_warnings(profile);
	assert_int_equal(hwprof_edges_get(profile, 0)->taken, 10 + 40);
	assert_string_equal(hwprof_profile_mask(profile, 0), "kind=jump");
	assert_null(hwprof_profile_mask(profile, 1));
	distances = hwprof_profile_distances(profile);
	assert_int_equal(distances->lengthened, 1);
	assert_true(distances->factor == 4);
	out = open_memstream(&json, &size);
	assert_int_equal(hwprof_profile_json(profile, NULL, out), 0);
	fclose(out);
	assert_non_null(strstr(json, "\"factor\": 4,"));
	assert_non_null(strstr(json, "\"kind=jump\""));
	free(json);
	hwprof_profile_free(profile);
}

/* A merge knows no weights, and refuses the recording. */
static void test_merge(void **state)
{
	struct merge *merge = merge_new();
	struct hwprof_file *file;
	struct fixture fixture;

	begin(&fixture, "calls,lbr,rows");
	add_call(&fixture, 10, BASE + 0x100, 0);
	end(&fixture, 10, 0);
	fixture_end(&fixture);
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(merge_add(merge, file), -EOPNOTSUPP);
	assert_non_null(strstr(hwprof_file_error(file), "--converge"));
	hwprof_file_close(file);
	merge_free(merge);
	fixture_remove(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_budget_stretches),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_paths_of_loops),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
