/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A hardware branch stack as a window of the stream. The code before and behind
 * it ran unseen.
 *
 * A walk over a window follows one privilege level, the window's side. Branches
 * of the other side only say that control was away.
 */
#ifndef HWPROF_ENGINE_WINDOW_H
#define HWPROF_ENGINE_WINDOW_H

#include "stream.h"

/* The layout of struct perf_branch_entry. */
struct window_branch {
	u64 from;
	u64 to;
	u64 flags;
};

/*
 * Bits of window_branch.flags: the bit fields of struct perf_branch_entry on a
 * little-endian machine.
 */
enum {
	WINDOW_MISPREDICTED	= STREAM_MISPREDICTED,
	WINDOW_PREDICTED	= STREAM_PREDICTED,
	WINDOW_PREDICTION	= WINDOW_MISPREDICTED | WINDOW_PREDICTED,
	WINDOW_ABORT		= 1 << 3,	/* a transaction was aborted */
	WINDOW_CYCLES_SHIFT	= 4,
	WINDOW_CYCLES_MASK	= 0xffff,
	WINDOW_TYPE_SHIFT	= 20,
	WINDOW_TYPE_MASK	= 0xf,
	/* PERF_BR_* of what enters and leaves the kernel, or its handlers */
	WINDOW_TYPE_SYSCALL	= 7,
	WINDOW_TYPE_SYSRET	= 8,
	WINDOW_TYPE_ERET	= 11,
	WINDOW_TYPE_IRQ		= 12,
	WINDOW_TYPE_SERROR	= 13,
	/* The type is in another field, and one of a fault or of a debugger. */
	WINDOW_TYPE_MORE	= 15,
	WINDOW_SPEC_MASK	= 3 << 24,
	WINDOW_SPEC_WRONG_PATH	= 1 << 24,
};

enum {
	/* Bytes. No code runs straight for longer. */
	WINDOW_LINE_MAX	= 1 << 20,
};

struct window {
	const struct window_branch *newest;
	/*
	 * The branch walked last; the walk goes on with the one before it in
	 * memory, which is newer.
	 */
	const struct window_branch *next;
	/* The same place in the array of kinds, enum stream_kind. */
	const u8 *kind;
	u64 side;		/* bit 63 of the addresses of our side */
	/* Control is at this address or behind it, ... */
	u64 position;
	bool inside;		/* ... and on our side */
	bool begun;		/* the oldest branch was walked */
	/*
	 * Branches so far that cannot be as they are recorded, or that do not
	 * follow from the branch before them.
	 */
	u32 broken;
	/*
	 * How often the window was seen: 1, unless a caller that counted equal
	 * windows says otherwise.
	 */
	u32 times;
	u64 left;		/* where control left our side; 0: unknown */
	struct stream_event event;	/* the last event */
};

/**
 * window_begin() - Begin a walk over a branch stack
 * @window: the walk.
 * @branches: the branches, newest first.
 * @kinds: enum stream_kind of each; 0: not known, and only a gap follows from
 *	it.
 * @count: number of branches.
 * @space: address space of the events; 0: walk the kernel's side.
 */
void window_begin(struct window *window, const struct window_branch *branches,
		  const u8 *kinds, u32 count, u32 space);

/* Kind by the type that the hardware recorded; 0: it recorded none. */
extern const u8 window_kinds[WINDOW_TYPE_MASK + 1];

static inline unsigned int window_type(u64 flags)
{
	return flags >> WINDOW_TYPE_SHIFT & WINDOW_TYPE_MASK;
}

static inline u8 window_kind(u64 flags)
{
	return window_kinds[window_type(flags)];
}

/*
 * Return true if the hardware recorded an exception, or the return from one: no
 * instruction of the line jumped. One of the addresses is 0 where the record
 * does not cover its privilege level.
 */
static inline bool window_is_exception(u64 flags)
{
	const unsigned int exceptions =
		1U << WINDOW_TYPE_SYSCALL | 1U << WINDOW_TYPE_SYSRET |
		1U << WINDOW_TYPE_ERET | 1U << WINDOW_TYPE_IRQ |
		1U << WINDOW_TYPE_SERROR | 1U << WINDOW_TYPE_MORE;

	return exceptions >> window_type(flags) & 1;
}

/**
 * window_recorded_kinds() - kinds of branches as the hardware recorded them.
 * @kinds: where to write enum stream_kind of each; 0: none was recorded, or it
 *	is an exception.
 * @branches: the branches.
 * @count: number of branches.
 */
