// SPDX-License-Identifier: GPL-2.0-only
/*
 * native [-t TABLE_KIB] [-r ROUNDS] FILE...
 *
 * Measures nanoseconds per branch of the loop engine, alone and combined with
 * others in one event, and of three peers. All process the same recorded
 * branches in the same process. A peer is one hash-table counter per (from,
 * to):
 *
 * half	open addressing. The table is the smallest of which half is free, by
 *	a count of the whole stream beforehand. It uses the caches least.
 * same	the same in as much memory as the engine has, fixed beforehand, as
 *	an interrupt requires. It has the shortest probes.
 * jhash	like kernel code: Jenkins's hash, and a chain in each bucket.
 *	Twice as many buckets as counters are allocated beforehand.
 *
 * The counts of the peers are not read out. Hence the time to merge the
 * engine's table into a profile, in process context, does not count either.
 *
 * Each stream is fed twice. `cold` is into empty tables, where new branches
 * have their share. `warm` is once more into the same tables, as when a program
 * runs for longer. This is done chunk by chunk, ROUNDS times in turn. The
 * result is the sum of each chunk's best: other work on the machine delays some
 * chunks of every round, but no chunk of every round. Behind the time of a peer
 * is its ratio to each of the engines. Exit status 1: the loop engine was
 * slower than a peer in some stream.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/multi.h"
#include "stream.h"

enum { CHUNK = 1 << 13 };	/* branches: some 50 microseconds */

enum { COLD, WARM, PASSES };

/* The least time of each chunk, in nanoseconds. */
struct best {
	double *chunks[PASSES];
};

static size_t count_chunks(const struct stream *stream)
{
	return (stream->count + CHUNK - 1) / CHUNK;
}

static struct best best_new(const struct stream *stream)
{
	size_t i, pass, count = count_chunks(stream);
	struct best best;

	for (pass = 0; pass < PASSES; pass++) {
		best.chunks[pass] = malloc(count * sizeof(double));
		if (!best.chunks[pass])
			abort();
		for (i = 0; i < count; i++)
			best.chunks[pass][i] = 1e18;
	}
	return best;
}

static void best_free(struct best *best)
{
	size_t pass;

	for (pass = 0; pass < PASSES; pass++)
		free(best->chunks[pass]);
}

/* Returns nanoseconds per branch. */
static double best_sum(const struct best *best, const struct stream *stream,
		       unsigned int pass)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count_chunks(stream); i++)
		sum += best->chunks[pass][i];
	return sum / stream->count;
}

/* Feeds up to @end. Returns the nanoseconds that do not count. */
typedef double (*chunk_feed)(void *context, const struct stream_event *event,
			     const struct stream_event *end);

static void time_pass(const struct stream *stream, double *best,
		      chunk_feed feed, void *context)
{
	size_t i;

	for (i = 0; i < count_chunks(stream); i++) {
		size_t end = min((i + 1) * CHUNK, stream->count);
		double start = now(), time;

		time = -feed(context, &stream->items[i * CHUNK],
			     &stream->items[end]);
		time += now() - start;
		best[i] = min(best[i], time);
	}
}

static void time_passes(const struct stream *stream, struct best *best,
			chunk_feed feed, void *context)
{
	unsigned int pass;

	for (pass = 0; pass < PASSES; pass++)
		time_pass(stream, best->chunks[pass], feed, context);
}

/*
 * Touches each page. Page faults are not part of the work: the module's memory
 * is there from the start.
 */
static void touch(void *memory, size_t size)
{
	volatile char *bytes = memory;
	size_t i;

	for (i = 0; i < size; i += 4096)
		bytes[i] = 0;
}

/* --- the peers ----------------------------------------------------------- */

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

/* Is called for each event, like the engine. */
static noinline void hash_feed(struct hash *hash,
			       const struct stream_event *event)
{
	u64 mixed = (event->from ^ event->to << 17) * 0x9e3779b97f4a7c15ULL;
	size_t mask = ~0ULL >> hash->shift, i = mixed >> hash->shift;

	for (;; i = (i + 1) & mask) {
		struct counter *slot = &hash->slots[i];

		if (likely(slot->from == event->from &&
			   slot->to == event->to)) {
			slot->count++;
			return;
		}
		if (!slot->count)
			break;
	}
	hash->slots[i] = (struct counter){ event->from, event->to, 1 };
	hash->used++;
}

static noinline double hash_chunk(void *hash, const struct stream_event *event,
				  const struct stream_event *end)
{
	for (; event < end; event++)
		hash_feed(hash, event);
	return 0;
}

