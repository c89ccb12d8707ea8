// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "branches.h"
#include "finished_rounds.h"
#include "base/array.h"

enum {
	ROUND_MAX = 32 << 20,	/* bytes; perf's default ring has half a MiB */
};

void rounds_init(struct finished_rounds *rounds)
{
	*rounds = (struct finished_rounds){ 0 };
}

void rounds_destroy(struct finished_rounds *rounds)
{
	free(rounds->older.bytes);
	free(rounds->newer.bytes);
}

void *round_room(struct round *round, size_t size)
{
	uint8_t *bytes = array_grow(round->bytes, &round->room,
				    round->size + size, 1);

	if (!bytes)
		return NULL;
	round->bytes = bytes;
	bytes += round->size;
	round->size += size;
	return bytes;
}

bool rounds_add(struct finished_rounds *rounds, struct stack *stack,
		struct byte_reader branches)
{
	size_t more = stack->repeat ? 0 : reader_left(&branches);
	uint8_t *bytes = rounds_room(rounds, sizeof(*stack) + more);

	if (!bytes)
		return false;
	if (more) {
		branches_read(stack, (void *)(bytes + sizeof(*stack)),
			      branches);
		rounds->newer.size -= more - stack->count *
					     sizeof(*stack->branches);
	}
	memcpy(bytes, stack, sizeof(*stack));
	return true;
}

bool rounds_full(const struct finished_rounds *rounds)
{
	return rounds->newer.size >= ROUND_MAX;
}

void rounds_swap(struct finished_rounds *rounds)
{
	struct round older = rounds->older;

	rounds->older = rounds->newer;
	older.size = 0;
	older.last = rounds->newer.last;
	rounds->newer = older;
}

bool round_take(const struct round *round, size_t *at, struct stack *stack)
{
	if (*at == round->size)
		return false;
	memcpy(stack, round->bytes + *at, sizeof(*stack));
	*at += sizeof(*stack);
	if (!stack->repeat) {
		stack->branches = (const void *)(round->bytes + *at);
		*at += stack->count * sizeof(*stack->branches);
	}
	return true;
}
