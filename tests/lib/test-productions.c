// SPDX-License-Identifier: GPL-2.0-only
/*
 * The language of productions: what is wrong is found at its place, and the BPF
 * programs of random productions do what a plain evaluation does. A small
 * interpreter runs them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "tools/production.h"

/* --- mistakes ------------------------------------------------------------- */

static void mistake(const char *when, const char *then, const char *option,
		    size_t column, const char *part)
{
	static struct productions productions;
	struct production_error error;

	memset(&productions, 0, sizeof(productions));
	assert_true(productions_add(&productions, when, then));
	assert_false(productions_parse(&productions, &error));
	assert_string_equal(option, error.option);
	assert_int_equal(column, error.column);
	assert_non_null(strstr(error.message, part));
	productions_free(&productions);
}

static void mistakes(void **unused)
{
	mistake("", "count", "--when", 0, "an event is expected");
	mistake("calls", "count", "--when", 0, "an event is expected");
	mistake("call to=1", "count", "--when", 5, "in parentheses");
	mistake("call()", "count", "--when", 5, "a name is expected");
	mistake("call(trips=1)", "count", "--when", 5, "from, to, stack");
	mistake("call(to 1)", "count", "--when", 8, "a comparison");
	mistake("call(to=)", "count", "--when", 8, "a number, an argument");
	mistake("call(to=1", "count", "--when", 9, "closing parenthesis");
	mistake("call(to=1) x", "count", "--when", 11, "nothing is allowed");
	mistake("call(to=99999999999999999999)", "count", "--when", 8,
		"64 bits");
	mistake("call(to=1x)", "count", "--when", 9, "no digit");
	mistake("call(to=f@)", "count", "--when", 10, "name of a file");
	mistake("call", "", "--then", 0, "allowed are count");
	mistake("call", "counts", "--then", 0, "allowed are count");
	mistake("call", "count(trips)", "--then", 6, "no argument 'trips'");
	mistake("call", "count(to", "--then", 8, "closing parenthesis");
	mistake("call", "count(to,from,pid,tid,space)", "--then", 22,
		"more than 4");
	mistake("call", "hist", "--then", 4, "hist needs");
	mistake("call", "burst=some", "--then", 6, "on and off");
	mistake("call", "burst", "--then", 5, "burst=NUMBER");
	mistake("call", "burst=9223372036854775808", "--then", 6, "too long");
	mistake("call", "count stop", "--then", 6, "a comma");
	mistake("call", "to=1", "--then", 0, "cannot be a counter");
	mistake("call", "a=1, on=2", "--then", 5, "cannot be a counter");
	mistake("call", "a+=b", "--then", 3, "a number is expected");
	mistake("call", "n=0, n 5", "--then", 7, "allowed are n=NUMBER, n+=");
}

static void functions(void **unused)
{
	static struct productions productions;
	struct production_error error;
	const struct production_operand *right;

	productions_add(&productions, "call(to = f.cold+0x10@./a, from=g)",
			"count");
	assert_true(productions_parse(&productions, &error));
	assert_int_equal(2, productions.symbol_count);
	assert_string_equal("f.cold", productions.symbols[0].function);
	assert_string_equal("./a", productions.symbols[0].file);
	assert_int_equal(10, productions.symbols[0].column);
	assert_string_equal("g", productions.symbols[1].function);
	assert_null(productions.symbols[1].file);
	right = &productions.all[0].conditions[0].right;
	assert_int_equal(OPERAND_SYMBOL, right->kind);
	assert_int_equal(0x10, right->number);
	productions_free(&productions);
}

/* --- an interpreter ------------------------------------------------------- */

enum {
	TABLE_ROWS	= 4096,
	STATE_FD	= 10,
	WAKES_FD	= 11,
	TABLE_FD	= 20,
};

struct row {
	uint64_t keys[PRODUCTION_KEYS];
	struct production_count count;
	bool used;
};

struct machine {
	struct production_state state;
	struct row tables[PRODUCTION_TABLES][TABLE_ROWS];
	unsigned int wakes;
};

static size_t keys_of(const struct productions *productions, size_t table)
{
	size_t count = productions->tables[table].key_count;

	return count ? count : 1;
}

static struct row *row_of(struct machine *machine, size_t table,
			  const uint64_t *keys, size_t count, bool add)
{
	struct row *row = machine->tables[table];

	while (row->used && memcmp(row->keys, keys, 8 * count))
		row++;
	assert_true(row < machine->tables[table] + TABLE_ROWS - 1);
	if (!row->used && !add)
		return NULL;
	row->used = true;
	memcpy(row->keys, keys, 8 * count);
	return row;
}

