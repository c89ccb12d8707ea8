/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Branch sites, and the kind of each branch: as the recording says, or the
 * instruction in the object, or, without code, as far as branch stacks tell.
 * The table of sites has a fixed size; evicted ones are looked up again.
 */
#ifndef HWPROF_SITES_H
#define HWPROF_SITES_H

#include "engine/window.h"
#include "code/objects.h"
#include "code/processes.h"

enum {
	/*
	 * A sample has up to 64 KiB, LBR up to 32 branches, Intel PT up to
	 * 1024.
	 */
	STACK_MAX = UINT16_MAX / sizeof(struct window_branch),
};

struct repeat;

/* The branch stack of a sample. */
struct stack {
	uint64_t time;
	uint64_t ip;		/* where it was taken, if by time; else 0 */
	uint32_t pid;
	uint32_t program;	/* processes_program() */
	uint32_t count;
	uint32_t inferred;	/* branches whose code is not available */
	uint32_t unknown;	/* how many of these have an unknown kind */
	uint16_t dead;		/* records without a branch, or aborted */
	uint16_t not_taken;	/* records left out */
	uint16_t copied;	/* newest branches that are copies of the
				 * next */
	uint16_t astray;	/* branches that the code's straight lines do
				 * not reach */
	bool user, kernel;	/* privilege levels recorded completely */
	bool guest;		/* its kernel is not the host's */
	const struct window_branch *branches;	/* newest first */
	struct repeat *repeat;	/* that owns @branches; NULL: none */
};

/*
 * Returns the address space of a side: 0 for the common kernel, or the stack's
 * program.
 */
static inline uint32_t stack_space(const struct stack *stack, bool kernel)
{
	return kernel && !stack->guest ? 0 : stack->program;
}

struct sites;

struct sites *sites_new(const struct hwprof_file *file,
			const struct processes *processes,
			struct objects *objects);
void sites_free(struct sites *sites);

/*
 * Sets the @kinds of the stack's branches (enum stream_kind), and counts
 * inferred ones. Returns 0; 1 if the result for an equal stack may differ; or
 * -ENOMEM.
 */
int sites_kinds(struct sites *sites, struct stack *stack, uint8_t *kinds);

#endif /* HWPROF_SITES_H */
