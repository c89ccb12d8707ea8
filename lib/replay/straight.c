// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "code/decode.h"
#include "base/hash.h"
#include "straight.h"

enum {
	WAYS		= 4,
	SET_BITS	= 12,
	MOST_BYTES	= 8192,		/* of a line that are decoded */
};

struct line {
	uint64_t begin, end;
	uint32_t program;		/* 0: free */
	uint8_t answer;			/* enum straight */
};

struct straight_lines {
	struct line (*sets)[WAYS];
	struct decoder *decoder;	/* NULL: not needed yet */
	const struct hwprof_file *file;
	const struct processes *processes;
	struct objects *objects;
};

struct straight_lines *straight_new(const struct hwprof_file *file,
				    const struct processes *processes,
				    struct objects *objects)
{
	struct straight_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	*lines = (struct straight_lines){
		.sets = calloc(1 << SET_BITS, sizeof(*lines->sets)),
		.file = file, .processes = processes, .objects = objects,
	};
	if (!lines->sets) {
		free(lines);
		return NULL;
	}
	return lines;
}

void straight_free(struct straight_lines *lines)
{
	if (!lines)
		return;
	decoder_free(lines->decoder);
	free(lines->sets);
	free(lines);
}

/* --- code --------------------------------------------------------------- */

/*
 * Returns true if control may continue behind the instruction without a record.
 */
static bool is_passed(const struct instruction *instruction)
{
	switch (instruction->ending) {
	case ENDING_NONE:
	case ENDING_COND:
		return true;
	case ENDING_CALL:
	case ENDING_JUMP:
		/* Trace decoders leave out branches to the next instruction. */
		return instruction->target ==
		       instruction->address + instruction->length;
	}
	return false;
}

/*
 * Checks a line; @begin and @end are addresses in the object. Returns the
 * answer or -ENOMEM.
 */
static int decode_line(struct straight_lines *lines, struct object *object,
		       uint64_t begin, uint64_t end)
{
	struct instruction now;
	struct code code;
	uint64_t most = begin + MOST_BYTES;

	if (!lines->decoder)
		lines->decoder = decoder_new();
	if (!lines->decoder)
		return -ENOMEM;
	if (code_begin(&code, lines->decoder, object, begin))
		return STRAIGHT_UNKNOWN;
	while (code.address < end) {
		if (code.address > most || !code_next(&code, &now))
			return STRAIGHT_UNKNOWN;
		if (!is_passed(&now))
			return STRAIGHT_NO;
	}
	return code.address == end ? STRAIGHT_YES : STRAIGHT_NO;
}

/* Returns the answer or -ENOMEM. */
static int look(struct straight_lines *lines, const struct stack *stack,
		uint64_t begin, uint64_t end)
{
	const struct mapping *mapping;
	struct object *object;
	uint64_t first;

	if (end < begin)
		return STRAIGHT_UNKNOWN;
	mapping = processes_find(lines->processes, stack->pid, stack->time,
				 begin);
	if (!mapping || end - mapping->start >= mapping->size)
		return STRAIGHT_UNKNOWN;
	object = processes_object(lines->objects, lines->file, mapping);
	if (!object)
		return -ENOMEM;
	first = object_address(object,
			       begin - mapping->start + mapping->offset);
	return decode_line(lines, object, first, first + (end - begin));
}

/* --- the table ---------------------------------------------------------- */

static struct line *set_of(const struct straight_lines *lines,
			   uint32_t program, uint64_t begin, uint64_t end)
{
	uint64_t hash = hash_mix(hash_mix(hash_mix(0, program), begin), end);

	return lines->sets[hash >> (64 - SET_BITS)];
}

int straight_ask(struct straight_lines *lines, const struct stack *stack,
		 uint64_t begin, uint64_t end)
{
	struct line *set = set_of(lines, stack->program, begin, end);
	int way, answer;

	/* The kernel patches its code, which thus differs from its file. */
	if (stack->guest || window_in_kernel(begin) || window_in_kernel(end))
		return STRAIGHT_UNKNOWN;
	for (way = 0; way < WAYS; way++)
		if (set[way].begin == begin && set[way].end == end &&
		    set[way].program == stack->program)
			return set[way].answer;
	answer = look(lines, stack, begin, end);
	if (answer < 0)
		return answer;
	/* Evict the oldest line. */
	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	*set = (struct line){ begin, end, stack->program, answer };
	return answer;
}

/* --- a stack ------------------------------------------------------------ */

static bool is_whole(const struct window_branch *branch)
{
	return branch->from && branch->to && !(branch->flags & WINDOW_ABORT);
}

/* Returns 0 or -ENOMEM. */
static int check_line(struct straight_lines *lines, struct stack *stack,
		      uint64_t begin, const struct window_branch *branch,
		      uint8_t *kind)
{
	int answer;

	/* A line that leads back is invalid to every engine. */
	if (branch->from < begin || window_in_kernel(branch->to))
		return 0;
	answer = straight_ask(lines, stack, begin, branch->from);
	if (answer < 0)
		return answer;
	if (answer == STRAIGHT_NO && *kind) {
		*kind = 0;
		stack->astray++;
	}
	return 0;
}

int straight_check(struct straight_lines *lines, struct stack *stack,
		   uint8_t *kinds)
{
	uint64_t begin = 0;		/* 0: unknown */
	uint32_t i;
	int error;

	stack->astray = 0;
	if (!stack->user)
		return 0;
	for (i = stack->count; i-- > stack->copied; ) {
		const struct window_branch *branch = &stack->branches[i];

		if (window_on_wrong_path(branch))
			continue;
		if (begin && is_whole(branch)) {
			error = check_line(lines, stack, begin, branch,
					   &kinds[i]);
			if (error)
				return error;
		}
		begin = is_whole(branch) ? branch->to : 0;
	}
	return 0;
}
