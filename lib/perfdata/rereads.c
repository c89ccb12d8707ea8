// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "rereads.h"

/*
 * Two records of one round have this key, so it identifies neither: trace
 * decoders write equal samples.
 */
#define REPEATED	1ULL

enum {
	FIRST_ROOM	= 1 << 10,
	ROOM_MAX	= 1 << 21,	/* limit; further records of a round are
					 * ignored */
	KEY_WORDS	= 8,		/* words of a record that the key
					 * covers, besides the time */
};

void rereads_destroy(struct rereads *rereads)
{
	free(rereads->older.keys);
	free(rereads->newer.keys);
}

/*
 * Returns a number that identifies the record. A ring has only one or few
 * records per nanosecond, whose first words differ. The number is never 0, and
 * has REPEATED clear.
 */
static uint64_t key_of(const struct record *record)
{
	uint64_t key = hash_mix(record->type, record->time);
	struct byte_reader body = record->body;
	uint64_t word;
	int i;

	key = hash_mix(key, (uint64_t)record->cpu << 32 | record->tid);
	key = hash_mix(key, reader_left(&body));
	for (i = 0; i < KEY_WORDS && reader_u64(&body, &word); i++)
		key = hash_mix(key, word);
	key &= ~REPEATED;
	return key ? key : 2;
}

/* Returns the place of the key, or the free one where it belongs. */
static uint64_t *find(const struct record_keys *set, uint64_t key)
{
	size_t at = key / 2 & (set->room - 1);

	while (set->keys[at] && (set->keys[at] & ~REPEATED) != key)
		at = (at + 1) & (set->room - 1);
	return &set->keys[at];
}

static bool has_one(const struct record_keys *set, uint64_t key)
{
	return set->count && *find(set, key) == key;
}

static int grow(struct record_keys *set)
{
	struct record_keys bigger = {
		.room = set->room ? 2 * set->room : FIRST_ROOM,
		.count = set->count,
	};
	size_t i;

	bigger.keys = calloc(bigger.room, sizeof(*bigger.keys));
	if (!bigger.keys)
		return -ENOMEM;
	for (i = 0; i < set->room; i++)
		if (set->keys[i])
			*find(&bigger, set->keys[i] & ~REPEATED) = set->keys[i];
	free(set->keys);
	*set = bigger;
	return 0;
}

/* Adds a key. Ignores it beyond ROOM_MAX. */
static int add(struct record_keys *set, uint64_t key)
{
	uint64_t *place;
	int error;

	if (2 * set->count >= set->room) {
		if (set->room == ROOM_MAX)
			return 0;
		error = grow(set);
		if (error)
			return error;
	}
	place = find(set, key);
	set->count += !*place;
	*place = *place ? key | REPEATED : key;
	return 0;
}

static void next_round(struct rereads *rereads)
{
	struct record_keys older = rereads->older;

	rereads->older = rereads->newer;
	if (older.count)
		memset(older.keys, 0, older.room * sizeof(*older.keys));
	older.count = 0;
	rereads->newer = older;
}

int rereads_check(struct rereads *rereads, const struct record *record)
{
	uint64_t key;
	bool again;
	int error;

	if (record->type == PERFDATA_FINISHED_ROUND)
		next_round(rereads);
	/*
	 * The kernel's records have a time if any have; perf's own come from no
	 * ring.
	 */
	if (record->type >= PERFDATA_USER_TYPES || !record->time ||
	    record->time == UINT64_MAX)
		return 0;
	key = key_of(record);
	again = has_one(&rereads->older, key);
	error = add(&rereads->newer, key);
	if (error || !again || !has_one(&rereads->newer, key))
		return error;
	if (!rereads->count++)
		rereads->offset = record->offset;
	return 1;
}
