// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * One walk over a window for all engines that learn from branches. To decode a
 * window costs as much as any engine. This walk is what a sample costs.
 *
 * The walk is inlined into one function for each engine, where the compiler
 * drops the code of the other engines, and into two for several engines, with
 * and without edges.
 */
#include "call_pair.h"
#include "edge_line.h"
#include "loop_line.h"
#include "path_walk.h"
#include "window_feed.h"

/*
 * The tables that learn from the window, NULL for others, and counts of what
 * was seen.
 */
struct feed {
	struct loop_table *loops;
	struct saving_table *calls;
	struct path_table *paths;
	struct saving_table *edges;
	struct edge_cursor *edge;	/* the cursor of edges */
	struct line line;
	u64 branches;
	u64 back_edges, called, ended;	/* units of loops, calls, paths */
};

static __always_inline void feed_begin(struct feed *feed,
				       const struct window *window)
{
	feed->line = LINE_UNKNOWN;
	if (feed->loops)
		loop_window_begin(feed->loops, window->times);
	if (feed->calls)
		saving_window_begin(feed->calls, window->times);
	if (feed->paths)
		path_window_begin(feed->paths, window);
	if (feed->edges) {
		saving_window_begin(feed->edges, window->times);
		edge_cursor_begin(feed->edge);
	}
}

static void feed_take_edge(const struct feed *feed, u32 space,
			   const struct window_branch *branch,
			   unsigned int kind)
{
	const struct stream_event event = {
		.from = branch->from, .to = branch->to, .space = space,
		.kind = kind, .flags = branch->flags & WINDOW_PREDICTION,
		.cycles = window_cycles(branch),
	};

	edge_branch(feed->edges, feed->edge, &event);
}

static noinline void feed_take_slowly(struct path_table *paths, u32 space,
				      const struct window_branch *branch,
				      unsigned int kind)
{
	const struct stream_event event = {
		.from = branch->from, .to = branch->to, .space = space,
		.kind = kind, .cycles = window_cycles(branch),
	};

	path_event(paths, paths->window, &event);
}

static __always_inline void feed_take_kind(struct feed *feed, u32 space,
					   const struct window_branch *branch,
					   unsigned int kind, u64 from, u64 to)
{
	if (feed->loops)
		feed->back_edges += line_branch(feed->loops, &feed->line, kind,
						from, to);
	if (feed->calls && kind == STREAM_CALL) {
		feed->called++;
		call_count(feed->calls, space, from, to);
	}
	if (!feed->paths)
		return;
	feed->ended += path_ends(kind, from, to);
	if (unlikely(!path_step(feed->paths, feed->paths->window, space, kind,
				from, to, window_cycles(branch))))
		feed_take_slowly(feed->paths, space, branch, kind);
}

/*
 * Take a jump, call or return that follows from the line before it. Each engine
 * asks for its kind, but the branch is decoded once: a constant @kind lets the
 * compiler drop the other cases. All kinds of jumps are one to the engines, but
 * for their direction.
 */
static __always_inline void feed_take_branch(struct feed *feed, u32 space,
					     const struct window_branch *branch,
					     unsigned int kind)
{
	u64 from = branch->from, to = branch->to;

	if (feed->edges)
		feed_take_edge(feed, space, branch, kind);
	if (kind == STREAM_CALL)
		feed_take_kind(feed, space, branch, STREAM_CALL, from, to);
	else if (kind == STREAM_RET)
		feed_take_kind(feed, space, branch, STREAM_RET, from, to);
	else if (to > from)
		feed_take_kind(feed, space, branch, STREAM_JUMP, from, to);
	else
		feed_take_kind(feed, space, branch, STREAM_COND, from, to);
}

/* Take branches as long as each follows from the one before it. */
static __always_inline void feed_take_branches(struct feed *feed,
					       struct window *window)
{
	const struct window_branch *newest = window->newest;
	const struct window_branch *next = window->next;
	u64 side = window->side, position = window->position;
	u32 space = window->event.space;
	const u8 *kind = window->kind;

