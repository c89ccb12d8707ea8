/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A hardware branch stack as a window of the stream: what ran before it and
 * behind it was not seen.
 *
 * One privilege level's side of it is walked at a time. Of the branches on the
 * other side is known only that control was away.
 */
#ifndef HWPROF_ENGINE_WINDOW_H
#define HWPROF_ENGINE_WINDOW_H

#include "stream.h"

/* struct perf_branch_entry, of which it has the layout in memory. */
struct window_branch {
	u64 from;
	u64 to;
	u64 flags;
};

/* Fields of flags: as in <linux/perf_event.h>, little-endian. */
enum {
	WINDOW_MISPREDICTED	= STREAM_MISPREDICTED,
	WINDOW_PREDICTED	= STREAM_PREDICTED,
	WINDOW_PREDICTION	= WINDOW_MISPREDICTED | WINDOW_PREDICTED,
	WINDOW_ABORT		= 1 << 3,	/* of a transaction */
	WINDOW_CYCLES_SHIFT	= 4,
	WINDOW_CYCLES_MASK	= 0xffff,
	WINDOW_TYPE_SHIFT	= 20,
	WINDOW_TYPE_MASK	= 0xf,
	WINDOW_SPEC_MASK	= 3 << 24,
	WINDOW_SPEC_WRONG_PATH	= 1 << 24,
};

enum {
	WINDOW_LINE_MAX	= 1 << 20,	/* bytes; no code is straight so far */
};

struct window {
	const struct window_branch *newest;
	const struct window_branch *next;	/* looked at before this one */
	const u8 *kind;		/* likewise, of enum stream_kind */
	u64 side;		/* bit 63 of our addresses */
	u64 position;		/* control is there or behind it, ... */
	bool inside;		/* ... on our side */
	bool begun;		/* the oldest branch was passed */
	u32 broken;		/* so far: branches that cannot be as they are
				 * recorded, or do not follow from the last */
	u32 times;		/* how often it was seen; 1, unless one who
				 * counted it says so */
	u64 left;		/* where control left our side; 0: unknown */
	struct stream_event event;	/* the last one */
};

/*
 * @branches: @count of them, newest first, and the @kinds that they are of; 0:
 * not known, so that a gap is all that follows from it.
 * @space: of events; 0: the kernel's side is walked.
 */
void window_begin(struct window *window, const struct window_branch *branches,
		  const u8 *kinds, u32 count, u32 space);

/* The kind that the recorder gave the branch with @flags; 0: it gave none. */
extern const u8 window_kinds[WINDOW_TYPE_MASK + 1];

static inline u8 window_kind(u64 flags)
{
	return window_kinds[flags >> WINDOW_TYPE_SHIFT & WINDOW_TYPE_MASK];
}

static inline bool window_in_kernel(u64 address)
{
	return address >> 63;
}

/* Then it was not executed, and what is around it belongs together. */
static inline bool window_on_wrong_path(const struct window_branch *branch)
{
	return (branch->flags & WINDOW_SPEC_MASK) == WINDOW_SPEC_WRONG_PATH;
}

/*
 * Then it cannot follow itself: no line leads from its target to it. Of one from
 * the other side it cannot be said: what led there may have been filtered.
 */
static inline bool window_never_twice(const struct window_branch *branch)
{
	return branch->to > branch->from &&
	       window_in_kernel(branch->from) == window_in_kernel(branch->to);
}

/*
 * Intel's Skylake and its derivatives at times record the newest branch twice
 * (an erratum); flags, such as its cycles, may differ. Returns how many of the
 * newest of @count @branches are such copies: 0 or 1. A loop of one branch that
 * leads back has equal records, too; it is taken for one where the branch follows
 * itself anywhere else in the window.
 */
u32 window_copies(const struct window_branch *branches, u32 count);

/* Is @branch on the walked side, and does it end the line at @position there? */
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

/* The same for the window's line, if there is one. */
static __always_inline bool window_follows(const struct window *window,
					   const struct window_branch *branch)
{
	return window->inside &&
	       window_ends_line(branch, window->side, window->position);
}

/* Any other branch. False: there is no event of it. */
bool window_turn(struct window *window, const struct window_branch *branch);

static __always_inline u32 window_cycles(const struct window_branch *branch)
{
	return branch->flags >> WINDOW_CYCLES_SHIFT & WINDOW_CYCLES_MASK;
}

/* The event of a branch that follows from the line, of that kind. */
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

/* The event of a branch of that kind. False: there is none. */
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
 * The next event, oldest first. The first one is a gap, and it leads to where
 * the oldest branch led: that branch is no event, because the line before it
 * was not seen (with it, there would be a branch more than lines, and trip
 * counts would come out too high). NULL: there is none.
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
