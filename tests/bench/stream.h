/* SPDX-License-Identifier: GPL-2.0-only */
/* What benchmarks of engines feed them with: all in memory, before time counts. */
#ifndef TESTS_BENCH_STREAM_H
#define TESTS_BENCH_STREAM_H

#include <stdio.h>

#include "engine/stream.h"
#include "tests/accuracy/loads.h"
#include "tests/oracle/array.h"

struct stream {
	struct stream_event *items;
	size_t count, room;
};

/* From stdin, as tests/accuracy/loads.c writes them. */
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
