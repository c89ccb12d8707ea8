// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampled [-t TABLE_KIB] [-r ROUNDS] [-e EVERY] FILE...
 *
 * Measures nanoseconds per sampled stack of calls of the cct engine and of two
 * peers. The peers work like profilers without a tree: they hash all of the
 * stack and count it in a table. They forget what they have no room for:
 *
 * stacks	one multiplication a frame; equal hashes count as equal stacks
 * map	like the kernel's stack map (BPF): jhash, and the stack is kept and
 *	compared, so that different stacks have different counts
 *
 * The stacks come from recorded branches, one in EVERY on average. The engine
 * gets addresses, like its peers, and looks up their procedures in a table of
 * known ones, like the library (lib/code/procedures.c). All run in the same
 * process. The best of ROUNDS counts; rounds alternate.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "tests/engine/random.h"
#include "tests/oracle/array.h"
#include "tests/oracle/rows.h"

enum { DEPTH = 127, LINE_BITS = 15 };

#include "measure.h"
#include "stack_peers.h"

struct stack {
	u32 depth;		/* addresses: where it was, then call sites */
	u32 at;			/* of them all, the first */
};

struct line {
	u64 address, begin;
};

struct samples {
	struct { struct stack *items; size_t count, room; } stacks;
	struct { u64 *items; size_t count, room; } addresses;
	struct { u64 *items; size_t count, room; } procedures;
	struct line lines[1 << LINE_BITS];
	/* The current stack, outermost frame first. */
	u64 sites[4096], callees[4096];
	u32 depth;
	u64 random;
	unsigned int every;
};

/* --- stacks of recorded branches ---------------------------------------- */

static struct line *line_of(struct samples *samples, u64 address)
{
	u64 hash = address + ((address >> LINE_BITS) * HASH_PRIME >> 32);

	return &samples->lines[hash & ((1 << LINE_BITS) - 1)];
}

static void add_frame(struct samples *samples, u64 address, u64 procedure)
{
	*array_push(&samples->addresses) = address;
	*array_push(&samples->procedures) = procedure;
	*line_of(samples, address) = (struct line) { address, procedure };
}

static void sample(struct samples *samples, u64 ip)
{
	u32 depth = min(samples->depth, (u32)DEPTH - 1), i;

	*array_push(&samples->stacks) = (struct stack) {
		depth + 1, samples->addresses.count,
	};
	add_frame(samples, ip, samples->callees[samples->depth]);
	for (i = samples->depth; i > samples->depth - depth; i--)
		add_frame(samples, samples->sites[i], samples->callees[i - 1]);
}

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct samples *samples = context;
	u32 depth;

	if (random_once_in(&samples->random, samples->every))
		sample(samples, event->from);
	if (event->kind == STREAM_CALL && samples->depth < 4095) {
		samples->depth++;
		samples->sites[samples->depth] = event->from;
		samples->callees[samples->depth] = event->to;
	} else if (event->kind == STREAM_RET) {
		for (depth = samples->depth; depth; depth--)
			if (event->to - samples->sites[depth] - 2 <= 13) {
				samples->depth = depth - 1;
				break;
			}
	}
}

/* --- the peers ---------------------------------------------------------- */

static __always_inline double
time_peer(const struct samples *samples, struct stack_peers *peers,
	  void (*count)(struct stack_peers *, const u64 *, u32))
{
	double start;
	size_t i;

	/* Page faults are not part of the work. */
	memset(peers, 0, sizeof(*peers));
	start = cpu_time();
	for (i = 0; i < samples->stacks.count; i++) {
		struct stack stack = samples->stacks.items[i];

		count(peers, &samples->addresses.items[stack.at], stack.depth);
	}
	return cpu_time() - start;
}

/* --- the engine --------------------------------------------------------- */

static u64 procedure_of(struct samples *samples, u64 address, size_t at)
{
	const struct line *line = line_of(samples, address);

	return likely(line->address == address) ? line->begin :
						  samples->procedures.items[at];
}

