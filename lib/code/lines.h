/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Straight lines of code, on which paths lead from jump to jump, and the basic
 * blocks on them.
 */
#ifndef HWPROF_LINES_H
#define HWPROF_LINES_H

#include "decode.h"

/* Ends with a jump (taken or not), a call or a return. */
struct block {
	uint64_t first;
	struct instruction last;
	uint32_t instructions;
};

/* A straight line, which is decoded once. */
struct line {
	struct object *object;
	struct object *end;	/* object of @last, usually the same */
	uint64_t first, last;	/* addresses of instructions */
	const char *undecoded;	/* why it has no blocks, such as "code in no
				 * file"; or NULL */
	struct block *blocks;
	uint32_t count;
};

/* A tree of lines, and their decoder. */
struct lines {
	void *tree;
	struct decoder *decoder;	/* NULL before the first line */
};

/*
 * Finds or decodes the line from @first in @object to @last in @end. Returns
 * NULL if out of memory.
 */
const struct line *lines_get(struct lines *lines, struct object *object,
			     uint64_t first, struct object *end, uint64_t last);
void lines_free(struct lines *lines);

#endif /* HWPROF_LINES_H */
