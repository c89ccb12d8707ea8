// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "value_table.h"

enum {
	/* A table is crowded if one challenge of so many slots has failed. */
	FAILED_PART	= 4,
	/*
	 * A table thrashes if THRASH times all its slots were replaced. If it
	 * took fewer than THRASH_FAST loads per slot, it thrashes fast.
	 */
	THRASH		= 4,
	THRASH_FAST	= 16,
	PART_BITS	= 6,	/* log2 of the most parts */
	SLOTS_MOST	= 1 << 24,
	/*
	 * A load takes the first slot if it has so many executions more than
	 * twice those of the load there.
	 */
	ADVANCE_LEAST	= 16,
	PART_SHIFT	= 16,	/* of the hash, where the part begins */
	ROUND		= 64,	/* loads of a part's turn, per slot */
	/*
	 * Consecutive loads for which it is decided together whether to look at
	 * quiet ones.
	 */
	LOOK		= 1 << 10,
	/* Most loads of all slots, or of one slot in a profile. */
	LOADS_MOST	= 1 << 30,
};

void value_table_init(struct value_table *table, void *memory, size_t size,
		      u64 seed)
{
	size_t each = sizeof(struct value_slot) + sizeof(struct value_quiet);

	table->slot_count = min(size / each, (size_t)SLOTS_MOST) &
			    ~(VALUE_WAYS - 1U);
	table->slots = memory;
	table->quiet = (struct value_quiet *)(table->slots + table->slot_count);
	table->multiplier = (seed + HASH_PRIME) | 1;
	table->random = seed;
	table->round = ROUND * table->slot_count;
}

/* --- feeding -------------------------------------------------------------- */

static void value_count_out(struct value_table *table, u64 loads)
{
	table->pending -= loads;
	table->evicted += loads;
}

/* Evict a slot: its load and all that is known of it are given up. */
static void value_evict(struct value_table *table, struct value_slot *slot)
{
	value_count_out(table, slot->loads + slot->run - slot->skip);
	memset(slot, 0, sizeof(*slot));
	table->used--;
}

static u32 value_random_below_16(struct value_table *table)
{
	table->random = table->random * 6364136223846793005ULL + 1;
	return table->random >> 60;
}

/*
 * The table thrashes: divide the loads into more parts. What the table has
 * found out so far is of little use.
 */
static void value_divide(struct value_table *table)
{
	u32 parts = table->pending + table->evicted <
		    (u64)THRASH_FAST * table->slot_count ? 4 : 2;

	table->replaced = 0;
	table->crowded = true;
	table->mask = table->mask * parts + parts - 1;
	table->mask &= (1U << PART_BITS) - 1;
	table->match &= table->mask;
}

/*
 * Challenge a slot for a load that found none free. Return it if the challenge
 * succeeds; NULL if not.
 */
static struct value_slot *value_replace(struct value_table *table, u64 hash)
{
	struct value_slot *slot = value_way(table, hash,
					    table->hand++ % VALUE_WAYS);

	if (slot->loads + slot->run >= value_random_below_16(table)) {
		if (++table->failed >= table->slot_count / FAILED_PART)
			table->crowded = true;
		return NULL;
	}
	table->failed -= table->failed > 0;
	value_evict(table, slot);
	if (++table->replaced >= THRASH * table->slot_count)
		value_divide(table);
	return slot;
}

/*
 * Return the load's slot. If it has none, return the first free one that it may
 * have, or NULL.
 */
static struct value_slot *value_find(const struct value_table *table, u64 hash,
				     u64 ip, u32 owner)
{
	struct value_slot *free = NULL;
	u32 way;

	for (way = 0; way < VALUE_WAYS; way++) {
		struct value_slot *slot = value_way(table, hash, way);

		if (value_is_of(slot, ip, owner))
			return slot;
		if (!slot->owner && !free)
			free = slot;
	}
	return free;
}

