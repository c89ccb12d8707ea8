// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/paths/: how often each acyclic path of a procedure ran. A path leads
 * from the procedure's entry, or from a back edge's target, to the next back
 * edge or return. Calls are stepped over. (Ammons, Ball, Larus: Exploiting
 * Hardware Performance Counters with Flow and Context Sensitive Profiling,
 * sections 2 and 3.)
 *
 * In the paper, a compiler gives numbers to edges, and their sum is the number
 * of a path. Here the program is not instrumented. A signature takes the place
 * of the number. Each taken jump changes it. Jumps that are not taken need not,
 * because the line to the next taken jump implies them. A path is looked up
 * once, when it ends.
 *
 * A frame that waits for a call keeps its path. Only a path that is new to the
 * table must be spelled out, but then all of it. So the jumps of all paths in
 * flight are kept in one stack of fixed size, of which each frame has a slice.
 *
 * A path whose beginning was not seen, because of a gap, is reported as unseen.
 * A path that a gap cuts has not ended. The same holds for frames that are
 * forgotten because too many are open.
 */
#include "path_walk.h"
#include "window_feed.h"

/* --- the path in flight --------------------------------------------------- */

/* The first PATH_JUMPS jumps are kept. Of the others only the number is. */
bool path_skip_jump(struct path_cursor *cursor, u64 to)
{
	struct path_frame *now = cursor->now;

	if ((now->state & PATH_SKIPPED) != PATH_SKIPPED) {
		now->state++;
		now->signature += HASH_PRIME;
	}
	cursor->walk.position = to;
	return true;
}

/*
 * Count a path whose beginning is not known. All such paths of a space are one.
 */
static noinline void count_unseen(const struct path_cursor *cursor,
				  struct path_table *table)
{
	const struct path unseen = {
		.space = cursor->walk.space, .shape = PATH_UNSEEN,
		.cycles = cursor->now->cycles * table->times,
	};

	path_table_add(table, flow_mix(cursor->salt, 0, PATH_UNSEEN) | 1,
		       &unseen, NULL, 0, table->times);
}

/*
 * Pack the jumps of the running path, up to the first that does not fit. Return
 * how many they are.
 */
