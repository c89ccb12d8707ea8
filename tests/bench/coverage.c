// SPDX-License-Identifier: GPL-2.0-only
/*
 * coverage FILE...
 *
 * Measures what the ten hottest loops of a small table have of all iterations,
 * by exact counts (DAProf, section 4.3). Of each stream it prints its name, the
 * ways of a table, the number of loops, what the truly hottest ten have in
 * percent, and what those of tables of 8 to 512 loops have (-: fewer loops than
 * ways). A table is merged into a profile of the same size when it asks for
 * that. coverage.sh builds it for several numbers of ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/loop.h"
#include "engine/loop_table.h"
#include "stream.h"

enum {
	TOP		= 10,
	LEAST = 8, MOST	= 512,		/* loops of a table */
	ENOUGH		= 64 << 20,	/* bytes, for exact counts */
	ALL		= 1 << 16,	/* loops */
};

struct count {
	u64 head, back_edges;
};

struct counts {
	struct count items[ALL];
	size_t count;
};

struct memory {
	void *table, *profile;
	size_t size;
};

static struct count *find(struct counts *counts, u64 head)
{
	size_t i;

	for (i = 0; i < counts->count; i++)
		if (counts->items[i].head == head)
			return &counts->items[i];
	return NULL;
}

static bool take(void *context, const void *memory, u64 ip, u64 addr,
		 u64 period)
{
	const struct hwprof_row_loop *row = memory;
	struct counts *counts = context;
	struct count *count = find(counts, row->head);

	if (!count && counts->count < ALL) {
		count = &counts->items[counts->count++];
		*count = (struct count){ .head = row->head };
	}
	if (count)
		count->back_edges += row->back_edges;
	return true;
}

static int hottest_first(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return (x->back_edges < y->back_edges) -
	       (x->back_edges > y->back_edges);
}

static void *fresh(void *memory, size_t size)
{
	static const struct engine_params params = {
		.span = HWPROF_DEFAULT_SPAN, .basis = HWPROF_BASIS_EXACT,
		.seed = 0x1234567,
	};

	memset(memory, 0, size);
	loop_engine.table_init(memory, size, &params);
	return memory;
}

static void retire(struct memory *memory)
{
	loop_engine.merge(memory->profile, memory->table, SIZE_MAX);
	fresh(memory->table, memory->size);
}

/* Returns the loops of the profile, the hottest first. */
static struct counts *count(const struct stream *stream, size_t size)
{
	struct memory memory = {
		aligned_alloc(64, size), aligned_alloc(64, size), size
	};
	struct counts *counts = calloc(1, sizeof(*counts));
	static struct loop_cursor cursor;
	size_t i, at = 0;

	if (!memory.table || !memory.profile || !counts)
		abort();
	fresh(memory.table, size);
	fresh(memory.profile, size);
	loop_engine.cursor_init(&cursor, 1);
	for (i = 0; i < stream->count; i++)
		if (!loop_engine.feed(memory.table, &cursor, &stream->items[i]))
			retire(&memory);
	retire(&memory);
	loop_engine.settle(memory.profile, 1, &at, SIZE_MAX);
	at = 0;
	loop_engine.rows(memory.profile, 1, &at, ~0UL, take, counts);
	qsort(counts->items, counts->count, sizeof(*counts->items),
	      hottest_first);
	free(memory.table);
	free(memory.profile);
	return counts;
}

/* Returns the size of a table of so many loops. */
static size_t table_size(size_t loops)
{
	size_t loop = sizeof(struct loop) + 3 * sizeof(u16);

	return (sizeof(struct loop_table) + 3 * loops * loop + 4095) &
	       ~(size_t)63;
}

/* Returns what the hottest of @some have by the exact counts, in percent. */
static double covered(struct counts *exact, const struct counts *some)
{
	u64 all = 0, have = 0;
	size_t i;

	for (i = 0; i < exact->count; i++)
		all += exact->items[i].back_edges;
	for (i = 0; i < some->count && i < TOP; i++) {
		struct count *is = find(exact, some->items[i].head);

		have += is ? is->back_edges : 0;
	}
	return 100.0 * have / all;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		struct stream stream = { 0 };
		struct counts *exact, *some;
		size_t loops;

		stream_read(&stream, argv[i]);
		exact = count(&stream, ENOUGH);
		printf("%s %d %zu %.1f", strrchr(argv[i], '/') + 1, LOOP_WAYS,
		       exact->count, covered(exact, exact));
		for (loops = LEAST; loops <= MOST; loops *= 2) {
			if (loops < LOOP_WAYS) {
				printf(" -");
				continue;
			}
			some = count(&stream, table_size(loops));
			printf(" %.1f", covered(exact, some));
			free(some);
		}
		printf("\n");
		free(exact);
		free(stream.items);
	}
	return 0;
}
