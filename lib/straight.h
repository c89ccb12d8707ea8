/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Straight lines of code, from a branch's target to the source of the next branch
 * that was recorded: does the code that is there let control run so? Answers are
 * kept in a table of fixed size.
 */
#ifndef HWPROF_STRAIGHT_H
#define HWPROF_STRAIGHT_H

#include "sites.h"

enum straight {
	STRAIGHT_UNKNOWN,	/* there is no code to read, or no knowing it */
	STRAIGHT_YES,
	STRAIGHT_NO,		/* it has a call, return or jump in between, or
				 * the line ends inside an instruction */
};

struct straight_lines;

/* NULL: out of memory. */
struct straight_lines *straight_new(const struct hwprof_file *file,
				    const struct processes *processes,
				    struct objects *objects);
void straight_free(struct straight_lines *lines);

/* What is known of the line of the @stack's program. -ENOMEM. */
int straight_ask(struct straight_lines *lines, const struct stack *stack,
		 uint64_t begin, uint64_t end);

/*
 * Sets kinds to 0, not known, of branches that a line leads to which the code does
 * not have, and counts them in stack->astray. Kinds of others stay. -ENOMEM.
 */
int straight_check(struct straight_lines *lines, struct stack *stack,
		   uint8_t *kinds);

#endif /* HWPROF_STRAIGHT_H */