static uint64_t call(struct machine *machine,
		     const struct productions *productions, int helper,
		     const uint64_t *r)
{
	const uint64_t *keys = (const uint64_t *)(uintptr_t)r[2];
	size_t table = r[1] - TABLE_FD;
	struct row *row;

	if (helper == BPF_FUNC_ringbuf_output) {
		assert_int_equal(WAKES_FD, r[1]);
		machine->wakes++;
		return 0;
	}
	assert_true(table < productions->table_count);
	row = row_of(machine, table, keys, keys_of(productions, table),
		     helper == BPF_FUNC_map_update_elem);
	if (helper == BPF_FUNC_map_lookup_elem)
		return row ? (uintptr_t)&row->count : 0;
	assert_int_equal(BPF_FUNC_map_update_elem, helper);
	row->count = *(struct production_count *)(uintptr_t)r[3];
	return 0;
}

static uint64_t calculate(int operation, uint64_t a, uint64_t b)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_LSH:
		return a << b;
	case BPF_RSH:
		return a >> b;
	}
	assert_int_equal(BPF_MOV, operation);
	return b;
}

static bool jumps(int operation, uint64_t a, uint64_t b)
{
	switch (operation) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	}
	assert_int_equal(BPF_JSLE, operation);
	return (int64_t)a <= (int64_t)b;
}

/* Runs a load or a store. */
static void access_memory(const struct bpf_insn *insn, uint64_t *r)
{
	int class = BPF_CLASS(insn->code);
	uint64_t *to = (uint64_t *)(uintptr_t)(r[insn->dst_reg] + insn->off);
	const uint64_t *from =
		(const uint64_t *)(uintptr_t)(r[insn->src_reg] + insn->off);

	assert_int_equal(BPF_DW, BPF_SIZE(insn->code));
	if (class == BPF_LDX)
		r[insn->dst_reg] = *from;
	else if (class == BPF_ST)
		*to = (int64_t)insn->imm;
	else if (BPF_MODE(insn->code) == BPF_ATOMIC)
		*to += r[insn->src_reg];
	else
		*to = r[insn->src_reg];
}

static uint64_t wide(const struct bpf_insn *insn, struct machine *machine)
{
	uint64_t number = (uint32_t)insn[0].imm |
			  (uint64_t)(uint32_t)insn[1].imm << 32;

	if (insn->src_reg != BPF_PSEUDO_MAP_VALUE)
		return number;
	assert_int_equal(STATE_FD, number);
	return (uintptr_t)&machine->state;
}

static uint64_t run(struct machine *machine,
		    const struct productions *productions,
		    const struct bpf_insn *code, size_t count,
		    const uint64_t *words)
{
	uint64_t stack[64], r[11] = { 0 };
	size_t at;

	r[1] = (uintptr_t)words;
	r[10] = (uintptr_t)&stack[64];
	for (at = 0; ; at++) {
		const struct bpf_insn *insn = &code[at];
		int class = BPF_CLASS(insn->code);
		int operation = BPF_OP(insn->code);
		uint64_t source = BPF_SRC(insn->code) == BPF_X ?
				  r[insn->src_reg] : (uint64_t)insn->imm;

		assert_true(at < count);
		if (class == BPF_LD)
			r[insn->dst_reg] = wide(&code[at++], machine);
		else if (class == BPF_ALU64)
			r[insn->dst_reg] = calculate(operation,
						     r[insn->dst_reg], source);
		else if (class != BPF_JMP)
			access_memory(insn, r);
		else if (operation == BPF_EXIT)
			return r[0];
		else if (operation == BPF_CALL)
			r[0] = call(machine, productions, insn->imm, r);
		else if (jumps(operation, r[insn->dst_reg], source))
			at += insn->off;
	}
}

/* --- random productions --------------------------------------------------- */

enum {
	RUNS		= 300,
	EVENTS		= 400,
	MOST		= 8,		/* productions */
	VALUES		= 7,		/* different values of words */
	COUNTERS	= 3,
};

static uint64_t random_state;

static uint32_t below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005ULL +
		       1442695040888963407ULL;
	return (random_state >> 33) % bound;
}

