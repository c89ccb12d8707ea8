// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwprof/paths/: how often each acyclic path of a procedure was run (Ammons,
 * Ball, Larus: Exploiting Hardware Performance Counters with Flow and Context
 * Sensitive Profiling, sections 2 and 3): from its entry or a back edge's target
 * to the next back edge or return, calls stepped over.
 *
 * The paper adds up numbers that a compiler gave the edges, so that their sum
 * is the path's number. Nothing is compiled in here, so a signature takes their
 * place, which each taken jump changes; of jumps that are not taken it need not
 * know, because the line to the next one that is says the same. When a path
 * ends, it is looked up once.
 *
 * A frame that waits for its call keeps its path. Only one that is new has to be
 * spelled, but then all of it: the jumps of the paths in flight are one stack,
 * of which each frame has a slice, and as fixed as all else. Returns are
 * matched by address, as in flow.c.
 *
 * A path of which the beginning was not seen, behind a gap, is told of as such,
 * and one that a gap cuts is not finished. The same is true of frames that are
 * forgotten because too many are open.
 */
#include "path_table.h"
#include "window.h"

enum {
	PATH_DEPTH	= 256,	/* frames kept, the running one included, */
	PATH_STACK	= 512,	/* and jumps of all; powers of two */
};

/* Of a path in flight: how many jumps are not kept, and enum path_shape. */
#define PATH_SKIPPED	0xffffU
#define PATH_SHAPE(shape)	((u32)(shape) << 16)

/* A path in flight: of the frame that runs, or of one that waits for its call. */
struct path_frame {
	u64 site;		/* call's address; handler's: what runs after it */
	u64 start;
	u64 line;		/* where the last jump led; before it, start */
	u64 signature;		/* of the jumps so far */
	u64 cycles;		/* so far, but for those of calls */
	u32 first;		/* of its jumps in the stack */
	u32 state;		/* PATH_SKIPPED, PATH_SHAPE() */
};

/*
 * Frames and jumps are named by how many are below them, and count on when
 * there is no more room; those below `bottom` and `floor` are forgotten.
 */
struct path_cursor {
	struct path_frame *now;	/* frame `depth`, which runs */
	u64 position;		/* where the last branch led; ~0: unknown */
	u64 salt;		/* of space and the table's seed */
	u32 space;
	u32 top;		/* end of the running frame's jumps */
	u32 limit;		/* of that: then it takes a closer look */
	u32 floor;
	u32 depth;
	u32 bottom;
	u64 jump[PATH_STACK];
	struct path_frame frame[PATH_DEPTH];
};

static __always_inline struct path_frame *frame_at(struct path_cursor *cursor,
						   u32 depth)
{
	return &cursor->frame[depth & (PATH_DEPTH - 1)];
}

/* --- the path in flight ------------------------------------------------------- */

/*
 * Up to where jumps are kept without a look: as many as a path may have, if there
 * is room in the stack for so many more.
 */
static __always_inline u32 easy_limit(const struct path_cursor *cursor)
{
	const struct path_frame *now = cursor->now;
	bool easy = cursor->top - cursor->floor <= PATH_STACK - PATH_JUMPS &&
		    !(now->state & PATH_SKIPPED);

	return easy ? now->first + PATH_JUMPS : cursor->top;
}

/* A path begins at @start, in the running frame. */
static __always_inline void path_begin(struct path_cursor *cursor, u64 start,
				       u32 shape)
{
	struct path_frame *now = cursor->now;

	cursor->position = start;
	cursor->top = now->first;
	now->start = start;
	now->line = start;
	now->signature = (start ^ cursor->salt ^ (u64)shape << 48) * HASH_PRIME;
	now->cycles = 0;
	now->state = PATH_SHAPE(shape);
	cursor->limit = easy_limit(cursor);
}

/* The same, with a look: the stack's lowest jumps make room. */
static void set_limit(struct path_cursor *cursor)
{
	u32 used = cursor->top - cursor->floor;
	u32 own = cursor->top - cursor->now->first;

	/* Forgotten jumps may be all that there was, and more. */
	if (used > PATH_STACK)
		cursor->floor = cursor->top;
	else if (used == PATH_STACK)
		cursor->floor += PATH_JUMPS;
	used = cursor->top - cursor->floor;
	cursor->limit = cursor->top;
	if (own < PATH_JUMPS && !(cursor->now->state & PATH_SKIPPED))
		cursor->limit += min(PATH_JUMPS - own, PATH_STACK - used);
}

