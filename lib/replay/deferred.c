// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deferred.h"
#include "base/hash.h"

/* A user part of a call chain, followed by its addresses. */
struct part {
	struct part *next;		/* of the same bucket */
	uint64_t cookie;
	uint32_t tid;
	uint32_t count;
	uint64_t addresses[];
};

/* The parts of one round. */
struct table {
	struct part **buckets;
	size_t bucket_count;		/* a power of two */
	size_t part_count;
};

struct deferred {
	struct table newer, older;
};

struct deferred *deferred_new(void)
{
	return calloc(1, sizeof(struct deferred));
}

static void clear(struct table *table)
{
	size_t i;

	for (i = 0; i < table->bucket_count; i++) {
		struct part *part = table->buckets[i], *next;

		for (; part; part = next) {
			next = part->next;
			free(part);
		}
	}
	free(table->buckets);
	*table = (struct table){ .part_count = 0 };
}

void deferred_free(struct deferred *deferred)
{
	if (!deferred)
		return;
	clear(&deferred->newer);
	clear(&deferred->older);
	free(deferred);
}

static size_t bucket_of(const struct table *table, uint32_t tid,
			uint64_t cookie)
{
	uint64_t hash = hash_mix(hash_mix(0, tid), cookie);

	return hash & (table->bucket_count - 1);
}

static int grow(struct table *table)
{
	size_t count = table->bucket_count ? 2 * table->bucket_count : 64, i;
	struct table bigger = {
		.buckets = calloc(count, sizeof(*bigger.buckets)),
		.bucket_count = count,
		.part_count = table->part_count,
	};

	if (!bigger.buckets)
		return -ENOMEM;
	for (i = 0; i < table->bucket_count; i++) {
		struct part *part = table->buckets[i], *next;

		for (; part; part = next) {
			size_t to = bucket_of(&bigger, part->tid, part->cookie);

			next = part->next;
			part->next = bigger.buckets[to];
			bigger.buckets[to] = part;
		}
	}
	free(table->buckets);
	*table = bigger;
	return 0;
}

static const struct part *find(const struct table *table, uint32_t tid,
			       uint64_t cookie)
{
	const struct part *part = NULL;

	if (table->bucket_count)
		part = table->buckets[bucket_of(table, tid, cookie)];
	while (part && (part->tid != tid || part->cookie != cookie))
		part = part->next;
	return part;
}

int deferred_add(struct deferred *deferred, uint32_t tid, uint64_t cookie,
		 const uint64_t *addresses, uint32_t count)
{
	struct table *table = &deferred->newer;
	struct part *part;
	size_t bucket;

	/* Each event of a group may write the part; one is enough. */
	if (find(table, tid, cookie))
		return 0;
	if (table->part_count == table->bucket_count && grow(table))
		return -ENOMEM;
	part = malloc(sizeof(*part) + count * sizeof(*addresses));
	if (!part)
		return -ENOMEM;
	bucket = bucket_of(table, tid, cookie);
	*part = (struct part){
		.next = table->buckets[bucket],
		.cookie = cookie, .tid = tid, .count = count,
	};
	memcpy(part->addresses, addresses, count * sizeof(*addresses));
	table->buckets[bucket] = part;
	table->part_count++;
	return 0;
}

int deferred_find(const struct deferred *deferred, uint32_t tid,
		  uint64_t cookie, const uint64_t **addresses)
{
	const struct part *part = find(&deferred->newer, tid, cookie) ?:
				  find(&deferred->older, tid, cookie);

	if (!part)
		return -1;
	*addresses = part->addresses;
	return part->count;
}

void deferred_turn(struct deferred *deferred)
{
	clear(&deferred->older);
	deferred->older = deferred->newer;
	deferred->newer = (struct table){ .part_count = 0 };
}