/* Events of two kinds, with the names of their words. */
static const struct {
	const char *name;
	enum hwprof_program_kind kind;
	const char *arguments[5];
} events[] = {
	{ "load", HWPROF_PROGRAM_LOAD,
	  { "ip", "address", "width", "flags", "value" } },
	{ "loop_exit", HWPROF_PROGRAM_LOOP_EXIT, { "head", "tail", "trips" } },
};

static const char *const operators[] = {
	"=", "!=", "<", "<=", ">", ">=", "&", "==",
};

static bool holds(int operator, uint64_t a, uint64_t b)
{
	switch (operator) {
	case 1:
		return a != b;
	case 2:
		return a < b;
	case 3:
		return a <= b;
	case 4:
		return a > b;
	case 5:
		return a >= b;
	case 6:
		return a & b;
	}
	return a == b;
}

/* Names of values: arguments of the event, the pid, the tid, counters. */
struct name {
	unsigned int what;		/* 0 to 4: argument; 5: pid; 6: tid;
					 * from 7 on: a counter */
};

static struct name any_name(unsigned int event)
{
	unsigned int arguments = event ? 3 : 5;
	unsigned int what = below(arguments + 2 + COUNTERS);

	return (struct name){ what < arguments ? what : what + 5 - arguments };
}

static void write_name(char *text, unsigned int event, struct name name)
{
	if (name.what < 5)
		strcat(text, events[event].arguments[name.what]);
	else if (name.what < 7)
		strcat(text, name.what == 5 ? "pid" : "tid");
	else
		sprintf(text + strlen(text), "c%u", name.what - 7);
}

static uint64_t value_of(struct name name, const uint64_t *words,
			 const uint64_t *counters)
{
	if (name.what < 5)
		return words[HWPROF_PROGRAM_WORD_FIRST + name.what];
	if (name.what == 5)
		return words[HWPROF_PROGRAM_WORD_TASK] >> 32;
	if (name.what == 6)
		return words[HWPROF_PROGRAM_WORD_TASK] & UINT32_MAX;
	return counters[name.what - 7];
}

/* A production, as text and as it is evaluated here. */
struct plain {
	char when[512], then[512];
	unsigned int event;
	struct {
		struct name left, right;
		bool number;		/* the right side is one */
		uint64_t value;
		int operator;
	} conditions[3];
	unsigned int condition_count;
	bool counts, histogram;
	struct name keys[3];
	unsigned int key_count;
	unsigned int counter;
	int64_t change;			/* of the counter; 0: set it */
	uint64_t set;
	bool stops, asks;
	int table;			/* of its counts */
};

static void make_condition(struct plain *plain)
{
	unsigned int at = plain->condition_count++;

	plain->conditions[at].left = any_name(plain->event);
	plain->conditions[at].operator = below(8);
	plain->conditions[at].number = below(2);
	plain->conditions[at].right = any_name(plain->event);
	plain->conditions[at].value = below(VALUES);
	strcat(plain->when, at ? " , " : "(");
	write_name(plain->when, plain->event, plain->conditions[at].left);
	strcat(plain->when, operators[plain->conditions[at].operator]);
	if (plain->conditions[at].number)
		sprintf(plain->when + strlen(plain->when), "0x%x",
			(unsigned int)plain->conditions[at].value);
	else
		write_name(plain->when, plain->event,
			   plain->conditions[at].right);
}

static void make_counts(struct plain *plain)
{
	unsigned int i;

	plain->counts = true;
	plain->histogram = below(2);
	plain->key_count = plain->histogram + below(3);
	strcat(plain->then, plain->histogram ? "hist" : "count");
	for (i = 0; i < plain->key_count; i++) {
		plain->keys[i] = any_name(plain->event);
		strcat(plain->then, i ? "," : "(");
		write_name(plain->then, plain->event, plain->keys[i]);
	}
	strcat(plain->then, plain->key_count ? ")" : "");
}

static void make(struct plain *plain, unsigned int number)
{
	unsigned int conditions = below(4);

	memset(plain, 0, sizeof(*plain));
	plain->event = below(2);
	strcpy(plain->when, events[plain->event].name);
	while (conditions--)
		make_condition(plain);
	if (plain->condition_count)
		strcat(plain->when, ")");
	/* The first ones change each counter, which names it. */
	plain->counter = number < COUNTERS ? number : below(COUNTERS);
	plain->change = (int64_t)below(3) - 1;
	plain->set = below(VALUES);
	sprintf(plain->then, "c%u%s=%u,", plain->counter,
		plain->change < 0 ? "-" : plain->change ? "+" : "",
		plain->change ? 1 : (unsigned int)plain->set);
	make_counts(plain);
	plain->stops = !below(40);
	plain->asks = !below(10);
	strcat(plain->then, plain->stops ? ", stop" : "");
	strcat(plain->then, plain->asks ? ", snapshot" : "");
}

