// SPDX-License-Identifier: GPL-2.0-only
/*
 * Phases of known and of random runs. Those of random runs are what a second,
 * plain implementation finds.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/phases.h"

enum {
	THINGS		= 12,
	INTERVALS	= 40,
	PHASES		= INTERVALS + 1,
	RUNS		= 400,
	STEP		= 1000,		/* time of an interval */
};

static uint64_t state;

static uint64_t below(uint64_t bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % bound;
}

/* A run as plain arrays. */
struct plain {
	uint64_t counts[INTERVALS][THINGS];
	double sums[PHASES][THINGS];
	size_t phase[INTERVALS], phases;
};

static double plain_sum(const double *vector)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < THINGS; i++)
		sum += vector[i];
	return sum;
}

static double plain_distance(const double *a, const double *b)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < THINGS; i++)
		sum += fabs(a[i] / plain_sum(a) - b[i] / plain_sum(b));
	return sum / 2;
}

static size_t plain_choice(const struct plain *plain, const double *vector,
			   size_t present, double threshold)
{
	size_t best = plain->phases, i;
	double least = INFINITY;

	if (plain_distance(vector, plain->sums[present]) <= threshold)
		return present;
	for (i = 0; i < plain->phases; i++) {
		double distance = plain_distance(vector, plain->sums[i]);

		if (distance <= threshold && distance < least) {
			least = distance;
			best = i;
		}
	}
	return best;
}

static void plain_find(struct plain *plain, double threshold)
{
	size_t present = 0, i, k;

	for (i = 0; i < INTERVALS; i++) {
		double vector[THINGS];

		for (k = 0; k < THINGS; k++)
			vector[k] = plain->counts[i][k];
		if (!plain->phases) {
			plain->phases = 1;
		} else if (plain_sum(vector) > 0) {
			present = plain_choice(plain, vector, present,
					       threshold);
			if (present == plain->phases)
				plain->phases++;
		}
		for (k = 0; k < THINGS; k++)
			plain->sums[present][k] += vector[k];
		plain->phase[i] = present;
	}
}

/* Counts of one interval: one of a few behaviours, with noise. */
static void fill_interval(uint64_t *counts, uint64_t behaviour)
{
	size_t k;

	for (k = 0; k < THINGS; k++)
		counts[k] = k % 4 == behaviour ? 100 + below(900) :
			    below(4) ? 0 : below(300);
	/* An interval in which nothing ran; not the first one. */
	if (!below(12) && counts[behaviour])
		memset(counts, 0, THINGS * sizeof(*counts));
}

static void fill(struct plain *plain)
{
	uint64_t behaviour = 0;
	size_t i;

	memset(plain, 0, sizeof(*plain));
	for (i = 0; i < INTERVALS; i++) {
		if (!below(5))
			behaviour = below(4);
		do
			fill_interval(plain->counts[i], behaviour);
		while (!i && !plain->counts[0][behaviour]);
	}
}

/* Adds a count in several parts, in a random order of intervals. */
static void add_all(struct phase_run *run, const struct plain *plain)
{
	size_t i, k;

	for (i = 0; i < INTERVALS; i++) {
		size_t at = (i * 17 + 5) % INTERVALS;

		for (k = 0; k < THINGS; k++) {
			uint64_t whole = plain->counts[at][k];
			uint64_t part = whole ? below(whole) : 0;
			uint64_t time = at * STEP + 1 + below(STEP);

			assert_int_equal(0, phase_run_add(run, time, k * 77,
							  part));
			assert_int_equal(0, phase_run_add(run, time, k * 77,
							  whole - part));
		}
		assert_int_equal(0, phase_run_end(run, (at + 1) * STEP));
	}
}

static void compare(const struct plain *plain, double threshold)
{
	struct phase_run run = { .count = 0 };
	struct phases phases;
	size_t i;

	add_all(&run, plain);
	assert_int_equal(0, phases_find(&phases, &run, 0, threshold));
	assert_int_equal(INTERVALS, phases.interval_count);
	assert_int_equal(plain->phases, phases.phase_count);
	for (i = 0; i < INTERVALS; i++) {
		assert_int_equal(plain->phase[i], phases.intervals[i].phase);
		assert_int_equal(plain->phase[i],
				 phases_at(&phases, i * STEP + 1));
		assert_int_equal(plain->phase[i],
				 phases_at(&phases, (i + 1) * STEP));
	}
	phases_free(&phases);
	phase_run_free(&run);
}

