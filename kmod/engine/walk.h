/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A shadow stack of the calls that a task is in. All engines that follow
 * procedures share it.
 *
 * The program is not instrumented. A return is therefore matched by its target,
 * with the call that the target lies directly behind.
 *
 * A frame waits if it made a call or if a signal's handler interrupted it. An
 * engine keeps what else it knows of a frame in an array of its own, indexed by
 * walk_index().
 */
#ifndef HWPROF_ENGINE_WALK_H
#define HWPROF_ENGINE_WALK_H

#include "stream.h"

enum {
	WALK_DEPTH	= 256,	/* most frames that wait; a power of two */
	WALK_CALL_MIN	= 2,	/* bytes of a call instruction */
	WALK_CALL_MAX	= 15,
};

#define WALK_NOWHERE	(~0ULL)

/* Why a frame waits. */
enum walk_kind {
	WALK_CALL,
	WALK_HANDLER,		/* a signal interrupted it */
	/* A return that matches no frame. Only contexts use it. */
	WALK_STRAY,
};

/*
 * A frame's name is the number of frames below it. When more than WALK_DEPTH
 * frames wait, numbers go on, and those below @bottom are forgotten.
 */
struct walk {
	/* Target of the last branch, or WALK_NOWHERE. */
	u64 position;
	u32 space;
	u32 depth;		/* the running frame */
	u32 bottom;
	u8 kind[WALK_DEPTH];	/* enum walk_kind */
	/* Call: its address. Handler: the instruction that runs after it. */
	u64 site[WALK_DEPTH];
};

static __always_inline u32 walk_index(u32 depth)
{
	return depth & (WALK_DEPTH - 1);
}

/* Return true if the line in flight can reach a branch at @from. */
static __always_inline bool walk_follows(const struct walk *walk, u32 space,
					 u64 from)
{
	return from >= walk->position && space == walk->space;
}

/*
 * The same for any event. Some kinds do not say where the line was; these may
 * follow.
 */
static __always_inline bool walk_may_follow(const struct walk *walk,
					    const struct stream_event *event)
{
	return event->space == walk->space &&
	       (event->from >= walk->position || event->kind > STREAM_SIGNAL);
}

/*
 * Return true if a system call goes on behind its instruction, and so belongs
 * to its line. Any other one is as good as a gap.
 */
static __always_inline bool walk_steps_over(const struct stream_event *event)
{
	return event->to - event->from - 1 < WALK_CALL_MAX;
}

/* Return true if one more frame can wait without another being forgotten. */
static __always_inline bool walk_has_room(const struct walk *walk)
{
	return walk->depth - walk->bottom != WALK_DEPTH;
}

/* Let the running frame wait, and begin one above it. */
static __always_inline void walk_push(struct walk *walk, u64 site, u8 kind)
{
	u32 depth = walk->depth;

	walk->site[walk_index(depth)] = site;
	walk->kind[walk_index(depth)] = kind;
	walk->depth = depth + 1;
}

/*
 * Return true if @to can be directly behind a call at @site, judging by
 * addresses alone.
 */
static __always_inline bool walk_is_behind(u64 site, u64 to)
{
	return to - site - WALK_CALL_MIN <= WALK_CALL_MAX - WALK_CALL_MIN;
}

/* Return true if a return to @to leads to the waiting frame @depth. */
static __always_inline bool walk_called_from(const struct walk *walk, u32 depth,
					     u64 to)
{
	return walk_is_behind(walk->site[walk_index(depth)], to) &&
	       walk->kind[walk_index(depth)] == WALK_CALL;
}

/*
 * The usual case: return true if it leads to the frame below the running one.
 */
static __always_inline bool walk_returns(const struct walk *walk, u64 to)
{
	return walk_called_from(walk, walk->depth - 1, to) &&
	       walk->depth != walk->bottom;
}

/* Where a return, or the end of a handler, led. */
enum walk_return {
	WALK_BACK,		/* to the frame walk.depth, which waited */
	/* To a handler's restorer. The handler is frame walk.depth. */
	WALK_RESTORER,
	WALK_LOST,		/* to no known frame; nothing changed */
};

/**
 * walk_return() - Find the frame that a return leads to
 * @walk: the shadow stack; frames above the one that goes on are dropped.
 * @to: target of the return.
 *
 * Return: what it led to.
 */
enum walk_return walk_return(struct walk *walk, u64 to);

/**
 * walk_sigreturn() - Find the frame that a signal's handler returns to
 * @walk: the shadow stack.
 * @to: the instruction executed next.
 *
 * Return: WALK_BACK or WALK_LOST.
 */
enum walk_return walk_sigreturn(struct walk *walk, u64 to);

/*
 * Forget all frames. The task runs at @to, or at an unknown address if that is
 * WALK_NOWHERE.
 */
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
