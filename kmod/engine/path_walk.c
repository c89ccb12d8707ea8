// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The walk of a task through its paths: events begin and end them, and calls
 * make them wait. path.c says what a path is.
 */
#include "path_walk.h"

/* --- the path in flight --------------------------------------------------- */

/*
 * Count a path whose beginning is not known. All such paths of a space are one.
 */
static noinline void path_count_unseen(const struct path_cursor *cursor,
				       struct path_table *table)
{
	const struct path unseen = {
		.space = cursor->walk.space, .shape = PATH_UNSEEN,
		.cycles = cursor->now->cycles * table->times,
	};

	path_table_add(table, flow_mix(cursor->salt, 0, PATH_UNSEEN) | 1,
		       &unseen, NULL, 0, table->times);
}

u32 path_pack_jumps(const struct path_cursor *cursor, u64 *jumps)
{
	const struct path_frame *now = cursor->now;
	u32 count = now->top - now->first, i;
	u64 line = now->start;

	for (i = 0; i < count; i++) {
		const struct hwprof_path_jump *jump =
			&cursor->jump[(now->first + i) & (PATH_STACK - 1)];

		if (!path_jump_fits(line, jump->from, jump->to))
			break;
		jumps[i] = path_jump_pack(line, jump->from, jump->to);
		line = jump->to;
	}
	return i;
}

/* Add the running path, which is not in the table yet. */
static noinline void path_add(const struct path_cursor *cursor,
			      struct path_table *table, u64 key, u64 end,
			      u64 target)
{
	const struct path_frame *now = cursor->now;
	struct path path = {
		.start = now->start, .end = end, .target = target,
		.cycles = now->cycles * table->times,
		.space = cursor->walk.space,
		.length = min(now->top - now->first +
			      (now->state & PATH_SKIPPED), 0xffffU),
		.shape = now->state / PATH_SHAPE,
	};
	u64 jumps[PATH_JUMPS];

	path.jumps = path_pack_jumps(cursor, jumps);
	path_table_add(table, key, &path, jumps, cursor->context, table->times);
}

/*
 * End the path in flight at @end, with a jump to @target or, if that is 0, a
 * return. Return false if the table should be retired.
 */
static noinline bool path_end(const struct path_cursor *cursor,
			      struct path_table *table, u64 end, u64 target)
{
	const struct path_frame *now = cursor->now;
	u64 key = path_key(cursor, end, target);

	if (now->state & PATH_UNSEEN * PATH_SHAPE)
		path_count_unseen(cursor, table);
	else if (path_table_count(table, key, table->times,
				  now->cycles * table->times))
		return true;
	else if (now->state & PATH_FORGOTTEN)
		path_count_unseen(cursor, table);
	else
		path_add(cursor, table, key, end, target);
	return path_table_has_room(table);
}

/* --- frames --------------------------------------------------------------- */

/*
 * Forget all frames. The task runs at @at, or at an unknown address if that is
 * 0.
 */
static void path_restart(struct path_cursor *cursor,
			 const struct path_table *table, u64 at, u32 space)
{
	at = at ? at : WALK_NOWHERE;
	walk_restart(&cursor->walk, at, space);
	cursor->floor = 0;
	cursor->now = path_frame_at(cursor, 0);
	cursor->now->first = 0;
	cursor->salt = table->seed ^ space * HASH_PRIME;
	path_begin(cursor, at, PATH_UNSEEN);
}

/* Code behind a return that matches no frame was not seen being called. */
static noinline void path_leave(struct path_cursor *cursor,
				const struct path_table *table, u64 to)
{
	switch (walk_return(&cursor->walk, to)) {
	case WALK_BACK:
		path_go_on(cursor, to);
		break;
	case WALK_RESTORER:
		path_go_on(cursor, to);
		path_begin(cursor, to, PATH_CALLED);
		break;
	case WALK_LOST:
		path_restart(cursor, table, to, cursor->walk.space);
		break;
	}
}

static void path_leave_handler(struct path_cursor *cursor,
			       const struct path_table *table, u64 to)
{
	if (walk_sigreturn(&cursor->walk, to) == WALK_BACK)
		path_go_on(cursor, to);
	else
		path_restart(cursor, table, to, cursor->walk.space);
}

/* --- the walk ------------------------------------------------------------- */

/* Take an event that is neither jump, call nor return. */
static noinline void path_turn(struct path_cursor *cursor,
			       const struct path_table *table,
			       const struct stream_event *event)
{
	switch (event->kind) {
	case STREAM_SYSCALL:
		/* Most system calls are instructions of their line. */
		if (!walk_steps_over(event))
			path_restart(cursor, table, event->to,
				     cursor->walk.space);
		break;
	case STREAM_SIGNAL:
		path_enter(cursor, event->from, WALK_HANDLER, event->to);
		break;
	case STREAM_SIGRETURN:
		path_leave_handler(cursor, table, event->to);
		break;
	case STREAM_GAP:
		path_restart(cursor, table, event->to, cursor->walk.space);
		break;
	}
}

/*
 * Take an arrival. What ran before it ends no path. A path that a jump leads
 * into began elsewhere.
 */
static bool path_arrive(struct path_table *table, struct path_cursor *cursor,
			const struct stream_event *event)
{
	u64 from = event->from, to = event->to;

	if (event->space != cursor->walk.space)
		path_restart(cursor, table, 0, event->space);
	switch (event->width) {
	case STREAM_CALL:
		path_enter(cursor, from, WALK_CALL, to);
		break;
	case STREAM_RET:
		path_leave(cursor, table, to);
		break;
	case STREAM_SIGNAL:
		path_enter(cursor, from, WALK_HANDLER, to);
		break;
	case STREAM_SIGRETURN:
		path_leave_handler(cursor, table, to);
		break;
	default:
		path_begin(cursor, to, PATH_UNSEEN);
	}
	return true;
}

/* Take any event. See path_walk.h. */
bool path_event(struct path_table *table, struct path_cursor *cursor,
		const struct stream_event *event)
{
	u64 from = event->from, to = event->to;
	bool room = true;

	if (unlikely(event->kind == STREAM_ARRIVAL))
		return path_arrive(table, cursor, event);
	if (unlikely(!walk_may_follow(&cursor->walk, event)))
		path_restart(cursor, table,
			     event->kind > STREAM_SIGNAL ? 0 : from,
			     event->space);
	cursor->now->cycles += event->cycles;
	if (stream_is_jump(event->kind)) {
		if (to > from)
			return path_forward(cursor, from, to);
		room = path_end(cursor, table, from, to);
		path_begin(cursor, to, 0);
	} else if (event->kind == STREAM_CALL) {
		path_enter(cursor, from, WALK_CALL, to);
	} else if (event->kind == STREAM_RET) {
		room = path_end(cursor, table, from, 0);
		path_leave(cursor, table, to);
	} else {
		path_turn(cursor, table, event);
	}
	return room;
}

/* --- windows -------------------------------------------------------------- */

/* A window begins with a gap, so that table->window need not be initialised. */
void path_window_begin(struct path_table *table, const struct window *window)
{
	table->times = window->times;
	path_restart(table->window, table, 0, window->event.space);
}

bool path_window_end(struct path_table *table)
{
	table->times = 1;
	return path_table_has_room(table);
}
