// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which branch an x86 instruction is (Intel SDM volume 2, opcode maps). The
 * instruction has been executed, so it is a valid one, and where it led is
 * known: only the opcode matters, and the length of conditional branches.
 */
#include "branch_decode.h"

static bool is_prefix(u8 byte, bool is64)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:	/* segments */
	case 0x64: case 0x65:
	case 0x66: case 0x67:				/* sizes */
	case 0xf0: case 0xf2: case 0xf3:		/* lock, rep, bnd */
		return true;
	default:
		return is64 && (byte & 0xf0) == 0x40;	/* rex */
	}
}

static bool is_string(u8 opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) ||
	       (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf);
}

/* Group 5, opcode ff: the register field of ModRM says which it is. */
static u8 group5(u8 modrm)
{
	switch (modrm >> 3 & 7) {
	case 2: case 3:
		return INSN_CALL;
	case 4: case 5:
		return INSN_INDIRECT;
	default:
		return INSN_OTHER;
	}
}

static u8 two_byte(u8 opcode)
{
	if (opcode >= 0x80 && opcode <= 0x8f)
		return INSN_COND;
	if (opcode == 0x05 || opcode == 0x34)
		return INSN_SYSCALL;
	return INSN_OTHER;
}

static u8 one_byte(u8 opcode)
{
	if (opcode >= 0x70 && opcode <= 0x7f)
		return INSN_COND;
	if (is_string(opcode))
		return INSN_STRING;
	switch (opcode) {
	case 0xe0: case 0xe1: case 0xe2: case 0xe3:	/* loop, jcxz */
		return INSN_COND;
	case 0xe9: case 0xeb:
		return INSN_JUMP;
	case 0xea:					/* far */
		return INSN_INDIRECT;
	case 0xe8: case 0x9a:
		return INSN_CALL;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return INSN_RET;
	case 0x9c:
		return INSN_PUSHF;
	case 0x9d:
		return INSN_POPF;
	default:
		return INSN_OTHER;
	}
}

struct insn branch_decode(const u8 *bytes, unsigned int count, bool is64)
{
	struct insn insn = { .kind = INSN_UNKNOWN };
	unsigned int i = 0;
	u8 opcode;

	while (i < count && is_prefix(bytes[i], is64))
		insn.operand16 |= bytes[i++] == 0x66;
	if (i + 1 > count)
		return insn;
	opcode = bytes[i++];
	if (opcode != 0x0f && opcode != 0xff && opcode != 0xcd) {
		insn.kind = one_byte(opcode);
		if (insn.kind == INSN_COND)
			insn.length = i + 1;
		return insn;
	}
	if (i + 1 > count)
		return insn;
	if (opcode == 0xff) {
		insn.kind = group5(bytes[i]);
	} else if (opcode == 0xcd) {
		insn.kind = bytes[i] == 0x80 ? INSN_SYSCALL : INSN_OTHER;
	} else {
		insn.kind = two_byte(bytes[i]);
		/* 66 0f 8x: 16-bit displacement, outside 64-bit mode */
		if (insn.kind == INSN_COND)
			insn.length = i + 1 + (insn.operand16 && !is64 ? 2 : 4);
	}
	return insn;
}