void window_recorded_kinds(u8 *kinds, const struct window_branch *branches,
			   u32 count);

static inline bool window_in_kernel(u64 address)
{
	return address >> 63;
}

/*
 * Return true if the branch was speculated and not executed. The lines around
 * it are one.
 */
static inline bool window_on_wrong_path(const struct window_branch *branch)
{
	return (branch->flags & WINDOW_SPEC_MASK) == WINDOW_SPEC_WRONG_PATH;
}

/*
 * Return true if the branch cannot have been as it is recorded: an address is
 * missing for no reason, or a transaction was aborted.
 */
static inline bool window_is_dead(const struct window_branch *branch)
{
	if (branch->flags & WINDOW_ABORT || (!branch->from && !branch->to))
		return true;
	return (!branch->from || !branch->to) &&
	       !window_is_exception(branch->flags);
}

/*
 * Return true if the branch cannot follow itself, because no line leads from
 * its target back to it. A branch from the other side may: what led there may
 * have been filtered out.
 */
static inline bool window_never_twice(const struct window_branch *branch)
{
	return branch->to > branch->from &&
	       window_in_kernel(branch->from) == window_in_kernel(branch->to);
}

/**
 * window_copies() - Count false copies of the newest branch
 * @branches: a branch stack, newest first.
 * @count: number of branches.
 *
 * Intel's Skylake and its derivatives sometimes record the newest branch twice
 * (an erratum). Flags of the two, such as cycles, may differ. A loop of one
 * branch also has equal records; a branch that follows itself elsewhere in the
 * window is taken for one.
 *
 * Return: how many of the newest branches are such copies, 0 or 1.
 */
u32 window_copies(const struct window_branch *branches, u32 count);

/*
 * Return true if @branch is on the walked side and ends the line at @position.
 */
static __always_inline bool
window_ends_line(const struct window_branch *branch, u64 side, u64 position)
{
	u64 from = branch->from, to = branch->to;

	return to && from - position <= WINDOW_LINE_MAX &&
	       !(((from ^ side) | (to ^ side)) >> 63) &&
	       (likely(!(branch->flags & (WINDOW_ABORT | WINDOW_SPEC_MASK))) ||
		(!(branch->flags & WINDOW_ABORT) &&
		 !window_on_wrong_path(branch)));
}

/* Return true if @branch ends the window's line in flight. */
static __always_inline bool window_follows(const struct window *window,
					   const struct window_branch *branch)
{
	return window->inside &&
	       window_ends_line(branch, window->side, window->position);
}

/**
 * window_turn() - Walk a branch that does not end the line in flight
 * @window: the walk.
 * @branch: the branch.
 *
 * Return: true if window->event is an event of it, false if it has none.
 */
bool window_turn(struct window *window, const struct window_branch *branch);

static __always_inline u32 window_cycles(const struct window_branch *branch)
{
	return branch->flags >> WINDOW_CYCLES_SHIFT & WINDOW_CYCLES_MASK;
}

/* Make the event of a branch that ends the line in flight. */
static __always_inline const struct stream_event *
window_event(struct window *window, const struct window_branch *branch, u8 kind)
{
	struct stream_event *event = &window->event;

	event->from = branch->from;
	event->to = branch->to;
	event->kind = kind;
	event->flags = branch->flags & WINDOW_PREDICTION;
	event->cycles = window_cycles(branch);
	return event;
}

/*
 * Walk one branch of kind @kind. Return true if window->event is its event,
 * false if it has none.
 */
static __always_inline bool window_take(struct window *window,
					 const struct window_branch *branch,
					 u8 kind)
{
	if (unlikely(!kind || !window_follows(window, branch)))
		return window_turn(window, branch);
	window->position = branch->to;
	window_event(window, branch, kind);
	return true;
}

/*
 * Return the next event, oldest first; NULL at the end.
 *
 * The first event is a gap, which leads to the target of the oldest branch.
 * The oldest branch is no event, because the line before it was not seen. With
 * it there would be more branches than lines, and trip counts would come out
 * too high.
 */
static __always_inline const struct stream_event *
window_next(struct window *window)
{
	while (window->next != window->newest) {
		const struct window_branch *branch = --window->next;
		u8 kind = *--window->kind;

		if (window_take(window, branch, kind))
			return &window->event;
	}
	return NULL;
}

#endif /* HWPROF_ENGINE_WINDOW_H */