static void value_set_owner(struct value_table *table, struct value_slot *slot,
			    u64 ip, u32 owner)
{
	slot->ip = ip;
	slot->owner = owner;
	table->used++;
}

/*
 * Return the slot to count an execution in. Return NULL if there is none; the
 * execution is counted as evicted then.
 */
static struct value_slot *value_slot_for(struct value_table *table, u64 hash,
					 u64 ip, u32 owner)
{
	struct value_slot *slot = value_find(table, hash, ip, owner);

	if (unlikely(!slot))
		slot = value_replace(table, hash);
	/* Counts have 32 bits, and the table was not merged for long. */
	if (unlikely(table->pending > LOADS_MOST)) {
		table->crowded = true;
		slot = NULL;
	}
	if (unlikely(!slot))
		value_count_out(table, 1);
	else if (!slot->owner)
		value_set_owner(table, slot, ip, owner);
	return slot;
}

/*
 * Swap the load with that in its first slot if it is executed more often. That
 * is possible because the loads of a set may have any slot of it. Return its
 * slot.
 */
static struct value_slot *value_advance(const struct value_table *table,
					u64 hash, struct value_slot *slot)
{
	struct value_slot *first = value_way(table, hash, 0);

	if (slot->loads + slot->run <
	    2 * (first->loads + first->run) + ADVANCE_LEAST)
		return slot;
	swap_values(*slot, *first);
	return first;
}

void value_table_look(struct value_table *table, u64 hash, u64 ip, u32 owner,
		      u64 value, u32 width)
{
	struct value_slot *slot = value_slot_for(table, hash, ip, owner);

	if (unlikely(!slot))
		return;
	slot = value_advance(table, hash, slot);
	if (!slot->runs)
		slot->width = width;
	if (slot->run && slot->last == value && slot->epoch == table->epoch)
		slot->run++;
	else if (slot->skip)
		slot->skip--;
	else
		value_slot_turn(slot, value, table->epoch, &table->random);
}

void value_table_miss(struct value_table *table, u64 ip, u32 owner)
{
	u64 hash = value_hash(table, ip, owner);
	struct value_slot *slot;

	table->pending++;
	slot = value_slot_for(table, hash, ip, owner);
	if (slot)
		value_slot_miss(slot, table->epoch, &table->random);
}

static struct value_quiet *value_quiet_of(const struct value_table *table,
					  u64 hash)
{
	return &table->quiet[value_home(table, hash)];
}

static bool value_is_quiet(const struct value_quiet *quiet, u64 ip, u32 owner)
{
	return quiet->ip == ip && quiet->owner == owner;
}

/*
 * Account for a load while loads are divided. After some time it is the next
 * part's turn. Quiet loads are looked at by chance, because the parts' turns
 * have a rhythm of their own.
 */
static void value_pass(struct value_table *table)
{
	if (table->round)
		table->round--;
	else
		table->crowded = true;
	if (!(++table->clock % LOOK))
		table->looks = !value_random_below_16(table);
}

bool value_table_filters(struct value_table *table, u64 hash, u64 ip, u32 owner)
{
	struct value_quiet *quiet = value_quiet_of(table, hash);

	value_pass(table);
	if (((u32)(hash >> PART_SHIFT) & table->mask) != table->match) {
		value_count_out(table, 1);
		return true;
	}
	if (!value_is_quiet(quiet, ip, owner) || table->looks ||
	    table->pending > LOADS_MOST)
		return false;
	quiet->loads++;
	return true;
}

/* --- from a table into a profile ------------------------------------------ */

/*
 * Return a slot for a load with @loads executions. Return NULL if all slots
 * that it may have are stronger, or its own is full.
 */
