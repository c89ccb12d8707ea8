// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "code/decode.h"
#include "engine/types.h"
#include "straight.h"

enum {
	WAYS		= 4,
	BITS_LEAST	= 6,		/* of a set's number */
	BITS_MOST	= 14,
	MOST_BYTES	= 8192,		/* of a line that are decoded */
};

struct line {
	uint64_t begin, end;
	uint32_t program;		/* 0: free */
	uint8_t answer;			/* enum straight */
};

struct straight_lines {
	struct line (*sets)[WAYS];	/* double with the lines, so that few
					 * lines use few pages */
	unsigned int bits;		/* of a set's number */
	uint32_t count;			/* of lines */
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
		.sets = calloc(1 << BITS_LEAST, sizeof(*lines->sets)),
		.bits = BITS_LEAST,
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

static inline struct line *set_of(const struct straight_lines *lines,
				  uint32_t program, uint64_t begin,
				  uint64_t end)
{
	uint64_t hash = ((begin ^ (uint64_t)program << 40) *
			 0x9e3779b97f4a7c15ULL + end) * 0xff51afd7ed558ccdULL;

	return lines->sets[hash >> (64 - lines->bits)];
}

static inline bool is_line(const struct line *line, uint32_t program,
			   uint64_t begin, uint64_t end)
{
	return line->begin == begin && line->end == end &&
	       line->program == program;
}

/* Adds a line in front, and evicts the last one of a full set. */
static void put(struct straight_lines *lines, const struct line *line)
{
	struct line *set = set_of(lines, line->program, line->begin,
				  line->end);

	lines->count += !set[WAYS - 1].program;
	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	*set = *line;
}

/* Doubles the sets. If out of memory, they stay as they are. */
static void grow(struct straight_lines *lines)
{
	struct straight_lines grown = *lines;
	size_t set;
	int way;

	grown.sets = calloc(2 << lines->bits, sizeof(*grown.sets));
	if (!grown.sets)
		return;
	grown.bits++;
	grown.count = 0;
	for (set = 0; set < (size_t)1 << lines->bits; set++)
		for (way = WAYS; way--; )
			if (lines->sets[set][way].program)
				put(&grown, &lines->sets[set][way]);
	free(lines->sets);
	*lines = grown;
}

/* Looks a line up that is not first in its set, and makes it the first. */
static noinline int ask(struct straight_lines *lines,
			const struct stack *stack, uint64_t begin, uint64_t end)
{
	struct line *set = set_of(lines, stack->program, begin, end);
	struct line line = { begin, end, stack->program, 0 };
	int way, answer;

	for (way = 1; way < WAYS; way++) {
		if (is_line(&set[way], stack->program, begin, end)) {
			swap_values(set[0], set[way]);
			return set[0].answer;
		}
	}
	answer = look(lines, stack, begin, end);
	if (answer < 0)
		return answer;
	line.answer = answer;
	if (lines->count >= WAYS / 2U << lines->bits &&
	    lines->bits < BITS_MOST)
		grow(lines);
	put(lines, &line);
	return answer;
}

/* The fast path of straight_ask(). */
static inline int ask_first(struct straight_lines *lines,
			    const struct stack *stack, uint64_t begin,
			    uint64_t end)
{
	const struct line *first = set_of(lines, stack->program, begin, end);

	/* The kernel patches its code, which thus differs from its file. */
	if (window_in_kernel(begin) || window_in_kernel(end))
		return STRAIGHT_UNKNOWN;
	if (likely(is_line(first, stack->program, begin, end)))
		return first->answer;
	return ask(lines, stack, begin, end);
}

int straight_ask(struct straight_lines *lines, const struct stack *stack,
		 uint64_t begin, uint64_t end)
{
	return stack->guest ? STRAIGHT_UNKNOWN :
			      ask_first(lines, stack, begin, end);
}

/* --- a stack ------------------------------------------------------------ */

/* Returns 0 or -ENOMEM. */
static inline int check_line(struct straight_lines *lines,
			     struct stack *stack, uint64_t begin,
			     const struct window_branch *branch, uint8_t *kind)
{
	int answer;

	/* A line that leads back is invalid to every engine. */
	if (branch->from < begin || window_in_kernel(branch->to))
		return 0;
	answer = ask_first(lines, stack, begin, branch->from);
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
	if (!stack->user || stack->guest)
		return 0;
	for (i = stack->count; i-- > stack->copied; ) {
		const struct window_branch *branch = &stack->branches[i];

		if (window_on_wrong_path(branch))
			continue;
		if (!branch->from || !branch->to ||
		    branch->flags & WINDOW_ABORT) {
			begin = 0;
			continue;
		}
		if (begin) {
			error = check_line(lines, stack, begin, branch,
					   &kinds[i]);
			if (error)
				return error;
		}
		begin = branch->to;
	}
	return 0;
}