static void random_runs(void **unused)
{
	static const double thresholds[] = { 0.1, 0.3, 0.5, 0.71, 0.95 };
	size_t most = 0, i;
	struct plain plain;

	for (i = 0; i < RUNS; i++) {
		double threshold = thresholds[i % 5];

		state = i;
		fill(&plain);
		plain_find(&plain, threshold);
		compare(&plain, threshold);
		if (plain.phases > most)
			most = plain.phases;
	}
	/* The runs have something to find. */
	assert_true(most > 3);
}

/* A run whose phases are A B A C, with an interval between A and B. */
static void known_run(void **unused)
{
	static const struct {
		uint64_t a, b, c;
		size_t phase;
		double distance;
	} intervals[] = {
		{ 100, 0, 0, 0, 0 }, { 100, 0, 0, 0, 0 },
		{ 60, 40, 0, 0, 0.4 },
		/* Phase 0 has 260 of a and 40 of b. */
		{ 0, 100, 0, 1, 260. / 300 }, { 0, 50, 0, 1, 0 },
		{ 70, 0, 0, 0, 1 }, { 0, 0, 5, 2, 1 },
	};
	enum { COUNT = sizeof(intervals) / sizeof(intervals[0]) };
	struct phase_run run = { .count = 0 };
	struct phases phases;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		uint64_t end = (i + 1) * STEP;

		phase_run_add(&run, end, 1, intervals[i].a);
		phase_run_add(&run, end, 2, intervals[i].b);
		phase_run_add(&run, end, 3, intervals[i].c);
		phase_run_end(&run, end);
	}
	assert_int_equal(0, phases_find(&phases, &run, 0, 0.5));
	assert_int_equal(COUNT, phases.interval_count);
	assert_int_equal(3, phases.phase_count);
	assert_int_equal(3, phases.change_count);
	for (i = 0; i < COUNT; i++) {
		assert_int_equal(intervals[i].phase,
				 phases.intervals[i].phase);
		assert_float_equal(intervals[i].distance,
				   phases.intervals[i].distance, 1e-9);
	}
	phases_free(&phases);
	phase_run_free(&run);
}

/* Ends that are close together make one interval, and the last one stays. */
static void close_ends(void **unused)
{
	static const uint64_t ends[] = { 1000, 1001, 1100, 2000, 2100, 2101 };
	struct phase_run run = { .count = 0 };
	struct phases phases;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		phase_run_end(&run, ends[i]);
	phase_run_add(&run, 2101, 1, 1);
	phase_run_add(&run, 900, 1, 1);
	assert_int_equal(0, phases_find(&phases, &run, 500, 0.5));
	assert_int_equal(2, phases.interval_count);
	assert_int_equal(1000, phases.intervals[0].end);
	assert_int_equal(1000, phases.intervals[1].begin);
	assert_int_equal(2101, phases.intervals[1].end);
	phases_free(&phases);
	phase_run_free(&run);
}

/* A run that was cut off ends with its last count. */
static void no_end(void **unused)
{
	struct phase_run run = { .count = 0 };
	struct phases phases;

	assert_int_equal(0, phases_find(&phases, &run, 0, 0.5));
	assert_int_equal(0, phases.interval_count);
	assert_int_equal(0, phases_at(&phases, 1));
	phases_free(&phases);
	phase_run_add(&run, 70, 1, 1);
	assert_int_equal(0, phases_find(&phases, &run, 0, 0.5));
	assert_int_equal(1, phases.interval_count);
	assert_int_equal(70, phases.intervals[0].end);
	phases_free(&phases);
	phase_run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_runs),
		cmocka_unit_test(known_run),
		cmocka_unit_test(close_ends),
		cmocka_unit_test(no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
