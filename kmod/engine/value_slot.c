// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "value_slot.h"

enum {
	TRUST_MOST	= 15,	/* votes for a stride */
	/*
	 * Executions are passed over when value_slot.varies reaches the first
	 * number. A value that came again subtracts the second one. The third
	 * one is what varies is afterwards.
	 */
	VARIES_MOST	= 128,
	VARIES_LESS	= 5,
	VARIES_AFTER	= 124,
	PASS_LEAST	= 8,	/* executions passed over at first */
	PASS_DOUBLED	= 3,	/* how often that number is doubled */
	KNOWN_LEAST	= 64,	/* executions before a load may be known */
	KNOWN_PART	= 32,	/* one of so many may deviate */
};

static u32 value_random_below(u64 *random, u32 limit)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*random >> 32) * limit >> 32;
}

/*
 * Return the number of a followed value; VALUE_KEPT if it is not followed.
 * There is no branch here, because it could not be predicted.
 */
static u32 value_slot_find(const struct value_slot *slot, u64 value)
{
	u32 found = VALUE_KEPT, i;

	for (i = VALUE_KEPT; i--;)
		found = slot->values[i].value == value ? i : found;
	return found < slot->kept ? found : VALUE_KEPT;
}

static u32 value_weakest(const struct value_slot *slot)
{
	u32 least = 0, i;

	for (i = 1; i < VALUE_KEPT; i++)
		if (slot->values[i].hits < slot->values[least].hits)
			least = i;
	return least;
}

/* Follow the value of the current run, if it gets a place. */
static void value_follow(struct value_slot *slot, u64 *random)
{
	u32 i = slot->kept;

	if (i < VALUE_KEPT) {
		slot->kept++;
	} else {
		i = value_weakest(slot);
		if (value_random_below(random, slot->values[i].hits + 1) >=
		    slot->run)
			return;
	}
	slot->values[i] = (struct value_count){ .value = slot->last };
	slot->values[i].missed = value_slot_rest(slot);
	slot->values[i].hits = slot->run;
}

/* Pass over executions, each of which could have given any value. */
static void value_slot_pass_over(struct value_slot *slot, u32 executions)
{
	u32 i;

	slot->skip += executions;
	slot->loads += executions;
	slot->runs += executions;
	slot->breaks += executions;
	for (i = 0; i < slot->kept; i++)
		slot->values[i].missed += executions;
}

static void value_slot_count_run(struct value_slot *slot, u64 *random)
{
	u32 i = value_slot_find(slot, slot->last);

	if (i < VALUE_KEPT)
		slot->values[i].hits += slot->run;
	else
		value_follow(slot, random);
	if (i == VALUE_KEPT && slot->run == 1) {
		slot->varies++;
	} else {
		slot->varies -= min(slot->varies, (u8)VARIES_LESS);
		slot->passes = 0;
	}
	slot->loads += slot->run;
	slot->run = 0;
}

void value_slot_count(struct value_slot *slot, u64 *random)
{
	if (slot->run)
		value_slot_count_run(slot, random);
	value_slot_pass_over(slot, -slot->skip);
}

/*
 * Boyer and Moore's majority vote: it finds a stride that is in the majority,
 * whatever comes in between.
 */
static void value_vote(struct value_slot *slot, u64 stride)
{
	if (stride == slot->stride) {
		slot->strides++;
		slot->trust += slot->trust < TRUST_MOST;
	} else if (slot->trust) {
		slot->trust--;
	} else {
		slot->stride = stride;
		slot->strides = 1;
		slot->trust = 1;
	}
}

/*
 * Values that did not come again for long will not for some time. Pass over
 * some executions.
 */
static void value_slot_pass_some_over(struct value_slot *slot, u64 *random)
{
	u32 most = PASS_LEAST << slot->passes;

	slot->passes += slot->passes < PASS_DOUBLED;
	slot->varies = VARIES_AFTER;
	value_slot_pass_over(slot, most / 2 + value_random_below(random, most));
}

