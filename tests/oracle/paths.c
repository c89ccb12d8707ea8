// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include "paths.h"

#include <search.h>
#include <string.h>

#include "array.h"

/* A path that is not finished. */
struct open_path {
	u64 start;
	u64 cycles;
	u32 flags;
	struct { struct hwprof_path_jump *items; size_t count, room; } jumps;
};

/* A frame that waits for its call, or for a signal's handler, to return. */
struct waiting {
	struct open_path path;
	u64 site;		/* call; handler: where it returns to */
	bool handler;
};

struct path_walk {
	struct exact_paths *paths;
	u32 space;
	u64 position;		/* no branch is before it */
	struct open_path now;
	struct { struct waiting *items; size_t count, room; } frames;
};

/* --- finished paths ------------------------------------------------------- */

#define ORDER(a, b)	if ((a) != (b)) return (a) < (b) ? -1 : 1

int paths_compare(const void *a, const void *b)
{
	const struct exact_path *x = a, *y = b;
	size_t i;

	ORDER(x->space, y->space);
	ORDER(x->flags, y->flags);
	ORDER(x->start, y->start);
	ORDER(x->end, y->end);
	ORDER(x->target, y->target);
	ORDER(x->length, y->length);
	ORDER(x->spelled, y->spelled);
	for (i = 0; i < x->spelled; i++) {
		ORDER(x->jumps[i].from, y->jumps[i].from);
		ORDER(x->jumps[i].to, y->jumps[i].to);
	}
	return 0;
}

struct exact_path path_of_row(const struct hwprof_row_path *row)
{
	struct exact_path path = {
		.space = row->row.space, .flags = row->flags,
		.start = row->start, .end = row->end, .target = row->target,
		.count = row->count, .cycles = row->cycles,
		.length = row->length, .spelled = row->spelled,
	};

	memcpy(path.jumps, row->jumps, row->spelled * sizeof(row->jumps[0]));
	return path;
}

void paths_add(struct exact_paths *paths, const struct exact_path *path)
{
	struct exact_path **found = tfind(path, &paths->tree, paths_compare);
	struct exact_path *copy;

	paths->finished += path->count;
	if (found) {
		(*found)->count += path->count;
		(*found)->cycles += path->cycles;
		return;
	}
	copy = array_more(NULL, 1, sizeof(*copy));
	*copy = *path;
	if (!tsearch(copy, &paths->tree, paths_compare))
		abort();
}

static void take_one(const void *node, VISIT visit, void *context)
{
	struct exact_paths *paths = context;

	if (visit == postorder || visit == leaf)
		*array_push(paths) = **(struct exact_path *const *)node;
}

void paths_finish(struct exact_paths *paths)
{
	paths->count = 0;
	twalk_r(paths->tree, take_one, paths);
}

void paths_free(struct exact_paths *paths)
{
	tdestroy(paths->tree, free);
	free(paths->items);
}

const struct exact_path *paths_find(const struct exact_paths *paths,
				    const struct exact_path *path)
{
	return paths->count ? bsearch(path, paths->items, paths->count,
				      sizeof(*path), paths_compare) : NULL;
}

/* --- the walk ------------------------------------------------------------- */

static void begin(struct path_walk *walk, u64 start, u32 flags)
{
	walk->now.start = start;
	walk->now.cycles = 0;
	walk->now.flags = flags;
	walk->now.jumps.count = 0;
	walk->position = start;
}

/*
 * Returns how many jumps a row can encode. A jump that is too long, or ends too
 * long a line, is left out with all jumps after it.
 */
static size_t count_spelled(const struct open_path *path)
{
	u64 line = path->start;
	size_t i;

	for (i = 0; i < path->jumps.count; i++) {
		const struct hwprof_path_jump *jump = &path->jumps.items[i];

		if (i == HWPROF_PATH_JUMPS_MAX ||
		    jump->from - line >= 1 << 16 ||
		    jump->to - jump->from >= 1ULL << 48)
			break;
		line = jump->to;
	}
	return i;
}

static void finish(struct path_walk *walk, u64 end, u64 target)
{
	const struct open_path *now = &walk->now;
	struct exact_path path = { .space = walk->space, .count = 1 };

	path.cycles = now->cycles;
	path.flags = now->flags;
	if (!(now->flags & HWPROF_PATH_UNSEEN)) {
		path.start = now->start;
		path.end = end;
		path.target = target;
		path.length = now->jumps.count < 65535 ? now->jumps.count :
							 65535;
		path.spelled = count_spelled(now);
		if (path.spelled)
			memcpy(path.jumps, now->jumps.items,
			       path.spelled * sizeof(path.jumps[0]));
	}
	paths_add(walk->paths, &path);
}

