// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "value_table.h"

enum {
	FAILED_PART	= 4,	/* of so many slots, one failed: crowded */
	THRASH		= 4,	/* slots replaced, times all: it thrashes, */
	THRASH_FAST	= 16,	/* and much, if in loads less than so many times */
	PART_BITS	= 6,	/* parts, at most, in bits */
	SLOTS_MOST	= 1 << 24,
	ADVANCE_LEAST	= 16,	/* executions more than twice another's */
	PART_SHIFT	= 16,	/* of the hash, for the part */
	ROUND		= 64,	/* loads of one turn, times the slots */
	LOOK		= 1 << 10,	/* loads in a row whose quiet are looked at */
	LOADS_MOST	= 1 << 30,	/* of all slots, or of one in a profile */
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

/* --- feeding ----------------------------------------------------------------- */

static void count_out(struct value_table *table, u64 loads)
{
	table->pending -= loads;
	table->evicted += loads;
}

/* The slot loses its load, and what is known of it. */
static void evict(struct value_table *table, struct value_slot *slot)
{
	count_out(table, slot->loads + slot->run - slot->skip);
	memset(slot, 0, sizeof(*slot));
	table->used--;
}

static u32 random_below_16(struct value_table *table)
{
	table->random = table->random * 6364136223846793005ULL + 1;
	return table->random >> 60;
}

/* What is found there has been found out for nothing. */
static void divide(struct value_table *table)
{
	u32 parts = table->pending + table->evicted <
		    (u64)THRASH_FAST * table->slot_count ? 4 : 2;

	table->replaced = 0;
	table->crowded = true;
	table->mask = table->mask * parts + parts - 1;
	table->mask &= (1U << PART_BITS) - 1;
	table->match &= table->mask;
}

/* The slot that a load gets for want of a free one; NULL: none. */
static struct value_slot *replace(struct value_table *table, u64 hash)
{
	struct value_slot *slot = value_way(table, hash,
					    table->hand++ % VALUE_WAYS);

