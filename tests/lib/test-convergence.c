// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions that converge, against a program whose time is known: phase A for
 * long, then phase B. Windows are taken as the module does, with distances that
 * vary by a half, and rows come at intervals. The policy decides, and a
 * recording is made of the rows, whose profile is compared with the truth.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "live/convergence.h"

enum {
	MS = 1000000,			/* ns */
	LOOPS = 8,			/* the first half is in phase A; B has
					 * the second one, and loop 0 */
	BASE = 0x400000,
	SIZE = 0x100,			/* of a loop */
	SESSION = 1,
	ASKED = MS,			/* distance */
};

/* Loops' shares of time in both phases, and iterations a window of each has. */
static const double shares[2][LOOPS] = {
	{ .4, .3, .2, .1 },
	{ .25, 0, 0, 0, .35, .2, .15, .05 },
};
static const unsigned int rounds[LOOPS] = { 12, 9, 20, 6, 15, 30, 8, 10 };

struct program {
	double phase_ns[2];		/* how long they last */
	bool by_branches;		/* windows are chosen by branches */
	unsigned int budget_permille;	/* 0: the distance is a period */
	double window_ns;		/* what a window costs, with a budget */
	double interval_ns;		/* between rows */
	bool converges;
	bool forgets;			/* the file does not have distances */
	struct hwprof_converge options;
};

/* A run, and what it has since the last rows. */
struct run {
	const struct program *program;
	struct fixture fixture;
	struct convergence *convergence;	/* NULL: it does not */
	struct hwprof_tuning tuning;
	double now;			/* time of the program, in ns */
	struct hwprof_row_loop loops[LOOPS];
	struct hwprof_row_time times[LOOPS];
	struct hwprof_row_totals totals;
	uint64_t in_phase[2];		/* windows */
	uint64_t until_found;		/* windows of phase B before distances
					 * were those asked for again */
	unsigned int longest;		/* times what was asked for */
	bool is_known;			/* phase B has begun at longer ones */
};

static double uniform(void)
{
	return random() / (RAND_MAX + 1.);
}

static int phase_at(const struct run *run)
{
	return run->now >= run->program->phase_ns[0];
}

static double distance_of(const struct run *run)
{
	const struct program *program = run->program;

	return program->budget_permille ?
	       program->window_ns * 1000 / run->tuning.budget_permille :
	       run->tuning.period;
}

static unsigned int pick(int phase)
{
	double at = uniform();
	unsigned int i;

	for (i = 0; i < LOOPS - 1 && at >= shares[phase][i]; i++)
		at -= shares[phase][i];
	return i;
}

/* --- windows and rows ----------------------------------------------------- */

static void take_window(struct run *run)
{
	int phase = phase_at(run);
	unsigned int loop = pick(phase);
	uint64_t edges = rounds[loop] / 2 + random() % rounds[loop];
	uint64_t entries = 1 + random() % 2;
	struct hwprof_row_loop *row = &run->loops[loop];

	/* The loop of both phases goes round more often in the second one. */
	if (!loop && phase)
		edges *= 3;
	row->back_edges += edges;
	row->entries += entries;
	row->sum_back_sq += edges * edges;
	row->sum_entry_sq += entries * entries;
	row->sum_cross += edges * entries;
	run->times[loop].windows++;
	run->totals.produced += edges;
	run->totals.windows++;
	run->in_phase[phase]++;
}

static void put(struct run *run, const struct hwprof_row *row, uint64_t period)
{
	fixture_row(&run->fixture, run->now, 0, 0, period, row);
	if (run->convergence)
		assert_int_equal(convergence_row(run->convergence, row), 0);
}

static void put_totals(struct run *run)
{
	struct hwprof_row_totals *totals = &run->totals;

	totals->changes = run->tuning.changes;
	totals->budget_permille = run->tuning.budget_permille;
	totals->delivered = totals->produced;
	totals->cost_ns = totals->windows * run->program->window_ns;
	totals->task_ns = run->now + totals->cost_ns;
	fixture_row(&run->fixture, run->now, 0, 0, 0, &totals->row);
}

