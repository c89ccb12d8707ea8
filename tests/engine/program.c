// SPDX-License-Identifier: GPL-2.0-only
#include "program.h"

#include <assert.h>

#include "random.h"
#include "tests/oracle/array.h"

enum { NO_LABEL = ~0U };

struct builder {
	uint64_t random;
	const struct program_style *style;
	struct { struct insn *items; size_t count, room; } insns;
	struct { uint32_t *items; size_t count, room; } labels;
	uint32_t *procedures;	/* labels */
	unsigned int procedure;	/* being built */
	uint32_t goto_label;	/* an earlier label in this procedure */
	uint64_t address;
};

/* Labels for `break` and `continue`. */
struct loop_labels {
	uint32_t out, next;
};

static unsigned int below(struct builder *b, unsigned int limit)
{
	return random_below(&b->random, limit);
}

static uint32_t label_new(struct builder *b)
{
	*array_push(&b->labels) = NO_LABEL;
	return b->labels.count - 1;
}

static void label_here(struct builder *b, uint32_t label)
{
	b->labels.items[label] = b->insns.count;
}

static struct insn *emit(struct builder *b, enum insn_kind kind,
			 unsigned int size)
{
	struct insn *insn = array_push(&b->insns);

	*insn = (struct insn){ .address = b->address, .kind = kind,
			       .size = size };
	b->address += size;
	return insn;
}

static void emit_plain(struct builder *b, unsigned int count)
{
	while (count--)
		emit(b, INSN_PLAIN, 1 + below(b, 7));
}

static void emit_to(struct builder *b, enum insn_kind kind, uint32_t label)
{
	struct insn *insn = emit(b, kind, kind == INSN_CALL ? 5 : 2);

	insn->targets = 1;
	insn->target[0] = label;
	insn->chance = 32 + below(b, 192);
}

/*
 * Emits a condition that closes a loop. Some loops are long, some hardly
 * iterate.
 */
static void emit_back(struct builder *b, uint32_t label)
{
	static const uint8_t chances[] = { 20, 128, 192, 230, 250 };

	emit_to(b, INSN_COND, label);
	b->insns.items[b->insns.count - 1].chance = chances[below(b, 5)];
}

static uint32_t callee(struct builder *b)
{
	if (b->style->recursion)
		return b->procedures[1 + below(b, b->style->procedures - 1)];
	if (b->procedure + 1 >= b->style->procedures)
		return NO_LABEL;
	return b->procedures[b->procedure + 1 +
			     below(b, b->style->procedures - b->procedure - 1)];
}

static void call(struct builder *b)
{
	unsigned int i, targets = 1 + below(b, 2) * below(b, INSN_TARGETS);
	struct insn *insn;

	if (callee(b) == NO_LABEL)
		return;
	insn = emit(b, INSN_CALL, targets == 1 ? 5 : 2 + below(b, 6));
	insn->targets = targets;
	for (i = 0; i < targets; i++)
		insn->target[i] = callee(b);
}

static void block(struct builder *b, unsigned int level,
		  const struct loop_labels *loop);

static void if_else(struct builder *b, unsigned int level,
		    const struct loop_labels *loop)
{
	uint32_t other = label_new(b), end = label_new(b);

	emit_to(b, INSN_COND, other);
	block(b, level, loop);
	if (below(b, 2)) {
		emit_to(b, INSN_JUMP, end);
		label_here(b, other);
		block(b, level, loop);
	} else {
		label_here(b, other);
	}
	label_here(b, end);
}

/* top: test, jz out; body; jmp top; out: */
static void loop_while(struct builder *b, unsigned int level)
{
	struct loop_labels loop = { label_new(b), label_new(b) };

	label_here(b, loop.next);
	emit_plain(b, below(b, 3));
	emit_to(b, INSN_COND, loop.out);
	block(b, level, &loop);
	emit_to(b, INSN_JUMP, loop.next);
	label_here(b, loop.out);
}

/* [jmp next;] top: body; next: test, jnz top; out: */
static void loop_until(struct builder *b, unsigned int level, bool rotated)
{
	struct loop_labels loop = { label_new(b), label_new(b) };
	uint32_t first = label_new(b);

	if (rotated)
		emit_to(b, INSN_JUMP, loop.next);
	label_here(b, first);
	block(b, level, &loop);
	label_here(b, loop.next);
	emit_plain(b, below(b, 3));
	emit_back(b, first);
	label_here(b, loop.out);
}

static void loop_self(struct builder *b)
{
	uint32_t label = label_new(b);

	label_here(b, label);
	emit_back(b, label);
}

static void switch_case(struct builder *b, unsigned int level,
			const struct loop_labels *loop)
{
	uint32_t cases[INSN_TARGETS], end = label_new(b);
	struct insn *insn;
	unsigned int i;

	for (i = 0; i < INSN_TARGETS; i++)
		cases[i] = label_new(b);
	insn = emit(b, INSN_INDIRECT, 3);
	insn->targets = INSN_TARGETS;
	for (i = 0; i < INSN_TARGETS; i++)
		insn->target[i] = cases[i];
	for (i = 0; i < INSN_TARGETS; i++) {
		label_here(b, cases[i]);
		block(b, level, loop);
		if (below(b, 3))
			emit_to(b, INSN_JUMP, end);
	}
	label_here(b, end);
}

