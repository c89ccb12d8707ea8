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

/*
 * Return true if the path in flight was seen from its beginning and leads to
 * @ip. @path and @jumps are then what was seen of it.
 */
static bool path_is_open(const struct path_cursor *cursor, u64 ip, u32 space,
			 struct path *path, u64 *jumps)
{
	const struct path_frame *now = cursor->now;
	u32 count = now ? now->top - now->first : 0;

	if (!now || cursor->walk.space != space ||
	    (ip - cursor->walk.position) >> PATH_LINE_BITS ||
	    now->state & (PATH_UNSEEN * PATH_SHAPE | PATH_FORGOTTEN |
			  PATH_SKIPPED) ||
	    path_pack_jumps(cursor, jumps) != count)
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
	if (path_is_open(cursor, ip, space, &path, jumps))
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
