/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Productions: pairs of a pattern over events and of actions, such as
 *
 *	--when 'loop_exit(head=f+0x10, trips>1000)' --then 'count(trips)'
 *
 * production_parse.c reads them, production_code.c makes a BPF program of them
 * for each kind of event, and production_run.c loads these programs.
 */
#ifndef HWPROF_PRODUCTION_H
#define HWPROF_PRODUCTION_H

#include <linux/hwprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PRODUCTIONS_MAX		= 32,
	PRODUCTION_CONDITIONS	= 12,	/* of one pattern */
	PRODUCTION_ACTIONS	= 8,	/* of one production */
	PRODUCTION_KEYS		= 4,	/* of a count or histogram */
	PRODUCTION_COUNTERS	= 16,	/* of all productions */
	PRODUCTION_SYMBOLS	= 32,
	PRODUCTION_TABLES	= 32,	/* counts and histograms */
	PRODUCTION_NAME		= 32,	/* bytes of a counter's name */
};

/* Places that a value is read from. */
enum production_operand_kind {
	OPERAND_NUMBER,
	OPERAND_WORD,		/* a word of the event */
	OPERAND_UPPER,		/* the upper half of a word */
	OPERAND_LOWER,		/* its lower half */
	OPERAND_COUNTER,
	OPERAND_SYMBOL,		/* the address of a function, and an offset */
};

struct production_operand {
	enum production_operand_kind kind;
	unsigned int index;	/* of the word, the counter or the symbol */
	uint64_t number;	/* the number, or a symbol's offset */
};

enum production_comparison {
	COMPARE_EQUAL,
	COMPARE_UNEQUAL,
	COMPARE_LESS,
	COMPARE_LESS_EQUAL,
	COMPARE_GREATER,
	COMPARE_GREATER_EQUAL,
	COMPARE_BITS,		/* they have a bit in common */
};

struct production_condition {
	struct production_operand left, right;
	enum production_comparison comparison;	/* of unsigned numbers */
};

enum production_action_kind {
	ACTION_COUNT,		/* in a table, by keys */
	ACTION_HISTOGRAM,	/* the same; the first key becomes a bucket */
	ACTION_BURST,		/* the profile sees the next branches */
	ACTION_SNAPSHOT,	/* write rows now */
	ACTION_STOP,		/* recording ends */
	ACTION_SOONER,		/* the next distance is half as long */
	ACTION_LATER,		/* or twice */
	ACTION_SET,		/* a counter */
	ACTION_ADD,		/* to a counter; subtract: the number wraps */
};

struct production_action {
	enum production_action_kind kind;
	unsigned int index;	/* of the table or the counter */
	/* Branches of a burst; or the number that a counter gets. */
	uint64_t number;
};

struct production {
	const char *when, *then;	/* the texts */
	enum hwprof_program_kind event;
	struct production_condition conditions[PRODUCTION_CONDITIONS];
	size_t condition_count;
	struct production_action actions[PRODUCTION_ACTIONS];
	size_t action_count;
};

/* The counts of one action: a table with a row for each key. */
struct production_table {
	const struct production *production;
	bool histogram;
	struct production_operand keys[PRODUCTION_KEYS];
	const char *names[PRODUCTION_KEYS];
	bool addresses[PRODUCTION_KEYS];	/* print them in hexadecimal */
	size_t key_count;
};

struct production_symbol {
	char *function;
	char *file;		/* NULL: the command's program */
	const struct production *production;
	size_t column;		/* in its pattern, from 0 */
};

struct productions {
	struct production all[PRODUCTIONS_MAX];
	size_t count;
	char counters[PRODUCTION_COUNTERS][PRODUCTION_NAME];
	size_t counter_count;
	struct production_symbol symbols[PRODUCTION_SYMBOLS];
	size_t symbol_count;
	struct production_table tables[PRODUCTION_TABLES];
	size_t table_count;
	unsigned int kinds;	/* bits of the events of all productions */
	bool bursts;		/* there is an action of bursts */
	bool paces;		/* the same, of distances */
	bool snapshots;
	bool stops;
};

/* A mistake in a text, and its place. */
struct production_error {
	const char *option;	/* "--when" or "--then" */
	const char *text;
	size_t column;		/* from 0 */
	char message[768];
};

/* Names of the kinds of events. */
extern const char *const production_kinds[HWPROF_PROGRAM_KINDS];

/*
 * Adds the production of the texts, which must live as long as @productions.
 * All are parsed by productions_parse(), because patterns may name counters
 * that later productions change. Both return false if there are too many, or
 * with @error filled if something is wrong.
 */
bool productions_add(struct productions *productions, const char *when,
		     const char *then);
bool productions_parse(struct productions *productions,
		       struct production_error *error);
void productions_free(struct productions *productions);

/* The state that programs and hwprof share: the value of an array of one. */
struct production_state {
	int64_t left;		/* branches that the burst has yet */
	uint64_t stopped;	/* an action has said stop */
	uint64_t snapshots;	/* how often an action has asked for one */
	uint64_t lost;		/* counts that found no room in a table */
	uint64_t counters[PRODUCTION_COUNTERS];
	uint64_t symbols[PRODUCTION_SYMBOLS];	/* addresses; 0: not known */
};

/* The content of a table for each key, on each CPU. */
struct production_count {
	uint64_t count;
	uint64_t weight;	/* sum of the events' weights */
};

/* Maps of the programs. */
struct production_maps {
	int state;		/* an array of one struct production_state */
	int wakes;		/* a ring buffer: something is to be done */
	int tables[PRODUCTION_TABLES];	/* hashes of struct
					 * production_count */
};

/* A burst without an end. */
#define PRODUCTION_BURST_ON	((uint64_t)INT64_MAX)

enum {
	PRODUCTION_CODE_MAX	= 8192,	/* instructions */
};

/* How productions are watched for. */
struct production_mode {
	/*
	 * The session of the profile calls the programs, and bursts are its
	 * own. Otherwise another session calls them, and the profile's sessions
	 * have gates, which drop what comes outside of bursts.
	 */
	bool own_bursts;
};

struct bpf_insn;

/*
 * Both write a program to @code, which has PRODUCTION_CODE_MAX instructions,
 * and return their number; 0: it is too long.
 *
 * production_code() writes the program of the events @kind,
 * production_gate() that of a gate.
 */
size_t production_code(const struct productions *productions,
		       const struct production_maps *maps,
		       struct production_mode mode,
		       enum hwprof_program_kind kind, struct bpf_insn *code);
size_t production_gate(const struct productions *productions,
		       const struct production_maps *maps,
		       struct bpf_insn *code);

/* Returns the kinds that need a program. */
unsigned int production_programs(const struct productions *productions,
				 struct production_mode mode);

#endif /* HWPROF_PRODUCTION_H */
