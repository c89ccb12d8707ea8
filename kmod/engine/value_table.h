/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A table of slots, found by a load's address and address space, and what
 * decides which load gets a slot (Zilles, Sohi: A Programmable Co-processor for
 * Profiling, sections 3.2 and 5.1, appendix A.3 to A.5):
 *
 * - Informational replacement. A load that finds no slot free challenges one.
 *   It gets the slot if that has fewer executions than a random number below
 *   16. Otherwise the challenge fails. Either way, the executions of the loser
 *   count as evicted.
 * - If many challenges fail, the table is full of what matters, and should be
 *   retired: it is crowded.
 * - If many slots are replaced, the table thrashes. Loads are divided into 2 or
 *   4 parts by a mask over their hash, and the table looks at one part at a
 *   time. The next part's turn begins when the table is merged, which it asks
 *   for after some time.
 * - While loads are divided, those whose values are known well enough become
 *   quiet. A quiet load is counted in a few bytes. In one of 16 rounds it is
 *   looked at like others, so that a change is noticed.
 *
 * With enough memory, none of this happens, and everything is counted.
 *
 * A profile is a table, too. There, the weakest slot of those possible makes
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
	u32 owner;		/* as value_slot.owner; 0: free */
	u32 loads;
};

struct value_table {
	u64 stamp;		/* the cursor's, after the last event */
	u64 pending;		/* executions that are in the table */
	u64 evicted;
	u64 multiplier;		/* of the hash: secret and odd */
	u64 random;
	struct value_slot *slots;
	struct value_quiet *quiet;	/* as many as slots */
	u32 slot_count;		/* a multiple of VALUE_WAYS */
	u32 used;		/* slots in use */
	u32 quieted;		/* quiet loads */
	u32 epoch;		/* grows with gaps and changes of the task */
	u32 hand;		/* way that is challenged next */
	/* Challenges that failed, less those that did not. */
	u32 failed;
	u32 replaced;
	u32 clock;		/* loads that were fed while divided */
	u32 round;		/* loads until the next part's turn */
	u32 mask;		/* number of parts - 1; 0: not divided */
	u32 match;		/* the part whose turn it is */
	u32 merged;		/* items that merge() has finished */
	u32 basis;
	bool crowded;		/* the table should be retired */
	bool looks;		/* look at quiet loads, too, for now */
};

/**
 * value_table_init() - Make an empty table
 * @table: the table.
 * @memory: zeroed memory for all that the table points to.
 * @size: bytes of it.
 * @seed: secret that keys the hash.
 */
void value_table_init(struct value_table *table, void *memory, size_t size,
		      u64 seed);

/**
 * value_table_forget() - Give all loads of an address space up
 * @table: the table.
 * @owner: address space + 1.
 * @at: as @limit, of forget() in struct engine_ops.
 * @limit: the most slots to look at.
 *
 * Return: false if there is more to do.
 */
bool value_table_forget(struct value_table *table, u32 owner, size_t *at,
			size_t limit);

/**
 * value_table_take() - Move an item to a profile
 * @profile: the profile.
 * @table: the table.
 * @number: number of the item, below value_table_items(): a slot or, behind all
 *	slots, a quiet load.
 */
void value_table_take(struct value_table *profile, struct value_table *table,
		      u32 number);
/* Return the number of items. */
static inline u32 value_table_items(const struct value_table *table)
{
	return table->quieted ? 2 * table->slot_count : table->slot_count;
}
/**
 * value_table_taken() - Make a table ready again after all items were taken
 * @table: the table.
 */
void value_table_taken(struct value_table *table);

static inline u64 value_hash(const struct value_table *table, u64 ip, u32 owner)
{
	return (ip + ((u64)owner << 40)) * table->multiplier;
}

/* Return the number of the first slot that a load may have. */
static inline u32 value_home(const struct value_table *table, u64 hash)
{
	return (hash >> 32) * table->slot_count >> 32;
}

/*
 * Return one of the VALUE_WAYS slots that a load may have, which are aligned.
 */
static inline struct value_slot *value_way(const struct value_table *table,
					   u64 hash, u32 way)
{
	return &table->slots[value_home(table, hash) ^ way];
}

static inline bool value_is_of(const struct value_slot *slot, u64 ip, u32 owner)
{
	return slot->ip == ip && slot->owner == owner;
}

/**
 * value_table_look() - Count an execution of a load that is not in its first
 * slot
 * @table: the table.
 * @hash: value_hash() of the load.
 * @ip: address of the load.
 * @owner: address space + 1.
 * @value: the value that it gave.
 * @width: bytes that it read.
 */
void value_table_look(struct value_table *table, u64 hash, u64 ip, u32 owner,
		      u64 value, u32 width);

/**
 * value_table_filters() - Decide whether to look at a load while loads are
 * divided
 * @table: the table.
 * @hash: value_hash() of the load.
 * @ip: address of the load.
 * @owner: address space + 1.
 *
 * Return: true if it is not this load's turn or the load is quiet. The
 *	execution was counted then.
 */
bool value_table_filters(struct value_table *table, u64 hash, u64 ip,
			 u32 owner);

/**
 * value_table_miss() - Count an execution whose value is not known
 * @table: the table.
 * @ip: address of the load.
 * @owner: address space + 1.
 */
void value_table_miss(struct value_table *table, u64 ip, u32 owner);

/* Count an execution of a load. */
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