/* --- the plain evaluation ------------------------------------------------- */

static uint64_t bucket_of(uint64_t value)
{
	uint64_t bucket = 0;

	for (; value; value /= 2)
		bucket++;
	return bucket;
}

static bool fits(const struct plain *plain, const uint64_t *words,
		 const uint64_t *counters)
{
	unsigned int i;

	for (i = 0; i < plain->condition_count; i++) {
		uint64_t right = plain->conditions[i].number ?
				 plain->conditions[i].value :
				 value_of(plain->conditions[i].right, words,
					  counters);

		if (!holds(plain->conditions[i].operator,
			   value_of(plain->conditions[i].left, words,
				    counters), right))
			return false;
	}
	return true;
}

static void act(const struct plain *plain, struct machine *machine,
		const uint64_t *words)
{
	uint64_t *counters = machine->state.counters;
	uint64_t keys[PRODUCTION_KEYS] = { 0 };
	struct row *row;
	unsigned int i;

	counters[plain->counter] = plain->change ?
		counters[plain->counter] + plain->change : plain->set;
	for (i = 0; i < plain->key_count; i++)
		keys[i] = value_of(plain->keys[i], words, counters);
	if (plain->histogram)
		keys[0] = bucket_of(keys[0]);
	row = row_of(machine, plain->table, keys,
		     plain->key_count ? plain->key_count : 1, true);
	row->count.count++;
	row->count.weight += words[HWPROF_PROGRAM_WORD_WEIGHT];
	machine->wakes += plain->stops + plain->asks;
	machine->state.snapshots += plain->asks;
	if (plain->stops)
		machine->state.stopped = 1;
}

static void evaluate(const struct plain *plains, size_t count,
		     struct machine *machine, unsigned int event,
		     const uint64_t *words)
{
	size_t i;

	if (machine->state.stopped)
		return;
	for (i = 0; i < count; i++)
		if (plains[i].event == event &&
		    fits(&plains[i], words, machine->state.counters))
			act(&plains[i], machine, words);
}

/* --- both ----------------------------------------------------------------- */

static void fill_words(uint64_t *words, unsigned int event)
{
	unsigned int i;

	words[HWPROF_PROGRAM_WORD_KIND] = events[event].kind;
	words[HWPROF_PROGRAM_WORD_TASK] =
		(uint64_t)below(VALUES) << 32 | below(VALUES);
	words[HWPROF_PROGRAM_WORD_WEIGHT] = 1 + below(9);
	for (i = 0; i < 5; i++)
		words[HWPROF_PROGRAM_WORD_FIRST + i] =
			below(8) ? below(VALUES) :
			(uint64_t)below(1 << 30) << below(34);
}

static void run_both(const struct plain *plains, size_t count,
		     struct productions *productions)
{
	static struct machine expected, got;
	static struct bpf_insn code[2][PRODUCTION_CODE_MAX];
	struct production_maps maps = { .state = STATE_FD, .wakes = WAKES_FD };
	size_t length[2], i;

	memset(&expected, 0, sizeof(expected));
	memset(&got, 0, sizeof(got));
	for (i = 0; i < PRODUCTION_TABLES; i++)
		maps.tables[i] = TABLE_FD + i;
	for (i = 0; i < 2; i++) {
		length[i] = production_code(productions, &maps,
					    (struct production_mode){ false },
					    events[i].kind, code[i]);
		assert_int_not_equal(0, length[i]);
	}
	for (i = 0; i < EVENTS; i++) {
		uint64_t words[HWPROF_PROGRAM_WORDS] = { 0 };
		unsigned int event = below(2);

		fill_words(words, event);
		evaluate(plains, count, &expected, event, words);
		assert_int_equal(0, run(&got, productions, code[event],
					length[event], words));
	}
	assert_memory_equal(&expected, &got, sizeof(got));
}

static void random_productions(void **unused)
{
	static struct productions productions;
	struct plain plains[MOST];
	size_t i, k;

	for (i = 0; i < RUNS; i++) {
		struct production_error error = { .column = 0 };
		size_t count = COUNTERS + below(MOST - COUNTERS + 1);

		random_state = i;
		memset(&productions, 0, sizeof(productions));
		for (k = 0; k < count; k++) {
			make(&plains[k], k);
			plains[k].table = k;
			assert_true(productions_add(&productions,
						    plains[k].when,
						    plains[k].then));
		}
		if (!productions_parse(&productions, &error))
			fail_msg("%s %s, %zu: %s", error.option, error.text,
				 error.column, error.message);
		run_both(plains, count, &productions);
		productions_free(&productions);
	}
}

