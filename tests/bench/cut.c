// SPDX-License-Identifier: GPL-2.0-only
/*
 * cut FILE STREAM STACKS DISTANCE [types]
 *
 * Cuts STACKS windows out of a stream of branch rows, DISTANCE branches from
 * one to the next on average, and writes them to FILE as a recording of branch
 * stacks. At the end of the stream it begins again. With `types`, the stacks
 * contain the kind of each branch. Otherwise no reader can know the kinds, as
 * the code is in no file.
 */
#include <stdlib.h>
#include <string.h>

#include "../engine/random.h"
#include "../lib/stacks.h"
#include "../oracle/rows.h"

enum { PID = 4242, STACK = 32, ROUND = 512 };

struct stream {
	struct stream_event *items;
	size_t count, room;
};

/* Takes branches of the first thread only, as a stack belongs to one thread. */
static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;

	if (thread || event->kind > STREAM_RET)
		return;
	if (stream->count == stream->room) {
		stream->room = 2 * stream->room + 1024;
		stream->items = realloc(stream->items, stream->room *
					sizeof(*stream->items));
		if (!stream->items)
			abort();
	}
	stream->items[stream->count++] = *event;
}

static unsigned int type_of(unsigned int kind)
{
	switch (kind) {
	case STREAM_COND:
		return PERF_BR_COND;
	case STREAM_JUMP:
		return PERF_BR_UNCOND;
	case STREAM_INDIRECT:
		return PERF_BR_IND;
	case STREAM_CALL:
		return PERF_BR_CALL;
	}
	return PERF_BR_RET;
}

static void cut(struct stacks *stacks, uint64_t time,
		const struct stream_event *oldest, bool types)
{
	struct perf_branch_entry entries[STACK];
	unsigned int i;

	memset(entries, 0, sizeof(entries));
	for (i = 0; i < STACK; i++) {
		const struct stream_event *event = &oldest[STACK - 1 - i];

		entries[i].from = event->from;
		entries[i].to = event->to;
		if (types)
			entries[i].type = type_of(event->kind);
	}
	stacks_sample(stacks, time, PID, entries, STACK);
}

int main(int argc, char **argv)
{
	const struct stacks_style style = { .sample_type = PERF_SAMPLE_TIME };
	unsigned long count, distance, i;
	struct branch_rows rows = { 0 };
	struct loop_rows loops = { 0 };
	struct stream stream = { 0 };
	uint64_t random = 1;
	struct stacks stacks;
	size_t at = 0;

	if (argc < 5) {
		fprintf(stderr,
			"usage: cut FILE STREAM STACKS DISTANCE [types]\n");
		return 2;
	}
	count = strtoul(argv[3], NULL, 0);
	distance = strtoul(argv[4], NULL, 0);
	if (!rows_read(argv[2], &rows, &loops))
		return 1;
	rows_branches(&rows, take, &stream);
	stacks_begin(&stacks, argv[1], &style);
	stacks_map(&stacks, 1, PID, 4096, 1ULL << 47, 4096, "//anon");
	for (i = 0; i < count; i++) {
		at += 1 + random_below(&random, 2 * distance);
		if (at + STACK > stream.count)
			at = random_below(&random, distance);
		if (at + STACK <= stream.count)
			cut(&stacks, 10 + i, &stream.items[at], argc > 5);
		if (i % ROUND == ROUND - 1)
			stacks_round(&stacks);
	}
	stacks_end(&stacks);
	free(stream.items);
	rows_free(&rows, &loops);
	return 0;
}
