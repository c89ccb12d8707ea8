/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Where a task is among its loops: the loop engine's cursor. loop_table.h has the
 * engine's table.
 */
#ifndef HWPROF_ENGINE_LOOP_H
#define HWPROF_ENGINE_LOOP_H

#include "loop_table.h"

enum { LOOPS_IN_FLIGHT = 32 };		/* in a cursor */

/* A loop that a frame is in. */
struct flight {
	u64 head;
	u64 reach;		/* a back edge from up to here changes nothing */
	u64 back_edges;
	u32 frame;		/* the frame's depth + 1; 0: not a loop */
	u32 offset;		/* of the loop in table->loops, if still there */
	u64 tail;
	u64 limit;		/* least tail of the frame's loops below this one */
	u32 space;
	u8 begun;		/* enum begun */
};

/*
 * Code reached in a frame so far. A loop around all of it was not entered in
 * this frame. A call comes from before its target, so that it does enter a loop
 * that begins there.
 */
struct loop_frame {
	u64 low, high;
};

struct loop_cursor {
	struct line line;	/* windows: all there is */
	struct flow flow;
	struct flight *inner;	/* the innermost */
	struct flight flight[1 + LOOPS_IN_FLIGHT];	/* [0] is not a loop */
	struct loop_frame frame[WALK_DEPTH];
};

bool loop_feed(void *table, void *cursor, const struct stream_event *event);

#endif /* HWPROF_ENGINE_LOOP_H */
