/* SPDX-License-Identifier: GPL-2.0-only */
/* Input of the engines' benchmarks: all in memory before time counts. */
#ifndef TESTS_BENCH_STREAM_H
#define TESTS_BENCH_STREAM_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/stream.h"
#include "tests/accuracy/loads.h"
#include "tests/oracle/array.h"
#include "tests/oracle/rows.h"

struct stream {
	struct stream_event *items;
	size_t count, room;
};

static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static inline void stream_take(void *context, u32 thread,
			       const struct stream_event *event)
{
	struct stream *stream = context;

	*array_push(stream) = *event;
}

/* Reads all branches of a file. Exits with a message if there are none. */
static inline void stream_read(struct stream *stream, const char *name)
{
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };

	if (!rows_read(name, &rows, &none))
		exit(2);
	rows_branches(&rows, stream_take, stream);
	rows_free(&rows, &none);
	if (!stream->count) {
		fprintf(stderr, "%s: no branches\n", name);
		exit(2);
	}
}

/* Reads loads from stdin, as tests/accuracy/loads.c writes them. */
static inline void stream_read_loads(struct stream *stream)
{
	struct load load;

	while (fread(&load, sizeof(load), 1, stdin))
		*array_push(stream) = (struct stream_event) {
			.kind = STREAM_LOAD, .space = 1, .from = load.pc,
			.to = load.address, .value = load.value,
			.width = load.width,
		};
}

#endif /* TESTS_BENCH_STREAM_H */
