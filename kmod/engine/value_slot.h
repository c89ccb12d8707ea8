/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A slot: what is known of the values of one load (Zilles, Sohi: A Programmable
 * Co-processor for Profiling, section 5.1.1).
 *
 * The paper's slot follows one value at a time, and estimates the others from
 * the share of executions that it spent on each (appendix A.6). This one
 * follows four, so that two values that take turns are both counted. It gives
 * bounds for each:
 *
 *	hits <= executions that gave the value <= hits + missed
 *
 * Consecutive executions that give the same value are a run. A run is counted
 * when it is over, so that loads that never change are cheap. If its value is
 * not followed yet, it replaces the weakest one: always if the run is longer
 * than that value's hits, else with a probability that grows with the run. This
 * is the informational replacement of section 5.1.2 and appendix A.3, for
 * values instead of loads. A value that comes often is soon followed, and keeps
 * its place against many that come once.
 *
 * If hardly any value of a load comes twice, the slot looks at a part of its
 * executions only (section 5.1.4: it is easy to be confident of highly variant
 * instructions). The others count as missed by all values. When values come
 * again, the slot looks at all executions.
 *
 * Runs also tell a load that changes rarely (the glacial values of section
 * 5.1.4). The difference between the values of two runs is a stride. Neither
 * runs nor strides span a gap.
 */
#ifndef HWPROF_ENGINE_VALUE_SLOT_H
#define HWPROF_ENGINE_VALUE_SLOT_H

#include "types.h"

enum {
	VALUE_KEPT = 4,		/* values that are followed */
};

struct value_count {
	u64 value;
	u32 hits;
	/*
	 * Executions whose value was not noted: from before the value was
	 * followed, or passed over.
	 */
	u32 missed;
};

/* Two cache lines. The second one is for loads whose value changes. */
struct value_slot {
	u64 ip;
	u64 last;	/* value of the last execution */
	/*
	 * The most frequent difference between the values of two runs; 0: none.
	 */
	u64 stride;
	u32 owner;	/* address space + 1; 0: the slot is free */
	u32 epoch;	/* of the table, at the last execution */
	u32 run;	/* length of the current run, not in loads yet */
	u32 loads;	/* executions; all counts below are of these */
	u32 unseen;	/* executions whose value was not looked at */
	u32 runs;
	u32 breaks;	/* runs for which the execution before is not known */
	u32 strides;	/* runs that began with the stride */
	u8 kept;	/* number of values that are followed */
	u8 width;	/* bytes that the load reads */
	u8 trust;	/* votes for the stride, less those against it */
	/* Values that came once, less VARIES_LESS for each that came again. */
	u8 varies;
	u16 skip;	/* executions to pass over, which are counted */
	/* How often some were passed over without a value that came again. */
	u8 passes;
	u8 reserved;
	struct value_count values[VALUE_KEPT];
};

/* Return the number of executions that no followed value has. */
static inline u32 value_slot_rest(const struct value_slot *slot)
{
	u32 rest = slot->loads - slot->unseen, i;

	for (i = 0; i < slot->kept; i++)
		rest -= slot->values[i].hits;
	return rest;
}

/**
 * value_slot_count() - Count the current run, and what is left to pass over
 * @slot: the slot.
 * @random: state of a random number generator.
 */
void value_slot_count(struct value_slot *slot, u64 *random);

/**
 * value_slot_turn() - Count an execution that begins a run
 * @slot: the slot.
 * @value: the value, which differs from the last one or comes after a gap.
 * @epoch: the table's epoch.
 * @random: state of a random number generator.
 */
void value_slot_turn(struct value_slot *slot, u64 value, u32 epoch,
		     u64 *random);

/**
 * value_slot_miss() - Count an execution whose value is not known
 * @slot: the slot; its next execution counts as one after a gap.
 * @epoch: the table's epoch.
 * @random: state of a random number generator.
 */
void value_slot_miss(struct value_slot *slot, u32 epoch, u64 *random);

/**
 * value_slot_merge() - Add the counts of another slot of the same load
 * @slot: the slot to add to.
 * @from: the slot to add.
 */
void value_slot_merge(struct value_slot *slot, const struct value_slot *from);

/**
 * value_slot_told() - Reset the counts, which a row has told
 * @slot: the slot; it goes on to follow its values.
 */
void value_slot_told(struct value_slot *slot);

/**
 * value_slot_is_known() - Ask whether the values of a load are known
 * @slot: the slot.
 *
 * Return: true if enough executions were seen to say which values the load
 *	gives (section 5.1.4): nearly always the same one, or hardly ever one
 *	twice.
 */
bool value_slot_is_known(const struct value_slot *slot);

#endif /* HWPROF_ENGINE_VALUE_SLOT_H */
