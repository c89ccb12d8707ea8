/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which memory an x86 instruction loads from and stores to: its operands, the
 * implicit ones too, by the registers that their addresses are made of. lea,
 * nop and prefetch access nothing.
 */
#ifndef HWPROF_ACCESS_DECODE_H
#define HWPROF_ACCESS_DECODE_H

#include "engine/types.h"

enum access_register {
	ACCESS_RAX, ACCESS_RCX, ACCESS_RDX, ACCESS_RBX,
	ACCESS_RSP, ACCESS_RBP, ACCESS_RSI, ACCESS_RDI,
	ACCESS_R8,		/* and so on */
	ACCESS_RIP = 16,	/* of the next instruction */
	ACCESS_NO_REGISTER,
};

enum access_segment {
	ACCESS_FLAT,		/* its base is 0 */
	ACCESS_FS,
	ACCESS_GS,
};

enum {
	ACCESS_LOADS	= 1 << 0,
	ACCESS_STORES	= 1 << 1,	/* behind the load, if it does both */
};

struct access_operand {
	u8 does;		/* ACCESS_LOADS, ACCESS_STORES, or both */
	u8 width;		/* bytes */
	u8 segment;		/* enum access_segment */
	u8 base, index;		/* enum access_register */
	u8 scale;		/* 1, 2, 4, 8 */
	bool narrow;		/* the address is cut to 32 bits */
	s64 displacement;
};

enum access_state {
	ACCESS_DECODED,
	ACCESS_SHORT,		/* more bytes are needed */
	ACCESS_UNKNOWN,		/* what it accesses is not known here */
};

struct access_insn {
	u8 state;		/* enum access_state; the rest: of ACCESS_DECODED */
	u8 length;		/* bytes */
	u8 target;		/* what it loads is in here afterwards, and
				 * `width` bytes of it as they were */
	bool repeats;		/* as often as the count register says: 0, too */
	u8 count;		/* operands: 0 to 2, those that load first */
	struct access_operand operands[2];
};

/*
 * @bytes: what is in memory at the instruction, @count of them, of which 15 are
 * always enough; @is64: the code segment's mode. Not known are: EVEX, XOP, 3DNow,
 * accesses under a mask, gathers, saved states (xsave), far branches, ports,
 * bits at a register's distance (bt), xlat, enter, pusha, MPX, and what only the
 * kernel may do.
 */
void access_decode(struct access_insn *insn, const u8 *bytes,
		   unsigned int count, bool is64);

#endif /* HWPROF_ACCESS_DECODE_H */
