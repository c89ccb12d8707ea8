/* SPDX-License-Identifier: GPL-2.0-only */
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
	WINDOW_MISPREDICTED	= 1 << 0,
	WINDOW_ABORT		= 1 << 3,	/* of a transaction */
	WINDOW_CYCLES_SHIFT	= 4,
	WINDOW_CYCLES_MASK	= 0xffff,
	WINDOW_TYPE_SHIFT	= 20,
	WINDOW_TYPE_MASK	= 0xf,
	WINDOW_SPEC_SHIFT	= 24,
	WINDOW_SPEC_MASK	= 3,
	WINDOW_SPEC_WRONG_PATH	= 1,
};

enum {
	WINDOW_LINE_MAX	= 1 << 20,	/* bytes; no code is straight so far */
};

struct window {
	const struct window_branch *branches;	/* newest first */
	const u8 *kinds;	/* enum stream_kind of each, a branch's */
	u32 rest;		/* branches that were not looked at yet */
	u32 space;		/* of events; 0: the kernel's side is walked */
	bool begun;		/* the oldest branch was passed */
	bool inside;		/* control is on our side, at `position` or
				 * behind it */
	u64 position;
	u64 left;		/* where it left our side; 0: unknown */
	u32 broken;		/* so far: branches that cannot be as they are
				 * recorded, or do not follow from the last */
};

void window_begin(struct window *window, const struct window_branch *branches,
		  const u8 *kinds, u32 count, u32 space);

/*
 * The next event, oldest first. The first one is a gap, and it leads to where
 * the oldest branch led: that branch is no event, because the line before it
 * was not seen (with it, there would be a branch more than lines, and trip
 * counts would come out too high). False: there is none.
 */
bool window_next(struct window *window, struct stream_event *event);

/* The kind that the recorder knows of @branch; 0: it does not. */
u8 window_kind(const struct window_branch *branch);

static inline bool window_in_kernel(u64 address)
{
	return address >> 63;
}

#endif /* HWPROF_ENGINE_WINDOW_H */