	for (; next != newest; next--, kind--) {
		const struct window_branch *branch = next - 1;

		if (unlikely(!stream_is_branch(kind[-1]) ||
			     !window_ends_line(branch, side, position)))
			break;
		position = branch->to;
		feed_take_branch(feed, space, branch, kind[-1]);
	}
	feed->branches += window->next - next;
	window->next = next;
	window->kind = kind;
	window->position = position;
}

/*
 * Take any other branch. It is no unit of any engine. Return true if it has an
 * event.
 */
static noinline bool feed_take_other(struct loop_table *loops,
				     struct line *line,
				     struct path_table *paths,
				     struct window *window,
				     struct window_counts *counts)
{
	const struct stream_event *event = &window->event;

	if (!window_take(window, --window->next, *--window->kind))
		return false;
	counts->events += window->times;
	if (event->kind == STREAM_GAP)
		counts->gaps += window->times;
	if (loops && event->kind == STREAM_GAP)
		line_restart(loops, line, event, event->to);
	else if (loops)
		line_turn(loops, line, event);
	if (paths)
		path_event(paths, paths->window, event);
	return true;
}

/*
 * Return true if the window's oldest branch is complete as an edge. It begins
 * the window and is no event, because the line before it was not seen.
 */
static bool feed_is_edge(const struct window *window)
{
	const struct window_branch *branch = window->next;

	return window->event.kind == STREAM_GAP &&
	       stream_is_branch(*window->kind) && branch->from &&
	       !((branch->from ^ window->side) >> 63) &&
	       !(branch->flags & WINDOW_ABORT);
}

/* Take an event that is not a branch. */
static noinline void feed_turn_edge(struct saving_table *edges,
				    struct edge_cursor *edge,
				    const struct window *window, bool oldest)
{
	edge_turn(edges, edge, &window->event);
	if (!oldest || !feed_is_edge(window))
		return;
	edge->from = window->next->from;
	edge->kind = *window->kind;
	edge->flags = window->next->flags & WINDOW_PREDICTION;
}

static __always_inline bool feed_end(const struct feed *feed,
				     const struct window *window,
				     struct window_counts *counts)
{
	bool room = true;

	counts->events += feed->branches * window->times;
	counts->units += (feed->back_edges + feed->called + feed->ended +
			  (feed->edges ? feed->branches : 0)) * window->times;
	if (feed->loops)
		room &= flow_has_table_room(&feed->loops->flow);
	if (feed->calls)
		room &= saving_window_end(feed->calls);
	if (feed->paths)
		room &= path_window_end(feed->paths);
	if (feed->edges) {
		edge_leave(feed->edges, feed->edge);
		room &= saving_window_end(feed->edges);
	}
	return room;
}

static __always_inline bool feed_walk(struct feed feed, struct window *window,
				      struct window_counts *counts)
{
	struct edge_cursor edge;

	feed.edge = &edge;
	feed_begin(&feed, window);
	while (window->next != window->newest) {
		struct line line = feed.line;
		bool oldest = !window->begun;

		/*
		 * Only the copy of the line has its address taken, so that the
		 * compiler can keep feed.line in registers.
		 */
		if (feed_take_other(feed.loops, &line, feed.paths, window,
				    counts) &&
		    feed.edges)
			feed_turn_edge(feed.edges, &edge, window, oldest);
		feed.line = line;
		if (window->inside)
			feed_take_branches(&feed, window);
	}
	return feed_end(&feed, window, counts);
}

bool loop_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return feed_walk((struct feed){ .loops = table }, window, counts);
}

bool call_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return feed_walk((struct feed){ .calls = table }, window, counts);
}

bool path_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return feed_walk((struct feed){ .paths = table }, window, counts);
}

bool edge_feed_window(void *table, struct window *window,
		      struct window_counts *counts)
{
	return feed_walk((struct feed){ .edges = table }, window, counts);
}

bool window_feed(void *loops, void *calls, void *paths, void *edges,
		 struct window *window, struct window_counts *counts)
{
	struct feed feed = { .loops = loops, .calls = calls, .paths = paths };

	/* Few sessions have edges. */
	if (likely(!edges))
		return feed_walk(feed, window, counts);
	feed.edges = edges;
	return feed_walk(feed, window, counts);
}
