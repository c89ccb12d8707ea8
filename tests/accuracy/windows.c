// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows [--every N] [--length N] [--rounds N] [--list] FILE...
 *
 * Compares hwprof's estimates of loops from windows with exact counts. It cuts
 * windows of --length branches (32) out of the branch rows in FILE, one in
 * --every (1000) branches on average, and feeds them to the loop engine. Then
 * it compares the library's estimates with the oracle's counts of the whole
 * trace. It does so --rounds (1) times, with other windows. Prints a line of
 * JSON for each file, whose numbers are sums over the rounds; with --list also
 * each loop.
 *
 * Exit status: 0; 2: a file cannot be read, or the command line is wrong.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "reports/estimate.h"
#include "tests/engine/random.h"
#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/rows.h"

enum { TABLE = 16 << 20 };

struct stream {
	struct stream_event *items;
	size_t count, room;
};

/* A loop that windows show. */
struct estimate {
	const struct oracle_loop *exact;
	struct hwprof_loop loop;
	u64 windows;		/* with a back edge of it */
	u64 in_window;		/* back edges in the last one */
};

struct estimates {
	struct estimate *items;
	size_t count, room;
	const struct oracle *oracle;
};

/* Sums over rounds, of loops with at least so many entries seen. */
struct verdict {
	unsigned int loops, unseen;
	double error, naive, weight;	/* of loops of 100, by iterations */
	/* Is the trip count in the interval? */
	unsigned int ten, inside, unknown;
	unsigned int thirty, wide_30;	/* interval beyond a factor of 2.5 */
	unsigned int hundred, wide_100;	/* 1.5 */
	double iterations, entries;	/* shares: worst difference */
};

static size_t every = 1000, length = 32, rounds = 1;
static bool list;

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;

	*array_push(stream) = *event;
}

/* --- the engine and the library ------------------------------------------- */

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_loop *row = data;
	struct estimates *all = context;
	struct collected_loop sums = collected_loop_of(row, 0);
	struct estimate *estimate = array_push(all);

	memset(estimate, 0, sizeof(*estimate));
	estimate_loop(&estimate->loop, &sums, false);
	estimate->exact = oracle_find(all->oracle, row->row.space, row->head);
	if (!estimate->exact) {
		fprintf(stderr, "windows: the oracle has no loop at 0x%llx\n",
			row->head);
		exit(2);
	}
	return true;
}

static void *table_new(void)
{
	const struct engine_params params = {
		.span = HWPROF_DEFAULT_SPAN, .basis = HWPROF_BASIS_BRANCHES,
		.seed = 1,
	};
	void *table = calloc(1, TABLE);

	loop_engine.table_init(table, TABLE, &params);
	return table;
}

static size_t next_window(u64 *random, size_t at)
{
	return at + every / 2 + random_below(random, every);
}

static void feed_windows(const struct stream *stream, u64 random,
			 struct estimates *estimates)
{
	void *table = table_new(), *profile = table_new();
	void *cursor = array_more(NULL, 1, loop_engine.cursor_size);
	struct stream_event start = { .kind = STREAM_GAP };
	size_t at, i;

	loop_engine.cursor_init(cursor, 1);
	for (at = next_window(&random, 0); at + length <= stream->count;
	     at = next_window(&random, at)) {
		start.to = stream->items[at].to;
		start.space = stream->items[at].space;
		loop_engine.feed(table, cursor, &start);
		for (i = at + 1; i < at + length; i++)
			if (!loop_engine.feed(table, cursor, &stream->items[i]))
				loop_engine.merge(profile, table, ~0UL);
	}
	start.to = 0;
	loop_engine.feed(table, cursor, &start);
	loop_engine.merge(profile, table, ~0UL);
	engine_settle(&loop_engine, profile, 0);
	at = 0;
	loop_engine.rows(profile, 0, &at, ~0UL, take_row, estimates);
	free(table);
	free(profile);
	free(cursor);
}

