// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often intervals of trip counts contain the trip count, if windows are
 * those of bursts that time begins. Programs, recordings and bursts are
 * simulated, with the module's own rule for windows. Each instruction takes the
 * same time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "engine/burst_window.h"
#include "reports/estimate.h"
#include "tests/engine/random.h"

enum { LINES_MAX = 8192, BURSTS = 400, RECORDINGS = 400, LONGEST_LINE = 40 };

/* A line of code up to its branch, and what it is to the loop. */
struct line {
	u32 steps, back_edges, entries;
};

/* A program that does the same over and over again. */
struct program {
	struct line lines[LINES_MAX];
	u32 count, steps;
	double trip;
};

/* How a loop is called: the instructions of each part, and the trip counts. */
struct shape {
	const char *name;
	u32 before, entry, body, exit, after;
	u32 trips[4], times[4];
	u32 others, other_steps;	/* lines of other code in a round */
};

static void add(struct program *program, u32 steps, u32 back_edges, u32 entries)
{
	assert_true(program->count < LINES_MAX && steps < LONGEST_LINE);
	program->lines[program->count++] = (struct line){
		steps, back_edges, entries,
	};
	program->steps += steps;
}

/* The branch back ends all lines but the last one of an execution. */
static void add_execution(struct program *program, const struct shape *shape,
			  u32 trip)
{
	u32 i;

	add(program, shape->before, 0, 0);
	for (i = 1; i < trip; i++)
		add(program, shape->body + (i == 1 ? shape->entry : 0), 1,
		    i == 1);
	add(program, shape->body + shape->exit + (trip == 1 ? shape->entry : 0),
	    0, trip == 1);
	add(program, shape->after, 0, 0);
}

static void make(struct program *program, const struct shape *shape)
{
	u32 iterations = 0, entries = 0, i, k;

	memset(program, 0, sizeof(*program));
	for (i = 0; i < 4; i++) {
		for (k = 0; k < shape->times[i]; k++)
			add_execution(program, shape, shape->trips[i]);
		iterations += shape->trips[i] * shape->times[i];
		entries += shape->times[i];
	}
	for (i = 0; i < shape->others; i++)
		add(program, shape->other_steps, 0, 0);
	program->trip = (double)iterations / entries;
}

/* Sets where the program is after so many instructions: in which line. */
static u32 line_at(const struct program *program, u32 steps, u32 *left)
{
	u32 i = 0;

	while (steps >= program->lines[i].steps)
		steps -= program->lines[i++].steps;
	*left = program->lines[i].steps - steps;
	return i;
}

/* Runs until the burst is over, and adds its window to the sums. */
static void run_burst(const struct program *program, u32 at,
		      struct burst_window *window, struct collected_loop *sums)
{
	/* Where a line begins does not matter, if that is not 0. */
	const struct stream_event event = { .kind = STREAM_COND, .to = 1 };
	double back_edges = 0, entries = 0;
	u32 left, i = line_at(program, at, &left);

	do {
		if (--left)
			continue;
		if (burst_window_event(window, &event)) {
			back_edges += program->lines[i].back_edges;
			entries += program->lines[i].entries;
		}
		i = (i + 1) % program->count;
		left = program->lines[i].steps;
	} while (!burst_window_step(window));
	sums->back_edges += back_edges;
	sums->entries += entries;
	sums->sum_back_sq += back_edges * back_edges;
	sums->sum_entry_sq += entries * entries;
	sums->sum_cross += back_edges * entries;
}

/*
 * Makes a recording of bursts of @branches. After @session of them it goes on
 * with another session, as hwprofd's collector does.
 */
static struct collected_loop record(const struct program *program, u32 branches,
				    u32 session, u64 *random)
{
	struct collected_loop sums = { .origin.basis = HWPROF_BASIS_TIME };
	u64 all_branches = 0, all_steps = 0;
	struct burst_window window;
	u32 i;

	for (i = 0; i < BURSTS; i++) {
		if (i % session == 0)
			all_branches = all_steps = 0;
		burst_window_init(&window, true, branches, all_branches,
				  all_steps, random_next(random));
		run_burst(program, random_below(random, program->steps),
			  &window, &sums);
		all_branches += window.branches;
		all_steps += window.steps;
	}
	return sums;
}

/*
 * 400 recordings have the trip count in 95 +- 1.1 % of intervals. Four times
 * that is allowed. The mean of all errors shows what single ones hide.
 */
static void check(const struct shape *shape, u32 branches, u32 session)
{
	double inside = 0, sum = 0, square = 0, error, mean, deviation;
	struct program *program = malloc(sizeof(*program));
	u64 random = branches;
	u32 i;

	make(program, shape);
	for (i = 0; i < RECORDINGS; i++) {
		struct collected_loop sums = record(program, branches, session,
						    &random);
		struct hwprof_loop loop = { .head = 0 };

		estimate_loop(&loop, &sums, true);
		inside += loop.trip_low <= program->trip &&
			  program->trip <= loop.trip_high;
		error = log(loop.trip / program->trip);
		sum += error;
		square += error * error;
	}
	mean = sum / RECORDINGS;
	deviation = sqrt(square / RECORDINGS - mean * mean);
	inside *= 100.0 / RECORDINGS;
	print_message("%s, bursts of %u, %u a session: %.1f %% inside, mean error %.3f %%, deviation %.3f %%\n",
		      shape->name, branches, session, inside, 100 * mean,
		      100 * deviation);
	if (inside < 90.6 || inside > 99.4)
		fail_msg("%.1f %% of the intervals contain the trip count",
			 inside);
	if (fabs(mean) > 4 * deviation / sqrt(RECORDINGS))
		fail_msg("trip counts are wrong by %.3f %% on average",
			 100 * mean);
	free(program);
}

/* examples/orders as gcc -O2 makes it. */
static const struct shape orders = {
	.name = "orders", .before = 3, .entry = 4, .body = 4, .exit = 4,
	.after = 6, .trips = { 30, 16 }, .times = { 60, 2 },
	.others = 4096, .other_steps = 8,
};
static const struct shape varied = {
	.name = "varied trip counts", .before = 12, .entry = 2, .body = 3,
	.exit = 25, .after = 9, .trips = { 1, 2, 5, 90 },
	.times = { 30, 20, 10, 6 }, .others = 500, .other_steps = 5,
};
static const struct shape alike = {
	.name = "one trip count", .before = 30, .entry = 1, .body = 10,
	.exit = 1, .after = 2, .trips = { 7 }, .times = { 100 },
};

static void test_long(void **state)
{
	check(&orders, 200, BURSTS);
	check(&varied, 200, BURSTS);
	check(&alike, 200, BURSTS);
}

static void test_short(void **state)
{
	check(&orders, 32, BURSTS);
	check(&varied, 32, BURSTS);
}

/* A window of time of hwprofd has ten bursts or so. */
static void test_sessions(void **state)
{
	check(&orders, 200, 10);
	check(&varied, 200, 10);
	check(&varied, 200, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
