// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "lines.h"
#include "base/row_origin.h"
#include "base/tree.h"

enum {
	LINE_MAX_BYTES = 1 << 16,	/* the longest path for which the engine
					 * keeps jumps */
};

/* Where an exception is caught, for example, no jump leads. */
static const char no_line[] = "code that is not run in a line";

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = compare_u64((uintptr_t)x->object, (uintptr_t)y->object);

	if (!order)
		order = compare_u64((uintptr_t)x->end, (uintptr_t)y->end);
	if (!order)
		order = compare_u64(x->first, y->first);
	return order ? order : compare_u64(x->last, y->last);
}

/* Adds a block. The room doubles at powers of two. Returns 0 or -ENOMEM. */
static int add_block(struct line *line, const struct block *block)
{
	uint32_t count = line->count;

	if (!(count & (count - 1))) {
		struct block *grown = realloc(line->blocks,
					      (count ? 2 * count : 1) *
					      sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		line->blocks = grown;
	}
	line->blocks[line->count++] = *block;
	return 0;
}

/*
 * Cuts the line into blocks, up to its last instruction. Sets *@why if it
 * fails. Returns 0 or -ENOMEM.
 */
static int cut(struct line *line, struct code *code, const char **why)
{
	struct block block = { .first = line->first };
	struct instruction *now = &block.last;

	while (code_next(code, now)) {
		bool done = now->address == line->last;

		block.instructions++;
		if (done || now->ending) {
			if (add_block(line, &block))
				return -ENOMEM;
			block.first = now->address + now->length;
			block.instructions = 0;
		}
		if (done)
			return 0;
		if (now->address > line->last || !ending_goes_on(now->ending)) {
			*why = no_line;
			return 0;
		}
	}
	*why = unknown_instruction;
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int decode_line(struct lines *lines, struct line *line)
{
	struct code code;
	int error;

	if (line->end != line->object || line->last < line->first ||
	    line->last - line->first > LINE_MAX_BYTES) {
		line->undecoded = no_line;
		return 0;
	}
	if (!lines->decoder)
		lines->decoder = decoder_new();
	if (!lines->decoder)
		return -ENOMEM;
	line->undecoded = code_begin(&code, lines->decoder, line->object,
				     line->first);
	error = line->undecoded ? 0 : cut(line, &code, &line->undecoded);
	if (line->undecoded) {
		free(line->blocks);
		line->blocks = NULL;
		line->count = 0;
	}
	return error;
}

const struct line *lines_get(struct lines *lines, struct object *object,
			     uint64_t first, struct object *end, uint64_t last)
{
	struct line key = {
		.object = object, .end = end, .first = first, .last = last,
	};
	struct line *line;
	bool is_new;

	line = tree_get(&lines->tree, &key, sizeof(key), compare_lines,
			&is_new);
	if (line && is_new && decode_line(lines, line))
		return NULL;
	return line;
}

static void free_line(void *node)
{
	struct line *line = node;

	free(line->blocks);
	free(line);
}

void lines_free(struct lines *lines)
{
	tdestroy(lines->tree, free_line);
	decoder_free(lines->decoder);
}