/* Emits an instruction that is sometimes skipped. */
static void sometimes(struct builder *b, enum insn_kind kind, uint32_t label)
{
	uint32_t skip = label_new(b);

	emit_to(b, INSN_COND, skip);
	b->insns.items[b->insns.count - 1].chance = 200;
	if (label == NO_LABEL)
		emit(b, kind, kind == INSN_RET ? 1 : 2)->chance = 64;
	else
		emit_to(b, kind, label);
	label_here(b, skip);
}

static void odd_statement(struct builder *b, const struct loop_labels *loop)
{
	switch (below(b, 6)) {
	case 0:
		if (b->style->tail_calls && callee(b) != NO_LABEL)
			sometimes(b, INSN_JUMP, callee(b));
		break;
	case 1:
		if (b->style->gotos)
			emit_back(b, b->goto_label);
		break;
	case 2:
		if (b->style->gotos) {
			b->goto_label = label_new(b);
			label_here(b, b->goto_label);
		}
		break;
	case 3:
		if (b->style->longjmps)
			emit(b, INSN_SETJMP, 5);
		break;
	case 4:
		if (b->style->longjmps)
			sometimes(b, INSN_LONGJMP, NO_LABEL);
		break;
	default:
		sometimes(b, INSN_RET, NO_LABEL);
	}
}

static void statement(struct builder *b, unsigned int level,
		      const struct loop_labels *loop)
{
	unsigned int choice = below(b, 14);

	if (level && choice < 6) {
		level--;
		switch (choice) {
		case 0:
			if_else(b, level, loop);
			break;
		case 1:
			loop_while(b, level);
			break;
		case 2:
			loop_until(b, level, false);
			break;
		case 3:
			loop_until(b, level, true);
			break;
		case 4:
			switch_case(b, level, loop);
			break;
		default:
			loop_self(b);
		}
	} else if (choice < 9) {
		call(b);
	} else if (choice == 9) {
		emit(b, INSN_SYSCALL, 2);
	} else if (choice == 10 && loop) {
		emit_to(b, INSN_COND, below(b, 2) ? loop->out : loop->next);
	} else if (choice == 11) {
		odd_statement(b, loop);
	} else {
		emit_plain(b, 1 + below(b, 3));
	}
}

static void block(struct builder *b, unsigned int level,
		  const struct loop_labels *loop)
{
	unsigned int count = 1 + below(b, 3);

	while (count--)
		statement(b, level, loop);
}

/* Instructions that jump anywhere in the program. */
static void soup(struct builder *b)
{
	static const enum insn_kind kinds[] = {
		INSN_PLAIN, INSN_PLAIN, INSN_COND, INSN_COND, INSN_COND,
		INSN_JUMP, INSN_INDIRECT, INSN_CALL, INSN_RET,
	};
	unsigned int count = 20 + below(b, 60), i;

	while (count--) {
		enum insn_kind kind = kinds[below(b, 9)];
		struct insn *insn = emit(b, kind, 2 + below(b, 4));

		insn->chance = below(b, 256);
		insn->targets = INSN_TARGETS;
		for (i = 0; i < INSN_TARGETS; i++) {
			insn->target[i] = label_new(b);
			/* set by resolve(), to anywhere */
		}
	}
}

static void procedure(struct builder *b, unsigned int number)
{
	b->procedure = number;
	b->address = (b->address + 15) & ~15ULL;
	label_here(b, b->procedures[number]);
	b->goto_label = b->procedures[number];
	if (b->style->soup)
		soup(b);
	else
		block(b, b->style->depth, NULL);
	emit(b, INSN_RET, 1);
}

/* Emits instruction [0], which calls the first procedure again and again. */
static void start(struct builder *b)
{
	label_here(b, b->procedures[0]);
	emit(b, INSN_CALL, 5);
	b->insns.items[0].targets = 1;
	b->insns.items[0].target[0] = b->procedures[1];
	emit_to(b, INSN_JUMP, b->procedures[0]);
}

static void resolve(struct builder *b)
{
	size_t i, k;

	for (i = 0; i < b->insns.count; i++) {
		struct insn *insn = &b->insns.items[i];

		for (k = 0; k < insn->targets; k++) {
			uint32_t place = b->labels.items[insn->target[k]];

			if (place == NO_LABEL)
				place = 2 + below(b, b->insns.count - 4);
			insn->target[k] = place;
		}
	}
}

struct program *program_new(uint64_t seed, const struct program_style *style)
{
	struct program *program = array_more(NULL, 1, sizeof(*program));
	struct builder b = {
		.random = seed, .style = style, .address = 0x400000,
	};
	unsigned int i;

	assert(style->procedures >= 2);
	b.procedures = array_more(NULL, style->procedures, sizeof(uint32_t));
	for (i = 0; i < style->procedures; i++)
		b.procedures[i] = label_new(&b);
	start(&b);
	for (i = 1; i < style->procedures; i++)
		procedure(&b, i);
	/*
	 * The restorer is far from anything that could look like a call of it.
	 */
	b.address += 64;
	emit(&b, INSN_PLAIN, 7);
	emit(&b, INSN_SIGRETURN, 2);
	resolve(&b);

	for (i = 0; i < style->procedures; i++)
		b.procedures[i] = b.labels.items[b.procedures[i]];
	*program = (struct program){
		.insns = b.insns.items, .count = b.insns.count,
		.procedures = b.procedures,
		.procedure_count = style->procedures,
		.restorer = b.insns.count - 2,
	};
	free(b.labels.items);
	return program;
}

void program_free(struct program *program)
{
	free(program->insns);
	free(program->procedures);
	free(program);
}
