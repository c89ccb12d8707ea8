/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The walk of a task through its paths. The common cases are inline: for the
 * path engine, and for the walk over a window that several engines share.
 * path.c says what a path is.
 */
#ifndef HWPROF_ENGINE_PATH_WALK_H
#define HWPROF_ENGINE_PATH_WALK_H

#include "path.h"
#include "window.h"

/**
 * path_event() - Take any event
 * @table: the table.
 * @cursor: the paths in flight.
 * @event: the event.
 *
 * Return: false if the table should be retired.
 */
bool path_event(struct path_table *table, struct path_cursor *cursor,
		const struct stream_event *event);

/**
 * path_pack_jumps() - Pack the jumps of the running path
 * @cursor: the paths in flight.
 * @jumps: room for PATH_JUMPS jumps.
 *
 * Stop before the first jump that does not fit.
 *
 * Return: the number of packed jumps.
 */
u32 path_pack_jumps(const struct path_cursor *cursor, u64 *jumps);

/**
 * path_window_begin() - Begin a window
 * @table: a table of windows; the branches are fed to table->window.
 * @window: the window.
 */
void path_window_begin(struct path_table *table, const struct window *window);

/**
 * path_window_end() - End a window
 * @table: a table of windows.
 *
 * Return: false if the table should be retired.
 */
bool path_window_end(struct path_table *table);

/* Return true if the branch ends a path. */
static __always_inline bool path_ends(unsigned int kind, u64 from, u64 to)
{
	return kind == STREAM_RET || (stream_is_jump(kind) && to <= from);
}

static __always_inline struct path_frame *
path_frame_at(struct path_cursor *cursor, u32 depth)
{
	return &cursor->frame[walk_index(depth)];
}

/* Begin a path at @start, in the running frame. */
static __always_inline void path_begin(struct path_cursor *cursor, u64 start,
				       u32 shape)
{
	struct path_frame *now = cursor->now;
	u32 first = now->first;

	cursor->walk.position = start;
	now->start = start;
	now->signature = (start ^ cursor->salt ^ (u64)shape << 48) * HASH_PRIME;
	now->cycles = 0;
	now->top = first;
	now->limit = first + PATH_JUMPS;
	now->state = shape * PATH_SHAPE;
}

/*
 * Take a jump that is not kept. The first PATH_JUMPS jumps are kept, of the
 * others only the number is.
 */
static inline void path_skip_jump(struct path_cursor *cursor, u64 to)
{
	struct path_frame *now = cursor->now;

	if ((now->state & PATH_SKIPPED) != PATH_SKIPPED) {
		now->state++;
		now->signature += HASH_PRIME;
	}
	cursor->walk.position = to;
}

/*
 * Add a forward jump to the running path. Return true, as there is always room.
 *
 * The signature is a sum, which does not depend on the order of the jumps. It
 * need not: addresses only grow along a path, so that a set of jumps has one
 * order. No multiplication waits for the one before it.
 */
static __always_inline bool path_forward(struct path_cursor *cursor, u64 from,
					 u64 to)
{
	struct path_frame *now = cursor->now;
	struct hwprof_path_jump *jump;
	u32 top = now->top;

	if (unlikely(top == now->limit)) {
		path_skip_jump(cursor, to);
		return true;
	}
	jump = &cursor->jump[top & (PATH_STACK - 1)];
	jump->from = from;
	jump->to = to;
	now->top = top + 1;
	now->signature += flow_mix(cursor->salt, from, to);
	cursor->walk.position = to;
	return true;
}

static __always_inline u64 path_key(const struct path_cursor *cursor, u64 end,
				    u64 target)
{
	return flow_mix(cursor->now->signature ^ cursor->context, end, target) |
	       1;
}

/*
 * End the path in flight at @end, with a jump to @target or, if that is 0, a
 * return. @cycles are those of its last branch. Return false, having done
 * nothing, if the path is not in its home slot.
 */
static __always_inline bool path_end_known(const struct path_cursor *cursor,
					   struct path_table *table, u64 end,
					   u64 target, u64 cycles)
{
	u64 key = path_key(cursor, end, target), times = table->times;
	struct path_slot *slot = path_home(table, key);

	if (unlikely(slot->key != key))
		return false;
	slot->count += times;
	table->pending += times;
	cycles += cursor->now->cycles;
	if (unlikely(cycles))
		path_of(table, slot)->cycles += cycles * times;
	return true;
}

/*
 * The running path waits at @site, and another one begins, in a frame of its
 * own.
 */
static __always_inline void path_enter(struct path_cursor *cursor, u64 site,
				       enum walk_kind kind, u64 to)
{
	struct walk *walk = &cursor->walk;
	u32 top = cursor->now->top;

	/* It may overwrite jumps that are PATH_STACK below. */
	if (unlikely(top - cursor->floor > PATH_STACK - PATH_JUMPS))
		cursor->floor = top - (PATH_STACK - PATH_JUMPS);
	walk_push(walk, site, kind);
	if (unlikely(!walk_has_room(walk)))
		walk->bottom++;
	cursor->now = path_frame_at(cursor, walk->depth);
	cursor->now->first = top;
	path_begin(cursor, to, PATH_CALLED);
}

/* Frames above the running one have overwritten its jumps. */
static inline void path_forget_jumps(struct path_cursor *cursor)
{
	struct path_frame *now = cursor->now;

	if (now->top != now->first)
		now->state |= PATH_FORGOTTEN;
	cursor->floor = now->first;
}

/*
 * The running frame goes on at @to after having waited. Frames above it are
 * gone.
 */
static __always_inline void path_go_on(struct path_cursor *cursor, u64 to)
{
	struct path_frame *now = path_frame_at(cursor, cursor->walk.depth);

	cursor->now = now;
	cursor->walk.position = to;
	if (unlikely((s32)(now->first - cursor->floor) < 0))
		path_forget_jumps(cursor);
}

/*
 * Take a jump, call or return in the common cases. Return false, having done
 * nothing, in any other case. It calls nothing, so that it needs no stack: a
 * caller of the likes of path_feed() can make path_event() its tail call.
 */
static __always_inline bool path_step(struct path_table *table,
				      struct path_cursor *cursor, u32 space,
				      unsigned int kind, u64 from, u64 to,
				      u64 cycles)
{
	if (unlikely(!walk_follows(&cursor->walk, space, from)))
		return false;
	if (stream_is_jump(kind)) {
		if (to > from) {
			cursor->now->cycles += cycles;
			return path_forward(cursor, from, to);
		}
		if (unlikely(!path_end_known(cursor, table, from, to, cycles)))
			return false;
		path_begin(cursor, to, 0);
		return true;
	}
	if (kind == STREAM_CALL) {
		cursor->now->cycles += cycles;
		path_enter(cursor, from, WALK_CALL, to);
		return true;
	}
	if (unlikely(kind != STREAM_RET || !walk_returns(&cursor->walk, to) ||
		     !path_end_known(cursor, table, from, 0, cycles)))
		return false;
	cursor->walk.depth--;
	path_go_on(cursor, to);
	return true;
}

#endif /* HWPROF_ENGINE_PATH_WALK_H */
