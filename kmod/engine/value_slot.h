/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * What is known of the values of one load: a slot (Zilles, Sohi: A Programmable
 * Co-processor for Profiling, section 5.1.1).
 *
 * The paper's slot follows one value at a time, and estimates the others from
 * the share of executions that it spent on each (appendix A.6). This one
 * follows four, so that two values that come by turns are both counted, and
 * says of each what may be missing:
 *
 *	hits <= executions that gave the value <= hits + missed
 *
 * Executions in a row that give the same value are a run. A run is counted
 * when it is over, which is what makes loads that never change cheap. Its
 * value replaces the weakest one that is followed if it is longer than that
 * ever was, and else by chance: the informational replacement of section 5.1.2
 * and appendix A.3, with values in place of loads. So a value that comes
 * often is soon followed, and keeps its place against many that come once.
 *
 * A load of which hardly any value comes twice is looked at in a part of its
 * executions only (section 5.1.4: it is easy to be confident of highly variant
 * instructions). The others count as missed by all values. As soon as values come
 * again, all of them are looked at.
 *
 * Runs also tell a load that changes rarely (the glacial values of section
 * 5.1.4), and what lies between two runs, a stride. Neither spans a gap.
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
	u32 missed;	/* executions whose value was not noted: before it was
			 * followed, and where they were passed over */
};

/* Two cache lines; the second is for those whose value changes. */
struct value_slot {
	u64 ip;
	u64 last;	/* value of the last execution */
	u64 stride;	/* between the values of runs, most of the time; 0: none */
	u32 owner;	/* address space + 1; 0: the slot is free */
	u32 epoch;	/* of the table, at the last execution */
	u32 run;	/* executions that gave `last`; not in `loads` yet */
	u32 loads;	/* executions: all counts are of these */
	u32 unseen;	/* of them, those whose value was not looked at */
	u32 runs;
	u32 breaks;	/* of runs: what was before is not known */
	u32 strides;	/* of runs: `stride` behind the one before */
	u8 kept;	/* values that are followed */
	u8 width;	/* bytes that were read */
	u8 trust;	/* in `stride`: votes for it, less those against it */
	u8 varies;	/* values that were not followed, less those that were */
	u16 skip;	/* executions to be passed over; counted already */
	u8 passes;	/* times that some were, with no value that came again */
	u8 reserved;
	struct value_count values[VALUE_KEPT];
};

/* Executions of which no value that is followed knows. */
static inline u32 value_slot_rest(const struct value_slot *slot)
{
	u32 rest = slot->loads - slot->unseen, i;

	for (i = 0; i < slot->kept; i++)
		rest -= slot->values[i].hits;
	return rest;
}

/* What is under way is over, and is counted. */
void value_slot_count(struct value_slot *slot, u64 *random);

/* An execution that gave another value than the last, or comes after a gap. */
void value_slot_turn(struct value_slot *slot, u64 value, u32 epoch, u64 *random);

/* One whose value is not known. The next one comes as after a gap. */
void value_slot_miss(struct value_slot *slot, u32 epoch, u64 *random);

/* Adds what @from has to what @slot, of the same load, has. */
void value_slot_merge(struct value_slot *slot, const struct value_slot *from);

/* Its counts were told of. What it follows goes on. */
void value_slot_told(struct value_slot *slot);

/*
 * Enough was seen to say which values it gives (section 5.1.4): nearly always
 * the same, or hardly ever one that comes again.
 */
bool value_slot_is_known(const struct value_slot *slot);

#endif /* HWPROF_ENGINE_VALUE_SLOT_H */
