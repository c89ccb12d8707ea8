/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random programs, laid out like machine code: procedures of nested loops of
 * all shapes, calls, switches, gotos, tail calls, early returns and longjmps.
 */
#ifndef TESTS_ENGINE_PROGRAM_H
#define TESTS_ENGINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_PLAIN,
	INSN_COND,
	INSN_JUMP,
	INSN_INDIRECT,		/* to one of its targets */
	INSN_CALL,		/* of one of its targets */
	INSN_RET,
	INSN_SYSCALL,
	INSN_SETJMP,
	INSN_LONGJMP,
	INSN_SIGRETURN,
};

enum { INSN_TARGETS = 4 };

struct insn {
	uint64_t address;
	enum insn_kind kind;
	uint8_t size;
	uint8_t chance;		/* COND, LONGJMP: taken this often in 256 */
	uint8_t targets;
	uint32_t target[INSN_TARGETS];	/* instructions, by number */
};

struct program_style {
	unsigned int procedures;
	unsigned int depth;	/* of nested statements */
	bool recursion;		/* calls may go to any procedure */
	bool tail_calls;
	bool gotos;
	bool longjmps;
	bool soup;		/* without any structure */
};

struct program {
	struct insn *insns;
	size_t count;
	uint32_t *procedures;	/* first instructions; [0] calls [1] forever */
	size_t procedure_count;
	uint32_t restorer;	/* where signal handlers return to */
};

struct program *program_new(uint64_t seed, const struct program_style *style);
void program_free(struct program *program);

#endif /* TESTS_ENGINE_PROGRAM_H */
