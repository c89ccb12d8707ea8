/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sites of branches, and of which kind each branch is: as the recording
 * says, as the instruction in the object says, or, where the code cannot be
 * had, as far as the branch stacks tell. Sites are kept in a table of fixed
 * size; one that had to go is looked up anew.
 */
#ifndef HWPROF_SITES_H
#define HWPROF_SITES_H

#include "engine/window.h"
#include "objects.h"
#include "processes.h"

enum {
	/* A sample has up to 64 KiB, LBR 32 branches, Intel PT up to 1024. */
	STACK_MAX = UINT16_MAX / sizeof(struct window_branch),
};

struct repeat;

/* The branch stack of a sample. */
struct stack {
	uint64_t time;
	uint64_t ip;		/* where it was taken, by time; 0: not so */
	uint32_t pid;
	uint32_t program;	/* processes_program() */
	uint32_t count;
	uint32_t inferred;	/* branches whose code could not be had, */
	uint32_t unknown;	/* and of these, of a kind that stacks do not
				 * tell */
	uint16_t dead;		/* records that are of no branch, or aborted */
	uint16_t not_taken;	/* records that were left out */
	uint16_t copied;	/* of the newest, those that are copies of the
				 * next: no branches */
	uint16_t astray;	/* branches whose line the code does not have */
	bool user, kernel;	/* sides whose branches were all recorded */
	bool guest;		/* its kernel is not the host's */
	const struct window_branch *branches;	/* newest first */
	struct repeat *repeat;	/* that they belong to; NULL: to none */
};

/* Whose code is on that side: of all, 0, or of the stack's program. */
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
 * Fills in the stack's @kinds, of enum stream_kind, and how many are inferred.
 * 0; 1: another such stack may be given others; -ENOMEM.
 */
int sites_kinds(struct sites *sites, struct stack *stack, uint8_t *kinds);

#endif /* HWPROF_SITES_H */
