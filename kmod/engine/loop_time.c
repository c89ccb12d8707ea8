// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Places where windows were taken that time chose. A window stands for the time
 * of the smallest region around its place. But regions are found late, and
 * grow, and some are found in only one of many processes that run the same
 * code. Rows therefore have addresses. The reader, who knows all regions, finds
 * the loop.
 */
#include "loop_table.h"

static struct place *place_set(const struct loop_table *table, u64 ip,
			       u32 space)
{
	u64 hash = (ip ^ (u64)space << 40 ^ table->params.seed) * HASH_PRIME;

	return &table->places[hash >> 40 & (table->slots - LOOP_WAYS)];
}

/*
 * Return the place itself, or a free slot, or the place with the fewest
 * windows.
 */
static struct place *place_find(const struct loop_table *table, u64 ip,
				u32 space)
{
	struct place *set = place_set(table, ip, space), *least = set;
	unsigned int way;

	for (way = 0; way < LOOP_WAYS; way++) {
		if (set[way].windows && set[way].ip == ip &&
		    set[way].space == space)
			return &set[way];
		if (set[way].windows < least->windows)
			least = &set[way];
	}
	return least;
}

/*
 * Add windows to a place. If no slot is free, the place with the fewest windows
 * goes, and its windows are lost.
 */
static void place_add(struct loop_table *table, u64 ip, u32 space, u64 windows)
{
	struct place *place = place_find(table, ip, space);

	if (place->ip != ip || place->space != space)
		*place = (struct place){ .ip = ip, .space = space };
	place->windows += windows;
}

void loop_window_taken(void *memory, u64 ip, u32 space)
{
	struct loop_table *table = memory;

	if (table->places)
		place_add(table, ip, space, 1);
}

void place_merge(struct loop_table *profile, struct place *from)
{
	if (from->windows)
		place_add(profile, from->ip, from->space, from->windows);
	from->windows = 0;
}

static bool place_emit(struct place *place, engine_emit emit, void *context)
{
	const struct hwprof_row_time row = {
		.row.type = HWPROF_ROW_TIME,
		.row.size = sizeof(row),
		.row.space = place->space,
		.ip = place->ip,
		.windows = place->windows,
	};

	if (!place->windows)
		return true;
	if (!emit(context, &row, place->ip, 0, 0))
		return false;
	place->windows = 0;
	return true;
}

bool places_rows(struct loop_table *table, u32 space, size_t *at, size_t limit,
		 engine_emit emit, void *context)
{
	size_t end = table->used + places_count(table);

	for (; *at < end && limit; ++*at, limit--) {
		struct place *place = &table->places[*at - table->used];

		if ((!space || place->space == space) &&
		    !place_emit(place, emit, context))
			return false;
	}
	return *at >= end;
}

void places_forget(struct loop_table *table, u32 space)
{
	size_t i;

	for (i = 0; i < places_count(table); i++)
		if (table->places[i].space == space)
			table->places[i].windows = 0;
}
