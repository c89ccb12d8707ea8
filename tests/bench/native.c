// SPDX-License-Identifier: GPL-2.0-only
/*
 * native [-t TABLE_KIB] [-r ROUNDS] FILE...
 *
 * Nanoseconds per branch of the loop engine, and of one well-made hash-table
 * counter per (from, to), on the same recorded branches in the same process.
 * Each prints the best of ROUNDS, which alternate. Exit status 1: on some
 * program the engine was slower than the hash table.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "tests/oracle/array.h"
#include "tests/oracle/rows.h"

struct stream {
	struct stream_event *items;
	size_t count, room;
};

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;

	*array_push(stream) = *event;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Page faults are neither's work: the module's memory is there from the start. */
static void touch(void *memory, size_t size)
{
	volatile char *bytes = memory;
	size_t i;

	for (i = 0; i < size; i += 4096)
		bytes[i] = 0;
}

/* --- the peer ------------------------------------------------------------ */

struct counter {
	u64 from, to, count;
};

struct hash {
	struct counter *slots;
	u32 shift;
	size_t used;
};

static void hash_init(struct hash *hash, unsigned int bits)
{
	hash->slots = calloc(1UL << bits, sizeof(*hash->slots));
	hash->shift = 64 - bits;
	hash->used = 0;
	if (!hash->slots)
		abort();
}

static noinline void hash_feed(struct hash *hash,
			       const struct stream_event *event)
{
	u64 mixed = (event->from ^ event->to << 17) * 0x9e3779b97f4a7c15ULL;
	size_t mask = ~0ULL >> hash->shift, i = mixed >> hash->shift;

	for (;; i = (i + 1) & mask) {
		struct counter *slot = &hash->slots[i];

		if (likely(slot->from == event->from && slot->to == event->to)) {
			slot->count++;
			return;
		}
		if (!slot->count)
			break;
	}
	hash->slots[i] = (struct counter){ event->from, event->to, 1 };
	hash->used++;
}

/* As small as it can be with half of the slots free: kindest to the caches. */
static unsigned int hash_bits(const struct stream *stream)
{
	struct hash hash;
	unsigned int bits = 10;
	size_t i;

	hash_init(&hash, 22);
	for (i = 0; i < stream->count; i++)
		hash_feed(&hash, &stream->items[i]);
	while (1UL << bits < 2 * hash.used)
		bits++;
	free(hash.slots);
	return bits;
}

static double time_hash(const struct stream *stream, unsigned int bits)
{
	struct hash hash;
	double start;
	size_t i;

	hash_init(&hash, bits);
	touch(hash.slots, sizeof(*hash.slots) << bits);
	start = now();
	for (i = 0; i < stream->count; i++)
		hash_feed(&hash, &stream->items[i]);
	start = now() - start;
	free(hash.slots);
	return start / stream->count;
}

/* --- the engine ---------------------------------------------------------- */

static void *table_new(size_t size)
{
	const struct engine_params params = {
		.span = HWPROF_DEFAULT_SPAN, .basis = HWPROF_BASIS_EXACT,
		.seed = 0x1234567,
	};
	void *table = aligned_alloc(64, size);

	if (!table)
		abort();
	memset(table, 0, size);
	loop_engine.table_init(table, size, &params);
	return table;
}

/* Retirements count too, though they are not the interrupt's work. */
static double time_engine(const struct stream *stream, size_t size,
			  unsigned int *retired)
{
	void *table = table_new(size), *profile = table_new(4 * size);
	void *cursor = malloc(loop_engine.cursor_size);
	double start;
	size_t i;

	loop_engine.cursor_init(cursor, 1);
	*retired = 0;
	start = now();
	for (i = 0; i < stream->count; i++) {
		if (likely(loop_engine.feed(table, cursor, &stream->items[i])))
			continue;
		loop_engine.merge(profile, table, ~0UL);
		++*retired;
	}
	start = now() - start;
	free(table);
	free(profile);
	free(cursor);
	return start / stream->count;
}

static bool compare(const char *name, size_t size, unsigned int rounds)
{
	double loop = 1e9, hash = 1e9, time;
	unsigned int bits, retired = 0;
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };
	struct stream stream = { 0 };

	if (!rows_read(name, &rows, &none))
		exit(2);
	rows_branches(&rows, take, &stream);
	rows_free(&rows, &none);
	if (!stream.count) {
		fprintf(stderr, "%s: no branches\n", name);
		exit(2);
	}
	bits = hash_bits(&stream);
	while (rounds--) {
		time = time_engine(&stream, size, &retired);
		if (time < loop)
			loop = time;
		time = time_hash(&stream, bits);
		if (time < hash)
			hash = time;
	}
	printf("%-12s %9zu branches  loop %5.2f ns  hash(2^%u) %5.2f ns  hash/loop %4.2f  retired %u\n",
	       strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
	       stream.count, loop, bits, hash, hash / loop, retired);
	free(stream.items);
	return loop <= hash;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 9;
	size_t size = 2 << 20;	/* as hwprof record gives a CPU of two */
	bool fast = true;
	int option;

	while ((option = getopt(argc, argv, "t:r:")) != -1) {
		if (option == 't')
			size = strtoul(optarg, NULL, 0) << 10;
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind == argc) {
		fprintf(stderr,
			"usage: native [-t TABLE_KIB] [-r ROUNDS] FILE...\n");
		return 2;
	}
	for (; optind < argc; optind++)
		fast &= compare(argv[optind], size, rounds);
	return !fast;
}
