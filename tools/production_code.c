// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes BPF programs of productions. Registers have these roles:
 *
 *	r6	the event: an array of words
 *	r7	struct production_state
 *	r8	the verdict so far
 *	r1 - r5	arguments of helpers, and whatever is between
 *
 * Below r10 are the keys of a table, and a count behind them.
 */
#include <linux/bpf.h>
#include <stddef.h>

#include "production.h"

enum {
	KEYS	= -8 * (int)PRODUCTION_KEYS,	/* on the stack, from r10 */
	COUNT	= KEYS - (int)sizeof(struct production_count),
	JUMPS_MAX = 2 * PRODUCTION_CONDITIONS,
};

/* Where a program is written. */
struct assembler {
	const struct productions *productions;
	const struct production_maps *maps;
	struct production_mode mode;
	struct bpf_insn *code;
	size_t count;
	bool full;
};

/* Jumps to a place behind them that is not known yet. */
struct label {
	size_t jumps[JUMPS_MAX];
	size_t count;
};

/* --- instructions --------------------------------------------------------- */

static size_t emit(struct assembler *assembler, struct bpf_insn insn)
{
	if (assembler->count == PRODUCTION_CODE_MAX) {
		assembler->full = true;
		return 0;
	}
	assembler->code[assembler->count] = insn;
	return assembler->count++;
}

static void move(struct assembler *assembler, int to, int from)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to,
		.src_reg = from,
	});
}

static void set(struct assembler *assembler, int to, int32_t number)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = to,
		.imm = number,
	});
}

/* Loads 64 bits, or with @source a map or its value. */
static void set_wide(struct assembler *assembler, int to, int source,
		     uint64_t number)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = to,
		.src_reg = source, .imm = (uint32_t)number,
	});
	emit(assembler, (struct bpf_insn){ .imm = number >> 32 });
}

static void calculate(struct assembler *assembler, int operation, int to,
		      int32_t number)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_ALU64 | operation | BPF_K, .dst_reg = to,
		.imm = number,
	});
}

static void add_register(struct assembler *assembler, int to, int from)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = to,
		.src_reg = from,
	});
}

static void load(struct assembler *assembler, int to, int from, size_t offset)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = to,
		.src_reg = from, .off = offset,
	});
}

static void store(struct assembler *assembler, int to, int offset, int from)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = to,
		.src_reg = from, .off = offset,
	});
}

static void store_number(struct assembler *assembler, int to, int offset,
			 int32_t number)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = to,
		.off = offset, .imm = number,
	});
}

/* Adds a register to memory, which several CPUs may do at once. */
static void add_to_memory(struct assembler *assembler, int to, size_t offset,
			  int from)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = to,
		.src_reg = from, .off = offset, .imm = BPF_ADD,
	});
}

static void call(struct assembler *assembler, int helper)
{
	emit(assembler, (struct bpf_insn){
		.code = BPF_JMP | BPF_CALL, .imm = helper,
	});
}

