// SPDX-License-Identifier: GPL-2.0-only
/*
 * contexts [-t TABLE_KIB] [-r ROUNDS] FILE...
 *
 * Measures nanoseconds of the cct engine and of two peers. The peers work like
 * profilers without a tree. They keep the stack of calls, hash all of it at
 * every call and count it in a table. They forget what they have no room for:
 *
 * stacks	one multiplication a frame; equal hashes count as equal stacks
 * map	like the kernel's stack map (BPF): jhash, and the stack is kept and
 *	compared, so that different stacks have different counts
 *
 * All process the same recorded branches in the same process. The best of
 * ROUNDS counts; rounds alternate. A crowded table must be taken into a
 * profile, which the kernel does in process context; this time does not count.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "tests/oracle/array.h"
#include "tests/oracle/rows.h"

enum { DEPTH = 256 };

#include "measure.h"
#include "stack_peers.h"

struct stream {
	struct stream_event *items;
	size_t count, room;
	size_t calls;
};

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;

	*array_push(stream) = *event;
	stream->calls += event->kind == STREAM_CALL;
}

/* --- the peers ---------------------------------------------------------- */

struct stacks {
	u64 stack[DEPTH];	/* call sites */
	u32 depth;
	struct stack_peers peers;
};

static __always_inline void feed_stacks(struct stacks *stacks,
					const struct stream_event *event,
					void (*count)(struct stack_peers *,
						      const u64 *, u32))
{
	u32 depth;

	switch (event->kind) {
	case STREAM_CALL:
		stacks->stack[stacks->depth++ % DEPTH] = event->from;
		/* A deeper stack counts with DEPTH of its frames. */
		count(&stacks->peers, stacks->stack,
		      min(stacks->depth, (u32)DEPTH));
		break;
	case STREAM_RET:
		for (depth = stacks->depth; depth--;)
			if (event->to - stacks->stack[depth % DEPTH] - 2
			    <= 13) {
				stacks->depth = depth;
				break;
			}
		break;
	}
}

static noinline void feed_hash(void *stacks, const struct stream_event *event)
{
	feed_stacks(stacks, event, count_hash);
}

static noinline void feed_map(void *stacks, const struct stream_event *event)
{
	feed_stacks(stacks, event, count_mapped);
}

static double time_stacks(const struct stream *stream, struct stacks *stacks,
			  void (*feed)(void *, const struct stream_event *))
{
	double start;
	size_t i;

	/* Page faults are not part of the work. */
	memset(stacks, 0, sizeof(*stacks));
	start = cpu_time();
	for (i = 0; i < stream->count; i++)
		feed(stacks, &stream->items[i]);
	return cpu_time() - start;
}

/* --- the engine --------------------------------------------------------- */

static void table_init(void *table, size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 1,
	};

	memset(table, 0, size);
	cct_engine.table_init(table, size, &params);
}

static double time_engine(const struct stream *stream, void *table,
			  void *profile, void *cursor)
{
	double start = cpu_time(), time;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		if (likely(cct_engine.feed(table, cursor, &stream->items[i])))
			continue;
		time = cpu_time();
		cct_engine.merge(profile, table, ~0UL);
		start += cpu_time() - time;
	}
	time = cpu_time() - start;
	cct_engine.merge(profile, table, ~0UL);
	return time;
}

static bool count_row(void *context, const void *row, u64 ip, u64 addr,
		      u64 period)
{
	++*(size_t *)context;
	return true;
}

/* The tree, and two peers without one. */
enum { TREE, STACKS, MAP, WAYS };

static const char *const way_names[WAYS] = { "tree", "stacks", "map" };

struct bench {
	size_t size;
	unsigned int rounds;
	void *table, *profile, *cursor;
	struct stacks *stacks;
	double best[WAYS];	/* nanoseconds in all */
	size_t overwritten[WAYS];
};

static void time_all(struct bench *bench, const struct stream *stream)
{
	struct stacks *stacks = bench->stacks;
	unsigned int round, way;

	for (way = 0; way < WAYS; way++)
		bench->best[way] = 1e18;
	for (round = 0; round < bench->rounds; round++) {
		double time[WAYS];

		table_init(bench->table, bench->size);
		table_init(bench->profile, 4 * bench->size);
		cct_engine.cursor_init(bench->cursor, 1);
		time[TREE] = time_engine(stream, bench->table, bench->profile,
					 bench->cursor);
		time[STACKS] = time_stacks(stream, stacks, feed_hash);
		bench->overwritten[STACKS] = stacks->peers.overwritten;
		time[MAP] = time_stacks(stream, stacks, feed_map);
		bench->overwritten[MAP] = stacks->peers.overwritten;
		for (way = 0; way < WAYS; way++)
			bench->best[way] = min(bench->best[way], time[way]);
	}
}

static void compare(struct bench *bench, const char *name)
{
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };
	struct stream stream = { 0 };
	const double *best = bench->best;
	size_t contexts = 0, at = 0, i;

	if (!rows_read(name, &rows, &none))
		exit(2);
	rows_branches(&rows, take, &stream);
	rows_free(&rows, &none);
	time_all(bench, &stream);
	cct_engine.rows(bench->profile, 0, &at, ~0UL, count_row, &contexts);
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	printf("%-8s %8zu branches %7zu calls ", name, stream.count,
	       stream.calls);
	for (i = 0; i < WAYS; i++)
		printf(" %s %5.2f ns a branch, %5.1f a call ",
		       way_names[i], best[i] / stream.count,
		       best[i] / stream.calls);
	printf(" stacks/tree %4.2f  map/tree %4.2f  contexts %5zu, evicted %llu, overwritten %zu and %zu\n",
	       best[STACKS] / best[TREE], best[MAP] / best[TREE], contexts,
	       (unsigned long long)cct_engine.evicted(bench->profile),
	       bench->overwritten[STACKS], bench->overwritten[MAP]);
	free(stream.items);
}

int main(int argc, char **argv)
{
	struct bench bench = {
		.size = 2 << 20,	/* as 16 MiB gives a CPU of two */
		.rounds = 9,
	};
	int option;

	while ((option = getopt(argc, argv, "t:r:")) != -1) {
		if (option == 't')
			bench.size = strtoul(optarg, NULL, 0) << 10;
		else if (option == 'r')
			bench.rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind == argc || !bench.rounds) {
		fprintf(stderr,
			"usage: contexts [-t TABLE_KIB] [-r ROUNDS] FILE...\n");
		return 2;
	}
	bench.table = memory_new(bench.size);
	bench.profile = memory_new(4 * bench.size);
	bench.cursor = memory_new(cct_engine.cursor_size);
	bench.stacks = memory_new(sizeof(*bench.stacks));
	for (; optind < argc; optind++)
		compare(&bench, argv[optind]);
	free(bench.stacks);
	free(bench.cursor);
	free(bench.profile);
	free(bench.table);
	return 0;
}