static bool feed(void *table, struct samples *samples, struct stack stack)
{
	const u64 *addresses = &samples->addresses.items[stack.at];
	u64 procedures[DEPTH];
	struct stream_stack fed = {
		.sites = addresses + 1, .procedures = procedures + 1,
		.procedure = procedure_of(samples, addresses[0], stack.at),
		.weight = 1, .depth = stack.depth - 1, .used = stack.depth - 1,
		.space = 1,
	};
	u32 i;

	if (cct_engine.count_stack(table, &fed))
		return true;
	for (i = 1; i < stack.depth; i++)
		procedures[i] = procedure_of(samples, addresses[i],
					     stack.at + i);
	return cct_engine.feed_stack(table, &fed);
}

static void table_init(void *table, size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_TIME, .seed = 1,
	};

	memset(table, 0, size);
	cct_engine.table_init(table, size, &params);
}

static double time_engine(struct samples *samples, void *table, void *profile)
{
	double start = cpu_time(), time;
	size_t i;

	for (i = 0; i < samples->stacks.count; i++) {
		if (likely(feed(table, samples, samples->stacks.items[i])))
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
	unsigned int rounds, every;
	void *table, *profile;
	struct stack_peers *peers;
	double best[WAYS];	/* nanoseconds in all */
	size_t overwritten[WAYS];
	size_t seen;
};

static void time_all(struct bench *bench, struct samples *samples)
{
	struct stack_peers *peers = bench->peers;
	unsigned int round, way;

	for (way = 0; way < WAYS; way++)
		bench->best[way] = 1e18;
	for (round = 0; round < bench->rounds; round++) {
		double time[WAYS];

		table_init(bench->table, bench->size);
		table_init(bench->profile, 4 * bench->size);
		time[TREE] = time_engine(samples, bench->table,
					 bench->profile);
		time[STACKS] = time_peer(samples, peers, count_hash);
		bench->overwritten[STACKS] = peers->overwritten;
		time[MAP] = time_peer(samples, peers, count_mapped);
		bench->overwritten[MAP] = peers->overwritten;
		bench->seen = peers->seen;
		for (way = 0; way < WAYS; way++)
			bench->best[way] = min(bench->best[way], time[way]);
	}
}

static void compare(struct bench *bench, const char *name)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };
	const double *best = bench->best;
	size_t contexts = 0, at = 0, count, i;

	if (!samples || !rows_read(name, &rows, &none))
		exit(2);
	samples->every = bench->every;
	samples->random = 1;
	rows_branches(&rows, take, samples);
	rows_free(&rows, &none);
	time_all(bench, samples);
	cct_engine.rows(bench->profile, 0, &at, ~0UL, count_row, &contexts);
	count = samples->stacks.count;
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	printf("%-8s %7zu stacks of %4.1f frames, %3.0f %% seen before ", name,
	       count, (double)samples->addresses.count / count,
	       100.0 * bench->seen / count);
	for (i = 0; i < WAYS; i++)
		printf(" %s %5.1f ns", way_names[i], best[i] / count);
	printf("  stacks/tree %4.2f  map/tree %4.2f  contexts %5zu, evicted %llu, overwritten %zu and %zu\n",
	       best[STACKS] / best[TREE], best[MAP] / best[TREE], contexts,
	       (unsigned long long)cct_engine.evicted(bench->profile),
	       bench->overwritten[STACKS], bench->overwritten[MAP]);
	free(samples->stacks.items);
	free(samples->addresses.items);
	free(samples->procedures.items);
	free(samples);
}

int main(int argc, char **argv)
{
	struct bench bench = {
		.size = 2 << 20,	/* as 16 MiB gives a CPU of two */
		.rounds = 9, .every = 10,
	};
	int option;

	while ((option = getopt(argc, argv, "t:r:e:")) != -1) {
		if (option == 't')
			bench.size = strtoul(optarg, NULL, 0) << 10;
		else if (option == 'r')
			bench.rounds = strtoul(optarg, NULL, 0);
		else if (option == 'e')
			bench.every = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind == argc || !bench.rounds || !bench.every) {
		fprintf(stderr, "usage: sampled [-t TABLE_KIB] [-r ROUNDS] [-e EVERY] FILE...\n");
		return 2;
	}
	bench.table = memory_new(bench.size);
	bench.profile = memory_new(4 * bench.size);
	bench.peers = memory_new(sizeof(*bench.peers));
	for (; optind < argc; optind++)
		compare(&bench, argv[optind]);
	free(bench.peers);
	free(bench.profile);
	free(bench.table);
	return 0;
}