static void put_rows(struct run *run)
{
	unsigned int i;

	for (i = 0; i < LOOPS; i++) {
		struct hwprof_row_loop *loop = &run->loops[i];

		if (!run->times[i].windows)
			continue;
		put(run, &loop->row, loop->back_edges);
		if (!run->program->by_branches)
			put(run, &run->times[i].row, 0);
		loop->back_edges = loop->entries = 0;
		loop->sum_back_sq = loop->sum_entry_sq = loop->sum_cross = 0;
		run->times[i].windows = 0;
	}
	put_totals(run);
}

static void add_distance(struct run *run)
{
	const struct distance distance = {
		.session = SESSION, .number = run->tuning.changes,
		.begin = run->tuning.changes ? run->now : 0,
		.period = run->tuning.period,
		.budget_permille = run->tuning.budget_permille,
	};

	if (!run->program->forgets)
		assert_int_equal(distances_add(&run->fixture.distances,
					       &distance), 0);
}

static unsigned int factor_of(const struct run *run)
{
	const struct program *program = run->program;

	return program->budget_permille ?
	       program->budget_permille / run->tuning.budget_permille :
	       run->tuning.period / ASKED;
}

/* As the module does: rows from before, the change, and its totals. */
static void decide(struct run *run)
{
	unsigned int changes = run->tuning.changes;
	struct hwprof_tuning change;

	if (!run->convergence ||
	    !convergence_totals(run->convergence, &run->totals, &change))
		return;
	change.changes = changes + 1;
	run->tuning = change;
	convergence_changed(run->convergence);
	add_distance(run);
	put_totals(run);
	if (factor_of(run) > run->longest)
		run->longest = factor_of(run);
	if (run->in_phase[1] && factor_of(run) == 1 && !run->until_found)
		run->until_found = run->in_phase[1];
}

static void begin_rows(struct run *run)
{
	const struct program *program = run->program;
	unsigned int basis = program->by_branches ? HWPROF_BASIS_BRANCHES :
						    HWPROF_BASIS_TIME;
	unsigned int i;

	for (i = 0; i < LOOPS; i++) {
		run->loops[i] = fixture_loop(1, 100, BASE + i * SIZE,
					     BASE + i * SIZE + 0x40, 0, 0);
		run->loops[i].basis = basis;
		run->times[i] = (struct hwprof_row_time){
			.row = run->loops[i].row,
			.ip = BASE + i * SIZE + 8,
		};
		run->times[i].row.type = HWPROF_ROW_TIME;
		run->times[i].row.size = sizeof(run->times[i]);
	}
	run->totals = (struct hwprof_row_totals){
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(run->totals), .row.session = SESSION,
		.basis = basis, .source = HWPROF_SOURCE_LBR,
	};
}

static void begin(struct run *run, const struct program *program)
{
	*run = (struct run){
		.program = program, .longest = 1,
		.tuning = {
			.session = SESSION,
			.period = program->budget_permille ? 1 : ASKED,
			.budget_permille = program->budget_permille,
		},
	};
	fixture_begin(&run->fixture, "loops,lbr,rows");
	fixture_comm(&run->fixture, 1, 100, "prog", true);
	fixture_map(&run->fixture, 2, 100, BASE, 0x10000, 0, "/no/prog", NULL);
	begin_rows(run);
	if (program->converges) {
		struct hwprof_converge options;
		char message[256];

		assert_int_equal(convergence_options(&options,
						     &program->options, message,
						     sizeof(message)), 0);
		run->convergence = convergence_new(&options, &run->tuning);
		add_distance(run);
	}
}

/* Runs the program, and returns the profile of its recording. */
static struct hwprof_profile *simulate(struct run *run,
				       const struct program *program)
{
	double end = program->phase_ns[0] + program->phase_ns[1];
	double rows = program->interval_ns, window;
	struct hwprof_profile *profile;

	begin(run, program);
	window = distance_of(run) * uniform();
	while (window < end || rows <= end) {
		if (window < rows && window < end) {
			run->now = window;
			take_window(run);
			window += distance_of(run) * (.5 + uniform());
			continue;
		}
		run->now = rows;
		put_rows(run);
		decide(run);
		rows += program->interval_ns;
	}
	run->now = end;
	put_rows(run);
	profile = fixture_read(&run->fixture, 1, HWPROF_KIND_LOOPS, NULL);
	convergence_free(run->convergence);
	return profile;
}

/* --- the truth ------------------------------------------------------------ */

static double mean_edges(unsigned int loop, int phase)
{
	double mean = rounds[loop] / 2 + (rounds[loop] - 1) / 2.;

	return !loop && phase ? 3 * mean : mean;
}

