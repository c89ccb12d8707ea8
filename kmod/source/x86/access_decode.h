/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory that an x86 instruction loads from and stores to: its operands,
 * with implicit ones, and the registers that make up their addresses. lea, nop
 * and prefetch access nothing.
 */
#ifndef HWPROF_ACCESS_DECODE_H
#define HWPROF_ACCESS_DECODE_H

#include "engine/types.h"

enum access_register {
	ACCESS_RAX, ACCESS_RCX, ACCESS_RDX, ACCESS_RBX,
	ACCESS_RSP, ACCESS_RBP, ACCESS_RSI, ACCESS_RDI,
	ACCESS_R8,		/* r9 to r15 follow */
	ACCESS_RIP = 16,	/* address of the next instruction */
	ACCESS_NO_REGISTER,
};

enum access_segment {
	ACCESS_FLAT,		/* base 0 */
	ACCESS_FS,
	ACCESS_GS,
};

enum {
	ACCESS_LOADS	= 1 << 0,
	ACCESS_STORES	= 1 << 1,	/* after the load, if both */
};

struct access_operand {
	u8 does;		/* ACCESS_LOADS, ACCESS_STORES, or both */
	u8 width;		/* in bytes */
	u8 segment;		/* enum access_segment */
	u8 base, index;		/* enum access_register */
	u8 scale;		/* 1, 2, 4, 8 */
	bool narrow;		/* the address is cut to 32 bits */
	s64 displacement;
};

enum access_state {
	ACCESS_DECODED,
	ACCESS_SHORT,		/* more bytes are needed */
	ACCESS_UNKNOWN,		/* its accesses are not known */
};

struct access_insn {
	u8 state;		/* the rest is valid if ACCESS_DECODED */
	u8 length;		/* in bytes */
	/*
	 * Register that has what was loaded afterwards, in its low @width
	 * bytes.
	 */
	u8 target;
	u8 class;		/* enum hwprof_opcode_class */
	/* Repeated as often as the count register says, which may be 0. */
	bool repeats;
	u8 count;		/* operands: 0 to 2, loads first */
	struct access_operand operands[2];
};

/**
 * access_decode() - Decode the memory operands of an instruction
 * @insn: the result.
 * @bytes: what is in memory at the instruction.
 * @count: number of bytes; 15 are always enough.
 * @is64: the code segment is a 64-bit one.
 *
 * The decoder does not know EVEX, XOP, 3DNow, accesses under a mask, gathers,
 * saved states (xsave), far branches, ports, bits at a register's distance
 * (bt), xlat, enter, pusha, MPX, and what only the kernel may do.
 */
void access_decode(struct access_insn *insn, const u8 *bytes,
		   unsigned int count, bool is64);

#endif /* HWPROF_ACCESS_DECODE_H */
