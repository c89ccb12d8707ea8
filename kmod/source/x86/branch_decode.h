/* SPDX-License-Identifier: GPL-2.0-only */
/* Which branch an x86 instruction is. Nothing else about it is decoded. */
#ifndef HWPROF_BRANCH_DECODE_H
#define HWPROF_BRANCH_DECODE_H

#include "engine/types.h"

enum insn_kind {
	INSN_OTHER,
	INSN_COND,
	INSN_JUMP,
	INSN_INDIRECT,
	INSN_CALL,
	INSN_RET,
	INSN_SYSCALL,	/* syscall, sysenter, int 0x80 */
	INSN_PUSHF,
	INSN_POPF,
	INSN_STRING,	/* may repeat itself */
	INSN_UNKNOWN,	/* more bytes are needed */
};

struct insn {
	u8 kind;	/* enum insn_kind */
	u8 length;	/* bytes; of branches with a direct target, else 0 */
	u8 operand16;	/* has the prefix 66 */
};

/* @bytes: what is in memory at the instruction, @count of them. */
struct insn branch_decode(const u8 *bytes, unsigned int count, bool is64);

#endif /* HWPROF_BRANCH_DECODE_H */
