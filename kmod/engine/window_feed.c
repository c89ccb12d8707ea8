// SPDX-License-Identifier: GPL-2.0-only
/*
 * One walk over a window, for all that is learnt from its branches: to find out
 * what they are costs as much as any engine. This is what a sample costs.
 *
 * Each engine has its own, in which what is of the others falls away, and
 * several together have that of all.
 */
#include "call.h"
#include "loop_line.h"
#include "path_walk.h"
#include "window_feed.h"

/* A window of these tables, of which any may be missing, but for all. */
struct feed {
	struct loop_table *loops;
	struct call_table *calls;
	struct path_table *paths;
	struct line line;
	u64 branches, back_edges, called, ended;	/* so far */
};

static __always_inline void begin(struct feed *feed,
				  const struct window *window)
{
	feed->line = (struct line){ .position = ~0ULL };
	if (feed->loops)
		loop_window_begin(feed->loops, window->times);
	if (feed->calls)
		call_window_begin(feed->calls, window->times);
	if (feed->paths)
		path_window_begin(feed->paths, window);
}

static noinline void take_slowly(struct path_table *paths,
				 struct window *window,
				 const struct window_branch *branch, u8 kind)
{
	path_event(paths, paths->window, window_event(window, branch, kind));
}

/* A jump, call or return that follows from the line before it. */
static __always_inline void take_branch(struct feed *feed,
					struct window *window,
					const struct window_branch *branch,
					unsigned int kind)
{
	u64 from = branch->from, to = branch->to;

	window->position = to;
	feed->branches++;
	if (feed->loops)
		feed->back_edges += line_branch(feed->loops, &feed->line, kind,
						from, to);
	if (feed->calls && kind == STREAM_CALL) {
		feed->called++;
		call_count(feed->calls, window->event.space, from, to);
	}
	if (!feed->paths)
		return;
	feed->ended += path_ends(kind, from, to);
	if (unlikely(!path_step(feed->paths, feed->paths->window,
				window->event.space, kind, from, to,
				window_cycles(branch))))
		take_slowly(feed->paths, window, branch, kind);
}

/* What no engine has for its unit. */
static noinline void take_other(struct loop_table *loops, struct line *line,
				struct path_table *paths,
				const struct window *window,
				struct window_counts *counts)
{
	const struct stream_event *event = &window->event;

	counts->events += window->times;
	if (event->kind == STREAM_GAP)
		counts->gaps += window->times;
	if (loops && event->kind == STREAM_GAP)
		line_restart(loops, line, event, event->to);
	else if (loops)
		line_turn(loops, line, event);
	if (paths)
		path_event(paths, paths->window, event);
}

static __always_inline bool end(const struct feed *feed,
				const struct window *window,
				struct window_counts *counts)
{
	bool room = true;

	counts->events += feed->branches * window->times;
	counts->units += (feed->back_edges + feed->called + feed->ended) *
			 window->times;
	if (feed->loops)
		room &= flow_has_table_room(&feed->loops->flow);
	if (feed->calls)
		room &= call_window_end(feed->calls);
	if (feed->paths)
		room &= path_window_end(feed->paths);
	return room;
}

static __always_inline bool walk(struct feed feed, struct window *window,
				 struct window_counts *counts)
{
	begin(&feed, window);
	while (window->next != window->newest) {
		const struct window_branch *branch = --window->next;
		unsigned int kind = *--window->kind;

		if (likely(stream_is_branch(kind) &&
			   window_follows(window, branch))) {
			take_branch(&feed, window, branch, kind);
		} else if (window_take(window, branch, kind)) {
			struct line line = feed.line;

			/* Its address is not known to the others' path. */
			take_other(feed.loops, &line, feed.paths, window,
				   counts);
			feed.line = line;
		}
	}
	return end(&feed, window, counts);
}

bool loop_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return walk((struct feed){ .loops = table }, window, counts);
}

bool call_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return walk((struct feed){ .calls = table }, window, counts);
}

bool path_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return walk((struct feed){ .paths = table }, window, counts);
}

bool window_feed(void *loops, void *calls, void *paths, struct window *window,
		 struct window_counts *counts)
{
	return walk((struct feed){ .loops = loops, .calls = calls,
				    .paths = paths }, window, counts);
}