/* Returns the bits of the smallest table of which half is free. */
static unsigned int half_bits(const struct stream *stream)
{
	struct hash hash;
	unsigned int bits = 10;

	hash_init(&hash, 22);
	hash_chunk(&hash, stream->items, stream->items + stream->count);
	while (1UL << bits < 2 * hash.used)
		bits++;
	free(hash.slots);
	return bits;
}

/* Returns the bits of the largest table that fits. */
static unsigned int same_bits(size_t size)
{
	unsigned int bits = 10;

	while (sizeof(struct counter) << (bits + 1) <= size)
		bits++;
	return bits;
}

static void time_hash(const struct stream *stream, unsigned int bits,
		      struct best *best)
{
	struct hash hash;

	hash_init(&hash, bits);
	touch(hash.slots, sizeof(*hash.slots) << bits);
	time_passes(stream, best, hash_chunk, &hash);
	free(hash.slots);
}

struct chained {
	struct chained *next;
	u64 from, to, count;
};

struct chains {
	struct chained **buckets, *nodes;
	u32 mask, used;
};

static __always_inline u32 rotated(u32 word, unsigned int bits)
{
	return word << bits | word >> (32 - bits);
}

/* Hashes four words with Jenkins's lookup3. */
static __always_inline u32 jenkins(u64 from, u64 to)
{
	u32 a = 0xdeadbeef + 16 + (u32)from, b = 0xdeadbeef + 16 + (from >> 32);
	u32 c = 0xdeadbeef + 16 + (u32)to;
	static const u8 mixing[] = { 4, 6, 8, 16, 19, 4 };
	static const u8 final[] = { 14, 11, 25, 16, 4, 14, 24 };
	unsigned int i;

	for (i = 0; i < 6; i += 3) {
		a = (a - c) ^ rotated(c, mixing[i]);
		c += b;
		b = (b - a) ^ rotated(a, mixing[i + 1]);
		a += c;
		c = (c - b) ^ rotated(b, mixing[i + 2]);
		b += a;
	}
	a += to >> 32;
	for (i = 0; i < 6; i += 3) {
		c = (c ^ b) - rotated(b, final[i]);
		a = (a ^ c) - rotated(c, final[i + 1]);
		b = (b ^ a) - rotated(a, final[i + 2]);
	}
	return (c ^ b) - rotated(b, final[6]);
}

static noinline void chains_feed(struct chains *chains,
				 const struct stream_event *event)
{
	struct chained **bucket = &chains->buckets[
		jenkins(event->from, event->to) & chains->mask], *it;

	for (it = *bucket; it; it = it->next)
		if (it->from == event->from && it->to == event->to) {
			it->count++;
			return;
		}
	it = &chains->nodes[chains->used++];
	*it = (struct chained){ *bucket, event->from, event->to, 1 };
	*bucket = it;
}

static noinline double chains_chunk(void *chains,
				    const struct stream_event *event,
				    const struct stream_event *end)
{
	for (; event < end; event++)
		chains_feed(chains, event);
	return 0;
}

static void time_chains(const struct stream *stream, unsigned int bits,
			struct best *best)
{
	struct chains chains = {
		.buckets = calloc(1UL << bits, sizeof(*chains.buckets)),
		.nodes = calloc(1UL << bits, sizeof(*chains.nodes)),
		.mask = (1U << bits) - 1,
	};

	if (!chains.buckets || !chains.nodes)
		abort();
	touch(chains.buckets, sizeof(*chains.buckets) << bits);
	touch(chains.nodes, sizeof(*chains.nodes) << bits);
	time_passes(stream, best, chains_chunk, &chains);
	free(chains.buckets);
	free(chains.nodes);
}

/* --- the engines --------------------------------------------------------- */

static const struct contender {
	const char *name;
	const struct engine_ops *ops;
	u32 parts;
} contenders[] = {
	{ "loops", &loop_engine, 0 },
	{ "loops,paths", &multi_engine, 1 << MULTI_LOOPS | 1 << MULTI_PATHS },
	{ "loops,calls,paths", &multi_engine,
	  1 << MULTI_LOOPS | 1 << MULTI_CALLS | 1 << MULTI_PATHS },
};

enum { CONTENDERS = sizeof(contenders) / sizeof(contenders[0]), PEERS = 3 };

