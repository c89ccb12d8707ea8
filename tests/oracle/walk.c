// SPDX-License-Identifier: GPL-2.0-only
#include "walk.h"

#include "array.h"

/* A loop that is being executed in a frame. */
struct execution {
	size_t loop;
	uint64_t back_edges;
	bool partial;		/* its entry was not seen */
};

struct frame {
	uint64_t site;		/* the call, or the instruction interrupted */
	bool is_call;		/* a return may match it */
	bool is_handler;	/* a signal handler's */
	bool is_seen;		/* from its beginning */
	bool somewhere;		/* false: after a gap, `at` is not known */
	uint64_t at;		/* last address executed of the line */
	size_t first;		/* of its executions; those above are its own */
};

struct walk {
	struct regions *regions;
	uint64_t span;
	uint32_t space;
	struct { struct frame *items; size_t count, room; } frames;
	struct { struct execution *items; size_t count, room; } running;
};

bool walk_is_back_edge(const struct stream_event *event, uint64_t span)
{
	switch (event->kind) {
	case STREAM_COND:
	case STREAM_JUMP:
	case STREAM_INDIRECT:
		return event->from >= event->to &&
		       event->from - event->to <= span;
	default:
		return false;
	}
}

static struct frame *top(struct walk *walk)
{
	return &walk->frames.items[walk->frames.count - 1];
}

static struct oracle_loop *loop_of(struct walk *walk, size_t index)
{
	return &walk->regions->loops.items[index];
}

static void enter(struct walk *walk, size_t index)
{
	loop_of(walk, index)->entries++;
	*array_push(&walk->running) = (struct execution){ .loop = index };
}

static void finish(struct oracle_loop *loop, const struct execution *run)
{
	uint64_t trip = run->back_edges + 1;
	int bucket = 63 - __builtin_clzll(trip);

	if (run->partial) {
		loop->unclosed++;
		return;
	}
	if (!run->back_edges) {
		loop->singles++;
		return;
	}
	loop->executions++;
	if (!loop->trip_min || trip < loop->trip_min)
		loop->trip_min = trip;
	if (trip > loop->trip_max)
		loop->trip_max = trip;
	if (bucket >= ORACLE_BUCKETS)
		bucket = ORACLE_BUCKETS - 1;
	loop->trips[bucket]++;
}

/*
 * Moves control of the top frame to @address, and ends the loops that do not
 * contain it.
 */
static void leave(struct walk *walk, uint64_t address)
{
	size_t i, kept = top(walk)->first;

	for (i = kept; i < walk->running.count; i++) {
		struct execution run = walk->running.items[i];
		struct oracle_loop *loop = loop_of(walk, run.loop);

		if (region_has(loop, address))
			walk->running.items[kept++] = run;
		else
			finish(loop, &run);
	}
	walk->running.count = kept;
}

/* Runs the top frame straight on, up to and including @address. */
static void run_to(struct walk *walk, uint64_t address)
{
	struct frame *frame = top(walk);
	size_t i;

	if (frame->at < address) {
		i = regions_from(walk->regions, walk->space, frame->at + 1);
		for (; i < walk->regions->loops.count; i++) {
			if (loop_of(walk, i)->space != walk->space ||
			    loop_of(walk, i)->head > address)
				break;
			enter(walk, i);
		}
	}
	frame->at = address;
	leave(walk, address);
}

/*
 * Moves control of the top frame from one address to another, other than by a
 * call.
 */
static void go(struct walk *walk, uint64_t from, uint64_t to)
{
	const struct cell *cell = regions_cell(walk->regions, walk->space, to);
	size_t i;

	leave(walk, to);
	for (i = 0; cell && i < cell->count; i++)
		if (!region_has(loop_of(walk, cell->loops[i]), from))
			enter(walk, cell->loops[i]);
	top(walk)->somewhere = true;
	top(walk)->at = to;
}

/*
 * Counts a back edge for the frame's execution of the loop. There may be no
 * execution. Then its entry came before all that was seen of the frame, or the
 * frame was called into the middle of the region, which does not enter the
 * loop.
 */
static void back_edge(struct walk *walk, uint64_t head)
{
	size_t i, index = regions_from(walk->regions, walk->space, head);

	loop_of(walk, index)->back_edges++;
	for (i = top(walk)->first; i < walk->running.count; i++)
		if (walk->running.items[i].loop == index)
			break;
	if (i == walk->running.count) {
		if (top(walk)->is_seen)
			return;
		*array_push(&walk->running) = (struct execution){
			.loop = index, .partial = true,
		};
		loop_of(walk, index)->partial++;
	}
	walk->running.items[i].back_edges++;
}

static void jump(struct walk *walk, const struct stream_event *event)
{
	if (walk_is_back_edge(event, walk->span))
		back_edge(walk, event->to);
	go(walk, event->from, event->to);
}

static struct frame *push(struct walk *walk)
{
	struct frame *frame = array_push(&walk->frames);

	*frame = (struct frame){ .first = walk->running.count };
	return frame;
}

/*
 * Begins the top frame at @address. This enters only the loop with this head.
 */
static void begin(struct walk *walk, uint64_t address)
{
	size_t i = regions_from(walk->regions, walk->space, address);

	top(walk)->is_seen = true;
	top(walk)->somewhere = true;
	top(walk)->at = address;
	if (i < walk->regions->loops.count &&
	    loop_of(walk, i)->space == walk->space &&
	    loop_of(walk, i)->head == address)
		enter(walk, i);
}

