// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "measure.h"
#include "range_peers.h"

#define GOLDEN	0x9e3779b97f4a7c15ULL

/* --- a counter for each value --------------------------------------------- */

void counters_init(struct counters *counters, unsigned int bits)
{
	counters->slots = memory_zeroed(sizeof(*counters->slots) << bits);
	counters->shift = 64 - bits;
	counters->used = 0;
}

void counters_free(struct counters *counters)
{
	free(counters->slots);
}

void counters_feed(void *peer, u64 value)
{
	struct counters *counters = peer;
	size_t mask = ~0ULL >> counters->shift;
	size_t i = value * GOLDEN >> counters->shift;

	for (;; i = (i + 1) & mask) {
		struct counter *slot = &counters->slots[i];

		if (likely(slot->value == value)) {
			slot->count++;
			return;
		}
		if (!slot->count)
			break;
	}
	counters->slots[i] = (struct counter){ value, 1 };
	counters->used++;
}

/* --- space-saving --------------------------------------------------------- */

/* Numbers of items and buckets; 0: none. */
struct item {
	u64 value;
	u64 error;
	u32 next, previous;	/* of the same count */
	u32 bucket;
	u32 chain;		/* with the same hash */
};

struct bucket {
	u64 count;
	u32 first;		/* item */
	u32 next, previous;	/* by count */
};

struct saving {
	struct item *items;
	struct bucket *buckets;
	u32 *heads;		/* of chains */
	u32 room, used;
	u32 shift;
	u32 least;		/* bucket */
	u32 free;		/* buckets, by `next` */
};

struct saving *saving_make(size_t bytes)
{
	struct saving *saving = memory_zeroed(sizeof(*saving));
	size_t each = sizeof(struct item) + sizeof(struct bucket) + sizeof(u32);
	unsigned int bits = 0;
	u32 i;

	while (2 * each << bits <= bytes)
		bits++;
	saving->room = bytes / each;
	saving->shift = 64 - bits;
	saving->heads = memory_zeroed(sizeof(u32) << bits);
	saving->items = memory_zeroed((saving->room + 1) * sizeof(struct item));
	/* A move of an item needs one bucket more than there are items. */
	saving->buckets = memory_zeroed((saving->room + 2) *
					sizeof(struct bucket));
	for (i = saving->room + 1; i; i--) {
		saving->buckets[i].next = saving->free;
		saving->free = i;
	}
	return saving;
}

void saving_free(struct saving *saving)
{
	free(saving->heads);
	free(saving->items);
	free(saving->buckets);
	free(saving);
}

/* Makes a bucket of @count, after @previous (0: as the first one). */
static u32 bucket_make(struct saving *saving, u64 count, u32 previous)
{
	u32 number = saving->free;
	struct bucket *bucket = &saving->buckets[number];
	u32 next = previous ? saving->buckets[previous].next : saving->least;

	saving->free = bucket->next;
	*bucket = (struct bucket){ count, 0, next, previous };
	saving->buckets[next].previous = number;	/* 0: nobody's */
	if (previous)
		saving->buckets[previous].next = number;
	else
		saving->least = number;
	return number;
}

static void bucket_drop(struct saving *saving, u32 number)
{
	struct bucket *bucket = &saving->buckets[number];

	saving->buckets[bucket->next].previous = bucket->previous;
	if (bucket->previous)
		saving->buckets[bucket->previous].next = bucket->next;
	else
		saving->least = bucket->next;
	bucket->next = saving->free;
	saving->free = number;
}

static void enter(struct saving *saving, u32 number, u32 bucket)
{
	struct item *item = &saving->items[number];

	item->bucket = bucket;
	item->previous = 0;
	item->next = saving->buckets[bucket].first;
	saving->items[item->next].previous = number;	/* 0: nobody's */
	saving->buckets[bucket].first = number;
}

/* Counts one more: moves the item into the next bucket. */
static void count_one(struct saving *saving, u32 number)
{
	struct item *item = &saving->items[number];
	u32 from = item->bucket;
	struct bucket *bucket = &saving->buckets[from];
	u32 to = bucket->next;

	if (bucket->first == number && !item->next &&
	    (!to || saving->buckets[to].count > bucket->count + 1)) {
		bucket->count++;	/* alone, and nobody to join */
		return;
	}
	if (!to || saving->buckets[to].count > bucket->count + 1)
		to = bucket_make(saving, bucket->count + 1, from);
	if (item->previous)
		saving->items[item->previous].next = item->next;
	else
		bucket->first = item->next;
	saving->items[item->next].previous = item->previous;
	if (!bucket->first)
		bucket_drop(saving, from);
	enter(saving, number, to);
}

static u32 *head_of(struct saving *saving, u64 value)
{
	return &saving->heads[value * GOLDEN >> saving->shift];
}

static void unchain(struct saving *saving, u32 number)
{
	u32 *link = head_of(saving, saving->items[number].value);

	while (*link != number)
		link = &saving->items[*link].chain;
	*link = saving->items[number].chain;
}

/* Returns a new item, or one of those with the least count. */
static u32 take_item(struct saving *saving)
{
	u32 number;

	if (saving->used < saving->room) {
		number = ++saving->used;
		if (!saving->least || saving->buckets[saving->least].count)
			bucket_make(saving, 0, 0);
		enter(saving, number, saving->least);
		return number;
	}
	number = saving->buckets[saving->least].first;
	unchain(saving, number);
	saving->items[number].error = saving->buckets[saving->least].count;
	return number;
}

void saving_feed(void *peer, u64 value)
{
	struct saving *saving = peer;
	u32 *head = head_of(saving, value), number = *head;

	while (number && saving->items[number].value != value)
		number = saving->items[number].chain;
	if (unlikely(!number)) {
		number = take_item(saving);
		saving->items[number].value = value;
		saving->items[number].chain = *head;
		*head = number;
	}
	count_one(saving, number);
}

/* --- a tree without hints ------------------------------------------------- */

enum { BITS = 64, BRANCH = 2, NODES = 1 << 22 };

struct plain_node {
	u64 count;
	u32 child;		/* the first of four; 0: none */
};

struct plain_tree {
	struct plain_node *nodes;
	u32 top;
	u64 n;
	u64 threshold;		/* a range that has more is split: */
	double share;		/* so much of n */
};

struct plain_tree *plain_make(u32 epsilon_ppm)
{
	struct plain_tree *tree = memory_zeroed(sizeof(*tree));

	tree->nodes = calloc(NODES, sizeof(*tree->nodes));
	if (!tree->nodes)
		abort();
	tree->top = 4;
	tree->share = epsilon_ppm / 1e6 / (BITS / BRANCH);
	return tree;
}

void plain_free(struct plain_tree *tree)
{
	free(tree->nodes);
	free(tree);
}

void plain_feed(void *peer, u64 value)
{
	struct plain_tree *tree = peer;
	struct plain_node *node = &tree->nodes[0];
	unsigned int bits = BITS;

	while (node->child) {
		bits -= BRANCH;
		node = &tree->nodes[node->child + (value >> bits & 3)];
	}
	if (!(tree->n++ % 64))
		tree->threshold = tree->share * tree->n;
	if (unlikely(++node->count > tree->threshold) && bits &&
	    tree->top + 4 <= NODES) {
		node->child = tree->top;
		tree->top += 4;
	}
}
