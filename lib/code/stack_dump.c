// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/window.h"
#include "stack_dump.h"
#include "cfi_table.h"

enum {
	CACHE_BITS = 15,
	REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_10 = 10,
	REGISTER_RETURN = 16,
	OPERANDS = 8,		/* depth of an expression */
	OPS_MAX = 3,		/* room that dwarf_frame_register() needs */
	WORD = 8,
};

/* How to unwind at an address of a program. */
struct step {
	uint64_t address;
	uint32_t program;		/* 0: free */
	uint16_t cfa;			/* as in struct hwprof_unwind_row */
	uint8_t bp, kind;
	struct object *object;		/* the object with tables; NULL: none */
	uint64_t at;			/* the address in the object */
};

struct stack_unwinder {
	const struct hwprof_file *file;
	const struct processes *processes;
	struct objects *objects;
	struct step steps[1 << CACHE_BITS];
};

struct stack_unwinder *stack_unwinder_new(const struct hwprof_file *file,
					  const struct processes *processes,
					  struct objects *objects)
{
	struct stack_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->file = file;
	unwinder->processes = processes;
	unwinder->objects = objects;
	return unwinder;
}

void stack_unwinder_free(struct stack_unwinder *unwinder)
{
	free(unwinder);
}

/* --- steps ---------------------------------------------------------------- */

/* Returns the last row that begins at or before @at; NULL if there is none. */
static const struct hwprof_unwind_row *find_row(const struct cfi_table *table,
						uint64_t at)
{
	uint64_t offset = at - table->base;
	uint32_t low = 0, high = table->count;

	if (at < table->base)
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->rows[low - 1] : NULL;
}

static int look_up(const struct stack_unwinder *unwinder, uint32_t pid,
		   uint64_t time, struct step *step)
{
	const struct hwprof_unwind_row *row;
	const struct cfi_table *table;
	const struct mapping *mapping;
	struct object *object;

	mapping = processes_find(unwinder->processes, pid, time, step->address);
	if (!mapping)
		return 0;
	object = processes_object(unwinder->objects, unwinder->file, mapping);
	if (!object)
		return -ENOMEM;
	table = object_cfi_table(object);
	if (!table)
		return 0;
	step->at = object_address(object, step->address - mapping->start +
					  mapping->offset);
	row = find_row(table, step->at);
	if (!row)
		return 0;
	step->object = object;
	step->kind = row->kind;
	step->cfa = row->cfa;
	step->bp = row->bp;
	return 0;
}

/*
 * Returns the step at @address, which is looked up if need be; NULL if out of
 * memory.
 */
static const struct step *find_step(struct stack_unwinder *unwinder,
				    uint32_t program, uint32_t pid,
				    uint64_t time, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)program << 40) * HASH_PRIME;
	struct step *step = &unwinder->steps[hash >> (64 - CACHE_BITS)];

	if (step->address == address && step->program == program)
		return step;
	*step = (struct step){ .address = address, .program = program };
	if (!look_up(unwinder, pid, time, step))
		return step;
	step->program = 0;
	return NULL;
}

/* --- memory --------------------------------------------------------------- */

/* Registers from which those of the caller are computed. */
struct frame {
	uint64_t ip, sp, bp;
	const struct stack_dump *dump;
};

static bool read_word(const struct stack_dump *dump, uint64_t address,
		      uint64_t *word)
{
	struct byte_reader at = dump->memory;

	return address >= dump->sp && reader_skip(&at, address - dump->sp) &&
	       reader_u64(&at, word);
}

/* --- what rows cannot express ------------------------------------------- */

/*
 * Expressions in tables come in few forms: those of PLTs and of aligned stacks.
 */
struct operands {
	uint64_t words[OPERANDS];
	unsigned int count;
};

static bool push(struct operands *operands, uint64_t word)
{
	if (operands->count == OPERANDS)
		return false;
	operands->words[operands->count++] = word;
	return true;
}

static bool push_register(struct operands *operands, const struct frame *frame,
			  unsigned int number, int64_t offset)
{
	switch (number) {
	case REGISTER_BP:
		return push(operands, frame->bp + offset);
	case REGISTER_SP:
		return push(operands, frame->sp + offset);
	case REGISTER_RETURN:
		return push(operands, frame->ip + offset);
	case REGISTER_10:
		/* The value in callers is unknown. */
		return frame->sp == frame->dump->sp &&
		       push(operands, frame->dump->r10 + offset);
	}
	return false;
}

static bool compute(struct operands *operands, unsigned int atom)
{
	uint64_t *a, b;

	if (operands->count < 2)
		return false;
	b = operands->words[--operands->count];
	a = &operands->words[operands->count - 1];
	switch (atom) {
	case DW_OP_plus:
		*a += b;
		return true;
	case DW_OP_minus:
		*a -= b;
		return true;
	case DW_OP_and:
		*a &= b;
		return true;
	case DW_OP_shl:
		*a = b < 64 ? *a << b : 0;
		return true;
	case DW_OP_ge:
		*a = (int64_t)*a >= (int64_t)b;
		return true;
	}
	return false;
}

