/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread that runs a random program, and reports its branches. */
#ifndef TESTS_ENGINE_MACHINE_H
#define TESTS_ENGINE_MACHINE_H

#include "engine/stream.h"
#include "program.h"

enum { MACHINE_STACK = 4096 };

struct machine_style {
	unsigned int stack;	/* deepest call */
	unsigned int signals;	/* one in that many instructions; 0: none */
	unsigned int gaps;	/* likewise: code that runs unseen */
	unsigned int window;	/* a gap after that many branches; 0: none */
	unsigned int unseen;	/* instructions before the first visible one */
	bool has_stack;		/* events have the stack pointer */
	bool bare_calls;	/* a call pushes nothing */
	bool lean_frames;	/* only calls push */
	bool throws;		/* half of the longjmps are returns */
	bool strict;		/* code never runs over a call or longjmp */
};

struct machine {
	const struct program *program;
	struct machine_style style;
	uint64_t random;
	uint32_t space;
	uint32_t at;			/* next instruction */
	unsigned int depth;
	uint32_t stack[MACHINE_STACK];	/* instructions to return to */
	unsigned int handlers;		/* running signal handlers */
	uint32_t interrupted[8];
	unsigned int handler_depth[8];
	uint32_t saved_at;		/* setjmp */
	unsigned int saved_depth;
	unsigned int in_window;
};

void machine_init(struct machine *machine, const struct program *program,
		  const struct machine_style *style, uint64_t seed,
		  uint32_t space);

/* Runs up to the next event. */
void machine_next(struct machine *machine, struct stream_event *event);

#endif /* TESTS_ENGINE_MACHINE_H */
