/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes instructions of objects with capstone, as far as control flow needs
 * it: x86 (64 and 32 bits) and arm64.
 */
#ifndef HWPROF_DECODE_H
#define HWPROF_DECODE_H

#include "objects.h"

/* How an instruction ends a block of code. */
enum ending {
	ENDING_NONE,		/* it does not */
	ENDING_COND,		/* a jump that may be taken */
	ENDING_JUMP,
	ENDING_INDIRECT,	/* a jump whose target is not in the
				 * instruction */
	ENDING_CALL,
	ENDING_RETURN,
	ENDING_STOP,		/* a trap, which does not continue */
};

/*
 * Returns true if the next instruction in memory may run next. Calls are
 * stepped over.
 */
static inline bool ending_goes_on(enum ending ending)
{
	return ending == ENDING_NONE || ending == ENDING_COND ||
	       ending == ENDING_CALL;
}

enum {
	MNEMONIC_SIZE = 32,
};

struct instruction {
	uint64_t address;	/* in the object */
	uint64_t target;	/* of a direct jump or call; 0: none */
	uint16_t length;	/* bytes */
	uint8_t ending;		/* enum ending */
	char mnemonic[MNEMONIC_SIZE];	/* with prefixes, such as "bnd jmp" */
};

struct decoder;
struct decode;

struct decoder *decoder_new(void);	/* returns NULL if out of memory */
void decoder_free(struct decoder *decoder);

/* Code that is being decoded: the rest of it. */
struct code {
	struct decode *decode;		/* decoder for its machine */
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/*
 * Prepares @code to decode @object from @address on. Returns NULL, or why it
 * cannot, such as "code in no file".
 */
const char *code_begin(struct code *code, struct decoder *decoder,
		       struct object *object, uint64_t address);

/*
 * Prepares @code to decode bytes of @machine (EM_X86_64, EM_386 or EM_AARCH64).
 * Returns the same.
 */
const char *code_of_bytes(struct code *code, struct decoder *decoder,
			  unsigned int machine, const uint8_t *bytes,
			  size_t size, uint64_t address);

/*
 * Decodes the next instruction. Returns false at the end of the code, or where
 * an instruction is unknown: unknown_instruction is the reason then.
 */
bool code_next(struct code *code, struct instruction *instruction);

/*
 * Returns the operands of the instruction that code_next() decoded last, as
 * text. The string is valid until the next one is decoded.
 */
const char *code_operands(const struct code *code);

extern const char unknown_instruction[];	/* part of a sentence */

#endif /* HWPROF_DECODE_H */
