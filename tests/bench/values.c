// SPDX-License-Identifier: GPL-2.0-only
/*
 * values [-t TABLE_KIB] [-p PROFILE_KIB] [-r ROUNDS] NAME < LOADS
 *
 * Measures nanoseconds per load of the value engine, including the merging of
 * its tables, and of a good hash table with one counter for each load and
 * value. Both process the same loads in the same process. The best of ROUNDS
 * counts; rounds alternate.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "stream.h"

/* --- the peer ------------------------------------------------------------ */

struct counter {
	u64 pc, value, count;
};

struct hash {
	struct counter *slots;
	u32 shift;
	size_t used;
};

static void hash_init(struct hash *hash, unsigned int bits)
{
	hash->slots = aligned_alloc(64, sizeof(*hash->slots) << bits);
	hash->shift = 64 - bits;
	hash->used = 0;
	if (!hash->slots)
		abort();
	/* Page faults are not part of the work. */
	memset(hash->slots, 0, sizeof(*hash->slots) << bits);
}

static noinline void hash_feed(struct hash *hash, u64 pc, u64 value)
{
	size_t mask = ~0ULL >> hash->shift;
	size_t i = (pc * 0x9e3779b97f4a7c15ULL ^ value) *
		   0xd6e8feb86659fd93ULL >> hash->shift;

	for (;; i = (i + 1) & mask) {
		struct counter *slot = &hash->slots[i];

		if (likely(slot->value == value && slot->pc == pc)) {
			slot->count++;
			return;
		}
		if (!slot->count)
			break;
	}
	hash->slots[i] = (struct counter){ pc, value, 1 };
	hash->used++;
}

/*
 * Returns the bits of the smallest table of which half is free. It uses the
 * caches least.
 */
static unsigned int hash_bits(const struct stream *stream)
{
	struct hash hash;
	unsigned int bits = 10;
	size_t i;

	hash_init(&hash, 23);
	for (i = 0; i < stream->count; i++)
		hash_feed(&hash, stream->items[i].from, stream->items[i].value);
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
	start = now();
	for (i = 0; i < stream->count; i++)
		hash_feed(&hash, stream->items[i].from, stream->items[i].value);
	start = now() - start;
	free(hash.slots);
	return start / stream->count;
}

/* --- the engine ---------------------------------------------------------- */

static void *fresh_table(size_t size)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 0x123456789abcdef,
	};
	void *table = aligned_alloc(64, size);

	if (!table)
		abort();
	memset(table, 0, size);
	value_engine.table_init(table, size, &params);
	return table;
}

static double time_engine(const struct stream *stream, size_t table_size,
			  size_t profile_size, u64 *evicted)
{
	void *table = fresh_table(table_size);
	void *profile = fresh_table(profile_size);
	double start;
	u64 cursor;
	size_t i;

	value_engine.cursor_init(&cursor, 1);
	start = now();
	for (i = 0; i < stream->count; i++)
		if (!value_engine.feed(table, &cursor, &stream->items[i]))
			value_engine.merge(profile, table, SIZE_MAX);
	value_engine.merge(profile, table, SIZE_MAX);
	start = now() - start;
	*evicted = value_engine.evicted(profile);
	free(table);
	free(profile);
	return start / stream->count;
}

int main(int argc, char **argv)
{
	/* The sizes that `hwprof record` chooses for one CPU of two. */
	size_t table = 2048, profile = 6144;
	double engine = 1e9, hash = 1e9, time;
	struct stream stream = { 0 };
	unsigned int rounds = 9, bits;
	u64 evicted = 0;
	int option;

	while ((option = getopt(argc, argv, "t:p:r:")) != -1) {
		if (option == 't')
			table = strtoul(optarg, NULL, 0);
		else if (option == 'p')
			profile = strtoul(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: values [-t TABLE_KIB] [-p PROFILE_KIB] [-r ROUNDS] NAME < LOADS\n");
		return 2;
	}
	stream_read_loads(&stream);
	bits = hash_bits(&stream);
	while (rounds--) {
		time = time_engine(&stream, table << 10, profile << 10,
				   &evicted);
		if (time < engine)
			engine = time;
		time = time_hash(&stream, bits);
		if (time < hash)
			hash = time;
	}
	printf("%-8s %8zu loads  values %5.2f ns  hash(2^%u) %5.2f ns  hash/values %5.2f  %llu evicted\n",
	       argv[optind], stream.count, engine, bits, hash, hash / engine,
	       (unsigned long long)evicted);
	free(stream.items);
	return 0;
}