static u32 pack_jumps(const struct path_cursor *cursor, u64 *jumps)
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
static noinline void add_path(const struct path_cursor *cursor,
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

	path.jumps = pack_jumps(cursor, jumps);
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
		count_unseen(cursor, table);
	else if (path_table_count(table, key, table->times,
				  now->cycles * table->times))
		return true;
	else if (now->state & PATH_FORGOTTEN)
		count_unseen(cursor, table);
	else
		add_path(cursor, table, key, end, target);
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

/* Frames above the running one have overwritten its jumps. */
void path_forget_jumps(struct path_cursor *cursor)
{
	struct path_frame *now = cursor->now;

	if (now->top != now->first)
		now->state |= PATH_FORGOTTEN;
	cursor->floor = now->first;
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

/* --- the engine ----------------------------------------------------------- */

static unsigned int path_unit(const struct engine_params *params,
			      const struct stream_event *event)
{
	return path_ends(event->kind, event->from, event->to);
}

static bool path_feed(void *table, void *cursor,
		      const struct stream_event *event)
{
	return path_step(table, cursor, event->space, event->kind, event->from,
			 event->to, event->cycles) ||
	       path_event(table, cursor, event);
}

/* See engine_ops.path_end. The signature does not depend on the context. */
static bool path_ending(const void *memory, const struct stream_event *event,
			u32 space, struct engine_path *path)
{
	const struct path_cursor *cursor = memory;
	const struct path_frame *now = cursor->now;
	u64 target = event->kind == STREAM_RET ? 0 : event->to;

	if (!path_ends(event->kind, event->from, event->to) ||
	    !walk_follows(&cursor->walk, space, event->from) ||
	    now->state & PATH_UNSEEN * PATH_SHAPE)
		return false;
	*path = (struct engine_path) {
		.start = now->start,
		.end = event->from,
		.target = target,
		.length = now->top - now->first + (now->state & PATH_SKIPPED),
		.signature = flow_mix(now->signature, event->from, target),
	};
	return true;
}

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

/*
 * Return true if the path in flight was seen from its beginning and leads to
 * @ip. @path and @jumps are then what was seen of it.
 */
static bool open_path(const struct path_cursor *cursor, u64 ip, u32 space,
		      struct path *path, u64 *jumps)
{
	const struct path_frame *now = cursor->now;
	u32 count = now ? now->top - now->first : 0;

	if (!now || cursor->walk.space != space ||
	    (ip - cursor->walk.position) >> PATH_LINE_BITS ||
	    now->state & (PATH_UNSEEN * PATH_SHAPE | PATH_FORGOTTEN |
			  PATH_SKIPPED) ||
	    pack_jumps(cursor, jumps) != count)
		return false;
	path->start = now->start;
	path->length = count;
	path->jumps = count;
	path->shape = now->state / PATH_SHAPE | PATH_OPEN;
	return true;
}

/*
 * A window was taken at @ip: attribute it to the path in flight (section 3.1
 * adds to a path what a counter has counted on it). A burst begins at @ip, so
 * nothing is known of its path but this place.
 */
static void path_taken(void *memory, u64 ip, u32 space)
{
	struct path_table *table = memory;
	const struct path_cursor *cursor = table->window;
	struct path path = {
		.end = ip, .space = space, .shape = PATH_OPEN | PATH_UNSEEN,
	};
	u64 jumps[PATH_JUMPS], key;

	/* Keys of paths that ended use the signature as it is. */
	if (open_path(cursor, ip, space, &path, jumps))
		key = flow_mix(~cursor->now->signature, ip, 0) | 1;
	else
		key = flow_mix(~(table->seed ^ space * HASH_PRIME), ip, 0) | 1;
	path_table_add(table, key, &path, jumps, 0, 1);
}

static void path_cursor_init(void *memory, u32 tid)
{
	struct path_cursor *cursor = memory;

	memset(cursor, 0, offsetof(struct path_cursor, walk));
	walk_init(&cursor->walk);
	cursor->context = 0;
	cursor->now = cursor->frame;
	cursor->now->first = 0;
	path_begin(cursor, WALK_NOWHERE, PATH_UNSEEN);
}

/* All memory is for paths, except that of the cursor for windows. */
static void path_table_init_all(void *memory, size_t size,
				const struct engine_params *params)
{
	size_t header = (sizeof(struct path_table) + 63) & ~63UL;
	size_t cursor = params->basis == HWPROF_BASIS_EXACT ? 0 :
			sizeof(struct path_cursor);
	size_t set = path_table_size(PATH_WAYS, params);
	struct path_table *table = memory;
	u32 slots = min((size - header - cursor) / set,
			(size_t)U32_MAX / PATH_WAYS) * PATH_WAYS;

	path_table_init(table, memory + header, slots, params);
	if (cursor)
		table->window = memory + header +
				path_table_size(slots, params);
}

/* A sample only has the end of its path. */
static void path_sample(const struct engine_params *params,
			const struct stream_event *event, u64 period,
			struct engine_sample *sample)
{
	struct hwprof_row_path *row = &sample->path;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_PATH;
	row->row.size = sizeof(*row);
	sample->ip = row->end = event->from;
	sample->addr = event->to;
	row->target = event->kind == STREAM_RET ? 0 : event->to;
	row->count = period;
	row->flags = HWPROF_PATH_UNSEEN;
	row->basis = HWPROF_BASIS_EXACT;
}

const struct engine_ops path_engine = {
	.name		= "paths",
	.cursor_size	= sizeof(struct path_cursor),
	.table_min	= 64 * 1024,
	.table_init	= path_table_init_all,
	.cursor_init	= path_cursor_init,
	.unit		= path_unit,
	.feed		= path_feed,
	.path_end	= path_ending,
	.feed_window	= path_feed_window,
	.taken		= path_taken,
	.merge		= path_merge,
	.rows		= path_rows,
	.sample		= path_sample,
	.forget		= path_forget,
	.evicted	= path_evicted,
	.pending	= path_pending,
};
