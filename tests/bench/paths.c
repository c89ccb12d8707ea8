// SPDX-License-Identifier: GPL-2.0-only
/*
 * paths [-t TABLE_KIB] [-r ROUNDS] FILE...
 *
 * Measures nanoseconds per branch of the path engine, and of a hash table of
 * full sequences. This peer keeps frames and jumps like the engine. When a path
 * ends, it hashes all jumps of it, and compares them with those of the path
 * that it finds. Both process the same recorded branches in the same process.
 * They are fed twice, and the second time counts, when the paths are known. The
 * result is the sum of each chunk's best of ROUNDS, which alternate, because of
 * other work on the machine.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "stream.h"

enum { DEPTH = 1 << 12, JUMPS = 1 << 16, SLOTS_BITS = 17, CHUNK = 1 << 13 };

/* Feeds both passes, and notes what each chunk took in the second at best. */
typedef void (*feed_one)(void *context, const struct stream_event *event);

static __always_inline void time_passes(const struct stream *stream,
					feed_one feed, void *context,
					double *best)
{
	unsigned int pass;
	size_t i, k;

	for (pass = 0; pass < 2; pass++)
		for (i = k = 0; i < stream->count; k++) {
			size_t end = min(i + CHUNK, stream->count);
			double start = now();

			for (; i < end; i++)
				feed(context, &stream->items[i]);
			if (pass)
				best[k] = min(best[k], now() - start);
		}
}

static double *best_new(const struct stream *stream)
{
	size_t chunks = stream->count / CHUNK + 1, i;
	double *best = array_more(NULL, chunks, sizeof(*best));

	for (i = 0; i < chunks; i++)
		best[i] = 1e18;
	return best;
}

/* Returns nanoseconds per branch. */
static double best_sum(double *best, const struct stream *stream)
{
	double sum = 0;
	size_t i;

	for (i = 0; i * CHUNK < stream->count; i++)
		sum += best[i];
	free(best);
	return sum / stream->count;
}

/* --- the peer ------------------------------------------------------------ */

struct jump {
	u64 from, to;
};

/* Where a path's jumps are. The first jump leads from 0 to the path's start. */
struct frame {
	u64 site;
	u32 first;
};

struct sequence {
	struct jump *jumps;	/* NULL: free */
	u64 hash, count;
	size_t length;
};

struct peer {
	struct sequence *slots;
	struct jump *jumps;
	struct frame *frames;
	u32 top, first, depth;
	size_t paths;
};

static void peer_begin(struct peer *peer, u64 start)
{
	peer->top = peer->first;
	peer->jumps[peer->top++] = (struct jump){ 0, start };
}

static void peer_init(struct peer *peer)
{
	*peer = (struct peer){
		.slots = calloc(1UL << SLOTS_BITS, sizeof(*peer->slots)),
		.jumps = calloc(JUMPS, sizeof(*peer->jumps)),
		.frames = calloc(DEPTH, sizeof(*peer->frames)),
	};
	if (!peer->slots || !peer->jumps || !peer->frames)
		abort();
	peer_begin(peer, 0);
}

static void peer_free(struct peer *peer)
{
	size_t i;

	for (i = 0; i < 1UL << SLOTS_BITS; i++)
		free(peer->slots[i].jumps);
	free(peer->slots);
	free(peer->jumps);
	free(peer->frames);
}

static u64 hash_of(const struct jump *jumps, size_t length)
{
	u64 hash = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		unsigned __int128 product =
			(unsigned __int128)(hash + jumps[i].from) *
			(jumps[i].to ^ 0x9e3779b97f4a7c15ULL);

		hash = (u64)product ^ (u64)(product >> 64);
	}
	return hash;
}

static noinline void peer_add(struct peer *peer, struct sequence *slot,
			      const struct jump *jumps, size_t length, u64 hash)
{
	slot->jumps = array_more(NULL, length, sizeof(*jumps));
	memcpy(slot->jumps, jumps, length * sizeof(*jumps));
	slot->hash = hash;
	slot->length = length;
	slot->count = 1;
	if (++peer->paths > 1UL << (SLOTS_BITS - 1))
		abort();
}

static void peer_end(struct peer *peer, u64 from, u64 to)
{
	struct jump *jumps = &peer->jumps[peer->first];
	size_t mask = (1UL << SLOTS_BITS) - 1, i;
	size_t length;
	u64 hash;

	peer->jumps[peer->top++] = (struct jump){ from, to };
	length = peer->top - peer->first;
	hash = hash_of(jumps, length);
	for (i = hash & mask;; i = (i + 1) & mask) {
		struct sequence *slot = &peer->slots[i];

		if (!slot->jumps) {
			peer_add(peer, slot, jumps, length, hash);
			return;
		}
		if (likely(slot->hash == hash && slot->length == length &&
			   !memcmp(slot->jumps, jumps,
				   length * sizeof(*jumps)))) {
			slot->count++;
			return;
		}
	}
}

