// SPDX-License-Identifier: GPL-2.0-only
/* Branch stacks: see window.h. */
#include "window.h"

/* By PERF_BR_*; those between privilege levels are seen by their addresses. */
static const u8 kinds[WINDOW_TYPE_MASK + 1] = {
	[1]	= STREAM_COND,
	[2]	= STREAM_JUMP,
	[3]	= STREAM_INDIRECT,
	[4]	= STREAM_CALL,
	[5]	= STREAM_CALL,		/* indirect */
	[6]	= STREAM_RET,
	[9]	= STREAM_CALL,		/* conditional */
	[10]	= STREAM_RET,		/* conditional */
};

u8 window_kind(const struct window_branch *branch)
{
	return kinds[branch->flags >> WINDOW_TYPE_SHIFT & WINDOW_TYPE_MASK];
}

void window_begin(struct window *window, const struct window_branch *branches,
		  const u8 *kinds, u32 count, u32 space)
{
	*window = (struct window){
		.branches = branches, .kinds = kinds, .rest = count,
		.space = space,
	};
}

static bool is_ours(const struct window *window, u64 address)
{
	return address && window_in_kernel(address) == !window->space;
}

/* Unseen code ran; it goes on at @to. */
static bool gap(struct window *window, struct stream_event *event, u64 to)
{
	window->inside = true;
	window->position = to;
	*event = (struct stream_event){
		.to = to, .space = window->space, .kind = STREAM_GAP,
	};
	return true;
}

/* The same, if it is known where it goes on. False: there is no event. */
static bool lose(struct window *window, struct stream_event *event, u64 to)
{
	window->inside = false;
	window->left = 0;
	return is_ours(window, to) && gap(window, event, to);
}

/* Does the branch end the line that is at `position`? */
static bool follows(const struct window *window, u64 from)
{
	return window->inside && from - window->position <= WINDOW_LINE_MAX;
}

static void leave(struct window *window, u64 from)
{
	bool sane = follows(window, from);

	window->broken += window->inside && !sane;
	window->inside = false;
	window->left = sane ? from : 0;
}

/*
 * The user's line goes on where it was interrupted as if nothing had been, and
 * behind a system call as behind any instruction.
 */
static bool come_back(struct window *window, struct stream_event *event, u64 to)
{
	u64 left = window->left;

	window->left = 0;
	if (window->inside || !left || !window->space)
		return gap(window, event, to);
	window->inside = true;
	if (to == left)
		return false;
	window->position = to;
	*event = (struct stream_event){
		.from = left, .to = to, .space = window->space,
		.kind = STREAM_SYSCALL,
	};
	return true;
}

static bool pass(struct window *window, struct stream_event *event,
		 const struct window_branch *branch, u8 kind)
{
	u64 from = branch->from, to = branch->to;

	if (unlikely(!follows(window, from))) {
		window->broken += window->inside;
		return lose(window, event, to);
	}
	window->position = to;
	event->from = from;
	event->to = to;
	event->value = 0;
	event->space = window->space;
	event->kind = kind;
	event->flags = branch->flags & WINDOW_MISPREDICTED ?
		       STREAM_MISPREDICTED : 0;
	event->cycles = branch->flags >> WINDOW_CYCLES_SHIFT &
			WINDOW_CYCLES_MASK;
	event->width = 0;
	return true;
}

/* False: there is no event of this branch. */
static bool take(struct window *window, struct stream_event *event,
		 const struct window_branch *branch, u8 kind)
{
	u64 from = branch->from, to = branch->to;

	/* It was not executed, and what is around it belongs together. */
	if (unlikely((branch->flags >> WINDOW_SPEC_SHIFT & WINDOW_SPEC_MASK) ==
		     WINDOW_SPEC_WRONG_PATH))
		return false;
	if (unlikely(!from || !to || branch->flags & WINDOW_ABORT)) {
		window->begun = true;
		window->broken++;
		return lose(window, event, to);
	}
	if (unlikely(!window->begun)) {
		window->begun = true;
		return lose(window, event, to);
	}
	if (likely(is_ours(window, from) && is_ours(window, to)))
		return pass(window, event, branch, kind);
	if (is_ours(window, to))
		return come_back(window, event, to);
	if (is_ours(window, from))
		leave(window, from);
	else if (window->inside)
		return lose(window, event, 0);
	return false;
}

bool window_next(struct window *window, struct stream_event *event)
{
	while (window->rest) {
		u32 i = --window->rest;

		if (take(window, event, &window->branches[i],
			 window->kinds[i]))
			return true;
	}
	return false;
}
