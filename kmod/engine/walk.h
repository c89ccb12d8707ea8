/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The calls that a task is in, as its branches tell: one shadow stack for all
 * engines that follow procedures. Nothing is compiled into the program, so a
 * return is matched by its address, with the call that it leads behind.
 *
 * A frame that made a call waits for it, and so does one that a signal's
 * handler interrupted. What else an engine knows of a frame is in an array of
 * its own, at walk_index().
 */
#ifndef HWPROF_ENGINE_WALK_H
#define HWPROF_ENGINE_WALK_H

#include "stream.h"

enum {
	WALK_DEPTH	= 256,	/* frames that wait; a power of two */
	WALK_CALL_MIN	= 2,	/* bytes of a call */
	WALK_CALL_MAX	= 15,
};

#define WALK_NOWHERE	(~0ULL)

/* What a frame waits for. */
enum walk_kind {
	WALK_CALL,
	WALK_HANDLER,		/* a signal's */
	WALK_STRAY,		/* a return that matches no frame; contexts only */
};

/*
 * Frames are named by how many are below them, and count on when more than
 * WALK_DEPTH wait; those below `bottom` are forgotten.
 */
struct walk {
	u64 position;		/* where the last branch led; WALK_NOWHERE */
	u32 space;
	u32 depth;		/* the frame that runs */
	u32 bottom;
	u8 kind[WALK_DEPTH];	/* enum walk_kind */
	u64 site[WALK_DEPTH];	/* call's address; handler's: what runs after it */
};

static __always_inline u32 walk_index(u32 depth)
{
	return depth & (WALK_DEPTH - 1);
}

/* Is the branch where the line in flight can lead? */
static __always_inline bool walk_follows(const struct walk *walk, u32 space,
					 u64 from)
{
	return from >= walk->position && space == walk->space;
}

/* The same of any event: some say nothing of where the line was. */
static __always_inline bool walk_may_follow(const struct walk *walk,
					    const struct stream_event *event)
{
	return event->space == walk->space &&
	       (event->from >= walk->position || event->kind > STREAM_SIGNAL);
}

/* Is a system call an instruction of its line? Else it is as good as a gap. */
static __always_inline bool walk_steps_over(const struct stream_event *event)
{
	return event->to - event->from - 1 < WALK_CALL_MAX;
}

/* Can one more frame wait without another being forgotten? */
static __always_inline bool walk_has_room(const struct walk *walk)
{
	return walk->depth - walk->bottom != WALK_DEPTH;
}

/* The running frame waits, and one above it begins. */
static __always_inline void walk_push(struct walk *walk, u64 site, u8 kind)
{
	u32 depth = walk->depth;

	walk->site[walk_index(depth)] = site;
	walk->kind[walk_index(depth)] = kind;
	walk->depth = depth + 1;
}

/* Is @to directly behind a call at @site, as far as addresses say? */
static __always_inline bool walk_is_behind(u64 site, u64 to)
{
	return to - site - WALK_CALL_MIN <= WALK_CALL_MAX - WALK_CALL_MIN;
}

/* Does a return to @to lead to frame @depth, which waits? */
static __always_inline bool walk_called_from(const struct walk *walk, u32 depth,
					     u64 to)
{
	return walk_is_behind(walk->site[walk_index(depth)], to) &&
	       walk->kind[walk_index(depth)] == WALK_CALL;
}

/* As is usual, does it lead to the frame below the running one? */
static __always_inline bool walk_returns(const struct walk *walk, u64 to)
{
	return walk_called_from(walk, walk->depth - 1, to) &&
	       walk->depth != walk->bottom;
}

/* Where a return, or a handler's, led. */
enum walk_return {
	WALK_BACK,		/* to frame `depth`, which waited */
	WALK_RESTORER,		/* of a handler, which is frame `depth` */
	WALK_LOST,		/* to no known frame: nothing was done */
};

/* Any return; those above the frame that goes on are gone. */
enum walk_return walk_return(struct walk *walk, u64 to);

/* A handler's end: WALK_BACK or WALK_LOST. */
enum walk_return walk_sigreturn(struct walk *walk, u64 to);

/* Nothing is known of what runs now; @to is where it is, or WALK_NOWHERE. */
static inline void walk_restart(struct walk *walk, u64 to, u32 space)
{
	walk->position = to;
	walk->space = space;
	walk->depth = 0;
	walk->bottom = 0;
}

static inline void walk_init(struct walk *walk)
{
	memset(walk, 0, offsetof(struct walk, kind));
	walk->position = WALK_NOWHERE;
}

#endif /* HWPROF_ENGINE_WALK_H */
