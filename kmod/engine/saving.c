// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Space-saving tables: everything that does not happen for each event. See
 * saving.h.
 */
#include "saving.h"

void saving_init(const struct saving_kind *kind, void *memory, size_t size,
		 const struct engine_params *params)
{
	size_t header = (sizeof(struct saving_table) + 63) & ~(size_t)63;
	struct saving_table *table = memory;

	memset(table, 0, sizeof(*table));
	table->basis = params->basis;
	table->seed[0] = params->seed;
	table->seed[1] = (params->seed ^ HASH_PRIME) * HASH_PRIME;
	table->times = 1;
	table->set_count = min((size - header) /
			       (sizeof(struct saving_set) +
				SAVING_WAYS * kind->size),
			       (size_t)U32_MAX);
	table->sets = memory + header;
	table->items = memory + header +
		       table->set_count * sizeof(struct saving_set);
}

/* --- sets ---------------------------------------------------------------- */

/*
 * Return what it costs to give the item up. Counts that rows have told are not
 * lost.
 */
static u64 saving_heat(const struct saving_item *item)
{
	return item->count ? item->count + item->error : 0;
}

static u64 saving_units_of(const struct saving_kind *kind,
			   const struct saving_item *item)
{
	return !kind->has_units || kind->has_units(item) ? item->count : 0;
}

/* Give up the counts of an item that are in no row. */
static void saving_give_up(const struct saving_kind *kind,
			   struct saving_table *table,
			   const struct saving_item *item)
{
	u64 units = saving_units_of(kind, item);

	table->evicted += units;
	table->pending -= units;
}

/* Return a free way of the set; if there is none, give up the coldest item. */
static unsigned int saving_make_room(const struct saving_kind *kind,
				     struct saving_table *table, u32 at)
{
	struct saving_set *set = &table->sets[at];
	const struct saving_item *item;
	unsigned int way, coldest = 0;

	for (way = 0; way < SAVING_WAYS; way++) {
		if (!set->key[way]) {
			table->used++;
			return way;
		}
		if (saving_heat(saving_at(kind, table, at, way)) <
		    saving_heat(saving_at(kind, table, at, coldest)))
			coldest = way;
	}
	item = saving_at(kind, table, at, coldest);
	set->floor = max(set->floor, item->count + item->error);
	saving_give_up(kind, table, item);
	return coldest;
}

noinline struct saving_item *
saving_add(const struct saving_kind *kind, struct saving_table *table, u64 key,
	   u32 space, const u64 *name)
{
	u32 at = saving_set_of(table, key);
	struct saving_set *set = &table->sets[at];
	u64 error = set->floor;	/* before saving_make_room() raises it */
	unsigned int way = saving_make_room(kind, table, at);
	struct saving_item *item = saving_at(kind, table, at, way);

	set->key[way] = key;
	memset(item, 0, kind->size);
	item->error = error;
	item->space = space;
	item->window = table->window - 1;
	memcpy(saving_name(item), name, kind->words * sizeof(*name));
	return item;
}

/* --- from a table into a profile ----------------------------------------- */

/*
 * Add @floor to the error of all items of the profile whose keys belong to set
 * @at of @table. An item that is not in that set may have lost as many counts
 * there. saving_take() subtracts it again for the items that are in the set.
 */
static void saving_raise_errors(const struct saving_kind *kind,
				struct saving_table *profile,
				const struct saving_table *table, u32 at,
				u64 floor)
{
	u64 sets = table->set_count;
	u32 first = (u64)at * profile->set_count / sets;
	u32 last = ((u64)(at + 1) * profile->set_count - 1) / sets;
	unsigned int way;

	for (; first <= last; first++) {
		struct saving_set *set = &profile->sets[first];

		set->floor += floor;
		for (way = 0; way < SAVING_WAYS; way++)
			if (set->key[way])
				saving_at(kind, profile, first, way)->error +=
					floor;
	}
}

static void saving_take(const struct saving_kind *kind,
			struct saving_table *profile,
			struct saving_table *table, struct saving_item *from,
			u64 floor)
{
	struct saving_item *to = saving_get(kind, profile, from->space,
					    saving_name(from));
	u64 units = saving_units_of(kind, from);

	saving_close_window(from);
	to->count += from->count;
	to->sum_sq += from->sum_sq;
	to->error -= floor - from->error;
	if (kind->add)
		kind->add(to, from);
	profile->pending += units;
	table->pending -= units;
}

static void saving_take_set(const struct saving_kind *kind,
			    struct saving_table *profile,
			    struct saving_table *table, u32 at)
{
	struct saving_set *set = &table->sets[at];
	unsigned int way;

	if (set->floor)
		saving_raise_errors(kind, profile, table, at, set->floor);
	for (way = 0; way < SAVING_WAYS; way++) {
		if (!set->key[way])
			continue;
		table->used--;
		saving_take(kind, profile, table,
			    saving_at(kind, table, at, way), set->floor);
	}
	memset(set, 0, sizeof(*set));
}

size_t saving_merge(const struct saving_kind *kind,
		    struct saving_table *profile, struct saving_table *table,
		    size_t limit)
{
	size_t taken;

	for (taken = 0; taken < limit; taken++) {
		if (table->merged == table->set_count || !table->used)
			break;
		saving_take_set(kind, profile, table, table->merged++);
	}
	if (taken == limit)
		return taken;
	profile->evicted += table->evicted;
	table->evicted = 0;
	table->merged = 0;
	return taken;
}

/* --- rows ---------------------------------------------------------------- */

static bool saving_tell(const struct saving_kind *kind,
			struct saving_table *table, struct saving_item *item,
			engine_emit emit, void *context)
{
	if (!kind->tell(table, item, emit, context))
		return false;
	table->pending -= saving_units_of(kind, item);
	item->count = 0;
	item->sum_sq = 0;
	return true;
}

bool saving_rows(const struct saving_kind *kind, struct saving_table *table,
		 u32 space, size_t *at, size_t limit, engine_emit emit,
		 void *context)
{
	size_t ways = (size_t)table->set_count * SAVING_WAYS;

	for (; *at < ways && limit; ++*at, limit--) {
		u32 set = *at / SAVING_WAYS, way = *at % SAVING_WAYS;
		struct saving_item *item = saving_at(kind, table, set, way);

		if (!table->sets[set].key[way] || !item->count ||
		    (space && item->space != space))
			continue;
		if (!saving_tell(kind, table, item, emit, context))
			return false;
	}
	return *at == ways;
}

static void saving_forget_set(const struct saving_kind *kind,
			      struct saving_table *table, u32 at, u32 space)
{
	struct saving_set *set = &table->sets[at];
	unsigned int way;

	for (way = 0; way < SAVING_WAYS; way++) {
		struct saving_item *item = saving_at(kind, table, at, way);

		if (!set->key[way] || item->space != space)
			continue;
		saving_give_up(kind, table, item);
		set->key[way] = 0;
		table->used--;
	}
}

bool saving_forget(const struct saving_kind *kind, struct saving_table *table,
		   u32 space, size_t *at, size_t limit)
{
	for (; table->used && *at < table->set_count && limit; ++*at, limit--)
		saving_forget_set(kind, table, *at, space);
	return !table->used || *at == table->set_count;
}

u64 saving_evicted(const void *table)
{
	return ((const struct saving_table *)table)->evicted;
}

u64 saving_pending(const void *table)
{
	return ((const struct saving_table *)table)->pending;
}