static bool run_op(struct operands *operands, const struct frame *frame,
		   uint64_t cfa, const Dwarf_Op *op)
{
	uint64_t *top = &operands->words[operands->count - !!operands->count];

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(operands, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(operands, frame, op->atom - DW_OP_breg0,
				     op->number);
	switch (op->atom) {
	case DW_OP_bregx:
		return push_register(operands, frame, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return push(operands, cfa);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(operands, op->number);
	case DW_OP_plus_uconst:
		*top += op->number;
		return operands->count;
	case DW_OP_deref:
		return operands->count && read_word(frame->dump, *top, top);
	}
	return compute(operands, op->atom);
}

static bool evaluate(const struct frame *frame, uint64_t cfa,
		     const Dwarf_Op *ops, size_t count, uint64_t *value)
{
	struct operands operands = { .count = 0 };
	size_t i;

	for (i = 0; i < count; i++)
		if (!run_op(&operands, frame, cfa, &ops[i]))
			return false;
	if (!operands.count)
		return false;
	*value = operands.words[operands.count - 1];
	return true;
}

/*
 * Computes the caller's register @number. @value is the callee's, which is kept
 * if the rules do not change it.
 */
static bool restore(const struct frame *frame, Dwarf_Frame *rules, int number,
		    uint64_t cfa, uint64_t *value)
{
	Dwarf_Op memory[OPS_MAX], *ops;
	uint64_t address;
	size_t count;

	if (dwarf_frame_register(rules, number, memory, &ops, &count))
		return false;
	if (!count)
		return true;
	if (ops[count - 1].atom == DW_OP_stack_value)
		return evaluate(frame, cfa, ops, count - 1, value);
	return evaluate(frame, cfa, ops, count, &address) &&
	       read_word(frame->dump, address, value);
}

static bool apply_rules(struct frame *frame, Dwarf_Frame *rules)
{
	struct frame caller = *frame;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(rules, &ops, &count) ||
	    !evaluate(frame, 0, ops, count, &caller.sp) ||
	    !restore(frame, rules, REGISTER_BP, caller.sp, &caller.bp) ||
	    !restore(frame, rules, REGISTER_RETURN, caller.sp, &caller.ip))
		return false;
	*frame = caller;
	return true;
}

static bool step_by_rules(struct frame *frame, const struct step *step)
{
	Dwarf_CFI *cfi = object_cfi(step->object);
	Dwarf_Frame *rules;
	bool done;

	if (!cfi || dwarf_cfi_addrframe(cfi, step->at, &rules))
		return false;
	done = apply_rules(frame, rules);
	free(rules);
	return done;
}

/* --- frames --------------------------------------------------------------- */

/*
 * Steps to the caller. @bp_at is where the caller's bp was saved, if it was. A
 * place below sp has just been popped, so the register has the value, whatever
 * the tables say.
 */
static bool step_to(struct frame *frame, uint64_t cfa, uint64_t bp_at)
{
	uint64_t ip, bp = frame->bp;

	if (!read_word(frame->dump, cfa - WORD, &ip) ||
	    (bp_at >= frame->sp && !read_word(frame->dump, bp_at, &bp)))
		return false;
	frame->ip = ip;
	frame->bp = bp;
	frame->sp = cfa;
	return true;
}

/* Steps to the caller in code that keeps frame pointers. */
static bool step_by_pointer(struct frame *frame)
{
	return frame->bp >= frame->sp && frame->bp % WORD == 0 &&
	       step_to(frame, frame->bp + 2 * WORD, frame->bp);
}

static bool step_by_row(struct frame *frame, const struct step *step)
{
	uint64_t cfa = step->kind == HWPROF_UNWIND_SP ? frame->sp : frame->bp;

	cfa += (uint64_t)WORD * step->cfa;
	return cfa > frame->sp &&
	       step_to(frame, cfa, step->bp ? cfa - WORD * step->bp : 0);
}

static enum stack_end why(const struct step *step)
{
	if (!step->object || step->kind == HWPROF_UNWIND_UNKNOWN)
		return STACK_END_TABLES;
	return STACK_END_DUMP;
}

/*
 * Steps from a frame to its caller's. Returns false, and sets *@end to the
 * reason.
 */
static bool step_out(struct frame *frame, const struct step *step,
		     enum stack_end *end)
{
	uint64_t sp = frame->sp;
	bool done;

	*end = STACK_END_OUTERMOST;
	if (step->object && step->kind == HWPROF_UNWIND_OUTERMOST)
		return false;
	if (!step->object)
		done = step_by_pointer(frame);
	else if (step->kind == HWPROF_UNWIND_UNKNOWN)
		done = step_by_rules(frame, step);
	else
		done = step_by_row(frame, step);
	if (!done)
		*end = why(step);
	return done && frame->ip && frame->sp > sp;
}

int stack_unwind(struct stack_unwinder *unwinder, uint32_t program,
		 uint32_t pid, uint64_t time, struct stack_dump dump,
		 uint64_t *to, uint32_t room, enum stack_end *end)
{
	struct frame frame = { dump.ip, dump.sp, dump.bp, &dump };
	uint64_t inside = dump.ip;	/* address of the running or calling
					 * instruction */
	uint32_t count;

	*end = STACK_END_ROOM;
	for (count = 0; count < room; count++) {
		const struct step *step = find_step(unwinder, program, pid,
						    time, inside);

		if (!step)
			return -ENOMEM;
		if (!step_out(&frame, step, end))
			break;
		to[count] = frame.ip;
		inside = frame.ip - 1;
	}
	return count;
}
