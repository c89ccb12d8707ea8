// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Branch stacks. See window.h. */
#include "window.h"

/*
 * Indexed by PERF_BR_*. Branches between privilege levels have no entry here,
 * because their addresses tell them.
 */
const u8 window_kinds[WINDOW_TYPE_MASK + 1] = {
	[1]	= STREAM_COND,
	[2]	= STREAM_JUMP,
	[3]	= STREAM_INDIRECT,
	[4]	= STREAM_CALL,
	[5]	= STREAM_CALL,		/* indirect call */
	[6]	= STREAM_RET,
	[9]	= STREAM_CALL,		/* conditional call */
	[10]	= STREAM_RET,		/* conditional return */
};

void window_recorded_kinds(u8 *kinds, const struct window_branch *branches,
			   u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		kinds[i] = window_kind(branches[i].flags);
}

void window_begin(struct window *window, const struct window_branch *branches,
		  const u8 *kinds, u32 count, u32 space)
{
	*window = (struct window){
		.newest = branches, .next = branches + count,
		.kind = kinds + count, .side = space ? 0 : 1ULL << 63,
		.times = 1, .event.space = space,
	};
}

static bool window_is_same(const struct window_branch *a,
			   const struct window_branch *b)
{
	return a->from == b->from && a->to == b->to;
}

u32 window_copies(const struct window_branch *branches, u32 count)
{
	u32 i;

	if (count < 2 || !window_is_same(&branches[0], &branches[1]))
		return 0;
	if (window_never_twice(branches))
		return 1;
	for (i = 2; i < count; i++)
		if (window_is_same(&branches[i], branches) &&
		    window_is_same(&branches[i - 1], branches))
			return 0;
	return 1;
}

static bool window_is_ours(const struct window *window, u64 address)
{
	return address && !((address ^ window->side) >> 63);
}

static bool window_say(struct window *window, u16 kind, u64 from, u64 to)
{
	window->inside = true;
	window->position = to;
	window->event.kind = kind;
	window->event.from = from;
	window->event.to = to;
	window->event.flags = 0;
	window->event.cycles = 0;
	return true;
}

/* Code ran unseen. Return true if control is known to go on at @to. */
static bool window_lose(struct window *window, u64 to)
{
	window->inside = false;
	window->left = 0;
	return window_is_ours(window, to) &&
	       window_say(window, STREAM_GAP, 0, to);
}

static void window_leave(struct window *window, u64 from)
{
	bool sane = window->inside &&
		    from - window->position <= WINDOW_LINE_MAX;

	window->broken += window->inside && !sane;
	window->inside = false;
	window->left = sane ? from : 0;
}

/*
 * Control returns to user space at @to. The user's line goes on where an
 * interrupt had stopped it, and behind a system call as behind any instruction.
 */
static bool window_come_back(struct window *window, u64 to)
{
	u64 left = window->left;

	if (window->inside || !left || window->side)
		return window_lose(window, to);
	window->left = 0;
	window->inside = true;
	return to != left && window_say(window, STREAM_SYSCALL, left, to);
}

/*
 * An exception and the return from one come here like any branch between
 * levels. An address of 0 is one of a level that is not recorded: it is not
 * ours.
 */
bool window_turn(struct window *window, const struct window_branch *branch)
{
	u64 from = branch->from, to = branch->to;
	bool begun = window->begun;

	if (window_on_wrong_path(branch))
		return false;
	window->begun = true;
	if (window_is_dead(branch)) {
		window->broken++;
		return window_lose(window, to);
	}
	if (!begun)
		return window_lose(window, to);
	/* A branch that follows from the line does not come here. */
	if (window_is_ours(window, from) && window_is_ours(window, to)) {
		window->broken += window->inside &&
				  !window_is_exception(branch->flags);
		return window_lose(window, to);
	}
	if (window_is_ours(window, to))
		return window_come_back(window, to);
	if (window_is_ours(window, from))
		window_leave(window, from);
	else if (window->inside)
		return window_lose(window, 0);
	return false;
}
