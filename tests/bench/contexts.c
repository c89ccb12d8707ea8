// SPDX-License-Identifier: GPL-2.0-only
/*
 * contexts [-t TABLE_KIB] [-r ROUNDS] FILE...
 *
 * Nanoseconds per branch of the cct engine, and of what profilers do without a
 * tree: keep the stack of calls, and hash all of it at every call to count it
 * in a table. On the same recorded branches in the same process: the best of
 * ROUNDS, which alternate.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "tests/oracle/array.h"
#include "tests/oracle/rows.h"

enum { DEPTH = 256, HASH_BITS = 16 };

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

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

/* --- the peer ----------------------------------------------------------- */

struct counter {
	u64 hash, count;
};

struct stacks {
	u64 stack[DEPTH];	/* call sites */
	u32 depth;
	struct counter counters[1 << HASH_BITS];
	size_t overwritten;
};

/* A multiplication for each frame, which is kinder than the kernel's jhash. */
static u64 hash_stack(const struct stacks *stacks)
{
	u32 first = stacks->depth > DEPTH ? stacks->depth - DEPTH : 0, i;
	u64 hash = 1;

	for (i = first; i < stacks->depth; i++)
		hash = (hash ^ stacks->stack[i % DEPTH]) * 0x9e3779b97f4a7c15ULL;
	return hash;
}

static void count_stack(struct stacks *stacks)
{
	u64 hash = hash_stack(stacks);
	struct counter *counter = &stacks->counters[hash >> (64 - HASH_BITS)];

	if (likely(counter->hash == hash)) {
		counter->count++;
		return;
	}
	/* As a stack map does, it overwrites. */
	stacks->overwritten += !!counter->count;
	*counter = (struct counter) { hash, 1 };
}

static noinline void feed_stacks(struct stacks *stacks,
				 const struct stream_event *event)
{
	u32 depth;

	switch (event->kind) {
	case STREAM_CALL:
		stacks->stack[stacks->depth++ % DEPTH] = event->from;
		count_stack(stacks);
		break;
	case STREAM_RET:
		for (depth = stacks->depth; depth--;)
			if (event->to - stacks->stack[depth % DEPTH] - 2 <= 13) {
				stacks->depth = depth;
				break;
			}
		break;
	}
}

static double time_stacks(const struct stream *stream, struct stacks *stacks)
{
	double start;
	size_t i;

	/* Page faults are nobody's work. */
	memset(stacks, 0, sizeof(*stacks));
	start = now();
	for (i = 0; i < stream->count; i++)
		feed_stacks(stacks, &stream->items[i]);
	return (now() - start) / stream->count;
}

/* --- the engine --------------------------------------------------------- */

static double time_engine(const struct stream *stream, void *table, void *cursor)
{
	double start = now();
	size_t i;

	for (i = 0; i < stream->count; i++)
		cct_engine.feed(table, cursor, &stream->items[i]);
	return (now() - start) / stream->count;
}

static bool count_row(void *context, const void *row, u64 ip, u64 addr,
		      u64 period)
{
	++*(size_t *)context;
	return true;
}

static void compare(const char *name, size_t size, unsigned int rounds)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 1,
	};
	double engine = 1e9, hashing = 1e9, time;
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };
	struct stream stream = { 0 };
	void *cursor = malloc(cct_engine.cursor_size);
	struct stacks *stacks = malloc(sizeof(*stacks));
	void *table = aligned_alloc(64, size);
	size_t contexts = 0, at = 0;
	double per_call;

	if (!table || !cursor || !stacks)
		abort();
	if (!rows_read(name, &rows, &none))
		exit(2);
	rows_branches(&rows, take, &stream);
	rows_free(&rows, &none);
	per_call = (double)stream.count / stream.calls;
	while (rounds--) {
		memset(table, 0, size);
		cct_engine.table_init(table, size, &params);
		cct_engine.cursor_init(cursor, 1);
		time = time_engine(&stream, table, cursor);
		if (time < engine)
			engine = time;
		time = time_stacks(&stream, stacks);
		if (time < hashing)
			hashing = time;
	}
	cct_engine.rows(table, 0, &at, count_row, &contexts);
	printf("%-10s %8zu branches %7zu calls  tree %5.2f ns a branch, %6.1f a call  stacks %6.2f, %7.1f  stacks/tree %5.2f  contexts %5zu, evicted %llu, overwritten %zu\n",
	       strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
	       stream.count, stream.calls, engine, engine * per_call, hashing,
	       hashing * per_call, hashing / engine, contexts,
	       (unsigned long long)cct_engine.evicted(table),
	       stacks->overwritten);
	free(stream.items);
	free(stacks);
	free(cursor);
	free(table);
}

int main(int argc, char **argv)
{
	size_t size = 2 << 20;		/* as 16 MiB gives a CPU of two */
	unsigned int rounds = 9;
	int option;

	while ((option = getopt(argc, argv, "t:r:")) != -1) {
		if (option == 't')
			size = strtoul(optarg, NULL, 0) << 10;
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind == argc || !rounds) {
		fprintf(stderr, "usage: contexts [-t TABLE_KIB] [-r ROUNDS] FILE...\n");
		return 2;
	}
	for (; optind < argc; optind++)
		compare(argv[optind], size, rounds);
	return 0;
}