static void drop_frame(struct path_walk *walk)
{
	free(walk->frames.items[--walk->frames.count].path.jumps.items);
}

static void forget_all(struct path_walk *walk, u64 at, u32 space)
{
	while (walk->frames.count)
		drop_frame(walk);
	walk->space = space;
	begin(walk, at ? at : ~0ULL, HWPROF_PATH_UNSEEN);
}

static void wait_for(struct path_walk *walk, u64 site, u64 to, bool handler)
{
	struct waiting *frame = array_push(&walk->frames);

	*frame = (struct waiting){
		.path = walk->now, .site = site, .handler = handler,
	};
	memset(&walk->now, 0, sizeof(walk->now));
	begin(walk, to, HWPROF_PATH_CALLED);
}

/* Leaves the last frame; the one before it goes on. */
static void go_on(struct path_walk *walk, u64 at)
{
	free(walk->now.jumps.items);
	walk->now = walk->frames.items[--walk->frames.count].path;
	walk->position = at;
}

static bool called_from(const struct waiting *frame, u64 to)
{
	return !frame->handler && to >= frame->site + 2 &&
	       to <= frame->site + 15;
}

static void on_return(struct path_walk *walk, u64 to)
{
	size_t i, handler = 0;

	for (i = walk->frames.count; i > 0; i--) {
		const struct waiting *frame = &walk->frames.items[i - 1];

		if (called_from(frame, to)) {
			while (walk->frames.count > i)
				drop_frame(walk);
			go_on(walk, to);
			return;
		}
		if (frame->handler && !handler)
			handler = i;
	}
	if (!handler) {
		forget_all(walk, to, walk->space);
		return;
	}
	while (walk->frames.count > handler)
		drop_frame(walk);
	begin(walk, to, HWPROF_PATH_CALLED);
}

static void on_sigreturn(struct path_walk *walk, u64 to)
{
	while (walk->frames.count &&
	       !walk->frames.items[walk->frames.count - 1].handler)
		drop_frame(walk);
	if (walk->frames.count &&
	    walk->frames.items[walk->frames.count - 1].site == to)
		go_on(walk, to);
	else
		forget_all(walk, to, walk->space);
}

static void on_jump(struct path_walk *walk, u64 from, u64 to)
{
	if (to > from) {
		*array_push(&walk->now.jumps) = (struct hwprof_path_jump){
			from, to
		};
		walk->position = to;
	} else {
		finish(walk, from, to);
		begin(walk, to, 0);
	}
}

void path_walk_event(struct path_walk *walk, const struct stream_event *event)
{
	u64 from = event->from, to = event->to;

	if (event->space != walk->space ||
	    (event->kind <= STREAM_SIGNAL && from < walk->position))
		forget_all(walk, event->kind <= STREAM_SIGNAL ? from : 0,
			   event->space);
	walk->now.cycles += event->cycles;
	switch (event->kind) {
	case STREAM_COND:
	case STREAM_JUMP:
	case STREAM_INDIRECT:
		on_jump(walk, from, to);
		break;
	case STREAM_CALL:
		wait_for(walk, from, to, false);
		break;
	case STREAM_RET:
		finish(walk, from, 0);
		on_return(walk, to);
		break;
	case STREAM_SYSCALL:
		if (to <= from || to > from + 15)
			forget_all(walk, to, walk->space);
		break;
	case STREAM_SIGNAL:
		wait_for(walk, from, to, true);
		break;
	case STREAM_SIGRETURN:
		on_sigreturn(walk, to);
		break;
	case STREAM_GAP:
		forget_all(walk, to, walk->space);
		break;
	}
}

struct path_walk *path_walk_new(struct exact_paths *paths)
{
	struct path_walk *walk = array_more(NULL, 1, sizeof(*walk));

	*walk = (struct path_walk){ .paths = paths };
	begin(walk, ~0ULL, HWPROF_PATH_UNSEEN);
	return walk;
}

void path_walk_free(struct path_walk *walk)
{
	while (walk->frames.count)
		drop_frame(walk);
	free(walk->frames.items);
	free(walk->now.jumps.items);
	free(walk);
}