static __always_inline void keep_jump(struct path_cursor *cursor, u64 line,
				      u64 from, u64 to)
{
	struct path_frame *now = cursor->now;

	cursor->jump[cursor->top++ & (PATH_STACK - 1)] =
		path_jump_pack(line, from, to);
	now->signature = flow_mix(now->signature, from, to);
	now->line = to;
	cursor->position = to;
}

/* The first PATH_JUMPS are kept, unless there is one before that does not fit. */
static noinline bool keep_or_skip(struct path_cursor *cursor, u64 from, u64 to)
{
	struct path_frame *now = cursor->now;
	u64 line = now->line;

	set_limit(cursor);
	if (cursor->top != cursor->limit && path_jump_fits(line, from, to)) {
		keep_jump(cursor, line, from, to);
		return true;
	}
	now->state += (now->state & PATH_SKIPPED) != PATH_SKIPPED;
	now->line = to;
	cursor->position = to;
	cursor->limit = cursor->top;
	return true;
}

static __always_inline bool path_forward(struct path_cursor *cursor, u64 from,
					 u64 to)
{
	u64 line = cursor->now->line;

	if (unlikely(cursor->top == cursor->limit ||
		     !path_jump_fits(line, from, to)))
		return keep_or_skip(cursor, from, to);
	keep_jump(cursor, line, from, to);
	return true;
}

/* Its beginning is not known: all such paths of a space are one. */
static noinline void count_unseen(const struct path_cursor *cursor,
				  struct path_table *table)
{
	const struct path unseen = {
		.space = cursor->space, .shape = PATH_UNSEEN,
		.cycles = cursor->now->cycles * table->times,
	};

	path_table_add(table, flow_mix(cursor->salt, 0, PATH_UNSEEN) | 1,
		       &unseen, NULL, 0, 0, table->times);
}

static noinline void count_path(const struct path_cursor *cursor,
				struct path_table *table, u64 key, u64 end,
				u64 target)
{
	const struct path_frame *now = cursor->now;
	u32 kept = cursor->top - now->first;
	const struct path path = {
		.start = now->start, .end = end, .target = target,
		.cycles = now->cycles * table->times, .space = cursor->space,
		.length = min(kept + (now->state & PATH_SKIPPED), 0xffffU),
		.jumps = kept, .shape = now->state >> 16,
	};
	bool forgotten = path.jumps && (s32)(now->first - cursor->floor) < 0;

	if (path.shape & PATH_UNSEEN ||
	    (forgotten && !path_table_find(table, key)))
		count_unseen(cursor, table);
	else
		path_table_add(table, key, &path, cursor->jump, PATH_STACK - 1,
			       now->first, table->times);
}

static __always_inline u64 path_key(const struct path_cursor *cursor, u64 end,
				    u64 target)
{
	const struct path_frame *now = cursor->now;

	return flow_mix(now->signature + now->state, end, target) | 1;
}

/* It ends @end, with a jump to @target or a return: 0. */
static bool path_end(const struct path_cursor *cursor, struct path_table *table,
		     u64 end, u64 target)
{
	u64 key = path_key(cursor, end, target);

	count_path(cursor, table, key, end, target);
	return path_table_has_room(table);
}

/* The same, if it is where it is looked for first. False: nothing was done. */
static __always_inline bool path_end_known(const struct path_cursor *cursor,
					   struct path_table *table, u64 end,
					   u64 target)
{
	const struct path_frame *now = cursor->now;
	u64 key = path_key(cursor, end, target);
	struct path_slot *slot = path_home(table, key);

	if (unlikely(slot->key != key))
		return false;
	slot->count += table->times;
	table->pending += table->times;
	if (unlikely(now->cycles))
		path_of(table, slot)->cycles += now->cycles * table->times;
	return true;
}

/* --- frames --------------------------------------------------------------------- */

/* Nothing is known of what runs now; @at is where it is, if that is known. */
static void restart(struct path_cursor *cursor, const struct path_table *table,
		    u64 at, u32 space)
{
	cursor->depth = 0;
	cursor->bottom = 0;
	cursor->floor = 0;
	cursor->now = frame_at(cursor, 0);
	cursor->now->first = 0;
	cursor->space = space;
	cursor->salt = table->seed ^ space * HASH_PRIME;
	path_begin(cursor, at ? at : ~0ULL, PATH_UNSEEN);
}