static void call(struct walk *walk, const struct stream_event *event)
{
	struct frame *frame = push(walk);

	frame->site = event->from;
	frame->is_call = true;
	begin(walk, event->to);
}

/*
 * Closes frames until @count are left, and finishes the loops that ran in them.
 */
static void close_frames(struct walk *walk, size_t count)
{
	size_t first;

	if (count == walk->frames.count)
		return;
	first = walk->frames.items[count].first;
	while (walk->running.count > first) {
		struct execution *run;

		run = &walk->running.items[--walk->running.count];
		finish(loop_of(walk, run->loop), run);
	}
	walk->frames.count = count;
}

/* Begins a line of the top frame at @to, without entering a loop. */
static void arrive(struct walk *walk, uint64_t to)
{
	leave(walk, to);
	top(walk)->somewhere = true;
	top(walk)->at = to;
}

static void ret(struct walk *walk, uint64_t to)
{
	size_t i;

	for (i = walk->frames.count; i-- > 0;) {
		struct frame *frame = &walk->frames.items[i];

		if (frame->is_call && to - frame->site >= 2 &&
		    to - frame->site <= 15) {
			close_frames(walk, i);
			return;
		}
	}
	/*
	 * The return leads to no known caller: it is the handler's, to its
	 * restorer, or one of a call before the trace.
	 */
	for (i = walk->frames.count; i-- > 0;)
		if (walk->frames.items[i].is_handler)
			break;
	if (i != SIZE_MAX) {
		close_frames(walk, i + 1);
		arrive(walk, to);
		return;
	}
	close_frames(walk, 0);
	push(walk);
	arrive(walk, to);
	top(walk)->at = to - 1;		/* of the unseen call */
}

static void gap(struct walk *walk, uint64_t to)
{
	while (walk->running.count) {
		const struct execution *run;

		run = &walk->running.items[--walk->running.count];
		if (run->back_edges)
			loop_of(walk, run->loop)->unclosed++;
		else
			loop_of(walk, run->loop)->cut++;
	}
	walk->frames.count = 0;
	push(walk);
	top(walk)->somewhere = to;
	top(walk)->at = to;
}

/*
 * Begins a signal's handler. The line ends before `from`, which has not been
 * executed.
 */
static void signal_begins(struct walk *walk, const struct stream_event *event)
{
	struct frame *frame = top(walk);

	if (frame->at < event->from)
		run_to(walk, event->from - 1);
	frame = push(walk);
	frame->site = event->from;
	frame->is_handler = true;
	begin(walk, event->to);
}

static void signal_ends(struct walk *walk, uint64_t to)
{
	size_t i;

	for (i = walk->frames.count; i-- > 0;) {
		if (!walk->frames.items[i].is_handler)
			continue;
		if (to != walk->frames.items[i].site)
			break;	/* the handler changed the return address */
		close_frames(walk, i);
		return;
	}
	gap(walk, to);
}

/*
 * Tells whether branches are missing: the address space differs, or the line
 * would run backwards.
 */
static bool is_torn(struct walk *walk, const struct stream_event *event)
{
	return event->space != walk->space ||
	       (top(walk)->somewhere && event->from < top(walk)->at);
}

static void step(struct walk *walk, const struct stream_event *event)
{
	if (event->kind < STREAM_COND || event->kind > STREAM_GAP)
		return;
	if (event->kind == STREAM_GAP) {
		walk->space = event->space;
		gap(walk, event->to);
		return;
	}
	if (is_torn(walk, event)) {
		walk->space = event->space;
		gap(walk, event->from);
	}
	if (!top(walk)->somewhere) {
		top(walk)->somewhere = true;
		top(walk)->at = event->from;
	}
	if (event->kind == STREAM_SIGNAL) {
		signal_begins(walk, event);
		return;
	}
	if (event->kind == STREAM_SYSCALL) {
		if (event->to - event->from - 1 >= 15) {
			run_to(walk, event->from);
			gap(walk, event->to);
		}
		return;		/* else an instruction like any other */
	}
	run_to(walk, event->from);
	if (event->kind == STREAM_CALL)
		call(walk, event);
	else if (event->kind == STREAM_RET)
		ret(walk, event->to);
	else if (event->kind == STREAM_SIGRETURN)
		signal_ends(walk, event->to);
	else
		jump(walk, event);
}

static void measure(const struct walk *walk, struct oracle_depth *depth)
{
	size_t i, loops = 0;

	for (i = 0; i < walk->running.count; i++)
		loops += walk->running.items[i].back_edges != 0;
	if (loops > depth->loops)
		depth->loops = loops;
	if (walk->frames.count > depth->frames)
		depth->frames = walk->frames.count;
}

void walk_thread(struct regions *regions, uint64_t span,
		 const struct stream_event *events, size_t count,
		 struct oracle_depth *depth)
{
	struct walk walk = { .regions = regions, .span = span };
	size_t i;

	if (!count)
		return;
	walk.space = events->space;
	push(&walk);
	for (i = 0; i < count; i++) {
		step(&walk, &events[i]);
		measure(&walk, depth);
	}
	for (i = 0; i < walk.running.count; i++)
		loop_of(&walk, walk.running.items[i].loop)->open++;
	free(walk.frames.items);
	free(walk.running.items);
}
