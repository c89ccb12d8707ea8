/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Which branch an x86 instruction is. Nothing else is decoded. */
#ifndef HWPROF_BRANCH_DECODE_H
#define HWPROF_BRANCH_DECODE_H

#include "engine/stream.h"

enum { INSN_MAX = 15 };		/* most bytes of an instruction */

enum insn_kind {
	INSN_OTHER,
	INSN_COND,
	INSN_JUMP,
	INSN_INDIRECT,
	INSN_CALL,
	INSN_RET,
	INSN_UNKNOWN,	/* more bytes are needed */

	/* Instructions that deal with the trap flag. */
	INSN_SPECIAL,
	INSN_IRET = INSN_SPECIAL,
	INSN_PUSHF,
	INSN_POPF,
	INSN_SYSCALL,	/* syscall, sysenter, int $0x80 */
	INSN_SS,	/* loads SS: a trap comes one instruction later */
};

struct insn {
	u8 kind;	/* enum insn_kind */
	/* In bytes, of INSN_COND, INSN_SYSCALL and INSN_SS; else 0. */
	u8 length;
};

/**
 * branch_decode() - Decode an instruction as a branch
 * @bytes: what is in memory at the instruction.
 * @count: number of bytes; 8 are nearly always enough.
 * @is64: the code segment is a 64-bit one.
 *
 * Return: the instruction's kind, and its length where that is needed.
 */
struct insn branch_decode(const u8 *bytes, unsigned int count, bool is64);

/**
 * branch_may_name_r11() - Ask whether a 64-bit instruction may name r11
 * @bytes: the instruction.
 * @count: number of bytes.
 *
 * Return: false if it certainly does not. Some instructions for which this is
 *	true do not either. It is false for `syscall`, which writes r11
 *	without naming it.
 */
bool branch_may_name_r11(const u8 *bytes, unsigned int count);

/* Return what an instruction of that kind is in the stream; 0: not a branch. */
static inline enum stream_kind insn_stream_kind(u8 kind)
{
	switch (kind) {
	case INSN_COND:
		return STREAM_COND;
	case INSN_JUMP:
		return STREAM_JUMP;
	case INSN_INDIRECT:
		return STREAM_INDIRECT;
	case INSN_CALL:
		return STREAM_CALL;
	case INSN_RET:
	case INSN_IRET:
		return STREAM_RET;
	default:
		return 0;
	}
}

#endif /* HWPROF_BRANCH_DECODE_H */
