/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Straight lines of code, as paths take them from jump to jump, and the basic
 * blocks that they run through.
 */
#ifndef HWPROF_LINES_H
#define HWPROF_LINES_H

#include "decode.h"

/* Ends with a jump, taken or not, a call or a return. */
struct block {
	uint64_t first;
	struct instruction last;
	uint32_t instructions;
};

/* Each is decoded once. */
struct line {
	struct object *object;
	struct object *end;	/* that has the last one: mostly the same */
	uint64_t first, last;	/* instructions */
	const char *undecoded;	/* why it has no blocks: "code in no file"; or
				 * NULL */
	struct block *blocks;
	uint32_t count;
};

/* A tree of them, and what decodes them. */
struct lines {
	void *tree;
	struct decoder *decoder;	/* NULL: there was no line yet */
};

/* From @first in @object to @last in @end. NULL: out of memory. */
const struct line *lines_get(struct lines *lines, struct object *object,
			     uint64_t first, struct object *end, uint64_t last);
void lines_free(struct lines *lines);

#endif /* HWPROF_LINES_H */
