/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The calling contexts that a task is in: the cct engine's cursor. cct_tree.h has
 * the nodes.
 */
#ifndef HWPROF_ENGINE_CCT_H
#define HWPROF_ENGINE_CCT_H

#include "engine.h"
#include "walk.h"

/* What runs, until it makes a call: an activation of a node's procedure. */
struct cct_frame {
	u64 id;			/* of the node */
	u64 callee;
	u64 stack;		/* pointer where it began; 0: unknown */
	u32 node;		/* its number, where that is right: cct_at() */
	u32 origin;		/* frame that entered the node; 0: forgotten */
	u32 repeats;		/* frames like this one, directly above it */
	u16 level;		/* nodes above it on the chain */
	bool again;		/* in the node of a frame below */
};

/*
 * Of frames that are forgotten, `base` is the highest, whose callers are not
 * known; so it is the frame walk.bottom. The one that runs is kept, too.
 */
struct cct_cursor {
	u64 called;		/* where, if the last event was a call; else
				 * WALK_NOWHERE */
	u64 entered;		/* where it was taken to lead: stub's target */
	u64 edge;		/* id of what it was counted in; 0: nothing */
	u64 branches;		/* of the frame that runs, not counted yet */
	u64 stack;		/* pointer behind the last call; 0: unknown */
	struct cct_frame base;
	struct walk walk;
	struct cct_frame frame[WALK_DEPTH];
};

/*
 * The id of the context that @event, which feed() has not seen yet, is from. Where
 * the last call led to is settled before, as feed() would.
 */
u64 cct_context(void *table, void *cursor, const struct stream_event *event);

bool cct_feed(void *table, void *cursor, const struct stream_event *event);

#endif /* HWPROF_ENGINE_CCT_H */