static double time_of(const struct program *program, unsigned int loop)
{
	return shares[0][loop] * program->phase_ns[0] +
	       shares[1][loop] * program->phase_ns[1];
}

static double edges_of(const struct program *program, unsigned int loop)
{
	double sum = 0;
	int phase;

	for (phase = 0; phase < 2; phase++)
		sum += shares[phase][loop] * program->phase_ns[phase] *
		       mean_edges(loop, phase);
	return sum;
}

static double true_trip(const struct program *program, unsigned int loop)
{
	return 1 + edges_of(program, loop) / (1.5 * time_of(program, loop));
}

static double amount_of(const struct program *program, unsigned int loop)
{
	return program->by_branches ?
	       edges_of(program, loop) + 1.5 * time_of(program, loop) :
	       time_of(program, loop);
}

static double true_share(const struct program *program, unsigned int loop)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < LOOPS; i++)
		sum += amount_of(program, i);
	return amount_of(program, loop) / sum;
}

/* How often intervals have the truth in them. */
struct tally {
	unsigned int shares, trips, of;
	double error;			/* the largest of a share */
};

static void compare(const struct program *program,
		    const struct hwprof_profile *profile, struct tally *tally)
{
	size_t i;

	assert_int_equal(hwprof_loops_count(profile), LOOPS);
	for (i = 0; i < LOOPS; i++) {
		const struct hwprof_loop *loop = hwprof_loops_get(profile, i);
		unsigned int number = loop->head / SIZE;
		double share = true_share(program, number);
		double trip = true_trip(program, number);

		tally->of++;
		tally->shares += loop->share_low <= share &&
				 share <= loop->share_high;
		tally->trips += loop->trip_low <= trip &&
				trip <= loop->trip_high;
		tally->error = fmax(tally->error, fabs(loop->share - share));
	}
}

/* --- tests ---------------------------------------------------------------- */

enum { RUNS = 40 };

static const struct program usual = {
	.phase_ns = { 60e9, 20e9 }, .interval_ns = 1e9, .converges = true,
};

/* Runs the program several times, with a profile each. */
static struct tally tally_of(const struct program *program)
{
	struct tally tally = { .of = 0 };
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		struct run run;
		struct hwprof_profile *profile;

		srandom(i);
		profile = simulate(&run, program);
		compare(program, profile, &tally);
		hwprof_profile_free(profile);
	}
	print_message("# of %u intervals: %u of shares and %u of trip counts; shares are off by up to %.3f\n",
		      tally.of, tally.shares, tally.trips, tally.error);
	return tally;
}

/* 95 % of all, give or take four standard deviations. */
static void check_intervals(const struct tally *tally)
{
	double least = .95 * tally->of - 4 * sqrt(.05 * .95 * tally->of);

	assert_true(tally->shares >= least);
	assert_true(tally->trips >= least);
}

/* The number of windows falls to what the longest distance gives. */
static void test_cost(void **state)
{
	struct program program = usual;
	struct hwprof_profile *profile;
	struct run run;
	uint64_t all;

	srandom(7);
	program.converges = false;
	hwprof_profile_free(simulate(&run, &program));
	all = run.totals.windows;
	assert_in_range(all, 79000, 81000);
	program.converges = true;
	profile = simulate(&run, &program);
	assert_int_equal(run.longest, 64);
	assert_true(run.totals.windows < all / 3);
	assert_int_equal(hwprof_profile_distances(profile)->factor, 64);
	hwprof_profile_free(profile);

	/* After convergence, 1/64 is left. */
	program.phase_ns[0] = 1000e9;
	program.phase_ns[1] = 0.5e9;
	hwprof_profile_free(simulate(&run, &program));
	print_message("# %llu windows in 1000 s\n",
		      (unsigned long long)run.totals.windows);
	assert_in_range(run.totals.windows, 1000500 / 64, 1000500 / 64 + 40000);
}

/* A phase that comes when all is known is found by its first windows. */
static void test_late_phase(void **state)
{
	struct program program = usual;
	struct run run;
	unsigned int i;

	/* Decisions come with rows: take them more often than windows. */
	program.interval_ns = 20e6;
	for (i = 0; i < RUNS; i++) {
		srandom(i);
		hwprof_profile_free(simulate(&run, &program));
		assert_int_equal(run.longest, 64);
		/* A quarter of its windows are in the loop of both phases. */
		assert_in_range(run.until_found, 1, 15);
		assert_true(run.tuning.changes > 7);
	}
}

