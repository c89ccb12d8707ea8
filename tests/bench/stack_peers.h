/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profilers without a tree of contexts: they hash all of a stack and count it
 * in a table. They overwrite what has no room, like the kernel's stack map. The
 * including file defines DEPTH, the number of frames that are kept of a stack.
 */
#ifndef TESTS_BENCH_STACK_PEERS_H
#define TESTS_BENCH_STACK_PEERS_H

#include <stddef.h>
#include <string.h>

#include "engine/types.h"

enum { PEER_HASH_BITS = 16, PEER_MAP_BITS = 15 };

struct stack_counter {
	u64 hash, count;
};

struct stack_mapped {
	u32 hash, length;
	u64 count;
	u64 stack[DEPTH];
};

struct stack_peers {
	size_t overwritten;
	size_t seen;		/* stacks that were there, by count_mapped() */
	struct stack_counter counters[1 << PEER_HASH_BITS];
	struct stack_mapped map[1 << PEER_MAP_BITS];
};

/*
 * Finds a stack by its hash alone. One multiplication a frame is cheaper than
 * the kernel's jhash.
 */
static inline void count_hash(struct stack_peers *peers, const u64 *stack,
			      u32 depth)
{
	struct stack_counter *counter;
	u64 hash = 1;
	u32 i;

	for (i = 0; i < depth; i++)
		hash = (hash ^ stack[i]) * HASH_PRIME;
	counter = &peers->counters[hash >> (64 - PEER_HASH_BITS)];
	if (likely(counter->hash == hash)) {
		counter->count++;
		return;
	}
	peers->overwritten += !!counter->count;
	*counter = (struct stack_counter) { hash, 1 };
}

static inline u32 rotate(u32 word, unsigned int bits)
{
	return word << bits | word >> (32 - bits);
}

/* jhash2() of <linux/jhash.h>, for an even number of words. */
static inline u32 jhash(const u32 *words, u32 count)
{
	u32 a = 0xdeadbeef + (count << 2), b = a, c = a;

	for (; count > 3; count -= 3, words += 3) {
		a += words[0];
		b += words[1];
		c += words[2];
		a -= c; a ^= rotate(c, 4); c += b;
		b -= a; b ^= rotate(a, 6); a += c;
		c -= b; c ^= rotate(b, 8); b += a;
		a -= c; a ^= rotate(c, 16); c += b;
		b -= a; b ^= rotate(a, 19); a += c;
		c -= b; c ^= rotate(b, 4); b += a;
	}
	c += count == 3 ? words[2] : 0;
	b += count >= 2 ? words[1] : 0;
	a += count >= 1 ? words[0] : 0;
	c ^= b; c -= rotate(b, 14);
	a ^= c; a -= rotate(c, 11);
	b ^= a; b -= rotate(a, 25);
	c ^= b; c -= rotate(b, 16);
	a ^= c; a -= rotate(c, 4);
	b ^= a; b -= rotate(a, 14);
	c ^= b; c -= rotate(b, 24);
	return c;
}

/* Keeps the stack, too, and compares it, like the kernel's stack map. */
static inline void count_mapped(struct stack_peers *peers, const u64 *stack,
				u32 depth)
{
	u32 hash = jhash((const u32 *)stack, 2 * depth);
	struct stack_mapped *mapped;

	mapped = &peers->map[hash & ((1 << PEER_MAP_BITS) - 1)];
	if (likely(mapped->hash == hash && mapped->length == depth &&
		   !memcmp(mapped->stack, stack, 8 * depth))) {
		mapped->count++;
		peers->seen++;
		return;
	}
	peers->overwritten += !!mapped->count;
	mapped->hash = hash;
	mapped->length = depth;
	mapped->count = 1;
	memcpy(mapped->stack, stack, 8 * depth);
}

#endif /* TESTS_BENCH_STACK_PEERS_H */
