/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Where a task is among its loops: the loop engine's cursor. loop_table.h has
 * the engine's table.
 */
#ifndef HWPROF_ENGINE_LOOP_H
#define HWPROF_ENGINE_LOOP_H

#include "loop_table.h"

enum { LOOPS_IN_FLIGHT = 32 };		/* most loops in flight of a cursor */

/* A loop in flight: a frame is executing it. */
struct flight {
	u64 head;
	/* Back edges from addresses up to here change nothing. */
	u64 reach;
	u64 back_edges;
	u32 frame;		/* depth of the frame + 1; 0: not a loop */
	/* Offset of the loop in table->loops, if it is still there. */
	u32 offset;
	u64 tail;
	/* Least tail of the loops below this one in the same frame. */
	u64 limit;
	u32 space;
	u8 begun;		/* enum begun */
};

/*
 * The code that a frame has reached so far. A loop around all of it was not
 * entered in this frame. A call counts as coming from the address before its
 * target, so that it enters a loop whose head is the target.
 */
struct loop_frame {
	u64 low, high;
};

struct loop_cursor {
	/* The line in flight; windows use nothing else. */
	struct line line;
	struct flow flow;
	struct flight *inner;	/* the innermost flight */
	struct flight flight[1 + LOOPS_IN_FLIGHT];	/* [0] is not a loop */
	struct loop_frame frame[WALK_DEPTH];
};

bool loop_feed(void *table, void *cursor, const struct stream_event *event);

#endif /* HWPROF_ENGINE_LOOP_H */
