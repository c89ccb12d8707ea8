/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions of objects, by capstone: of x86 (64 and 32 bits) and arm64, as far
 * as it matters where control goes.
 */
#ifndef HWPROF_DECODE_H
#define HWPROF_DECODE_H

#include "objects.h"

/* How an instruction ends a block of code. */
enum ending {
	ENDING_NONE,		/* it does not */
	ENDING_COND,		/* a jump that may be taken */
	ENDING_JUMP,
	ENDING_INDIRECT,	/* a jump to what is not in the instruction */
	ENDING_CALL,
	ENDING_RETURN,
	ENDING_STOP,		/* a trap: nothing goes on behind it */
};

/* May what comes next in memory be what runs next? A call is stepped over. */
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
	char mnemonic[MNEMONIC_SIZE];	/* with its prefixes, "bnd jmp" */
};

struct decoder;
struct decode;

struct decoder *decoder_new(void);	/* NULL: out of memory */
void decoder_free(struct decoder *decoder);

/* Code in the making: what is not decoded yet. */
struct code {
	struct decode *decode;		/* of its machine */
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/*
 * Makes @code what @object has from @address on. NULL, or what cannot be decoded:
 * "code in no file".
 */
const char *code_begin(struct code *code, struct decoder *decoder,
		       struct object *object, uint64_t address);

/* The same of bytes of a machine, EM_X86_64, EM_386 or EM_AARCH64. */
const char *code_of_bytes(struct code *code, struct decoder *decoder,
			  unsigned int machine, const uint8_t *bytes,
			  size_t size, uint64_t address);

/* False: there is no more, or what comes next is unknown_instruction. */
bool code_next(struct code *code, struct instruction *instruction);

extern const char unknown_instruction[];	/* a sentence's part, as above */

#endif /* HWPROF_DECODE_H */
