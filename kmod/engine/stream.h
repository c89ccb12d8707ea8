/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The stream: a sequence of events that every source produces and every engine
 * consumes.
 *
 * The events of a task come in order. Only taken branches are events; the code
 * between two of them is a straight line. A gap is an event, too: code ran
 * unseen. Nothing can be concluded across a gap, so an engine must not take the
 * edge of a window for the end of a loop, a call or a path.
 *
 * If only some code is looked at, all branches from there are events. A branch
 * that leads there from elsewhere is an arrival. It keeps frames and entries
 * right, and counts for nothing.
 */
#ifndef HWPROF_ENGINE_STREAM_H
#define HWPROF_ENGINE_STREAM_H

#include "types.h"

/*
 * The values are those of enum hwprof_branch_kind, as branch.c asserts.
 * Comments name the fields of struct stream_event.
 */
enum stream_kind {
	STREAM_COND	 = 1,	/* conditional jump that was taken */
	STREAM_JUMP	 = 2,	/* direct jump */
	STREAM_INDIRECT	 = 3,	/* jump through a register or memory */
	STREAM_CALL	 = 4,
	STREAM_RET	 = 5,
	STREAM_SYSCALL	 = 6,	/* to: the next instruction executed */
	/* from: what runs after the handler; to: the handler */
	STREAM_SIGNAL	 = 7,
	STREAM_SIGRETURN = 8,	/* to: the next instruction executed */
	/* Code ran unseen and goes on at to, which is 0 if it is not known. */
	STREAM_GAP	 = 9,
	STREAM_LOAD	 = 10,	/* from: the instruction; to: the address */
	STREAM_STORE	 = 11,
	STREAM_SAMPLE	 = 12,	/* from: the instruction; value: the weight */
	/*
	 * A branch into what is looked at, from elsewhere; width: its kind.
	 * Everything since the last branch that led out was left out.
	 */
	STREAM_ARRIVAL	 = 13,
};

#define STREAM_MISPREDICTED	(1U << 0)
/* Branch: the CPU says whether it was mispredicted. */
#define STREAM_PREDICTED	(1U << 1)
/* Load or store: the value is not known. */
#define STREAM_NO_VALUE		(1U << 1)
/* Branch: value is the stack pointer. */
#define STREAM_STACK		(1U << 2)

/**
 * struct stream_event - One event of the stream
 * @from: address of the branch, load, store or sampled instruction.
 * @to: branch: where control went. Load or store: the address accessed.
 * @value: load or store: the data, zero-extended; the first 8 bytes of larger
 *	operands. Sample: its weight. Branch with STREAM_STACK: the stack
 *	pointer behind it, or for a signal where the signal interrupted the
 *	program.
 * @space: address space; 0: the kernel.
 * @kind: enum stream_kind.
 * @flags: STREAM_MISPREDICTED and so on.
 * @cycles: Branch: cycles since the branch before; 0: not known.
 * @class: Load or store: enum hwprof_opcode_class of the instruction.
 * @width: load or store: size in bytes. Arrival: enum stream_kind of the
 *	branch; a jump may have from 0, if control fell to @to.
 */
struct stream_event {
	u64 from;
	u64 to;
	u64 value;
	u32 space;
	u16 kind;
	u16 flags;
	union {
		u32 cycles;
		u32 class;
	};
	u32 width;
};

/**
 * struct stream_stack - The chain of calls that a sample found a task in
 * @sites: call sites, innermost first.
 * @procedures: the procedures that the sites are in. Only feed_stack() reads
 *	them.
 * @procedure: the procedure that runs; 0: not known.
 * @weight: events of the trigger that the sample stands for.
 * @metrics: counts of the event's group for this sample, engine_params.metrics
 *	of them; NULL: not known.
 * @depth: number of calls.
 * @used: how many of the innermost calls are trusted. Only feed_stack() reads
 *	it.
 * @space: address space; 0: the kernel.
 *
 * A call site is an address in the call instruction or directly behind it. A
 * source always uses the same of the two. A source that does not know where
 * procedures begin names a procedure by an address in it: that of its next
 * call, or where it runs. Such a procedure can have several names, which a
 * reader of the rows merges.
 */
struct stream_stack {
	const u64 *sites;
	const u64 *procedures;
	u64 procedure;
	u64 weight;
	const u64 *metrics;
	u32 depth;
	u32 used;
	u32 space;
};

/* Return true for a branch that stays in its procedure's frame. */
static inline bool stream_is_jump(unsigned int kind)
{
	return kind - STREAM_COND <= STREAM_INDIRECT - STREAM_COND;
}

/*
 * Return true for a jump, a call or a return: one instruction led to the next
 * without the kernel.
 */
static inline bool stream_is_branch(unsigned int kind)
{
	return kind - STREAM_COND <= STREAM_RET - STREAM_COND;
}

static inline bool stream_is_access(unsigned int kind)
{
	return kind - STREAM_LOAD <= STREAM_STORE - STREAM_LOAD;
}

/* Return true if the event carries everything that the access moved. */
static inline bool stream_has_value(const struct stream_event *event)
{
	return event->width <= sizeof(event->value) &&
	       !(event->flags & STREAM_NO_VALUE);
}

/*
 * Return true for a back edge, the unit of hwprof/loops/: a jump to its own
 * address or to a lower one, at most @span bytes away. DAProf, section 3, calls
 * it a "short backwards branch"; @span is a parameter of the event.
 */
static inline bool stream_is_back_edge(const struct stream_event *event,
				       u64 span)
{
	return stream_is_jump(event->kind) && event->to &&
	       event->to <= event->from && event->from - event->to <= span;
}

#endif /* HWPROF_ENGINE_STREAM_H */