/* --- what is not done: the mean of what single windows show --------------- */

static struct estimate *find(struct estimates *all,
			     const struct stream_event *event)
{
	size_t i;

	if (!stream_is_back_edge(event, HWPROF_DEFAULT_SPAN))
		return NULL;
	for (i = 0; i < all->count; i++)
		if (all->items[i].exact->head == event->to &&
		    all->items[i].exact->space == event->space)
			return &all->items[i];
	return NULL;
}

static void count_windows(const struct stream *stream, u64 random,
			  struct estimates *all)
{
	struct estimate *estimate;
	size_t at, i;

	for (at = next_window(&random, 0); at + length <= stream->count;
	     at = next_window(&random, at)) {
		for (i = 0; i < all->count; i++)
			all->items[i].in_window = 0;
		for (i = at + 1; i < at + length; i++) {
			estimate = find(all, &stream->items[i]);
			if (estimate && !estimate->in_window++)
				estimate->windows++;
		}
	}
}

static double naive_trip(const struct estimate *estimate)
{
	return 1 + (double)estimate->loop.back_edges_seen / estimate->windows;
}

/* --- the comparison ------------------------------------------------------- */

static double exact_trip(const struct oracle_loop *loop)
{
	return loop->entries ? 1 + (double)loop->back_edges / loop->entries :
			       INFINITY;
}

static double iterations(const struct oracle_loop *loop)
{
	return loop->back_edges + loop->entries;
}

static int compare_iterations(const void *a, const void *b)
{
	double x = iterations(((const struct estimate *)a)->exact);
	double y = iterations(((const struct estimate *)b)->exact);

	return (x < y) - (x > y);
}

static void judge_interval(const struct estimate *estimate,
			   struct verdict *verdict)
{
	const struct hwprof_loop *loop = &estimate->loop;
	double exact = exact_trip(estimate->exact);
	bool inside = loop->trip_low <= exact && exact <= loop->trip_high;
	bool within_2_5 = loop->trip_high <= 2.5 * loop->trip_low;
	bool within_1_5 = loop->trip_high <= 1.5 * loop->trip_low;

	if (loop->entries_seen >= 10) {
		verdict->ten++;
		verdict->inside += inside;
		verdict->unknown += isnan(loop->trip_low);
	}
	if (loop->entries_seen >= 30) {
		verdict->thirty++;
		verdict->wide_30 += !within_2_5;
	}
	if (loop->entries_seen >= 100) {
		verdict->hundred++;
		verdict->wide_100 += !within_1_5;
	}
	if (list)
		printf("# 0x%lx: %.0f iterations, trip count %.3f; seen %lu back edges, %lu entries: %.3f [%.3f %.3f]%s, mean of windows %.3f\n",
		       (long)estimate->exact->head, iterations(estimate->exact),
		       exact, (long)loop->back_edges_seen,
		       (long)loop->entries_seen, loop->trip, loop->trip_low,
		       loop->trip_high,
		       loop->entries_seen >= 10 && !inside ? " OUTSIDE" : "",
		       naive_trip(estimate));
}

/* Judges the loops that have 90 % of all iterations. @all is sorted. */
static void judge_trips(const struct estimates *all, double total,
			struct verdict *verdict)
{
	const struct estimate *estimate = all->items;
	double covered = 0, weight, exact;
	size_t i;

	for (i = 0; i < all->count && covered < 0.9 * total; i++, estimate++) {
		weight = iterations(estimate->exact);
		exact = exact_trip(estimate->exact);
		covered += weight;
		if (estimate->loop.entries_seen < 100)
			continue;
		verdict->weight += weight;
		verdict->error += weight *
			fabs(estimate->loop.trip - exact) / exact;
		verdict->naive += weight *
			fabs(naive_trip(estimate) - exact) / exact;
	}
}

