// SPDX-License-Identifier: GPL-2.0-only
/*
 * oracle [--engine] [--span BYTES] FILE
 *
 * Prints, as JSON, the exact loops of the branch rows in FILE: a perf.data, or
 * rows of hwprof/branches/ one behind the other. With --engine, it prints the
 * rows of the loop engine in the same FILE in the same form, and the losses of
 * all its sessions.
 *
 * Exit status: 0 if all is well, 1 if FILE has no such rows, 2 if it cannot be
 * read or the command line is wrong.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"
#include "rows.h"

struct feeding {
	struct oracle *oracle;
	u64 events, gaps;
	u32 threads;
};

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct feeding *feeding = context;

	feeding->events++;
	feeding->gaps += event->kind == STREAM_GAP;
	feeding->threads = thread + 1;
	oracle_add(feeding->oracle, thread, event);
}

static void print_trips(const u64 *trips)
{
	unsigned int i, last = 0;

	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		if (trips[i])
			last = i + 1;
	printf("\"trips\": [");
	for (i = 0; i < last; i++)
		printf("%s%" PRIu64, i ? ", " : "", trips[i]);
	printf("]");
}

static void print_exact(const struct oracle *oracle)
{
	const struct oracle_loop *loop;
	size_t i, count = oracle_loops(oracle, &loop);

	for (i = 0; i < count; i++, loop++) {
		printf("%s\n{\"space\": %u, \"head\": %" PRIu64
		       ", \"tail\": %" PRIu64 ", \"back_edges\": %" PRIu64
		       ", \"entries\": %" PRIu64 ", \"executions\": %" PRIu64
		       ", \"unclosed\": %" PRIu64 ", \"open\": %" PRIu64
		       ", \"trip_min\": %" PRIu64 ", \"trip_max\": %" PRIu64
		       ", \"tolerance\": 0, ",
		       i ? "," : "", loop->space, loop->head, loop->tail,
		       loop->back_edges, loop->entries, loop->executions,
		       loop->unclosed, loop->open, loop->trip_min,
		       loop->trip_max);
		if (loop->has_parent)
			printf("\"parent\": %" PRIu64 ", ", loop->parent);
		print_trips(loop->trips);
		printf("}");
	}
}

static int exact(struct branch_rows *rows, u64 span)
{
	struct feeding feeding = { .oracle = oracle_new(span) };
	struct oracle_depth depth;
	u64 missing;

	if (!rows->count) {
		fprintf(stderr, "oracle: the file has no rows of branches\n");
		return 1;
	}
	missing = rows_branches(rows, take, &feeding);
	oracle_run(feeding.oracle);
	depth = oracle_depth(feeding.oracle);
	printf("{\"branches\": %" PRIu64 ", \"gaps\": %" PRIu64
	       ", \"threads\": %u, \"missing\": %" PRIu64
	       ", \"frames\": %zu, \"loops_in_flight\": %zu, \"loops\": [",
	       feeding.events - feeding.gaps, feeding.gaps, feeding.threads,
	       missing, depth.frames, depth.loops);
	print_exact(feeding.oracle);
	printf("\n]}\n");
	oracle_free(feeding.oracle);
	return 0;
}

static int engine(const struct loop_rows *rows)
{
	const struct hwprof_row_totals totals = totals_sum(&rows->totals);
	const struct hwprof_row_loop *loop = rows->items;
	size_t i;

	if (!rows->count) {
		fprintf(stderr, "oracle: the file has no rows of loops\n");
		return 1;
	}
	printf("{\"lost\": %llu, \"evicted\": %llu, \"gaps\": %llu, \"loops\": [",
	       totals.lost, totals.evicted, totals.gaps);
	for (i = 0; i < rows->count; i++, loop++) {
		printf("%s\n{\"space\": %u, \"pid\": %u, \"head\": %llu"
		       ", \"tail\": %llu, \"back_edges\": %llu"
		       ", \"entries\": %lld, \"executions\": %llu"
		       ", \"unclosed\": %llu, \"trip_min\": %llu"
		       ", \"trip_max\": %llu, \"tolerance\": %u, ",
		       i ? "," : "", loop->row.space, loop->row.pid,
		       loop->head, loop->tail, loop->back_edges, loop->entries,
		       loop->executions, loop->unclosed, loop->trip_min,
		       loop->trip_max, loop->tolerance);
		print_trips(rows->trips[i]);
		printf("}");
	}
	printf("\n]}\n");
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: oracle [--engine] [--span BYTES] FILE\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "engine", no_argument, NULL, 'e' },
		{ "span", required_argument, NULL, 's' },
		{ },
	};
	struct branch_rows branches = { 0 };
	struct loop_rows loops = { 0 };
	u64 span = HWPROF_DEFAULT_SPAN;
	bool of_engine = false;
	int option, status = 2;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'e')
			of_engine = true;
		else if (option == 's')
			span = strtoull(optarg, NULL, 0);
		else
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	if (rows_read(argv[optind], &branches, &loops))
		status = of_engine ? engine(&loops) : exact(&branches, span);
	rows_free(&branches, &loops);
	return status;
}
