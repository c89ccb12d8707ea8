// SPDX-License-Identifier: GPL-2.0-only
#include "contexts.h"

#include <stdlib.h>

#include "array.h"

enum { ENDBR64 = 4, CALL_MIN = 2, CALL_MAX = 15 };

/* --- the tree ----------------------------------------------------------- */

struct context *contexts_find(struct context *first,
			      enum hwprof_context_kind kind, uint32_t space,
			      uint64_t site, uint64_t callee)
{
	while (first && !(first->kind == kind && first->space == space &&
			  first->site == site && first->callee == callee))
		first = first->next;
	return first;
}

static struct context *get(struct context_thread *t, struct context *parent,
			   enum hwprof_context_kind kind, uint64_t site,
			   uint64_t callee)
{
	struct context **list = parent ? &parent->children :
					 &t->contexts->roots;
	struct context *context = contexts_find(*list, kind, t->space, site,
						callee);

	if (context)
		return context;
	context = calloc(1, sizeof(*context));
	*context = (struct context) {
		.kind = kind, .space = t->space, .site = site,
		.callee = callee, .parent = parent, .next = *list,
	};
	*list = context;
	t->contexts->count++;
	return context;
}

static void free_list(struct context *first)
{
	while (first) {
		struct context *next = first->next;

		free_list(first->children);
		free(first);
		first = next;
	}
}

void contexts_free(struct contexts *contexts)
{
	free_list(contexts->roots);
}

/* --- a thread ----------------------------------------------------------- */

static void push(struct context_thread *t, struct context_frame frame)
{
	*array_push(&t->stack) = frame;
	if (t->stack.count > t->deepest)
		t->deepest = t->stack.count;
}

static struct context_frame *top(struct context_thread *t)
{
	return &t->stack.items[t->stack.count - 1];
}

/* Begins with the frame below all others, whose caller is unknown. */
static void restart(struct context_thread *t, uint64_t to)
{
	t->position = to ? to : UINT64_MAX;
	t->stack.count = 0;
	push(t, (struct context_frame) {
		.context = get(t, NULL, HWPROF_CONTEXT_ROOT, 0, 0),
	});
}

static uint64_t stack_of(const struct stream_event *event)
{
	return event->flags & STREAM_STACK ? event->value : 0;
}

static bool is_over(const struct context_frame *frame, uint64_t stack)
{
	return frame->stack && stack > frame->stack;
}

/*
 * Tells whether the frame before pushed nothing but the return address of the
 * next call: 8 bytes, or 4.
 */
static bool is_lean(const struct context_frame *frame)
{
	uint64_t size = frame[0].stack - frame[1].stack;

	return size && size < 16;
}

/*
 * Closes the frames that are over by the stack pointer @stack, and those which
 * began at @stack above one that is over. A lean frame marks a place where
 * calls push: there, such frames go on. Returns whether a frame was closed, and
 * closes none if all would be over.
 */
static bool close_by_stack(struct context_thread *t, uint64_t stack)
{
	size_t i = t->stack.count - 1;

	if (!is_over(&t->stack.items[i], stack))
		return false;
	for (; i; i--) {
		const struct context_frame *frame = &t->stack.items[i];

		if (!is_over(frame, stack) &&
		    (frame->stack != stack || is_lean(frame)))
			break;
	}
	if (!i)
		return false;
	t->stack.count = i + 1;
	return true;
}

static void call(struct context_thread *t, const struct stream_event *event,
		 uint64_t callee)
{
	uint64_t site = event->from;
	struct context *caller = top(t)->context, *up;

	for (up = caller; up && up->callee != callee; up = up->parent)
		;
	if (up) {
		struct context *edge = get(t, caller, HWPROF_CONTEXT_RECURSION,
					   site, callee);

		edge->target = up;
		edge->calls++;
	} else {
		up = get(t, caller, HWPROF_CONTEXT_CALL, site, callee);
		up->calls++;
	}
	push(t, (struct context_frame) {
		.context = up, .site = site, .by_call = true,
		.stack = stack_of(event),
	});
}

