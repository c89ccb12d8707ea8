/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The paths in flight of a task: the path engine's cursor. path_table.h has the
 * engine's table.
 */
#ifndef HWPROF_ENGINE_PATH_H
#define HWPROF_ENGINE_PATH_H

#include "path_table.h"

enum { PATH_STACK = 512 };	/* jumps of all frames together; a power of
				 * two */

/* State of a path in flight. The low bits count the jumps that are not kept. */
enum path_state {
	PATH_SKIPPED	= 0xffff,
	PATH_SHAPE	= 1 << 16,	/* times the path's enum path_shape */
	PATH_FORGOTTEN	= 1 << 24,	/* its first jumps were overwritten */
};

/* A path in flight, in the frame that runs or in one that waits. */
struct path_frame {
	u64 start;
	u64 signature;		/* of the jumps so far */
	u64 cycles;		/* so far, without those of calls */
	u32 first;		/* number of its first jump in the stack */
	u32 top;		/* number behind its last jump */
	/* Number below which a jump is kept without further checks. */
	u32 limit;
	u32 state;		/* enum path_state */
};

/*
 * The jumps of all paths in flight are one stack, of which each frame has a
 * slice. A jump's number is the number of jumps below it, as with frames. Jumps
 * below @floor are overwritten. The running frame is in frame[], too, so one
 * frame less can wait.
 */
struct path_cursor {
	/* The running frame, walk.depth. Windows: NULL before the first one. */
	struct path_frame *now;
	u64 salt;		/* hash of the space and the table's seed */
	u32 floor;
	struct walk walk;
	struct hwprof_path_jump jump[PATH_STACK];
	struct path_frame frame[WALK_DEPTH];
	/*
	 * The context that runs, if the table tells paths apart by it; else 0.
	 * It comes last, so that jumps stay aligned to 16 bytes.
	 */
	u64 context;
};

#endif /* HWPROF_ENGINE_PATH_H */