/* Shares of time, and trip counts, of a session with a period. */
static void test_time(void **state)
{
	struct tally tally = tally_of(&usual);

	check_intervals(&tally);
	assert_true(tally.error < 0.08);
}

static void test_branches(void **state)
{
	struct program program = usual;
	struct tally tally;

	program.by_branches = true;
	tally = tally_of(&program);
	check_intervals(&tally);
}

/* With a budget, distances follow from time and windows. */
static void test_budget(void **state)
{
	struct program program = usual;
	struct tally tally;

	program.budget_permille = 10;
	program.window_ns = 10000;
	tally = tally_of(&program);
	check_intervals(&tally);
}

/* A phase that is so late that few windows are of it. */
static void test_short_phase(void **state)
{
	struct program program = usual;
	struct tally tally;

	program.phase_ns[1] = 3e9;
	tally = tally_of(&program);
	check_intervals(&tally);
}

/* Without convergence, all is as ever. */
static void test_unweighed(void **state)
{
	struct program program = usual;
	struct tally tally;

	program.converges = false;
	program.phase_ns[0] = 6e9;
	program.phase_ns[1] = 2e9;
	tally = tally_of(&program);
	check_intervals(&tally);
}

/* Without weights, shares are those of phases with many windows. */
static void test_bias(void **state)
{
	struct program program = usual;
	struct hwprof_profile *profile;
	struct tally tally;
	struct run run;

	program.forgets = true;
	tally = tally_of(&program);
	assert_true(tally.error > 0.06);
	assert_true(tally.shares < tally.of / 10);
	profile = simulate(&run, &program);
	assert_null(hwprof_profile_distances(profile));
	assert_non_null(strstr(hwprof_profile_warning(profile, 0),
			       "add up"));
	hwprof_profile_free(profile);
}

/* The header of a report has the changes. */
static void test_told(void **state)
{
	const struct hwprof_distances *distances;
	struct hwprof_profile *profile;
	char *json = NULL;
	struct run run;
	size_t size, i;
	FILE *out;

	srandom(1);
	profile = simulate(&run, &usual);
	distances = hwprof_profile_distances(profile);
	assert_non_null(distances);
	assert_int_equal(distances->sessions, 1);
	assert_int_equal(distances->lengthened + distances->shortened,
			 run.tuning.changes);
	assert_true(distances->shortened);
	assert_string_equal(distances->unit, "period");
	assert_true(distances->asked == ASKED);
	assert_true(distances->longest == 64 * ASKED);
	assert_true(distances->weighed);
	for (i = 0; hwprof_profile_warning(profile, i); i++)
		assert_null(strstr(hwprof_profile_warning(profile, i),
				   "add up"));
	out = open_memstream(&json, &size);
	assert_int_equal(hwprof_profile_json(profile, NULL, out), 0);
	fclose(out);
	assert_non_null(strstr(json, "\"longest\": 64000000"));
	free(json);
	hwprof_profile_free(profile);
}

/* --- the policy ----------------------------------------------------------- */

struct policy {
	struct convergence *convergence;
	struct hwprof_row_totals totals;
	struct hwprof_row_call call;
	struct hwprof_tuning change;
};

static void begin_policy(struct policy *policy,
			 const struct hwprof_converge *given,
			 const struct hwprof_tuning *asked)
{
	struct hwprof_converge options;
	char message[256];

	*policy = (struct policy){
		.call.row.type = HWPROF_ROW_CALL,
		.call.row.size = sizeof(policy->call), .call.calls = 1,
	};
	assert_int_equal(convergence_options(&options, given, message,
					     sizeof(message)), 0);
	policy->convergence = convergence_new(&options, asked);
	assert_non_null(policy->convergence);
}

/* Feeds @windows with one call each, and totals. Returns what is decided. */
static bool feed(struct policy *policy, unsigned int windows, uint64_t site)
{
	while (windows--) {
		policy->call.site = site;
		policy->totals.windows++;
		assert_int_equal(convergence_row(policy->convergence,
						 &policy->call.row), 0);
	}
	if (!convergence_totals(policy->convergence, &policy->totals,
				&policy->change))
		return false;
	convergence_changed(policy->convergence);
	return true;
}