/* Judges shares in the total of all loops that were seen. */
static void judge_shares(const struct estimates *all, struct verdict *verdict)
{
	double total = 0, seen = 0, entries = 0, seen_entries = 0;
	const struct hwprof_loop *loop;
	size_t i;

	for (i = 0; i < all->count; i++) {
		loop = &all->items[i].loop;
		total += iterations(all->items[i].exact);
		entries += all->items[i].exact->entries;
		seen += loop->back_edges_seen + loop->entries_seen;
		seen_entries += loop->entries_seen;
	}
	for (i = 0; i < all->count; i++) {
		loop = &all->items[i].loop;
		verdict->iterations = fmax(verdict->iterations, fabs(
			(loop->back_edges_seen + loop->entries_seen) / seen -
			iterations(all->items[i].exact) / total));
		verdict->entries = fmax(verdict->entries, fabs(
			loop->entries_seen / seen_entries -
			all->items[i].exact->entries / entries));
	}
}

static void judge(struct estimates *all, struct verdict *verdict)
{
	const struct oracle_loop *loops;
	size_t i, count = oracle_loops(all->oracle, &loops);
	double total = 0;

	for (i = 0; i < count; i++)
		total += iterations(&loops[i]);
	qsort(all->items, all->count, sizeof(*all->items), compare_iterations);
	verdict->loops += all->count;
	verdict->unseen += count - all->count;
	for (i = 0; i < all->count; i++)
		judge_interval(&all->items[i], verdict);
	judge_trips(all, total, verdict);
	judge_shares(all, verdict);
}

static void print(const char *name, size_t branches,
		  const struct verdict *verdict)
{
	printf("{\"file\": \"%s\", \"branches\": %zu, \"loops\": %u, "
	       "\"unseen\": %u, "
	       "\"trip_error\": %.4f, \"naive_error\": %.4f, "
	       "\"of_10\": %u, \"inside\": %u, \"unknown\": %u, \"of_30\": %u, "
	       "\"wide_30\": %u, "
	       "\"of_100\": %u, \"wide_100\": %u, "
	       "\"iterations_off\": %.4f, \"entries_off\": %.4f}\n",
	       name, branches, verdict->loops, verdict->unseen,
	       verdict->weight ? verdict->error / verdict->weight : 0,
	       verdict->weight ? verdict->naive / verdict->weight : 0,
	       verdict->ten, verdict->inside, verdict->unknown, verdict->thirty,
	       verdict->wide_30, verdict->hundred, verdict->wide_100,
	       verdict->iterations, verdict->entries);
}

static void compare(const char *name)
{
	struct oracle *oracle = oracle_new(HWPROF_DEFAULT_SPAN);
	struct estimates all = { .oracle = oracle };
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };
	struct stream stream = { 0 };
	struct verdict verdict = { 0 };
	size_t i, round;

	if (!rows_read(name, &rows, &none))
		exit(2);
	rows_branches(&rows, take, &stream);
	rows_free(&rows, &none);
	for (i = 0; i < stream.count; i++)
		oracle_add(oracle, 0, &stream.items[i]);
	oracle_run(oracle);
	for (round = 1; round <= rounds; round++) {
		all.count = 0;
		feed_windows(&stream, round, &all);
		count_windows(&stream, round, &all);
		judge(&all, &verdict);
	}
	print(name, stream.count, &verdict);
	free(stream.items);
	free(all.items);
	oracle_free(oracle);
}

static int usage(void)
{
	fprintf(stderr, "usage: windows [--every N] [--length N] [--rounds N] "
		"[--list] FILE...\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "every", required_argument, NULL, 'e' },
		{ "length", required_argument, NULL, 'l' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "list", no_argument, NULL, 'v' },
		{ },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'e')
			every = strtoul(optarg, NULL, 0);
		else if (option == 'l')
			length = strtoul(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else if (option == 'v')
			list = true;
		else
			return usage();
	}
	if (optind == argc || length < 2 || every < length)
		return usage();
	for (; optind < argc; optind++)
		compare(argv[optind]);
	return 0;
}
