// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

#include <assert.h>
#include <string.h>

#include "random.h"

#define STACK_TOP	0x7ffffffff000ULL

static uint64_t address(const struct machine *m, uint32_t insn)
{
	return m->program->insns[insn].address;
}

/*
 * Each frame has 16 bytes, or 8 if it is lean. A handler's frame is below some
 * bytes of the kernel.
 */
static uint64_t stack_pointer(const struct machine *m, unsigned int depth)
{
	bool restores = m->at >= m->program->restorer;

	if (m->style.lean_frames)
		return STACK_TOP - 8 * depth - 4 * restores;
	return STACK_TOP - 16 * depth - 8 - 4 * restores;
}

static void say(const struct machine *m, struct stream_event *event,
		unsigned int kind, uint64_t from, uint64_t to)
{
	*event = (struct stream_event){
		.kind = kind, .from = from, .to = to, .space = m->space,
	};
}

/* Sets the stack pointer after the branch. */
static void say_stack(const struct machine *m, struct stream_event *event)
{
	if (!m->style.has_stack)
		return;
	event->flags = STREAM_STACK;
	if (event->kind == STREAM_SIGNAL)
		event->value = stack_pointer(m, m->depth - 1);
	else if (event->kind != STREAM_CALL)
		event->value = stack_pointer(m, m->depth);
	else if (m->style.bare_calls)
		event->value = stack_pointer(m, m->depth - 1);
	else
		event->value = stack_pointer(m, m->depth) +
			       (m->style.lean_frames ? 0 : 8);
}

static bool branch(struct machine *m, struct stream_event *event,
		   unsigned int kind, uint32_t to)
{
	say(m, event, kind, address(m, m->at), address(m, to));
	m->at = to;
	say_stack(m, event);
	return true;
}

static uint32_t any_target(struct machine *m, const struct insn *insn)
{
	return insn->target[random_below(&m->random, insn->targets)];
}

static bool go_on(struct machine *m)
{
	m->at++;
	return false;
}

/* Handles an impossible call or longjmp: the kernel restarts the program. */
static bool fault(struct machine *m, struct stream_event *event)
{
	uint32_t to = m->program->procedures[0];

	m->depth = m->handlers = m->saved_at = 0;
	say(m, event, STREAM_SYSCALL, address(m, m->at), address(m, to));
	m->at = to;
	say_stack(m, event);
	return true;
}

static bool call(struct machine *m, struct stream_event *event,
		 const struct insn *insn)
{
	if (m->depth >= m->style.stack)
		return m->style.strict ? fault(m, event) : go_on(m);
	m->stack[m->depth++] = m->at + 1;
	return branch(m, event, STREAM_CALL, any_target(m, insn));
}

/* Returns. With an empty stack (in soup) it returns to the program's start. */
static bool ret(struct machine *m, struct stream_event *event)
{
	uint32_t to = m->depth ? m->stack[--m->depth] : 1;

	if (m->saved_depth > m->depth)
		m->saved_at = 0;
	return branch(m, event, STREAM_RET, to);
}

static bool set_jump(struct machine *m)
{
	m->saved_at = m->at + 1;
	m->saved_depth = m->depth;
	return go_on(m);
}

static bool long_jump(struct machine *m, struct stream_event *event)
{
	bool throws = m->style.throws && m->depth > m->saved_depth &&
		      random_below(&m->random, 2);

	if (!m->saved_at)
		return m->style.strict ? fault(m, event) : go_on(m);
	m->depth = m->saved_depth;
	while (m->handlers && m->handler_depth[m->handlers - 1] > m->depth)
		m->handlers--;
	return branch(m, event, throws ? STREAM_RET : STREAM_INDIRECT,
		      m->saved_at);
}

/* One handler in eight makes the program continue elsewhere. */
static bool signal_returns(struct machine *m, struct stream_event *event)
{
	uint32_t to = 0;

	if (m->handlers)
		to = m->interrupted[--m->handlers];
	if (random_once_in(&m->random, 8) &&
	    address(m, to) > address(m, m->program->procedures[1]) + 15)
		to = m->program->procedures[1];
	return branch(m, event, STREAM_SIGRETURN, to);
}

static bool signal_comes(struct machine *m, struct stream_event *event)
{
	uint32_t handler;

	if (m->handlers == 8 || m->depth + 2 >= m->style.stack)
		return false;
	handler = m->program->procedures[
		1 + random_below(&m->random, m->program->procedure_count - 1)];
	m->interrupted[m->handlers] = m->at;
	m->stack[m->depth++] = m->program->restorer;
	m->handler_depth[m->handlers++] = m->depth;
	say(m, event, STREAM_SIGNAL, address(m, m->at), address(m, handler));
	m->at = handler;
	say_stack(m, event);
	return true;
}

static bool step(struct machine *m, struct stream_event *event)
{
	const struct insn *insn = &m->program->insns[m->at];
	bool taken = random_below(&m->random, 256) < insn->chance;

	switch (insn->kind) {
	case INSN_PLAIN:
		return go_on(m);
	case INSN_COND:
		if (!taken)
			return go_on(m);
		return branch(m, event, STREAM_COND, any_target(m, insn));
	case INSN_JUMP:
		return branch(m, event, STREAM_JUMP, any_target(m, insn));
	case INSN_INDIRECT:
		return branch(m, event, STREAM_INDIRECT, any_target(m, insn));
	case INSN_CALL:
		return call(m, event, insn);
	case INSN_RET:
		return ret(m, event);
	case INSN_SYSCALL:
		return branch(m, event, STREAM_SYSCALL, m->at + 1);
	case INSN_SETJMP:
		return set_jump(m);
	case INSN_LONGJMP:
		return taken || m->style.strict ? long_jump(m, event) :
						  go_on(m);
	case INSN_SIGRETURN:
		return signal_returns(m, event);
	}
	assert(false);
	return false;
}

static void run_unseen(struct machine *m, unsigned int insns)
{
	struct stream_event event;

	while (insns--)
		step(m, &event);
}

static void gap(struct machine *m, struct stream_event *event)
{
	run_unseen(m, random_below(&m->random, 200));
	say(m, event, STREAM_GAP, 0,
	    random_below(&m->random, 4) ? address(m, m->at) : 0);
	m->in_window = 0;
}

void machine_next(struct machine *m, struct stream_event *event)
{
	if (m->style.window && m->in_window == m->style.window) {
		gap(m, event);
		return;
	}
	m->in_window++;
	for (;;) {
		if (random_once_in(&m->random, m->style.gaps)) {
			gap(m, event);
			return;
		}
		if (random_once_in(&m->random, m->style.signals) &&
		    signal_comes(m, event))
			return;
		if (step(m, event))
			return;
	}
}

void machine_init(struct machine *m, const struct program *program,
		  const struct machine_style *style, uint64_t seed,
		  uint32_t space)
{
	assert(style->stack <= MACHINE_STACK);
	memset(m, 0, sizeof(*m));
	m->program = program;
	m->style = *style;
	m->random = seed;
	m->space = space;
	m->at = program->procedures[0];
	run_unseen(m, style->unseen);
}