	if (slot->loads + slot->run >= random_below_16(table)) {
		if (++table->failed >= table->slot_count / FAILED_PART)
			table->crowded = true;
		return NULL;
	}
	table->failed -= table->failed > 0;
	evict(table, slot);
	if (++table->replaced >= THRASH * table->slot_count)
		divide(table);
	return slot;
}

/* The load's slot or, if it has none, the first free one it may have; or NULL. */
static struct value_slot *find(const struct value_table *table, u64 hash,
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

static void set_owner(struct value_table *table, struct value_slot *slot,
		      u64 ip, u32 owner)
{
	slot->ip = ip;
	slot->owner = owner;
	table->used++;
}

/* The slot that an execution is counted in. NULL: it was counted out. */
static struct value_slot *slot_for(struct value_table *table, u64 hash, u64 ip,
				   u32 owner)
{
	struct value_slot *slot = find(table, hash, ip, owner);

	if (unlikely(!slot))
		slot = replace(table, hash);
	/* Counts are of 32 bits; nobody has merged for very long. */
	if (unlikely(table->pending > LOADS_MOST)) {
		table->crowded = true;
		slot = NULL;
	}
	if (unlikely(!slot))
		count_out(table, 1);
	else if (!slot->owner)
		set_owner(table, slot, ip, owner);
	return slot;
}

/*
 * A load that is executed more often than the one in its first slot changes
 * places with it: all of one's slots are the other one's, too.
 */
static struct value_slot *advance(const struct value_table *table, u64 hash,
				  struct value_slot *slot)
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
	struct value_slot *slot = slot_for(table, hash, ip, owner);

	if (unlikely(!slot))
		return;
	slot = advance(table, hash, slot);
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
	slot = slot_for(table, hash, ip, owner);
	if (slot)
		value_slot_miss(slot, table->epoch, &table->random);
}

static struct value_quiet *quiet_of(const struct value_table *table, u64 hash)
{
	return &table->quiet[value_home(table, hash)];
}

static bool is_quiet(const struct value_quiet *quiet, u64 ip, u32 owner)
{
	return quiet->ip == ip && quiet->owner == owner;
}

/*
 * Time passes for loads that are divided: it is the next part's turn some day, and
 * quiet ones are looked at by chance, since parts take turns in a rhythm of theirs.
 */
static void pass(struct value_table *table)
{
	if (table->round)
		table->round--;
	else
		table->crowded = true;
	if (!(++table->clock % LOOK))
		table->looks = !random_below_16(table);
}

bool value_table_filters(struct value_table *table, u64 hash, u64 ip, u32 owner)
{
	struct value_quiet *quiet = quiet_of(table, hash);

	pass(table);
	if (((u32)(hash >> PART_SHIFT) & table->mask) != table->match) {
		count_out(table, 1);
		return true;
	}
	if (!is_quiet(quiet, ip, owner) || table->looks ||
	    table->pending > LOADS_MOST)
		return false;
	quiet->loads++;
	return true;
}

/* --- from a table into a profile ---------------------------------------------- */

/* A slot for a load of which @loads are to be told; NULL: it is the weakest. */
static struct value_slot *place(struct value_table *profile, u64 ip, u32 owner,
				u32 loads)
{
	u64 hash = value_hash(profile, ip, owner);
	struct value_slot *slot = find(profile, hash, ip, owner);
	u32 way;

	if (!slot) {
		slot = value_way(profile, hash, 0);
		for (way = 1; way < VALUE_WAYS; way++)
			if (value_way(profile, hash, way)->loads < slot->loads)
				slot = value_way(profile, hash, way);
		if (slot->loads >= loads)
			return NULL;
		evict(profile, slot);
	}
	if (!slot->owner)
		set_owner(profile, slot, ip, owner);
	return slot->loads > LOADS_MOST ? NULL : slot;
}

static void add(struct value_table *profile, const struct value_slot *from)
{
	struct value_slot *slot = place(profile, from->ip, from->owner,
					from->loads);

	if (!slot) {
		profile->evicted += from->loads;
		return;
	}
	value_slot_merge(slot, from);
	profile->pending += from->loads;
}

/* From now on, or not any more. */
static void set_quiet(struct value_table *table, const struct value_slot *slot)
{
	u64 hash = value_hash(table, slot->ip, slot->owner);
	struct value_quiet *quiet = quiet_of(table, hash);
	bool is = is_quiet(quiet, slot->ip, slot->owner);
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

static void take_slot(struct value_table *profile, struct value_table *table,
		      struct value_slot *slot)
{
	if (!slot->owner)
		return;
	value_slot_count(slot, &table->random);
	add(profile, slot);
	set_quiet(table, slot);
	table->pending -= slot->loads;
	memset(slot, 0, sizeof(*slot));
}

/* It stays quiet as long as it is seen. */
static void take_quiet(struct value_table *profile, struct value_table *table,
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
	add(profile, &slot);
	table->pending -= quiet->loads;
	quiet->loads = 0;
}

void value_table_take(struct value_table *profile, struct value_table *table,
		      u32 number)
{
	if (number < table->slot_count)
		take_slot(profile, table, &table->slots[number]);
	else
		take_quiet(profile, table,
			   &table->quiet[number - table->slot_count]);
}

/* Parts of which few loads were seen are larger than they need be. */
static void next_part(struct value_table *table)
{
	if (table->used < table->slot_count / 4)
		table->mask >>= 1;
	table->match = (table->match + 1) & table->mask;
	table->round = ROUND * table->slot_count;
}

void value_table_taken(struct value_table *table)
{
	if (table->mask)
		next_part(table);
	table->used = 0;
	table->stamp = 0;
	table->failed = 0;
	table->replaced = 0;
	table->merged = 0;
	table->crowded = false;
}

void value_table_forget(struct value_table *table, u32 owner)
{
	u32 i;

	for (i = 0; table->used && i < table->slot_count; i++)
		if (table->slots[i].owner == owner)
			evict(table, &table->slots[i]);
	for (i = 0; table->quieted && i < table->slot_count; i++) {
		struct value_quiet *quiet = &table->quiet[i];

		if (quiet->owner != owner)
			continue;
		count_out(table, quiet->loads);
		memset(quiet, 0, sizeof(*quiet));
		table->quieted--;
	}
}
