/* SPDX-License-Identifier: GPL-2.0-only */
/* Disassembles all of a program or library, and random bytes, with capstone. */
#ifndef TESTS_ENGINE_DISASSEMBLY_H
#define TESTS_ENGINE_DISASSEMBLY_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LENGTH_MAX = 15 };

/* Receives an instruction, and the rest of its section from there on. */
typedef void (*disassembly_fn)(const cs_insn *insn, const uint8_t *bytes,
			       size_t count, bool is64);

/* Set-up and tear-down of a group of cmocka. */
int disassembly_open(void **state);
int disassembly_close(void **state);

/*
 * Disassembles all sections with code. Returns false if there is no such file.
 */
bool disassembly_program(const char *path, disassembly_fn fn);

/* Receives bytes with which no instruction begins. */
typedef void (*disassembly_none_fn)(const uint8_t *bytes, size_t count,
				    bool is64);

/*
 * Disassembles random bytes. Half of them are from @telling, which decide the
 * most. @none receives those that are no instruction; it may be NULL.
 */
void disassembly_random(uint64_t seed, unsigned int rounds,
			const uint8_t *telling, size_t telling_count,
			disassembly_fn fn, disassembly_none_fn none);

/* Returns the name of an instruction without prefixes. */
const char *disassembly_name(const cs_insn *insn);

/* Prints name, operands and bytes of an instruction as an error. */
void disassembly_complain(const cs_insn *insn, bool is64);

#endif /* TESTS_ENGINE_DISASSEMBLY_H */