/* Feeds batches until distances change. Returns how many. */
static unsigned int batches_until(struct policy *policy)
{
	unsigned int count;

	for (count = 1; count < 100; count++)
		if (feed(policy, 100, 1))
			return count;
	return 0;
}

/* Two batches until the thing is known, three on each level; one floor. */
static void test_levels(void **state)
{
	const struct hwprof_tuning asked = { .period = 1000 };
	struct policy policy;
	unsigned int level;

	begin_policy(&policy, NULL, &asked);
	assert_int_equal(batches_until(&policy), 2 + 3);
	assert_int_equal(policy.change.period, 2000);
	assert_int_equal(policy.change.flags, HWPROF_TUNE_PERIOD);
	for (level = 2; level <= 6; level++) {
		assert_int_equal(batches_until(&policy), 3);
		assert_int_equal(policy.change.period, 1000 << level);
	}
	assert_int_equal(batches_until(&policy), 0);
	/* Two unknown windows may be, three may not. */
	assert_false(feed(&policy, 2, 2));
	assert_true(feed(&policy, 1, 2));
	assert_int_equal(policy.change.period, 1000);
	convergence_free(policy.convergence);
}

/* Events may come long before the first window ends. They are no windows. */
static void test_first_window(void **state)
{
	const struct hwprof_tuning asked = { .period = 1000 };
	struct policy policy;

	begin_policy(&policy, NULL, &asked);
	policy.totals.events = 100000;
	assert_false(feed(&policy, 0, 1));
	assert_in_range(batches_until(&policy), 4, 5);
	convergence_free(policy.convergence);
}

/* Rare things stay unknown, and are judged by their share. */
static void test_threshold(void **state)
{
	const struct hwprof_converge options = { .threshold = .1, .floor = 2 };
	const struct hwprof_tuning asked = { .period = 1000 };
	struct policy policy;
	unsigned int i, changes = 0;

	begin_policy(&policy, &options, &asked);
	for (i = 0; i < 20; i++) {
		feed(&policy, 0, 0);
		policy.call.calls = 89;
		changes += feed(&policy, 90, 1);
		policy.call.calls = 11;
		/* More than a tenth is new each time. */
		changes += feed(&policy, 90, 1000 + i);
	}
	assert_int_equal(changes, 0);
	policy.call.calls = 1;
	for (i = 0; i < 5; i++)
		changes += feed(&policy, 20, 1);
	assert_int_equal(changes, 1);
	convergence_free(policy.convergence);
}

/* Where units are rare, one that is new is no more than one window. */
static void test_rare_units(void **state)
{
	const struct hwprof_tuning asked = { .period = 1000 };
	struct policy policy;
	unsigned int i, changes = 0;

	begin_policy(&policy, NULL, &asked);
	for (i = 0; i < 5; i++) {
		policy.totals.windows += 98;
		changes += feed(&policy, 2, 1);
	}
	assert_int_equal(changes, 1);
	policy.totals.windows += 98;
	assert_false(feed(&policy, 1, 2));
	assert_false(feed(&policy, 1, 1));
	policy.totals.windows += 10;
	assert_true(feed(&policy, 3, 4));
	convergence_free(policy.convergence);
}

/* A frequency and a budget have least values. */
static void test_limits(void **state)
{
	const struct hwprof_tuning frequency = {
		.flags = HWPROF_TUNE_FREQ, .period = 3,
	}, budget = {
		.period = 1, .budget_permille = 10,
	}, both = {
		.period = 1000, .budget_permille = 1,
	}, longest = {
		.period = INT64_MAX - 1,
	};
	struct policy policy;

	begin_policy(&policy, NULL, &frequency);
	assert_int_equal(batches_until(&policy), 5);
	assert_int_equal(policy.change.period, 1);
	assert_int_equal(policy.change.flags,
			 HWPROF_TUNE_PERIOD | HWPROF_TUNE_FREQ);
	assert_int_equal(batches_until(&policy), 0);
	convergence_free(policy.convergence);

	begin_policy(&policy, NULL, &budget);
	assert_int_equal(batches_until(&policy), 5);
	assert_int_equal(policy.change.budget_permille, 5);
	assert_int_equal(policy.change.flags, HWPROF_TUNE_BUDGET);
	assert_int_equal(batches_until(&policy), 3);
	assert_int_equal(policy.change.budget_permille, 2);
	assert_int_equal(batches_until(&policy), 3);
	assert_int_equal(policy.change.budget_permille, 1);
	assert_int_equal(batches_until(&policy), 0);
	convergence_free(policy.convergence);

	begin_policy(&policy, NULL, &both);
	assert_int_equal(batches_until(&policy), 5);
	assert_int_equal(policy.change.budget_permille, 1);
	assert_int_equal(policy.change.period, 2000);
	convergence_free(policy.convergence);

	begin_policy(&policy, NULL, &longest);
	assert_int_equal(batches_until(&policy), 5);
	assert_int_equal(policy.change.period, INT64_MAX);
	assert_int_equal(batches_until(&policy), 0);
	convergence_free(policy.convergence);
}