/* --- bursts --------------------------------------------------------------- */

/* A burst of 3 branches after each call, in a session of its own bursts. */
static void own_bursts(void **unused)
{
	static struct productions productions;
	static struct machine machine;
	static struct bpf_insn code[2][PRODUCTION_CODE_MAX];
	const struct production_maps maps = { .state = STATE_FD };
	const struct production_mode mode = { .own_bursts = true };
	const uint64_t words[HWPROF_PROGRAM_WORDS] = { 0 };
	static const uint64_t verdicts[] = {
		HWPROF_PROGRAM_EXTEND, HWPROF_PROGRAM_EXTEND,
		HWPROF_PROGRAM_END, 0,
	};
	struct production_error error;
	size_t length[2], i;

	productions_add(&productions, "call", "burst=3");
	assert_true(productions_parse(&productions, &error));
	assert_int_equal(1U << HWPROF_PROGRAM_CALL |
			 1U << HWPROF_PROGRAM_BRANCH |
			 1U << HWPROF_PROGRAM_WINDOW_BEGIN,
			 production_programs(&productions, mode));
	length[0] = production_code(&productions, &maps, mode,
				    HWPROF_PROGRAM_CALL, code[0]);
	length[1] = production_code(&productions, &maps, mode,
				    HWPROF_PROGRAM_BRANCH, code[1]);
	assert_int_equal(HWPROF_PROGRAM_EXTEND,
			 run(&machine, &productions, code[0], length[0],
			     words));
	for (i = 0; i < 4; i++)
		assert_int_equal(verdicts[i],
				 run(&machine, &productions, code[1],
				     length[1], words));
	/* The next burst begins without what this one would have left. */
	run(&machine, &productions, code[0], length[0], words);
	length[1] = production_code(&productions, &maps, mode,
				    HWPROF_PROGRAM_WINDOW_BEGIN, code[1]);
	run(&machine, &productions, code[1], length[1], words);
	assert_int_equal(0, machine.state.left);
	productions_free(&productions);
}

/*
 * A branch on another CPU must not undo burst=off: the countdown stores no
 * number that was read before.
 */
static void countdown(void **unused)
{
	static struct productions productions;
	static struct bpf_insn code[PRODUCTION_CODE_MAX];
	const struct production_maps maps = { .state = STATE_FD };
	const struct production_mode mode = { .own_bursts = false };
	struct production_error error;
	size_t length, atomic = 0, i;

	productions_add(&productions, "call", "burst=on");
	productions_add(&productions, "return", "burst=off");
	assert_true(productions_parse(&productions, &error));
	length = production_code(&productions, &maps, mode,
				 HWPROF_PROGRAM_BRANCH, code);
	assert_true(length > 0);
	for (i = 0; i < length; i++) {
		assert_int_not_equal(BPF_STX | BPF_MEM | BPF_DW, code[i].code);
		assert_int_not_equal(BPF_ST | BPF_MEM | BPF_DW, code[i].code);
		atomic += code[i].code == (BPF_STX | BPF_ATOMIC | BPF_DW);
	}
	assert_int_equal(1, atomic);
	productions_free(&productions);
}

static void gates(void **unused)
{
	static struct productions productions;
	static struct machine machine;
	struct bpf_insn code[32];
	const struct production_maps maps = { .state = STATE_FD };
	struct production_error error;
	size_t length;

	productions_add(&productions, "call", "burst=on");
	productions_add(&productions, "return", "stop");
	assert_true(productions_parse(&productions, &error));
	length = production_gate(&productions, &maps, code);
	assert_int_equal(HWPROF_PROGRAM_DROP,
			 run(&machine, &productions, code, length, NULL));
	machine.state.left = 1;
	assert_int_equal(0, run(&machine, &productions, code, length, NULL));
	machine.state.stopped = 1;
	assert_int_equal(HWPROF_PROGRAM_DROP,
			 run(&machine, &productions, code, length, NULL));
	productions_free(&productions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes),
		cmocka_unit_test(functions),
		cmocka_unit_test(random_productions),
		cmocka_unit_test(own_bursts),
		cmocka_unit_test(countdown),
		cmocka_unit_test(gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
