/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Space-saving tables keep the items that are counted most (Metwally, Agrawal,
 * El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data
 * Streams, section 3). The cost of a step does not depend on the number of
 * items. Call pairs and edges are kept in such tables.
 *
 * Items are in sets of seven, chosen by a keyed hash of the words that name an
 * item. A new item takes a free way of its set or, if there is none, replaces
 * the item with the lowest count. Differences to the paper:
 *
 * - A new item does not take over the count of the item that it replaces; it
 *   starts at 0. The part of the replaced count that is in no row is evicted.
 * - A bound of the loss is known all the same. A set remembers the most that
 *   any item it gave up may have counted (its floor). An item may have lost
 *   that much before it came, which is its error. The true count is between
 *   count and count + error. In a table, a floor is at most a seventh of all
 *   counts of the set, so that an item with more of them stays.
 * - Tables are merged. An item that a table does not have may have been given
 *   up there.
 */
#ifndef HWPROF_ENGINE_SAVING_H
#define HWPROF_ENGINE_SAVING_H

#include "engine.h"

struct saving_table;

enum {
	SAVING_WAYS = 7,
	/* Most words of a name; callers have room for them. */
	SAVING_WORDS = 3,
};

/* A cache line. */
struct saving_set {
	u64 key[SAVING_WAYS];	/* 0: the way is free */
	/*
	 * Most counts that no row will tell of an item that is not in the set.
	 */
	u64 floor;
};

/*
 * The beginning of each item. The words of its name follow, and then other data
 * of its kind.
 */
struct saving_item {
	u64 count;		/* counts that are in no row yet */
	/* Further counts that it may have had; at most the floor of its set. */
	u64 error;
	/*
	 * Windows: sum over windows of the item's count in a window, squared.
	 */
	u64 sum_sq;
	u32 space;
	u32 window;		/* last window that it was in */
	u32 tally;		/* its count in that window */
	u32 times;		/* how often that was seen */
};

/* Return the words that name an item. */
static inline u64 *saving_name(const struct saving_item *item)
{
	return (u64 *)(item + 1);
}

/* A kind of items. All tables of an engine have the same. */
struct saving_kind {
	size_t size;		/* bytes of an item */
	unsigned int words;	/* of a name: two or three */
	/*
	 * Return true if the counts of an item are units of the engine. NULL:
	 * they always are.
	 */
	bool (*has_units)(const struct saving_item *item);
	/* Add the data behind the name. NULL: there are none. */
	void (*add)(struct saving_item *to, const struct saving_item *from);
	/*
	 * Emit the row of an item. On success, reset the data behind the name
	 * that the row told, and return true. Return false if the row was
	 * refused.
	 */
	bool (*tell)(const struct saving_table *table,
		     struct saving_item *item, engine_emit emit, void *context);
};

struct saving_table {
	struct saving_set *sets;
	void *items;			/* SAVING_WAYS per set */
	u32 set_count;
	u32 basis;
	u64 seed[2];
	u64 pending, evicted;		/* units */
	/* Ways in use. When half of all are, the table should be merged. */
	u32 used;
	u32 merged;	/* sets that saving_merge() has finished */
	u32 window;	/* number of the one in flight */
	u32 times;	/* how often that was seen */
};

void saving_init(const struct saving_kind *kind, void *memory, size_t size,
		 const struct engine_params *params);

/**
 * saving_add() - Add an item
 * @kind: kind of the table's items.
 * @table: the table, in which saving_find() does not find the item.
 * @key: key of the item, from saving_key().
 * @space: address space of the item.
 * @name: words that name it.
 *
 * Return: the item, with count 0.
 */
struct saving_item *saving_add(const struct saving_kind *kind,
			       struct saving_table *table, u64 key, u32 space,
			       const u64 *name);

/*
 * These implement functions of struct engine_ops, for items of @kind. The limit
 * of saving_rows() is in ways of sets, others are in sets.
 */
size_t saving_merge(const struct saving_kind *kind,
		    struct saving_table *profile, struct saving_table *table,
		    size_t limit);
bool saving_rows(const struct saving_kind *kind, struct saving_table *table,
		 u32 space, size_t *at, size_t limit, engine_emit emit,
		 void *context);
bool saving_forget(const struct saving_kind *kind, struct saving_table *table,
		   u32 space, size_t *at, size_t limit);
u64 saving_evicted(const void *table);
u64 saving_pending(const void *table);

/* --- what happens for each event ----------------------------------------- */

/*
 * Return the key of an item. Users choose addresses, but the seed decides which
 * of them share a set.
 */
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

/*
 * Return the set of a key. The keys of a set are a contiguous range, however
 * many sets there are.
 */
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

/* Return an item, or NULL if the table does not have it. */
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

/* Account for the last window that the item was in; it is over. */
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

/* Count an item once. The caller updates table->pending. */
static __always_inline void saving_count(const struct saving_table *table,
					 struct saving_item *item)
{
	item->count += table->times;
	if (table->basis != HWPROF_BASIS_EXACT)
		saving_count_in_window(table, item);
}

/* Begin a window that was seen @times times. */
static inline void saving_window_begin(struct saving_table *table, u32 times)
{
	table->window++;
	table->times = times;
}

/* End a window. Return false if the table should be retired. */
static inline bool saving_window_end(struct saving_table *table)
{
	table->times = 1;
	return saving_has_room(table);
}

#endif /* HWPROF_ENGINE_SAVING_H */