/* The path waits at @site, and that of another frame begins. */
static __always_inline void enter(struct path_cursor *cursor, u64 site, u64 to)
{
	cursor->now->site = site;
	cursor->now = frame_at(cursor, ++cursor->depth);
	if (unlikely(cursor->depth - cursor->bottom == PATH_DEPTH))
		cursor->bottom++;
	cursor->now->first = cursor->top;
	path_begin(cursor, to, PATH_CALLED);
}

/* Frame @depth goes on, at @to; those above it are gone. */
static __always_inline void go_on(struct path_cursor *cursor, u32 depth, u64 to)
{
	cursor->top = frame_at(cursor, depth + 1)->first;
	cursor->depth = depth;
	cursor->now = frame_at(cursor, depth);
	cursor->position = to;
	cursor->limit = easy_limit(cursor);
}

static __always_inline bool is_handler(const struct path_frame *frame)
{
	return frame->state & PATH_SHAPE(PATH_HANDLER);
}

/* Does a return to @to lead behind the call that the frame made? */
static __always_inline bool called_from(const struct path_frame *frame, u64 to)
{
	return flow_is_behind_call(frame->site, to) && !is_handler(frame);
}

/*
 * Frames above that one were left without a return (longjmp, tail calls,
 * exceptions). A handler returns to code that no call led to, its restorer, and
 * stays in its frame. Behind any other return is code that was not seen called.
 */
static noinline void leave(struct path_cursor *cursor,
			   const struct path_table *table, u64 to)
{
	u32 depth, handler = 0;
	bool in_handler = false;

	for (depth = cursor->depth; depth != cursor->bottom; depth--) {
		const struct path_frame *frame = frame_at(cursor, depth - 1);

		if (called_from(frame, to)) {
			go_on(cursor, depth - 1, to);
			return;
		}
		if (is_handler(frame) && !in_handler) {
			in_handler = true;
			handler = depth;
		}
	}
	if (!in_handler) {
		restart(cursor, table, to, cursor->space);
		return;
	}
	cursor->depth = handler;
	cursor->now = frame_at(cursor, handler);
	path_begin(cursor, to, PATH_CALLED);
}

/* To the instruction that was interrupted, or it is as good as a gap. */
static void leave_handler(struct path_cursor *cursor,
			  const struct path_table *table, u64 to)
{
	u32 depth;

	for (depth = cursor->depth; depth != cursor->bottom; depth--) {
		const struct path_frame *frame = frame_at(cursor, depth - 1);

		if (!is_handler(frame))
			continue;
		if (to != frame->site)
			break;
		go_on(cursor, depth - 1, to);
		cursor->now->state &= ~PATH_SHAPE(PATH_HANDLER);
		return;
	}
	restart(cursor, table, to, cursor->space);
}

/* --- the walk ------------------------------------------------------------------ */

/* What is not a jump, call or return. */
static noinline void path_turn(struct path_cursor *cursor,
			       const struct path_table *table,
			       const struct stream_event *event)
{
	switch (event->kind) {
	case STREAM_SYSCALL:
		/* Mostly it is an instruction like any other. */
		if (event->to - event->from - 1 >= FLOW_CALL_MAX)
			restart(cursor, table, event->to, cursor->space);
		break;
	case STREAM_SIGNAL:
		cursor->now->state |= PATH_SHAPE(PATH_HANDLER);
		enter(cursor, event->from, event->to);
		break;
	case STREAM_SIGRETURN:
		leave_handler(cursor, table, event->to);
		break;
	case STREAM_GAP:
		restart(cursor, table, event->to, cursor->space);
		break;
	}
}

/*
 * Does the event follow from what is known? If not, something was not seen. A
 * gap, or a handler's end, says nothing about where the line was.
 */
static __always_inline bool follows(const struct path_cursor *cursor,
				    const struct stream_event *event)
{
	return (event->from >= cursor->position ||
		event->kind > STREAM_SIGNAL) && event->space == cursor->space;
}

