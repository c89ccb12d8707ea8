/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks straight lines, from a branch's target to the source of the next
 * recorded branch: does the code there let control run so? Answers are kept in
 * a table of fixed size.
 */
#ifndef HWPROF_STRAIGHT_H
#define HWPROF_STRAIGHT_H

#include "sites.h"

enum straight {
	STRAIGHT_UNKNOWN,	/* there is no code, or it does not tell */
	STRAIGHT_YES,
	STRAIGHT_NO,		/* a call, return or jump is in between, or the
				 * line ends inside an instruction */
};

struct straight_lines;

/* Returns NULL if out of memory. */
struct straight_lines *straight_new(const struct hwprof_file *file,
				    const struct processes *processes,
				    struct objects *objects);
void straight_free(struct straight_lines *lines);

/* Returns what is known about a line of the @stack's program; or -ENOMEM. */
int straight_ask(struct straight_lines *lines, const struct stack *stack,
		 uint64_t begin, uint64_t end);

/*
 * Sets kinds of branches to 0 (unknown) if the line before them is impossible
 * in the code, and counts them in stack->astray. Returns 0 or -ENOMEM.
 */
int straight_check(struct straight_lines *lines, struct stack *stack,
		   uint8_t *kinds);

#endif /* HWPROF_STRAIGHT_H */
