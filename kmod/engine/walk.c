// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Returns and the frames that they lead to. See walk.h. */
#include "walk.h"

/*
 * Frames above the one that a return leads to were left without a return, by
 * longjmp(), a tail call or an exception. A handler returns to its restorer,
 * which no call led to; it stays in its frame. So does the code behind a stray
 * return.
 */
enum walk_return walk_return(struct walk *walk, u64 to)
{
	u32 depth, root = 0;
	bool in_root = false;

	for (depth = walk->depth; depth != walk->bottom; depth--) {
		if (walk_called_from(walk, depth - 1, to)) {
			walk->depth = depth - 1;
			return WALK_BACK;
		}
		if (walk->kind[walk_index(depth - 1)] != WALK_CALL &&
		    !in_root) {
			root = depth;
			in_root = true;
		}
	}
	if (!in_root)
		return WALK_LOST;
	walk->depth = root;
	return WALK_RESTORER;
}

/*
 * A handler returns to the interrupted instruction. Any other target is as good
 * as a gap.
 */
enum walk_return walk_sigreturn(struct walk *walk, u64 to)
{
	u32 depth;

	for (depth = walk->depth; depth != walk->bottom; depth--) {
		if (walk->kind[walk_index(depth - 1)] != WALK_HANDLER)
			continue;
		if (to != walk->site[walk_index(depth - 1)])
			break;
		walk->depth = depth - 1;
		return WALK_BACK;
	}
	return WALK_LOST;
}