static void peer_return(struct peer *peer, u64 to)
{
	u32 depth;

	for (depth = peer->depth; depth; depth--) {
		const struct frame *frame = &peer->frames[depth - 1];

		if (to - frame->site - 2 > 13)
			continue;
		if (depth != peer->depth)
			peer->first = peer->frames[depth].first;
		peer->top = peer->first;
		peer->first = frame->first;
		peer->depth = depth - 1;
		return;
	}
	peer->depth = 0;
	peer->first = 0;
	peer_begin(peer, to);
}

/* Is called for each event, like the engine. */
static noinline void peer_feed(void *context, const struct stream_event *event)
{
	struct peer *peer = context;
	u64 from = event->from, to = event->to;

	/* Gives up a deeper stack; no recorded program has one. */
	if (unlikely(peer->top > JUMPS - 8 || peer->depth == DEPTH)) {
		peer->depth = 0;
		peer->first = 0;
		peer_begin(peer, to);
	}
	if (stream_is_jump(event->kind) && to > from) {
		peer->jumps[peer->top++] = (struct jump){ from, to };
	} else if (stream_is_jump(event->kind)) {
		peer_end(peer, from, to);
		peer_begin(peer, to);
	} else if (event->kind == STREAM_CALL) {
		peer->frames[peer->depth++] = (struct frame){
			from, peer->first
		};
		peer->first = peer->top;
		peer_begin(peer, to);
	} else if (event->kind == STREAM_RET) {
		peer_end(peer, from, 0);
		peer_return(peer, to);
	} else if (event->kind == STREAM_GAP) {
		peer->depth = 0;
		peer->first = 0;
		peer_begin(peer, to);
	}
}

static size_t time_peer(const struct stream *stream, double *best)
{
	struct peer peer;

	peer_init(&peer);
	time_passes(stream, peer_feed, &peer, best);
	peer_free(&peer);
	return peer.paths;
}

/* --- the engine ---------------------------------------------------------- */

struct engine {
	void *table, *cursor;
};

/* Never retires the table, crowded or not: the evicted paths are printed. */
static void engine_feed(void *context, const struct stream_event *event)
{
	struct engine *engine = context;

	path_engine.feed(engine->table, engine->cursor, event);
}

/* Measures the engine. Returns the share of paths that it evicted. */
static double time_engine(const struct stream *stream, size_t size,
			  double *best)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 0x1234567,
	};
	struct engine engine = {
		.table = aligned_alloc(64, size),
		.cursor = malloc(path_engine.cursor_size),
	};
	double evicted;

	if (!engine.table || !engine.cursor)
		abort();
	memset(engine.table, 0, size);
	path_engine.table_init(engine.table, size, &params);
	path_engine.cursor_init(engine.cursor, 1);
	time_passes(stream, engine_feed, &engine, best);
	evicted = path_engine.evicted(engine.table);
	evicted /= evicted + path_engine.pending(engine.table);
	free(engine.table);
	free(engine.cursor);
	return evicted;
}

static void compare(const char *name, size_t size, unsigned int rounds)
{
	double engine, peer, evicted = 0, *engine_best, *peer_best;
	struct stream stream = { 0 };
	size_t paths = 0;

	stream_read(&stream, name);
	engine_best = best_new(&stream);
	peer_best = best_new(&stream);
	while (rounds--) {
		evicted = time_engine(&stream, size, engine_best);
		paths = time_peer(&stream, peer_best);
	}
	engine = best_sum(engine_best, &stream);
	peer = best_sum(peer_best, &stream);
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	printf("%-8s %8zu branches %6zu paths  engine %5.2f ns  sequences %5.2f ns  ratio %4.2f  evicted %.3f%%\n",
	       name, stream.count, paths, engine, peer, peer / engine,
	       100 * evicted);
	free(stream.items);
}

int main(int argc, char **argv)
{
	size_t size = 2 << 20;	/* as hwprof record gives a CPU of two */
	unsigned int rounds = 10;
	int option;

	while ((option = getopt(argc, argv, "t:r:")) != -1) {
		if (option == 't' && atoi(optarg) >= 64)
			size = (size_t)atoi(optarg) << 10;
		else if (option == 'r' && atoi(optarg) > 0)
			rounds = atoi(optarg);
		else
			return 2;
	}
	for (; optind < argc; optind++)
		compare(argv[optind], size, rounds);
	return 0;
}
