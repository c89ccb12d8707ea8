// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Returns and the frames that they lead to: see walk.h. */
#include "walk.h"

/*
 * Frames above the one that a return leads to were left without a return
 * (longjmp, tail calls, exceptions). A handler returns to code that no call led
 * to, its restorer, and stays in its frame; so does what comes after a stray
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

/* To what was interrupted, or it is as good as a gap. */
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
