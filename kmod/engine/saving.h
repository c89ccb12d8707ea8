/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Tables of counts that keep what is counted most: space-saving (Metwally,
 * Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in
 * Data Streams, section 3), in steps that do not depend on how many items there
 * are. Call pairs and edges are kept so.
 *
 * Items are in sets of seven, by a keyed hash of the words that name them. A
 * new one takes a way that is free, or that of the item with the lowest count
 * in its set. Beyond the paper:
 *
 * - A new item does not take over the count of the one that it replaces, but
 *   starts with its own. What no row has told of that count is evicted.
 * - What an item may have lost so is known all the same: a set remembers the
 *   most that any that it gave up may have lost (`floor`), and an item may have
 *   lost as much before it came. So it had its count at least, and at most that
 *   and its `error`. In a table, floor is never above a seventh of the set's
 *   counts: an item that has more of them stays.
 * - Tables are merged. An item that is not in one may have been given up there.
 */
#ifndef HWPROF_ENGINE_SAVING_H
#define HWPROF_ENGINE_SAVING_H

#include "engine.h"

struct saving_table;

enum {
	SAVING_WAYS = 7,
	SAVING_WORDS = 3,	/* of a name, at most: room that callers have */
};

/* A cache line. */
struct saving_set {
	u64 key[SAVING_WAYS];	/* 0: free */
	u64 floor;		/* counts that no row will tell of an item that
				 * is not here, at most */
};

/* An item begins so; the words that name it follow, then what else it has. */
struct saving_item {
	u64 count;		/* that no row has told */
	u64 error;		/* others that none will, at most; never above
				 * its set's floor */
	u64 sum_sq;		/* windows: sum of squares of its counts */
	u32 space;
	u32 window;		/* the last one that it was in, */
	u32 tally;		/* its count there, */
	u32 times;		/* and how often that was seen */
};

/* The words that name it. */
static inline u64 *saving_name(const struct saving_item *item)
{
	return (u64 *)(item + 1);
}

/* The kind of a table's items; the same for all tables of an engine. */
struct saving_kind {
	size_t size;		/* of an item */
	unsigned int words;	/* of its name: two or three */
	/* Are its counts the engine's units? NULL: all are. */
	bool (*has_units)(const struct saving_item *item);
	/* Adds what follows the name; NULL: there is nothing. */
	void (*add)(struct saving_item *to, const struct saving_item *from);
	/*
	 * Emits the row of an item, and forgets of what follows the name what
	 * the row has told. False: it was refused.
	 */
	bool (*tell)(const struct saving_table *table,
		     struct saving_item *item, engine_emit emit, void *context);
};

struct saving_table {
	struct saving_set *sets;
	void *items;			/* SAVING_WAYS for each set */
	u32 set_count;
	u32 basis;
	u64 seed[2];
	u64 pending, evicted;		/* units */
	u32 used;	/* ways; when half are, it wants to be merged */
	u32 merged;	/* sets that saving_merge() is through with */
	u32 window;	/* that the counts are of, */
	u32 times;	/* and how often it was seen */
};

void saving_init(const struct saving_kind *kind, void *memory, size_t size,
		 const struct engine_params *params);

/* Adds an item that saving_find() does not find, with count 0. */
struct saving_item *saving_add(const struct saving_kind *kind,
			       struct saving_table *table, u64 key, u32 space,
			       const u64 *name);

/* Those of engine_ops, with the kind in front. Items of a merge are sets. */
size_t saving_merge(const struct saving_kind *kind,
		    struct saving_table *profile, struct saving_table *table,
		    size_t limit);
bool saving_rows(const struct saving_kind *kind, struct saving_table *table,
		 u32 space, size_t *at, engine_emit emit, void *context);
void saving_forget(const struct saving_kind *kind, struct saving_table *table,
		   u32 space);
u64 saving_evicted(const void *table);
u64 saving_pending(const void *table);

/* --- what happens for each event ----------------------------------------- */

/* Users choose addresses, but not which of them meet in a set. */
static __always_inline u64 saving_key(const struct saving_kind *kind,
				      const struct saving_table *table,
				      u32 space, const u64 *name)
{
	u64 key = hash_product(name[0] ^ table->seed[0],
			       name[1] ^ table->seed[1]);

	if (kind->words == 3)
		key = hash_product(key ^ table->seed[1],
				   name[2] ^ table->seed[0]);
	return hash_product(key ^ space, HASH_PRIME ^ table->seed[1]) | 1;
}

/* However many sets there are, the keys of one are a range. */
static __always_inline u32 saving_set_of(const struct saving_table *table,
					 u64 key)
{
	return (key >> 32) * table->set_count >> 32;
}

static __always_inline struct saving_item *
saving_at(const struct saving_kind *kind, const struct saving_table *table,
	  u32 set, unsigned int way)
{
	return table->items + ((size_t)set * SAVING_WAYS + way) * kind->size;
}

static __always_inline bool saving_is(const struct saving_kind *kind,
				      const struct saving_item *item,
				      u32 space, const u64 *name)
{
	const u64 *own = saving_name(item);

	return own[0] == name[0] && own[1] == name[1] &&
	       (kind->words < 3 || own[2] == name[2]) && item->space == space;
}

/* NULL: there is none. */
static __always_inline struct saving_item *
saving_find(const struct saving_kind *kind, const struct saving_table *table,
	    u64 key, u32 space, const u64 *name)
{
	u32 at = saving_set_of(table, key);
	const struct saving_set *set = &table->sets[at];
	unsigned int way;

	for (way = 0; way < SAVING_WAYS; way++) {
		struct saving_item *item = saving_at(kind, table, at, way);

		if (set->key[way] == key &&
		    saving_is(kind, item, space, name))
			return item;
	}
	return NULL;
}

static __always_inline struct saving_item *
saving_get(const struct saving_kind *kind, struct saving_table *table,
	   u32 space, const u64 *name)
{
	u64 key = saving_key(kind, table, space, name);
	struct saving_item *item = saving_find(kind, table, key, space, name);

	return likely(item) ? item : saving_add(kind, table, key, space, name);
}

static __always_inline bool saving_has_room(const struct saving_table *table)
{
	return table->used <= table->set_count * (SAVING_WAYS / 2);
}

/* The window that the item was in last is over. */
static inline void saving_close_window(struct saving_item *item)
{
	item->sum_sq += (u64)item->times * item->tally * item->tally;
	item->tally = 0;
}

static inline void saving_count_in_window(const struct saving_table *table,
					  struct saving_item *item)
{
	if (item->window != table->window) {
		saving_close_window(item);
		item->window = table->window;
		item->times = table->times;
	}
	item->tally++;
}

/* Counts @item once; what is pending the caller says. */
static __always_inline void saving_count(const struct saving_table *table,
					 struct saving_item *item)
{
	item->count += table->times;
	if (table->basis != HWPROF_BASIS_EXACT)
		saving_count_in_window(table, item);
}

/* A window begins that was seen so often. */
static inline void saving_window_begin(struct saving_table *table, u32 times)
{
	table->window++;
	table->times = times;
}

/* False: the table wants to be retired. */
static inline bool saving_window_end(struct saving_table *table)
{
	table->times = 1;
	return saving_has_room(table);
}

#endif /* HWPROF_ENGINE_SAVING_H */
