/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Which branch an x86 instruction is. Nothing else about it is decoded. */
#ifndef HWPROF_BRANCH_DECODE_H
#define HWPROF_BRANCH_DECODE_H

#include "engine/stream.h"

enum { INSN_MAX = 15 };		/* bytes of an instruction */

enum insn_kind {
	INSN_OTHER,
	INSN_COND,
	INSN_JUMP,
	INSN_INDIRECT,
	INSN_CALL,
	INSN_RET,
	INSN_UNKNOWN,	/* more bytes are needed */

	/* Those that have to do with the trap flag. */
	INSN_SPECIAL,
	INSN_IRET = INSN_SPECIAL,
	INSN_PUSHF,
	INSN_POPF,
	INSN_SYSCALL,	/* syscall, sysenter, int $0x80 */
	INSN_SS,	/* loads SS: a trap comes one instruction later */
};

struct insn {
	u8 kind;	/* enum insn_kind */
	u8 length;	/* bytes; of INSN_COND, INSN_SYSCALL, INSN_SS, else 0 */
};

/*
 * @bytes: what is in memory at the instruction, @count of them, @is64: the
 * code segment's mode. Eight bytes are nearly always enough.
 */
struct insn branch_decode(const u8 *bytes, unsigned int count, bool is64);

/*
 * Could the instruction of 64-bit code read r11, or write it? Not all that are
 * said to do; `syscall` does, and is not said to.
 */
bool may_name_r11(const u8 *bytes, unsigned int count);

/* What an instruction of that kind is in the stream; 0: no branch. */
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