static struct value_slot *value_place(struct value_table *profile, u64 ip,
				      u32 owner, u32 loads)
{
	u64 hash = value_hash(profile, ip, owner);
	struct value_slot *slot = value_find(profile, hash, ip, owner);
	u32 way;

	if (!slot) {
		slot = value_way(profile, hash, 0);
		for (way = 1; way < VALUE_WAYS; way++)
			if (value_way(profile, hash, way)->loads < slot->loads)
				slot = value_way(profile, hash, way);
		if (slot->loads >= loads)
			return NULL;
		value_evict(profile, slot);
	}
	if (!slot->owner)
		value_set_owner(profile, slot, ip, owner);
	return slot->loads > LOADS_MOST ? NULL : slot;
}

static void value_add(struct value_table *profile,
		      const struct value_slot *from)
{
	struct value_slot *slot =
		value_place(profile, from->ip, from->owner, from->loads);

	if (!slot) {
		profile->evicted += from->loads;
		return;
	}
	value_slot_merge(slot, from);
	profile->pending += from->loads;
}

/* Make the slot's load quiet, or no longer quiet. */
static void value_set_quiet(struct value_table *table,
			    const struct value_slot *slot)
{
	u64 hash = value_hash(table, slot->ip, slot->owner);
	struct value_quiet *quiet = value_quiet_of(table, hash);
	bool is = value_is_quiet(quiet, slot->ip, slot->owner);
	bool known = table->mask && value_slot_is_known(slot);

	if (known && !quiet->owner) {
		quiet->ip = slot->ip;
		quiet->owner = slot->owner;
		table->quieted++;
	} else if (is && !known && !quiet->loads) {
		quiet->owner = 0;
		table->quieted--;
	}
}

static void value_take_slot(struct value_table *profile,
			    struct value_table *table, struct value_slot *slot)
{
	if (!slot->owner)
		return;
	value_slot_count(slot, &table->random);
	value_add(profile, slot);
	value_set_quiet(table, slot);
	table->pending -= slot->loads;
	memset(slot, 0, sizeof(*slot));
}

/* A load stays quiet as long as it is executed. */
static void value_take_quiet(struct value_table *profile,
			     struct value_table *table,
			     struct value_quiet *quiet)
{
	const struct value_slot slot = {
		.ip = quiet->ip, .owner = quiet->owner,
		.loads = quiet->loads, .unseen = quiet->loads,
	};

	if (!quiet->loads) {
		if (quiet->owner && !table->mask) {
			quiet->owner = 0;
			table->quieted--;
		}
		return;
	}
	value_add(profile, &slot);
	table->pending -= quiet->loads;
	quiet->loads = 0;
}

void value_table_take(struct value_table *profile, struct value_table *table,
		      u32 number)
{
	if (number < table->slot_count)
		value_take_slot(profile, table, &table->slots[number]);
	else
		value_take_quiet(profile, table,
				 &table->quiet[number - table->slot_count]);
}

/*
 * Begin the next part's turn. If the last part used few slots, make parts
 * larger.
 */
static void value_next_part(struct value_table *table)
{
	if (table->used < table->slot_count / 4)
		table->mask >>= 1;
	table->match = (table->match + 1) & table->mask;
	table->round = ROUND * table->slot_count;
}

void value_table_taken(struct value_table *table)
{
	if (table->mask)
		value_next_part(table);
	table->used = 0;
	table->stamp = 0;
	table->failed = 0;
	table->replaced = 0;
	table->merged = 0;
	table->crowded = false;
}

static void value_forget_quiet(struct value_table *table,
			       struct value_quiet *quiet)
{
	value_count_out(table, quiet->loads);
	memset(quiet, 0, sizeof(*quiet));
	table->quieted--;
}

bool value_table_forget(struct value_table *table, u32 owner, size_t *at,
			size_t limit)
{
	for (; *at < table->slot_count && limit; ++*at, limit--) {
		if (!table->used && !table->quieted)
			return true;
		if (table->slots[*at].owner == owner)
			value_evict(table, &table->slots[*at]);
		if (table->quiet[*at].owner == owner)
			value_forget_quiet(table, &table->quiet[*at]);
	}
	return *at == table->slot_count;
}