void value_slot_turn(struct value_slot *slot, u64 value, u32 epoch, u64 *random)
{
	if (slot->run)
		value_slot_count_run(slot, random);
	if (slot->epoch == epoch && slot->runs)
		value_vote(slot, value - slot->last);
	else
		slot->breaks++;
	slot->epoch = epoch;
	slot->last = value;
	slot->runs++;
	slot->run = 1;
	if (likely(slot->varies < VARIES_MOST))
		return;
	value_slot_count_run(slot, random);
	slot->epoch = ~epoch;
	if (slot->varies >= VARIES_MOST)
		value_slot_pass_some_over(slot, random);
}

void value_slot_miss(struct value_slot *slot, u32 epoch, u64 *random)
{
	value_slot_count(slot, random);
	slot->epoch = ~epoch;
	slot->loads++;
	slot->unseen++;
}

/* --- merging -------------------------------------------------------------- */

/*
 * Insert a value, strongest first. Of equal ones, those that are there come
 * first.
 */
static void value_insert(struct value_count *values, u32 *count,
			 const struct value_count *value)
{
	u32 i = min(*count, (u32)VALUE_KEPT);

	for (; i && values[i - 1].hits < value->hits; i--)
		if (i < VALUE_KEPT)
			values[i] = values[i - 1];
	if (i < VALUE_KEPT) {
		values[i] = *value;
		*count += *count < VALUE_KEPT;
	}
}

/*
 * If only one slot follows a value, all executions that the other one knows no
 * value of may have given it.
 */
static void value_slot_merge_values(struct value_slot *slot,
				    const struct value_slot *from)
{
	struct value_count merged[VALUE_KEPT], value;
	u32 rest = value_slot_rest(slot), from_rest = value_slot_rest(from);
	u32 count = 0, i, k;

	for (i = 0; i < slot->kept; i++) {
		value = slot->values[i];
		k = value_slot_find(from, value.value);
		value.hits += k < VALUE_KEPT ? from->values[k].hits : 0;
		value.missed += k < VALUE_KEPT ? from->values[k].missed :
						 from_rest;
		value_insert(merged, &count, &value);
	}
	for (i = 0; i < from->kept; i++) {
		value = from->values[i];
		if (value_slot_find(slot, value.value) < VALUE_KEPT)
			continue;
		value.missed += rest;
		value_insert(merged, &count, &value);
	}
	memcpy(slot->values, merged, count * sizeof(*merged));
	slot->kept = count;
}

static void value_slot_merge_strides(struct value_slot *slot,
				     const struct value_slot *from)
{
	if (slot->stride == from->stride) {
		slot->strides += from->strides;
	} else if (slot->strides < from->strides) {
		slot->stride = from->stride;
		slot->strides = from->strides;
	}
}

void value_slot_merge(struct value_slot *slot, const struct value_slot *from)
{
	value_slot_merge_values(slot, from);
	value_slot_merge_strides(slot, from);
	slot->loads += from->loads;
	slot->unseen += from->unseen;
	slot->runs += from->runs;
	slot->breaks += from->breaks;
	slot->width = max(slot->width, from->width);
}

void value_slot_told(struct value_slot *slot)
{
	u32 i;

	for (i = 0; i < slot->kept; i++)
		slot->values[i].hits = slot->values[i].missed = 0;
	slot->loads = slot->unseen = 0;
	slot->runs = slot->breaks = slot->strides = 0;
}

bool value_slot_is_known(const struct value_slot *slot)
{
	u32 seen = slot->loads - slot->unseen, most = 0, i;

	for (i = 0; i < slot->kept; i++)
		most = max(most, slot->values[i].hits);
	return seen >= KNOWN_LEAST && (seen - most <= seen / KNOWN_PART ||
				       most <= seen / KNOWN_PART);
}