static void *table_new(const struct contender *contender, size_t size)
{
	const struct engine_params params = {
		.span = HWPROF_DEFAULT_SPAN, .basis = HWPROF_BASIS_EXACT,
		.seed = 0x1234567, .parts = contender->parts,
	};
	void *table = aligned_alloc(64, size);

	if (!table)
		abort();
	memset(table, 0, size);
	contender->ops->table_init(table, size, &params);
	return table;
}

struct engine {
	const struct engine_ops *ops;
	void *table, *profile, *cursor;
	unsigned int retired;
	double merging;		/* nanoseconds, of this chunk */
};

static void engine_retire(struct engine *engine)
{
	double time = now();

	engine->ops->merge(engine->profile, engine->table, ~0UL);
	engine->merging += now() - time;
	engine->retired++;
}

static noinline double engine_chunk(void *context,
				    const struct stream_event *event,
				    const struct stream_event *end)
{
	struct engine *engine = context;
	bool (*feed)(void *table, void *cursor,
		     const struct stream_event *event) = engine->ops->feed;

	engine->merging = 0;
	for (; event < end; event++)
		if (unlikely(!feed(engine->table, engine->cursor, event)))
			engine_retire(engine);
	return engine->merging;
}

/* Measures the engine. Returns how often its table was retired. */
static unsigned int time_engine(const struct stream *stream,
				const struct contender *contender, size_t size,
				struct best *best)
{
	struct engine engine = {
		.ops = contender->ops,
		.table = table_new(contender, size),
		.profile = table_new(contender, 4 * size),
		.cursor = malloc(contender->ops->cursor_size),
	};

	contender->ops->cursor_init(engine.cursor, 1);
	time_passes(stream, best, engine_chunk, &engine);
	free(engine.table);
	free(engine.profile);
	free(engine.cursor);
	return engine.retired;
}

static void print_pass(const struct stream *stream, const struct best *engines,
		       const struct best *peers, const unsigned int *sizes,
		       const unsigned int *retired, unsigned int pass)
{
	static const char *const names[PEERS] = { "half", "same", "jhash" };
	unsigned int i, k;

	for (i = 0; i < CONTENDERS; i++)
		printf("  %s %5.2f ns (retired %u)", contenders[i].name,
		       best_sum(&engines[i], stream, pass), retired[i]);
	for (k = 0; k < PEERS; k++) {
		double peer = best_sum(&peers[k], stream, pass);

		printf("\n    %-5s (2^%u) %5.2f ns:", names[k], sizes[k], peer);
		for (i = 0; i < CONTENDERS; i++)
			printf(" %4.2f", peer / best_sum(&engines[i], stream,
							 pass));
	}
	printf("\n");
}

static bool is_fastest(const struct stream *stream, const struct best *engine,
		       const struct best *peers)
{
	unsigned int pass, k;

	for (pass = 0; pass < PASSES; pass++)
		for (k = 0; k < PEERS; k++)
			if (best_sum(engine, stream, pass) >
			    best_sum(&peers[k], stream, pass))
				return false;
	return true;
}

static bool compare(const char *name, size_t size, unsigned int rounds)
{
	static const char *const passes[PASSES] = { "cold", "warm" };
	unsigned int sizes[PEERS], retired[CONTENDERS], pass;
	struct best engines[CONTENDERS], peers[PEERS];
	struct stream stream = { 0 };
	bool fast;
	size_t i;

	stream_read(&stream, name);
	sizes[0] = sizes[2] = half_bits(&stream);
	sizes[1] = same_bits(size);
	for (i = 0; i < CONTENDERS; i++)
		engines[i] = best_new(&stream);
	for (i = 0; i < PEERS; i++)
		peers[i] = best_new(&stream);
	while (rounds--) {
		for (i = 0; i < CONTENDERS; i++)
			retired[i] = time_engine(&stream, &contenders[i], size,
						 &engines[i]);
		time_hash(&stream, sizes[0], &peers[0]);
		time_hash(&stream, sizes[1], &peers[1]);
		time_chains(&stream, sizes[2], &peers[2]);
	}
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	for (pass = 0; pass < PASSES; pass++) {
		printf("%-8s %8zu branches  %s", name, stream.count,
		       passes[pass]);
		print_pass(&stream, engines, peers, sizes, retired, pass);
	}
	fast = is_fastest(&stream, &engines[0], peers);
	for (i = 0; i < CONTENDERS; i++)
		best_free(&engines[i]);
	for (i = 0; i < PEERS; i++)
		best_free(&peers[i]);
	free(stream.items);
	return fast;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 15;
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