/* A change that failed is wanted again, and totals may begin anew. */
static void test_again(void **state)
{
	const struct hwprof_tuning asked = { .period = 1000 };
	struct hwprof_tuning change;
	struct policy policy;
	unsigned int i;

	begin_policy(&policy, NULL, &asked);
	for (i = 0; i < 4; i++)
		assert_false(feed(&policy, 100, 1));
	policy.totals.windows += 100;
	assert_true(convergence_totals(policy.convergence, &policy.totals,
				       &change));
	assert_true(convergence_totals(policy.convergence, &policy.totals,
				       &change));
	assert_int_equal(change.period, 2000);
	convergence_changed(policy.convergence);
	policy.totals.windows = 0;
	convergence_reset(policy.convergence);
	assert_int_equal(batches_until(&policy), 3);
	convergence_free(policy.convergence);
}

/* Samples have no windows: their number is that of events. */
static void test_samples(void **state)
{
	const struct hwprof_tuning asked = { .period = 1000 };
	struct hwprof_row_range range = {
		.row.type = HWPROF_ROW_RANGE, .row.size = sizeof(range),
		.count = 1000, .bits = 4,
	};
	struct policy policy;
	unsigned int i, changes = 0;

	begin_policy(&policy, NULL, &asked);
	for (i = 0; i < 5; i++) {
		assert_int_equal(convergence_row(policy.convergence,
						 &range.row), 0);
		policy.totals.events += 100;
		changes += convergence_totals(policy.convergence,
					      &policy.totals, &policy.change);
	}
	assert_int_equal(changes, 1);
	/* A range inside is another thing. */
	convergence_changed(policy.convergence);
	range.bits = 2;
	assert_int_equal(convergence_row(policy.convergence, &range.row), 0);
	policy.totals.events += 3;
	assert_true(convergence_totals(policy.convergence, &policy.totals,
				       &policy.change));
	assert_int_equal(policy.change.period, 1000);
	convergence_free(policy.convergence);
}

static void test_options(void **state)
{
	static const struct hwprof_converge wrong[] = {
		{ .threshold = -1 }, { .threshold = 1 }, { .threshold = 1e-9 },
		{ .threshold = NAN }, { .floor = 1 }, { .floor = 3 },
	};
	struct hwprof_converge options;
	char message[256];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		*message = 0;
		assert_int_equal(convergence_options(&options, &wrong[i],
						     message, sizeof(message)),
				 -EINVAL);
		assert_true(*message);
	}
	assert_int_equal(convergence_options(&options, NULL, message,
					     sizeof(message)), 0);
	assert_true(options.threshold == 0.01);
	assert_int_equal(options.floor, 64);
}

static int check_event(const char *text)
{
	struct hwprof_event event;
	char message[512];

	assert_int_equal(hwprof_event_parse(&event, text, message,
					    sizeof(message)), 0);
	return convergence_check(&event, message, sizeof(message));
}

static void test_events(void **state)
{
	static const char *const good[] = {
		"loops,lbr", "loops,burst=200", "calls,lbr", "paths,burst=200",
		"edges,burst=32", "loops,calls,paths,lbr", "ranges,sample",
		"cct,sample",
	}, *const bad[] = {
		"loops,step", "cct,step", "values,burst=4", "ranges,lbr",
		"ranges,burst=200,of=load-address",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(check_event(good[i]), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(check_event(bad[i]), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_late_phase),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_short_phase),
		cmocka_unit_test(test_unweighed),
		cmocka_unit_test(test_bias),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_first_window),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_rare_units),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
