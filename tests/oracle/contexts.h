/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calling contexts by the plainest code possible: every call is a frame on an
 * unlimited stack, and every node of the tree is an object with a pointer to
 * its parent. docs/contexts.md has the definitions.
 */
#ifndef TESTS_ORACLE_CONTEXTS_H
#define TESTS_ORACLE_CONTEXTS_H

#include <linux/hwprof.h>
#include <stddef.h>

#include "engine/stream.h"

struct context {
	enum hwprof_context_kind kind;
	uint32_t space;
	uint64_t site, callee;
	uint64_t calls, branches;
	struct context *parent;		/* NULL: a root */
	struct context *target;		/* where a back edge leads */
	struct context *children, *next;
};

/* The contexts of all threads; initially empty. */
struct contexts {
	struct context *roots;
	size_t count;			/* of all contexts, with back edges */
};

/* A frame: the procedure that runs in it, and the call that began it. */
struct context_frame {
	struct context *context;
	uint64_t site;
	bool by_call;			/* else a signal, or unknown code */
	bool handler;
	uint64_t stack;			/* pointer where it began; 0: unknown */
};

/* A thread; initially zeros. */
struct context_thread {
	struct contexts *contexts;
	struct { struct context_frame *items; size_t count, room; } stack;
	struct stream_event last;	/* waits for the next event */
	bool has_last;
	uint32_t space;
	uint64_t position;
	size_t deepest;
};

void contexts_feed(struct context_thread *thread,
		   const struct stream_event *event);
/* Walks the thread's last event, as no further one comes. */
void contexts_finish(struct context_thread *thread);

struct context *contexts_find(struct context *first,
			      enum hwprof_context_kind kind, uint32_t space,
			      uint64_t site, uint64_t callee);
void contexts_free(struct contexts *contexts);

#endif /* TESTS_ORACLE_CONTEXTS_H */