static void handle(struct context_thread *t, const struct stream_event *event)
{
	struct context *context = get(t, NULL, HWPROF_CONTEXT_SIGNAL, 0,
				      event->to);

	context->calls++;
	push(t, (struct context_frame) {
		.context = context, .site = event->from, .handler = true,
		.stack = stack_of(event),
	});
}

/* Tells whether @to lies behind the call which began the frame. */
static bool is_called_from(const struct context_frame *frame, uint64_t to)
{
	return frame->by_call && to >= frame->site + CALL_MIN &&
	       to <= frame->site + CALL_MAX;
}

/*
 * A return to just behind the call that began the last frame ends this call.
 * For any other return, the stack pointer takes precedence over the address.
 */
static void ret(struct context_thread *t, uint64_t to, uint64_t stack)
{
	size_t i;

	if (!is_called_from(top(t), to) && close_by_stack(t, stack))
		return;
	for (i = t->stack.count; i--;)
		if (is_called_from(&t->stack.items[i], to)) {
			t->stack.count = i;
			return;
		}
	/* The code that runs now was not called by a known frame. */
	for (i = t->stack.count; --i;)
		if (!t->stack.items[i].by_call) {
			t->stack.count = i + 1;
			return;
		}
	if (t->stack.count == 1)
		restart(t, to);
	else
		push(t, (struct context_frame) {
			.context = get(t, NULL, HWPROF_CONTEXT_ROOT, 0, 0),
		});
}

static void sigreturn(struct context_thread *t, uint64_t to)
{
	size_t i;

	for (i = t->stack.count; i--;) {
		if (!t->stack.items[i].handler)
			continue;
		if (t->stack.items[i].site != to)
			break;
		t->stack.count = i;
		return;
	}
	restart(t, to);
}

/* --- events ------------------------------------------------------------- */

/* Tells whether branches are missing before the event. */
static bool is_cut(const struct context_thread *t,
		   const struct stream_event *event)
{
	if (!t->stack.count || event->space != t->space)
		return true;
	return event->kind <= STREAM_SIGNAL && event->from < t->position;
}

/* Tells whether the call led to an entry of a PLT, from which @next jumps. */
static bool is_stub(const struct stream_event *event,
		    const struct stream_event *next)
{
	return next && next->kind == STREAM_INDIRECT &&
	       next->space == event->space &&
	       (next->from == event->to || next->from == event->to + ENDBR64);
}

static void walk(struct context_thread *t, const struct stream_event *event,
		 const struct stream_event *next)
{
	if (event->kind > STREAM_GAP)
		return;
	if (is_cut(t, event)) {
		t->space = event->space;
		restart(t, event->from);
	}
	t->position = event->to;
	if (event->kind >= STREAM_COND && event->kind <= STREAM_RET)
		top(t)->context->branches++;
	switch (event->kind) {
	case STREAM_CALL:
		call(t, event, is_stub(event, next) ? next->to : event->to);
		break;
	case STREAM_INDIRECT:
		close_by_stack(t, stack_of(event));
		break;
	case STREAM_RET:
		ret(t, event->to, stack_of(event));
		break;
	case STREAM_SIGNAL:
		handle(t, event);
		break;
	case STREAM_SIGRETURN:
		sigreturn(t, event->to);
		break;
	case STREAM_SYSCALL:
		if (event->to > event->from &&
		    event->to - event->from <= CALL_MAX)
			break;
		restart(t, event->to);
		break;
	case STREAM_GAP:
		restart(t, event->to);
		break;
	default:
		break;
	}
}

void contexts_feed(struct context_thread *thread,
		   const struct stream_event *event)
{
	if (thread->has_last)
		walk(thread, &thread->last, event);
	thread->last = *event;
	thread->has_last = true;
}

void contexts_finish(struct context_thread *thread)
{
	if (thread->has_last)
		walk(thread, &thread->last, NULL);
	thread->has_last = false;
	free(thread->stack.items);
}
