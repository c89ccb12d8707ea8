/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The paths in flight of a task: the path engine's cursor. path_table.h has the
 * engine's table.
 */
#ifndef HWPROF_ENGINE_PATH_H
#define HWPROF_ENGINE_PATH_H

#include "path_table.h"

enum { PATH_STACK = 512 };	/* jumps of all frames; a power of two */

/* Of a path in flight: how many jumps are not kept, and what else is known. */
enum path_state {
	PATH_SKIPPED	= 0xffff,
	PATH_SHAPE	= 1 << 16,	/* times enum path_shape */
	PATH_FORGOTTEN	= 1 << 24,	/* its first jumps are overwritten */
};

/* A path in flight: of the frame that runs, or of one that waits. */
struct path_frame {
	u64 start;
	u64 signature;		/* of the jumps so far */
	u64 cycles;		/* so far, but for those of calls */
	u32 first;		/* of its jumps in the stack, */
	u32 top;		/* their end, */
	u32 limit;		/* and up to where they are kept without a look */
	u32 state;		/* enum path_state */
};

/*
 * Jumps are named by how many are below them, as frames are; those below `floor`
 * are forgotten. The frame that runs has its place among those that wait, so
 * there is one less of them.
 */
struct path_cursor {
	struct path_frame *now;	/* frame walk.depth, which runs; of windows,
				 * before the first: NULL */
	u64 salt;		/* of space and the table's seed */
	u32 floor;
	struct walk walk;
	struct hwprof_path_jump jump[PATH_STACK];
	struct path_frame frame[WALK_DEPTH];
	u64 context;		/* that runs, if the table tells it; else 0. Here
				 * it does not take jumps from their 16 bytes */
};

#endif /* HWPROF_ENGINE_PATH_H */
