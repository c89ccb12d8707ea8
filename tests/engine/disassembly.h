/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions by capstone: all of a program or library, and random ones. */
#ifndef TESTS_ENGINE_DISASSEMBLY_H
#define TESTS_ENGINE_DISASSEMBLY_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LENGTH_MAX = 15 };

/*
 * One instruction, and the bytes that it and those behind it are in: all of
 * the section's.
 */
typedef void (*disassembly_fn)(const cs_insn *insn, const uint8_t *bytes,
			       size_t count, bool is64);

/* cmocka's set-up and tear-down of a group */
int disassembly_open(void **state);
int disassembly_close(void **state);

/* Of all sections with code in the ELF file. False: there is no such file. */
bool disassembly_program(const char *path, disassembly_fn fn);

/* Bytes that no instruction begins with. */
typedef void (*disassembly_none_fn)(const uint8_t *bytes, size_t count,
				    bool is64);

/*
 * Half of the bytes are of @telling, those that decide much. @none, or NULL: of
 * those that are no instruction.
 */
void disassembly_random(uint64_t seed, unsigned int rounds,
			const uint8_t *telling, size_t telling_count,
			disassembly_fn fn, disassembly_none_fn none);

/* Its name, without prefixes. */
const char *disassembly_name(const cs_insn *insn);

/* The name, operands and bytes of an instruction, as an error. */
void disassembly_complain(const cs_insn *insn, bool is64);

#endif /* TESTS_ENGINE_DISASSEMBLY_H */
