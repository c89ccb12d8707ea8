// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranges [-t TABLE_KIB] [-e EPSILON_PPM] [-r ROUNDS] FILE...
 *
 * Nanoseconds per branch of the range engine, and of one well-made hash-table
 * counter per value, on the same recorded branches in the same process: the
 * best of ROUNDS, which alternate. And how accurate its hot ranges are, beside
 * exact counts of the same branches (the paper's section 5.3).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "range_hot.h"
#include "tests/oracle/array.h"
#include "tests/oracle/rows.h"

#define HOT	0.1

struct stream {
	struct stream_event *items;
	size_t count, room;
};

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;

	if (event->kind >= STREAM_COND && event->kind <= STREAM_RET)
		*array_push(stream) = *event;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

/* --- the peer ------------------------------------------------------------ */

struct counter {
	u64 value, count;
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
	/* Page faults are nobody's work. */
	memset(hash->slots, 0, sizeof(*hash->slots) << bits);
}

static noinline void hash_feed(struct hash *hash, u64 value)
{
	size_t mask = ~0ULL >> hash->shift;
	size_t i = value * 0x9e3779b97f4a7c15ULL >> hash->shift;

	for (;; i = (i + 1) & mask) {
		struct counter *slot = &hash->slots[i];

		if (likely(slot->value == value)) {
			slot->count++;
			return;
		}
		if (!slot->count)
			break;
	}
	hash->slots[i] = (struct counter){ value, 1 };
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
		hash_feed(&hash, stream->items[i].to);
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
		hash_feed(&hash, stream->items[i].to);
	start = now() - start;
	free(hash.slots);
	return start / stream->count;
}

/* --- the engine ---------------------------------------------------------- */

static double time_engine(const struct stream *stream, void *table)
{
	double start = now();
	size_t i;

	for (i = 0; i < stream->count; i++)
		range_engine.feed(table, NULL, &stream->items[i]);
	return (now() - start) / stream->count;
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_range *row = data;

	if (range_set_add(context, row->low, row->bits, period))
		abort();
	return true;
}

struct accuracy {
	unsigned int hot;
	double sum, worst;
};

static u64 exact_count(const struct stream *stream, const struct range_node *node)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < stream->count; i++)
		sum += stream->items[i].to - node->low <=
		       range_last(node) - node->low;
	return sum;
}

static struct accuracy judge(const struct stream *stream, void *table)
{
	struct accuracy accuracy = { .worst = 1 };
	struct range_set set = { 0 };
	size_t at = 0, i;

	range_engine.rows(table, 0, &at, take_row, &set);
	if (range_set_build(&set, HOT * stream->count))
		abort();
	for (i = 0; i < set.count; i++) {
		const struct range_node *node = &set.nodes[i];
		double right;

		if (!node->hot)
			continue;
		right = (double)node->count / exact_count(stream, node);
		accuracy.hot++;
		accuracy.sum += right;
		if (right < accuracy.worst)
			accuracy.worst = right;
	}
	range_set_free(&set);
	return accuracy;
}

static struct accuracy compare(const char *name, size_t size, unsigned int ppm,
			       unsigned int rounds)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .epsilon_ppm = ppm,
	};
	double range = 1e9, hash = 1e9, time;
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };
	struct stream stream = { 0 };
	void *table = aligned_alloc(64, size);
	struct accuracy accuracy;
	unsigned int bits;

	if (!table)
		abort();
	if (!rows_read(name, &rows, &none))
		exit(2);
	rows_branches(&rows, take, &stream);
	rows_free(&rows, &none);
	bits = hash_bits(&stream);
	while (rounds--) {
		memset(table, 0, size);
		range_engine.table_init(table, size, &params);
		time = time_engine(&stream, table);
		if (time < range)
			range = time;
		time = time_hash(&stream, bits);
		if (time < hash)
			hash = time;
	}
	accuracy = judge(&stream, table);
	printf("%-12s %9zu branches  range %5.2f ns  hash(2^%u) %5.2f ns  hash/range %4.2f  hot %2u accuracy %6.2f%% worst %6.2f%%\n",
	       strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
	       stream.count, range, bits, hash, hash / range, accuracy.hot,
	       100 * accuracy.sum / accuracy.hot, 100 * accuracy.worst);
	free(stream.items);
	free(table);
	return accuracy;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 9, ppm = 0, hot = 0;
	size_t size = 128 << 10;	/* as 1 MiB gives a CPU of two */
	double sum = 0;
	int option;

	while ((option = getopt(argc, argv, "t:e:r:")) != -1) {
		if (option == 't')
			size = strtoul(optarg, NULL, 0) << 10;
		else if (option == 'e')
			ppm = strtoul(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind == argc || !rounds) {
		fprintf(stderr, "usage: ranges [-t TABLE_KIB] [-e EPSILON_PPM] [-r ROUNDS] FILE...\n");
		return 2;
	}
	for (; optind < argc; optind++) {
		struct accuracy accuracy = compare(argv[optind], size, ppm,
						   rounds);

		hot += accuracy.hot;
		sum += accuracy.sum;
	}
	printf("hot ranges: %u, average accuracy %.2f%%\n", hot, 100 * sum / hot);
	return 0;
}