static void finish(struct assembler *assembler)
{
	emit(assembler, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

/* --- jumps ---------------------------------------------------------------- */

static void note_jump(struct label *label, size_t jump)
{
	if (label->count < JUMPS_MAX)
		label->jumps[label->count++] = jump;
}

static void jump_if_number(struct assembler *assembler, struct label *label,
			   int operation, int reg, int32_t number)
{
	note_jump(label, emit(assembler, (struct bpf_insn){
		.code = BPF_JMP | operation | BPF_K, .dst_reg = reg,
		.imm = number,
	}));
}

static void jump_if(struct assembler *assembler, struct label *label,
		    int operation, int reg, int other)
{
	note_jump(label, emit(assembler, (struct bpf_insn){
		.code = BPF_JMP | operation | BPF_X, .dst_reg = reg,
		.src_reg = other,
	}));
}

static void jump(struct assembler *assembler, struct label *label)
{
	note_jump(label, emit(assembler, (struct bpf_insn){
		.code = BPF_JMP | BPF_JA,
	}));
}

/* Lets the jumps lead here. */
static void place(struct assembler *assembler, struct label *label)
{
	size_t i;

	for (i = 0; i < label->count; i++)
		assembler->code[label->jumps[i]].off =
			assembler->count - label->jumps[i] - 1;
	label->count = 0;
}

/* --- values --------------------------------------------------------------- */

#define STATE(field)	offsetof(struct production_state, field)

static size_t counter_at(unsigned int counter)
{
	return STATE(counters) + 8 * counter;
}

/* Sets r7 to the state. */
static void set_state(struct assembler *assembler)
{
	set_wide(assembler, BPF_REG_7, BPF_PSEUDO_MAP_VALUE,
		 (uint32_t)assembler->maps->state);
}

/* Loads an operand. Jumps to @unknown if it is a symbol without an address. */
static void load_operand(struct assembler *assembler, int to,
			 const struct production_operand *operand,
			 struct label *unknown)
{
	switch (operand->kind) {
	case OPERAND_NUMBER:
		set_wide(assembler, to, 0, operand->number);
		return;
	case OPERAND_WORD:
	case OPERAND_UPPER:
	case OPERAND_LOWER:
		load(assembler, to, BPF_REG_6, 8 * operand->index);
		if (operand->kind == OPERAND_LOWER)
			calculate(assembler, BPF_LSH, to, 32);
		if (operand->kind != OPERAND_WORD)
			calculate(assembler, BPF_RSH, to, 32);
		return;
	case OPERAND_COUNTER:
		load(assembler, to, BPF_REG_7, counter_at(operand->index));
		return;
	case OPERAND_SYMBOL:
		load(assembler, to, BPF_REG_7,
		     STATE(symbols) + 8 * operand->index);
		jump_if_number(assembler, unknown, BPF_JEQ, to, 0);
		if (!operand->number)
			return;
		set_wide(assembler, BPF_REG_3, 0, operand->number);
		add_register(assembler, to, BPF_REG_3);
	}
}

/* The jumps that are taken if a comparison is not true; 0: see below. */
static const uint8_t opposites[] = {
	[COMPARE_EQUAL]		= BPF_JNE,
	[COMPARE_UNEQUAL]	= BPF_JEQ,
	[COMPARE_LESS]		= BPF_JGE,
	[COMPARE_LESS_EQUAL]	= BPF_JGT,
	[COMPARE_GREATER]	= BPF_JLE,
	[COMPARE_GREATER_EQUAL]	= BPF_JLT,
};

/* Jumps to @label unless the condition is true. */
static void emit_condition(struct assembler *assembler,
			   const struct production_condition *condition,
			   struct label *label)
{
	load_operand(assembler, BPF_REG_1, &condition->left, label);
	load_operand(assembler, BPF_REG_2, &condition->right, label);
	if (condition->comparison != COMPARE_BITS) {
		jump_if(assembler, label, opposites[condition->comparison],
			BPF_REG_1, BPF_REG_2);
		return;
	}
	emit(assembler, (struct bpf_insn){
		.code = BPF_ALU64 | BPF_AND | BPF_X, .dst_reg = BPF_REG_1,
		.src_reg = BPF_REG_2,
	});
	jump_if_number(assembler, label, BPF_JEQ, BPF_REG_1, 0);
}

/* --- tables --------------------------------------------------------------- */

/*
 * Turns r1 into the number of its bucket: 0 for 0, otherwise one more than its
 * highest bit's.
 */
static void emit_bucket(struct assembler *assembler)
{
	struct label zero = { .count = 0 };
	int width;

	set(assembler, BPF_REG_2, 0);
	jump_if_number(assembler, &zero, BPF_JEQ, BPF_REG_1, 0);
	calculate(assembler, BPF_ADD, BPF_REG_2, 1);
	for (width = 32; width; width /= 2) {
		struct label less = { .count = 0 };

		move(assembler, BPF_REG_3, BPF_REG_1);
		calculate(assembler, BPF_RSH, BPF_REG_3, width);
		jump_if_number(assembler, &less, BPF_JEQ, BPF_REG_3, 0);
		move(assembler, BPF_REG_1, BPF_REG_3);
		calculate(assembler, BPF_ADD, BPF_REG_2, width);
		place(assembler, &less);
	}
	place(assembler, &zero);
	move(assembler, BPF_REG_1, BPF_REG_2);
}

/* Sets r1 to the table's map, and r2 to the key. */
static void set_table(struct assembler *assembler, unsigned int table)
{
	set_wide(assembler, BPF_REG_1, BPF_PSEUDO_MAP_FD,
		 (uint32_t)assembler->maps->tables[table]);
	move(assembler, BPF_REG_2, BPF_REG_10);
	calculate(assembler, BPF_ADD, BPF_REG_2, KEYS);
}

static void emit_keys(struct assembler *assembler,
		      const struct production_table *table)
{
	struct label none = { .count = 0 };
	size_t i;

	/* A table without names has one row, whose key is 0. */
	if (!table->key_count)
		store_number(assembler, BPF_REG_10, KEYS, 0);
	for (i = 0; i < table->key_count; i++) {
		load_operand(assembler, BPF_REG_1, &table->keys[i], &none);
		if (table->histogram && !i)
			emit_bucket(assembler);
		store(assembler, BPF_REG_10, KEYS + 8 * (int)i, BPF_REG_1);
	}
}

/* Adds the event to the count at r0. */
static void emit_increase(struct assembler *assembler)
{
	load(assembler, BPF_REG_1, BPF_REG_0, 0);
	calculate(assembler, BPF_ADD, BPF_REG_1, 1);
	store(assembler, BPF_REG_0, 0, BPF_REG_1);
	load(assembler, BPF_REG_1, BPF_REG_0,
	     offsetof(struct production_count, weight));
	load(assembler, BPF_REG_2, BPF_REG_6, 8 * HWPROF_PROGRAM_WORD_WEIGHT);
	add_register(assembler, BPF_REG_1, BPF_REG_2);
	store(assembler, BPF_REG_0, offsetof(struct production_count, weight),
	      BPF_REG_1);
}

static void emit_row(struct assembler *assembler, unsigned int table)
{
	store_number(assembler, BPF_REG_10, COUNT, 1);
	load(assembler, BPF_REG_1, BPF_REG_6, 8 * HWPROF_PROGRAM_WORD_WEIGHT);
	store(assembler, BPF_REG_10,
	      COUNT + (int)offsetof(struct production_count, weight),
	      BPF_REG_1);
	set_table(assembler, table);
	move(assembler, BPF_REG_3, BPF_REG_10);
	calculate(assembler, BPF_ADD, BPF_REG_3, COUNT);
	set(assembler, BPF_REG_4, BPF_ANY);
	call(assembler, BPF_FUNC_map_update_elem);
}

static void emit_table(struct assembler *assembler, unsigned int index)
{
	struct label found = { .count = 0 }, done = { .count = 0 };

	emit_keys(assembler, &assembler->productions->tables[index]);
	set_table(assembler, index);
	call(assembler, BPF_FUNC_map_lookup_elem);
	jump_if_number(assembler, &found, BPF_JNE, BPF_REG_0, 0);
	emit_row(assembler, index);
	jump_if_number(assembler, &done, BPF_JEQ, BPF_REG_0, 0);
	set(assembler, BPF_REG_1, 1);
	add_to_memory(assembler, BPF_REG_7, STATE(lost), BPF_REG_1);
	jump(assembler, &done);
	place(assembler, &found);
	emit_increase(assembler);
	place(assembler, &done);
}

/* --- other actions -------------------------------------------------------- */

static void emit_verdict(struct assembler *assembler, int32_t verdict)
{
	calculate(assembler, BPF_OR, BPF_REG_8, verdict);
}

/* Takes a bit out of the verdict again. */
static void emit_no_verdict(struct assembler *assembler, int32_t verdict)
{
	calculate(assembler, BPF_AND, BPF_REG_8, ~verdict);
}

static void emit_burst(struct assembler *assembler, uint64_t branches)
{
	set_wide(assembler, BPF_REG_1, 0, branches);
	store(assembler, BPF_REG_7, STATE(left), BPF_REG_1);
	if (!assembler->mode.own_bursts)
		return;
	emit_no_verdict(assembler, HWPROF_PROGRAM_END | HWPROF_PROGRAM_EXTEND);
	emit_verdict(assembler, branches ? HWPROF_PROGRAM_EXTEND :
					   HWPROF_PROGRAM_END);
}

/* Wakes hwprof up. */
static void emit_wake(struct assembler *assembler)
{
	store_number(assembler, BPF_REG_10, KEYS, 0);
	set_wide(assembler, BPF_REG_1, BPF_PSEUDO_MAP_FD,
		 (uint32_t)assembler->maps->wakes);
	move(assembler, BPF_REG_2, BPF_REG_10);
	calculate(assembler, BPF_ADD, BPF_REG_2, KEYS);
	set(assembler, BPF_REG_3, 8);
	set(assembler, BPF_REG_4, 0);
	call(assembler, BPF_FUNC_ringbuf_output);
}

static void emit_stop(struct assembler *assembler)
{
	store_number(assembler, BPF_REG_7, STATE(stopped), 1);
	emit_wake(assembler);
}

static void emit_snapshot(struct assembler *assembler)
{
	set(assembler, BPF_REG_1, 1);
	add_to_memory(assembler, BPF_REG_7, STATE(snapshots), BPF_REG_1);
	emit_wake(assembler);
}

static void emit_assignment(struct assembler *assembler,
			    const struct production_action *action)
{
	size_t at = counter_at(action->index);

	set_wide(assembler, BPF_REG_1, 0, action->number);
	if (action->kind == ACTION_SET)
		store(assembler, BPF_REG_7, at, BPF_REG_1);
	else
		add_to_memory(assembler, BPF_REG_7, at, BPF_REG_1);
}

static void emit_action(struct assembler *assembler,
			const struct production_action *action)
{
	switch (action->kind) {
	case ACTION_COUNT:
	case ACTION_HISTOGRAM:
		emit_table(assembler, action->index);
		return;
	case ACTION_BURST:
		emit_burst(assembler, action->number);
		return;
	case ACTION_SNAPSHOT:
		emit_snapshot(assembler);
		return;
	case ACTION_STOP:
		emit_stop(assembler);
		return;
	case ACTION_SOONER:
		emit_verdict(assembler, HWPROF_PROGRAM_SOONER);
		return;
	case ACTION_LATER:
		emit_verdict(assembler, HWPROF_PROGRAM_LATER);
		return;
	case ACTION_SET:
	case ACTION_ADD:
		emit_assignment(assembler, action);
	}
}

/* --- programs ------------------------------------------------------------- */

static void emit_production(struct assembler *assembler,
			    const struct production *production)
{
	struct label next = { .count = 0 };
	size_t i;

	for (i = 0; i < production->condition_count; i++)
		emit_condition(assembler, &production->conditions[i], &next);
	for (i = 0; i < production->action_count; i++)
		emit_action(assembler, &production->actions[i]);
	place(assembler, &next);
}

/*
 * A branch is seen: the burst has one less. With bursts of one's own, it gets
 * one longer until none is left, and ends then.
 */
static void emit_countdown(struct assembler *assembler)
{
	struct label none = { .count = 0 }, more = { .count = 0 };

	load(assembler, BPF_REG_1, BPF_REG_7, STATE(left));
	jump_if_number(assembler, &none, BPF_JSLE, BPF_REG_1, 0);
	/* All CPUs count, and another one may have said burst=off just now. */
	set(assembler, BPF_REG_2, -1);
	add_to_memory(assembler, BPF_REG_7, STATE(left), BPF_REG_2);
	if (assembler->mode.own_bursts) {
		calculate(assembler, BPF_ADD, BPF_REG_1, -1);
		emit_verdict(assembler, HWPROF_PROGRAM_EXTEND);
		jump_if_number(assembler, &more, BPF_JNE, BPF_REG_1, 0);
		set(assembler, BPF_REG_8, HWPROF_PROGRAM_END);
		place(assembler, &more);
	}
	place(assembler, &none);
}

static void emit_beginning(struct assembler *assembler,
			   enum hwprof_program_kind kind, struct label *end)
{
	move(assembler, BPF_REG_6, BPF_REG_1);
	set(assembler, BPF_REG_8, 0);
	set_state(assembler);
	load(assembler, BPF_REG_1, BPF_REG_7, STATE(stopped));
	jump_if_number(assembler, end, BPF_JNE, BPF_REG_1, 0);
	if (!assembler->productions->bursts)
		return;
	if (kind == HWPROF_PROGRAM_BRANCH)
		emit_countdown(assembler);
	/* The next burst does not get what the last one had left. */
	if (kind == HWPROF_PROGRAM_WINDOW_BEGIN && assembler->mode.own_bursts)
		store_number(assembler, BPF_REG_7, STATE(left), 0);
}

size_t production_code(const struct productions *productions,
		       const struct production_maps *maps,
		       struct production_mode mode,
		       enum hwprof_program_kind kind, struct bpf_insn *code)
{
	struct assembler assembler = {
		.productions = productions, .maps = maps, .mode = mode,
		.code = code,
	};
	struct label end = { .count = 0 };
	size_t i;

	emit_beginning(&assembler, kind, &end);
	for (i = 0; i < productions->count; i++)
		if (productions->all[i].event == kind)
			emit_production(&assembler, &productions->all[i]);
	place(&assembler, &end);
	move(&assembler, BPF_REG_0, BPF_REG_8);
	finish(&assembler);
	return assembler.full ? 0 : assembler.count;
}

size_t production_gate(const struct productions *productions,
		       const struct production_maps *maps,
		       struct bpf_insn *code)
{
	struct assembler assembler = {
		.productions = productions, .maps = maps, .code = code,
	};
	struct label drop = { .count = 0 };

	set_state(&assembler);
	load(&assembler, BPF_REG_1, BPF_REG_7, STATE(stopped));
	jump_if_number(&assembler, &drop, BPF_JNE, BPF_REG_1, 0);
	load(&assembler, BPF_REG_1, BPF_REG_7, STATE(left));
	if (productions->bursts)
		jump_if_number(&assembler, &drop, BPF_JSLE, BPF_REG_1, 0);
	set(&assembler, BPF_REG_0, 0);
	finish(&assembler);
	place(&assembler, &drop);
	set(&assembler, BPF_REG_0, HWPROF_PROGRAM_DROP);
	finish(&assembler);
	return assembler.full ? 0 : assembler.count;
}

unsigned int production_programs(const struct productions *productions,
				 struct production_mode mode)
{
	unsigned int kinds = productions->kinds;

	if (productions->bursts)
		kinds |= 1U << HWPROF_PROGRAM_BRANCH;
	if (productions->bursts && mode.own_bursts)
		kinds |= 1U << HWPROF_PROGRAM_WINDOW_BEGIN;
	return kinds;
}
