// SPDX-License-Identifier: GPL-2.0-only
/*
 * feed [-d DISTANCE] [-r ROUNDS] FILE...
 *
 * Measures how many nanoseconds a window of 32 branch records costs without its
 * interrupt: for loops, for calls, for paths, for edges, and for the first
 * three in one event. Windows are cut out of recorded branches, DISTANCE (250)
 * apart on average. They are fed once, when lines and paths are new, and then
 * ROUNDS more times, of which the best counts. Tables are merged when they ask
 * for it, and after each second of 4,000 windows. Merging is not part of the
 * interrupt and does not count.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/multi.h"
#include "engine/window.h"
#include "stream.h"
#include "tests/engine/random.h"

enum {
	RECORDS = 32,
	SECOND = 4000,			/* windows */
	TABLE_SIZE = 2 << 20,		/* as 16 MiB gives a CPU of two */
	PROFILE_SIZE = 8 << 20,
};

struct records {
	struct window_branch branches[RECORDS];	/* the newest first */
	u8 kinds[RECORDS];
};

struct windows {
	struct records *items;
	size_t count, room;
};

static const struct learnt {
	const char *name;
	const struct engine_ops *engine;
	u32 parts;
} learnt[] = {
	{ "loops", &loop_engine, 1 << MULTI_LOOPS },
	{ "calls", &call_engine, 1 << MULTI_CALLS },
	{ "paths", &path_engine, 1 << MULTI_PATHS },
	{ "edges", &edge_engine, 1 << MULTI_EDGES },
	{ "loops,calls,paths", &multi_engine,
	  1 << MULTI_LOOPS | 1 << MULTI_CALLS | 1 << MULTI_PATHS },
};

static void keep_branches(struct stream *stream)
{
	size_t i, kept = 0;

	for (i = 0; i < stream->count; i++)
		if (stream_is_branch(stream->items[i].kind))
			stream->items[kept++] = stream->items[i];
	stream->count = kept;
}

static void cut(struct windows *windows, const struct stream_event *first)
{
	struct records *records = array_push(windows);
	unsigned int i;

	for (i = 0; i < RECORDS; i++) {
		records->branches[RECORDS - 1 - i] = (struct window_branch){
			.from = first[i].from, .to = first[i].to,
		};
		records->kinds[RECORDS - 1 - i] = first[i].kind;
	}
}

static struct windows cut_all(const char *name, unsigned int distance)
{
	struct windows windows = { 0 };
	struct stream stream = { 0 };
	uint64_t random = 1;
	size_t at = 0;

	stream_read(&stream, name);
	keep_branches(&stream);
	while (at + RECORDS <= stream.count) {
		cut(&windows, &stream.items[at]);
		at += 1 + random_below(&random, 2 * distance);
	}
	free(stream.items);
	return windows;
}

/* Makes a table whose memory has no page faults left, like the module's. */
static void *table_new(const struct learnt *what, size_t size)
{
	const struct engine_params params = {
		.span = 1 << 20, .basis = HWPROF_BASIS_BRANCHES, .seed = 77,
		.parts = what->parts,
	};
	void *table = malloc(size);

	if (!table)
		abort();
	memset(table, 0, size);
	what->engine->table_init(table, size, &params);
	return table;
}

/* Feeds all windows. Returns nanoseconds for each, without merges. */
static double feed(const struct engine_ops *engine, void *table, void *profile,
		   const struct windows *windows)
{
	struct window_counts counts = { 0 };
	double spent = 0, start = now();
	size_t i;

	for (i = 0; i < windows->count; i++) {
		const struct records *records = &windows->items[i];
		struct window window;

		window_begin(&window, records->branches, records->kinds,
			     RECORDS, 1);
		if (engine->feed_window(table, &window, &counts) &&
		    i % SECOND != SECOND - 1)
			continue;
		spent += now() - start;
		engine->merge(profile, table, ~0UL);
		start = now();
	}
	return (spent + now() - start) / windows->count;
}

static void print(const struct learnt *what, const struct windows *windows,
		  unsigned int rounds)
{
	void *table = table_new(what, TABLE_SIZE);
	void *profile = table_new(what, PROFILE_SIZE);
	double first = feed(what->engine, table, profile, windows);
	double time, best = first;

	while (rounds--) {
		time = feed(what->engine, table, profile, windows);
		best = min(time, best);
	}
	printf("  %s %5.0f, then %5.0f ns", what->name, first, best);
	fflush(stdout);
	free(table);
	free(profile);
}

int main(int argc, char **argv)
{
	unsigned int distance = 250, rounds = 5, i;
	int option;

	while ((option = getopt(argc, argv, "d:r:")) != -1) {
		if (option == 'd')
			distance = strtoul(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind == argc || !distance) {
		fprintf(stderr,
			"usage: feed [-d DISTANCE] [-r ROUNDS] FILE...\n");
		return 2;
	}
	for (; optind < argc; optind++) {
		const char *slash = strrchr(argv[optind], '/');
		struct windows windows = cut_all(argv[optind], distance);

		printf("%-8s %5zu windows", slash ? slash + 1 : argv[optind],
		       windows.count);
		for (i = 0; i < sizeof(learnt) / sizeof(learnt[0]); i++)
			print(&learnt[i], &windows, rounds);
		printf("\n");
		free(windows.items);
	}
	return 0;
}