/* Any event. */
static noinline bool walk_any(struct path_table *table,
			      struct path_cursor *cursor,
			      const struct stream_event *event)
{
	u64 from = event->from, to = event->to;
	bool room = true;

	if (unlikely(!follows(cursor, event)))
		restart(cursor, table,
			event->kind > STREAM_SIGNAL ? 0 : from, event->space);
	cursor->now->cycles += event->cycles;
	if (stream_is_jump(event->kind)) {
		if (to > from)
			return path_forward(cursor, from, to);
		room = path_end(cursor, table, from, to);
		path_begin(cursor, to, 0);
	} else if (event->kind == STREAM_CALL) {
		enter(cursor, from, to);
	} else if (event->kind == STREAM_RET) {
		room = path_end(cursor, table, from, 0);
		leave(cursor, table, to);
	} else {
		path_turn(cursor, table, event);
	}
	return room;
}

/*
 * The common cases. They call nothing before they are done, so that this needs
 * no stack; whatever is not common is left to walk_any(), from the start.
 */
static __always_inline bool walk(struct path_table *table,
				 struct path_cursor *cursor,
				 const struct stream_event *event)
{
	u64 from = event->from, to = event->to;
	unsigned int kind = event->kind;

	if (unlikely(from < cursor->position || event->space != cursor->space ||
		     event->cycles))
		return walk_any(table, cursor, event);
	if (stream_is_jump(kind)) {
		if (to > from)
			return path_forward(cursor, from, to);
		if (unlikely(!path_end_known(cursor, table, from, to)))
			return walk_any(table, cursor, event);
		path_begin(cursor, to, 0);
		return true;
	}
	if (kind == STREAM_CALL) {
		enter(cursor, from, to);
		return true;
	}
	if (unlikely(kind != STREAM_RET || cursor->depth == cursor->bottom ||
		     !called_from(frame_at(cursor, cursor->depth - 1), to) ||
		     !path_end_known(cursor, table, from, 0)))
		return walk_any(table, cursor, event);
	go_on(cursor, cursor->depth - 1, to);
	return true;
}

/* --- the engine ------------------------------------------------------------------ */

static unsigned int path_unit(const struct engine_params *params,
			      const struct stream_event *event)
{
	return event->kind == STREAM_RET ||
	       (stream_is_jump(event->kind) && event->to <= event->from);
}

static bool path_feed(void *table, void *cursor,
		      const struct stream_event *event)
{
	return walk(table, cursor, event);
}

/* It begins with a gap, which is why its cursor need not be new. */
static bool path_feed_window(void *memory, struct window *window,
			     struct window_counts *counts)
{
	struct path_table *table = memory;
	const struct stream_event *event;
	bool room = true;

	table->times = window->times;
	restart(table->window, table, 0, window->event.space);
	while ((event = window_next(window))) {
		counts->events += window->times;
		counts->gaps += event->kind == STREAM_GAP ? window->times : 0;
		counts->units += path_unit(NULL, event) * window->times;
		room &= walk(table, table->window, event);
	}
	table->times = 1;
	return room;
}

static void path_cursor_init(void *memory, u32 tid)
{
	struct path_cursor *cursor = memory;

	memset(cursor, 0, offsetof(struct path_cursor, jump));
	cursor->now = cursor->frame;
	cursor->now->first = 0;
	path_begin(cursor, ~0ULL, PATH_UNSEEN);
}

/* All of the memory is for paths, but for the cursor of windows. */
static void path_table_init_all(void *memory, size_t size,
				const struct engine_params *params)
{
	size_t header = (sizeof(struct path_table) + 63) & ~63UL;
	size_t cursor = params->basis == HWPROF_BASIS_EXACT ? 0 :
			sizeof(struct path_cursor);
	size_t set = path_table_size(PATH_WAYS);
	struct path_table *table = memory;
	u32 slots = min((size - header - cursor) / set,
			(size_t)U32_MAX / PATH_WAYS) * PATH_WAYS;

	path_table_init(table, memory + header, slots, params);
	if (cursor)
		table->window = memory + header + path_table_size(slots);
}

/* Of the path, no more is known than where it ends. */
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
	.feed_window	= path_feed_window,
	.merge		= path_merge,
	.rows		= path_rows,
	.sample		= path_sample,
	.forget		= path_forget,
	.evicted	= path_evicted,
	.pending	= path_pending,
};
