/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Slots of loads, found by their address and address space, and what decides
 * who gets one (Zilles, Sohi: A Programmable Co-processor for Profiling,
 * sections 3.2 and 5.1, appendix A.3 to A.5):
 *
 * - Informational replacement. A load that finds no slot free challenges one,
 *   which it gets if less than a random number below 16 is known there. Else
 *   it fails. Either way its or the other's executions count as evicted.
 * - Where many fail, the table is full of what matters: it wants to be retired.
 * - Where much is replaced, it thrashes: the loads are divided into 2 or 4
 *   parts by a mask over their hash, of which one is looked at at a time. With
 *   each table that is merged it is the next one's turn, and after some time
 *   the table asks for that.
 * - While loads are divided, those whose values are known well enough are made
 *   quiet: they are counted in a few bytes, and in one of 16 rounds looked at
 *   as before, so that a change is seen.
 *
 * Where memory is enough, none of this happens, and all that is fed is counted.
 *
 * A profile is a table, too, in which the weakest slot of those possible makes
 * room.
 */
#ifndef HWPROF_ENGINE_VALUE_TABLE_H
#define HWPROF_ENGINE_VALUE_TABLE_H

#include "value_slot.h"

enum {
	VALUE_WAYS = 8,		/* slots that a load may have */
};

/* A load that is only counted. */
struct value_quiet {
	u64 ip;
	u32 owner;		/* as a slot's; 0: free */
	u32 loads;
};

struct value_table {
	u64 stamp;		/* the cursor's, after the last event */
	u64 pending;		/* loads that the table has */
	u64 evicted;
	u64 multiplier;		/* of the hash: secret, odd */
	u64 random;
	struct value_slot *slots;
	struct value_quiet *quiet;	/* as many */
	u32 slot_count;		/* a multiple of VALUE_WAYS */
	u32 used;		/* slots, */
	u32 quieted;		/* and quiet loads */
	u32 epoch;		/* gaps, and changes of the task */
	u32 hand;		/* way that is challenged next */
	u32 failed;		/* challenges, less those that did not */
	u32 replaced;
	u32 clock;		/* loads that were fed while divided, */
	u32 round;		/* and until it is another part's turn */
	u32 mask;		/* parts, less one; 0: all is looked at */
	u32 match;		/* whose turn it is */
	u32 merged;		/* of what merge() is to go through */
	u32 basis;
	bool crowded;		/* it wants to be retired */
	bool looks;		/* at quiet loads, for now */
};

/* @memory: @size bytes that are 0, for what @table points to. */
void value_table_init(struct value_table *table, void *memory, size_t size,
		      u64 seed);

/* All loads of @owner are given up. */
void value_table_forget(struct value_table *table, u32 owner);

/* Moves item @number to @profile: a slot, or, behind these, a quiet load. */
void value_table_take(struct value_table *profile, struct value_table *table,
		      u32 number);
/* How many there are. */
static inline u32 value_table_items(const struct value_table *table)
{
	return table->quieted ? 2 * table->slot_count : table->slot_count;
}
/* All items are taken. */
void value_table_taken(struct value_table *table);

static inline u64 value_hash(const struct value_table *table, u64 ip, u32 owner)
{
	return (ip + ((u64)owner << 40)) * table->multiplier;
}

/* Of the first slot that a load may have. */
static inline u32 value_home(const struct value_table *table, u64 hash)
{
	return (hash >> 32) * table->slot_count >> 32;
}

/* The others are the rest of its eight. */
static inline struct value_slot *value_way(const struct value_table *table,
					   u64 hash, u32 way)
{
	return &table->slots[value_home(table, hash) ^ way];
}

static inline bool value_is_of(const struct value_slot *slot, u64 ip, u32 owner)
{
	return slot->ip == ip && slot->owner == owner;
}

/* A load whose slot is not the first that it may have, or that has none. */
void value_table_look(struct value_table *table, u64 hash, u64 ip, u32 owner,
		      u64 value, u32 width);

/*
 * Loads are divided: is it not this one's turn, or is it quiet? Then it was
 * counted.
 */
bool value_table_filters(struct value_table *table, u64 hash, u64 ip,
			 u32 owner);

/* An execution of a load whose value is not known. */
void value_table_miss(struct value_table *table, u64 ip, u32 owner);

/* An execution of a load. */
static __always_inline void value_table_feed(struct value_table *table, u64 ip,
					     u32 owner, u64 value, u32 width)
{
	u64 hash = value_hash(table, ip, owner);
	struct value_slot *slot = value_way(table, hash, 0);

	table->pending++;
	if (unlikely(table->mask) &&
	    value_table_filters(table, hash, ip, owner))
		return;
	if (unlikely(!value_is_of(slot, ip, owner)))
		value_table_look(table, hash, ip, owner, value, width);
	else if (slot->last == value && slot->epoch == table->epoch)
		slot->run++;
	else if (slot->skip)
		slot->skip--;
	else
		value_slot_turn(slot, value, table->epoch, &table->random);
}

#endif /* HWPROF_ENGINE_VALUE_TABLE_H */
