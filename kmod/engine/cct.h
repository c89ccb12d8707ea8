/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The calling contexts that a task is in: the cct engine's cursor. cct_tree.h
 * has the nodes.
 */
#ifndef HWPROF_ENGINE_CCT_H
#define HWPROF_ENGINE_CCT_H

#include "engine.h"
#include "walk.h"

/* A frame: an activation of a node's procedure. */
struct cct_frame {
	u64 id;			/* of its node */
	u64 callee;
	u64 stack;		/* stack pointer where it began; 0: not known */
	/* Number of its node, if it is right: see cct_at(). */
	u32 node;
	/* Depth of the frame that entered the node; 0: it is forgotten. */
	u32 entry_depth;
	u32 repeats;		/* frames like this one, directly above it */
	u16 level;		/* nodes above its node on the chain */
	bool again;		/* its node is that of a frame below */
};

/*
 * @base is the frame walk.bottom: the highest frame whose caller is not known,
 * because everything below is forgotten. Frames above it, with the running one,
 * are in @frame.
 */
struct cct_cursor {
	/* Target of the last event, if that was a call; else WALK_NOWHERE. */
	u64 called;
	/*
	 * The procedure that the call was counted for: @called, or the target
	 * of the stub there.
	 */
	u64 entered;
	/* Id of the node or edge in which the call was counted; 0: none. */
	u64 edge;
	u64 branches;		/* of the running frame, not counted yet */
	u64 stack;		/* pointer behind the last call; 0: not known */
	struct cct_frame base;
	struct walk walk;
	struct cct_frame frame[WALK_DEPTH];
};

/**
 * cct_context() - Tell the context that an event comes from
 * @table: the table.
 * @cursor: the cursor; if the last event was a call, its callee is settled
 *	first, as cct_feed() would.
 * @event: an event that cct_feed() has not seen yet.
 *
 * Return: the id of the context.
 */
u64 cct_context(void *table, void *cursor, const struct stream_event *event);

bool cct_feed(void *table, void *cursor, const struct stream_event *event);

#endif /* HWPROF_ENGINE_CCT_H */
