// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "context_rows.h"
#include "base/hash.h"

enum {
	CHUNK		= 32,		/* rows allocated together */
	FIRST_SLOTS	= 64,
};

struct context_rows {
	struct collected_context **chunks;	/* those begun so far */
	size_t count;			/* number of rows */
	uint64_t *slots;		/* upper half of the hash, and the row's
					 * number + 1; 0: free */
	size_t slot_count;		/* a power of two, at least 2 * count */
};

static struct collected_context *row_at(const struct context_rows *rows,
					size_t number)
{
	return &rows->chunks[number / CHUNK][number % CHUNK];
}

static uint64_t hash_of(const struct collected_context *row)
{
	uint64_t hash = hash_mix(hash_mix(0, row->origin.session), row->id);

	if (row->id)
		return hash;
	hash = hash_mix(hash, row->origin.pid);
	return hash_mix(hash_mix(hash, row->callee), row->site);
}

/* Rows have ids. Samples have none, and are compared by place. */
static bool is_same(const struct collected_context *x,
		    const struct collected_context *y)
{
	if (x->origin.session != y->origin.session || x->id != y->id)
		return false;
	return x->id || (x->origin.pid == y->origin.pid &&
			 x->callee == y->callee && x->site == y->site);
}

#define UPPER(hash)	((hash) & ~(uint64_t)UINT32_MAX)

/* Returns the slot of @key, or the free one where it belongs. */
static uint64_t *slot_of(const struct context_rows *rows,
			 const struct collected_context *key, uint64_t hash)
{
	size_t at = hash & (rows->slot_count - 1);

	while (rows->slots[at]) {
		uint32_t number = rows->slots[at];

		if (UPPER(rows->slots[at]) == UPPER(hash) &&
		    is_same(row_at(rows, number - 1), key))
			break;
		at = (at + 1) & (rows->slot_count - 1);
	}
	return &rows->slots[at];
}

static int make_slots(struct context_rows *rows)
{
	size_t count = rows->slot_count ? 4 * rows->slot_count : FIRST_SLOTS;
	uint64_t *slots;
	size_t i;

	if (rows->count >= UINT32_MAX)
		return -ENOMEM;
	if (2 * rows->count < rows->slot_count)
		return 0;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(rows->slots);
	rows->slots = slots;
	rows->slot_count = count;
	for (i = 0; i < rows->count; i++) {
		const struct collected_context *row = row_at(rows, i);
		uint64_t hash = hash_of(row);

		*slot_of(rows, row, hash) = UPPER(hash) | (i + 1);
	}
	return 0;
}

/* Makes room for one more row. The array of chunks doubles at powers of two. */
static int make_chunk(struct context_rows *rows)
{
	size_t chunks = rows->count / CHUNK;

	if (rows->count % CHUNK)
		return 0;
	if (!(chunks & (chunks - 1))) {
		struct collected_context **all =
			reallocarray(rows->chunks, chunks ? 2 * chunks : 1,
				     sizeof(*all));

		if (!all)
			return -ENOMEM;
		rows->chunks = all;
	}
	rows->chunks[chunks] = malloc(CHUNK * sizeof(**rows->chunks));
	return rows->chunks[chunks] ? 0 : -ENOMEM;
}

struct collected_context *
context_rows_get(struct context_rows **all, const struct collected_context *key,
		 bool *is_new)
{
	struct context_rows *rows = *all;
	uint64_t hash = hash_of(key), *slot;

	if (!rows)
		rows = *all = calloc(1, sizeof(*rows));
	if (!rows || make_slots(rows))
		return NULL;
	slot = slot_of(rows, key, hash);
	*is_new = !*slot;
	if (*is_new) {
		if (make_chunk(rows))
			return NULL;
		*row_at(rows, rows->count) = *key;
		*slot = UPPER(hash) | ++rows->count;
	}
	return row_at(rows, (uint32_t)*slot - 1);
}

struct collected_context *context_rows_find(const struct context_rows *rows,
					    uint32_t session, uint64_t id)
{
	const struct collected_context key = {
		.origin.session = session, .id = id,
	};
	uint64_t slot;

	if (!rows || !id)
		return NULL;
	slot = *slot_of(rows, &key, hash_of(&key));
	return slot ? row_at(rows, (uint32_t)slot - 1) : NULL;
}

void **context_rows_list(const struct context_rows *rows, size_t *count)
{
	void **list;
	size_t i;

	*count = rows ? rows->count : 0;
	list = calloc(*count + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (i = 0; i < *count; i++)
		list[i] = row_at(rows, i);
	return list;
}

void context_rows_free(struct context_rows *rows)
{
	size_t i;

	if (!rows)
		return;
	for (i = 0; i < rows->count; i += CHUNK)
		free(rows->chunks[i / CHUNK]);
	free(rows->chunks);
	free(rows->slots);
	free(rows);
}
