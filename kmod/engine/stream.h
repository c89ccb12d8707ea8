/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The stream: what every source makes and every engine is fed with.
 *
 * Events of one task come in order. Only taken branches are events: what lies
 * between two of them is a straight line. A gap is data: what is on its two
 * sides says nothing about what was between them, so no engine may take the
 * edge of a window for the end of a loop, a call or a path.
 */
#ifndef HWPROF_ENGINE_STREAM_H
#define HWPROF_ENGINE_STREAM_H

#include "types.h"

/* Values are those of enum hwprof_branch_kind, as branch.c asserts. */
enum stream_kind {
	STREAM_COND	 = 1,	/* conditional jump, taken */
	STREAM_JUMP	 = 2,	/* direct jump */
	STREAM_INDIRECT	 = 3,	/* jump through a register or memory */
	STREAM_CALL	 = 4,
	STREAM_RET	 = 5,
	STREAM_SYSCALL	 = 6,	/* `to`: the next instruction executed */
	STREAM_SIGNAL	 = 7,	/* `from`: what runs after the handler; `to`: the handler */
	STREAM_SIGRETURN = 8,	/* `to`: the next instruction executed */
	STREAM_GAP	 = 9,	/* unseen code ran; it goes on at `to` (0: unknown) */
	STREAM_LOAD	 = 10,	/* from: the instruction, to: the address */
	STREAM_STORE	 = 11,
	STREAM_SAMPLE	 = 12,	/* from: the instruction, value: the weight */
};

#define STREAM_MISPREDICTED	(1U << 0)
#define STREAM_PREDICTED	(1U << 1)	/* a branch, and it is known */
#define STREAM_NO_VALUE		(1U << 1)	/* of a load or store: not known */
#define STREAM_STACK		(1U << 2)	/* of a branch: it has a value */

struct stream_event {
	u64 from;	/* address of the branch, load or store */
	u64 to;		/* branch: where control went; load, store: the address */
	u64 value;	/* load, store: what was moved, zero-extended, of more
			 * than 8 bytes the first 8; sample: its weight;
			 * branch with STREAM_STACK: the stack pointer behind
			 * it, signal: where it was interrupted */
	u32 space;	/* address space; 0 is the kernel's */
	u16 kind;	/* enum stream_kind */
	u16 flags;	/* STREAM_MISPREDICTED and so on */
	u32 cycles;	/* since the branch before; 0: unknown */
	u32 width;	/* load, store: bytes */
};

/*
 * The calls that a sample found a task in. Call sites are addresses in the call
 * instruction, or those behind it, as the source has them, but always the same.
 * A source that does not know where procedures begin names them by an address in
 * each: what makes the next call, or runs. Then a procedure can have several
 * names, and whoever reads the rows makes one of them.
 */
struct stream_stack {
	const u64 *sites;	/* of the calls, the innermost first */
	const u64 *procedures;	/* that the sites are in; feed_stack() alone
				 * looks at them */
	u64 procedure;		/* that runs. 0: not known */
	u64 weight;
	const u64 *metrics;	/* engine_params.metrics of them, that the sample
				 * has besides; NULL: not known */
	u32 depth;		/* calls */
	u32 used;		/* of these, the innermost that are believed;
				 * feed_stack() alone looks at it */
	u32 space;		/* address space; 0 is the kernel's */
};

/* A branch that stays in its procedure's frame. */
static inline bool stream_is_jump(unsigned int kind)
{
	return kind - STREAM_COND <= STREAM_INDIRECT - STREAM_COND;
}

/* A jump, a call or a return: one instruction leads to the next by itself. */
static inline bool stream_is_branch(unsigned int kind)
{
	return kind - STREAM_COND <= STREAM_RET - STREAM_COND;
}

static inline bool stream_is_access(unsigned int kind)
{
	return kind - STREAM_LOAD <= STREAM_STORE - STREAM_LOAD;
}

/* A load or store of which all is known that was moved. */
static inline bool stream_has_value(const struct stream_event *event)
{
	return event->width <= sizeof(event->value) &&
	       !(event->flags & STREAM_NO_VALUE);
}

/*
 * A back edge, the unit of hwprof/loops/: a jump to its own address or to one
 * before it, at most `span` bytes away (DAProf, section 3: "short backwards
 * branch"; the span is ours to choose).
 */
static inline bool stream_is_back_edge(const struct stream_event *event,
				       u64 span)
{
	return stream_is_jump(event->kind) && event->to &&
	       event->to <= event->from && event->from - event->to <= span;
}

#endif /* HWPROF_ENGINE_STREAM_H */
