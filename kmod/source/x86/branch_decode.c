// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Which branch an x86 instruction is (Intel SDM volume 2, opcode maps). The
 * instruction was executed, so it is valid, and its target is known. Only the
 * opcode matters, and the length of conditional branches. Tables are used
 * because kernels compile switches to chains of comparisons.
 */
#include "branch_decode.h"

/* Other meanings of a first byte. */
enum {
	PREFIX = INSN_SS + 1,
	OPERAND_SIZE,		/* a prefix, too */
	REX,			/* a prefix in 64-bit code only */
	POP_SS,			/* 32-bit code only */
	MOV_TO_SEGMENT,
	GROUP5,			/* ModRM says what it is */
	INTERRUPT,
	TWO_BYTES,
};

static const u8 first_byte[256] = {
	[0x0f]		= TWO_BYTES,
	[0x17]		= POP_SS,
	[0x26]		= PREFIX,	/* segments */
	[0x2e]		= PREFIX,
	[0x36]		= PREFIX,
	[0x3e]		= PREFIX,
	[0x40 ... 0x4f]	= REX,
	[0x64]		= PREFIX,
	[0x65]		= PREFIX,
	[0x66]		= OPERAND_SIZE,
	[0x67]		= PREFIX,
	[0x70 ... 0x7f]	= INSN_COND,
	[0x8e]		= MOV_TO_SEGMENT,
	[0x9a]		= INSN_CALL,
	[0x9c]		= INSN_PUSHF,
	[0x9d]		= INSN_POPF,
	[0xc2]		= INSN_RET,
	[0xc3]		= INSN_RET,
	[0xca]		= INSN_RET,
	[0xcb]		= INSN_RET,
	[0xcd]		= INTERRUPT,
	[0xcf]		= INSN_IRET,
	[0xe0 ... 0xe3]	= INSN_COND,	/* loop, jcxz */
	[0xe8]		= INSN_CALL,
	[0xe9]		= INSN_JUMP,
	[0xea]		= INSN_INDIRECT,	/* far */
	[0xeb]		= INSN_JUMP,
	[0xf0]		= PREFIX,	/* lock, rep, bnd */
	[0xf2]		= PREFIX,
	[0xf3]		= PREFIX,
	[0xff]		= GROUP5,
};

enum { REX_B = 1, REX_X = 2, REX_R = 4 };	/* fourth bit of a register */

/* Indexed by the register field of ModRM. */
static const u8 group5[8] = {
	[2] = INSN_CALL, [3] = INSN_CALL,
	[4] = INSN_INDIRECT, [5] = INSN_INDIRECT,
};

static struct insn insn_make(u8 kind, unsigned int length)
{
	return (struct insn){ .kind = kind, .length = length };
}

/*
 * Decode opcodes that a second byte decides on. @at is where the first one is.
 */
static struct insn branch_second_byte(const u8 *bytes, unsigned int at,
				      u8 first, bool narrow)
{
	u8 byte = bytes[at + 1];

	if (first == GROUP5)
		return insn_make(group5[byte >> 3 & 7], 0);
	if (first == TWO_BYTES && byte >= 0x80 && byte <= 0x8f)
		return insn_make(INSN_COND, at + 2 + (narrow ? 2 : 4));
	if (first == TWO_BYTES ? byte == 0x05 || byte == 0x34 :
				 first == INTERRUPT && byte == 0x80)
		return insn_make(INSN_SYSCALL, at + 2);
	/* mov to SS from a register; from memory it is not used. */
	if (first == MOV_TO_SEGMENT && byte >= 0xd0 && byte <= 0xd7)
		return insn_make(INSN_SS, at + 2);
	return insn_make(INSN_OTHER, 0);
}

/*
 * Return true for prefixes that contain the bits of REX: XOP (or pop), VEX,
 * EVEX, REX2.
 */
static bool branch_has_rex_inside(u8 byte)
{
	return byte == 0x8f || byte == 0xc4 || byte == 0xc5 || byte == 0x62 ||
	       byte == 0xd5;
}

/* Return true for r11 without its fourth bit. */
static bool branch_is_r11(u8 bits)
{
	return (bits & 7) == 3;
}

bool branch_may_name_r11(const u8 *bytes, unsigned int count)
{
	const u8 *end = bytes + count;
	u8 rex = 0;

	for (; bytes != end && first_byte[*bytes] >= PREFIX &&
	       first_byte[*bytes] <= REX; bytes++)
		if (first_byte[*bytes] == REX)
			rex |= *bytes;
	if (bytes != end && branch_has_rex_inside(*bytes))
		return true;
	if (!(rex & (REX_R | REX_X | REX_B)))
		return bytes == end;
	if (bytes != end && *bytes == 0x0f &&
	    (++bytes != end && (*bytes == 0x38 || *bytes == 0x3a)))
		bytes++;
	if (end - bytes < 3)
		return true;
	/*
	 * Assume both ModRM and SIB behind the opcode, as either may be there.
	 */
	return (rex & REX_B &&
		(branch_is_r11(bytes[0]) || branch_is_r11(bytes[1]) ||
		 branch_is_r11(bytes[2]))) ||
	       (rex & REX_X && branch_is_r11(bytes[2] >> 3)) ||
	       (rex & REX_R && branch_is_r11(bytes[1] >> 3));
}

struct insn branch_decode(const u8 *bytes, unsigned int count, bool is64)
{
	bool operand_size = false;
	unsigned int at;

	for (at = 0; at < count; at++) {
		u8 first = first_byte[bytes[at]];

		if (likely(first < PREFIX)) {
			if (first == INSN_COND)
				return insn_make(INSN_COND, at + 2);
			return insn_make(first, 0);
		}
		if (first == OPERAND_SIZE) {
			operand_size = true;
		} else if (first == REX) {
			if (!is64)
				return insn_make(INSN_OTHER, 0);
		} else if (first == POP_SS) {
			if (is64)
				return insn_make(INSN_OTHER, 0);
			return insn_make(INSN_SS, at + 1);
		} else if (first != PREFIX) {
			if (at + 1 == count)
				break;
			/*
			 * 66 0f 8x: a 16-bit displacement, but not in 64-bit
			 * code
			 */
			return branch_second_byte(bytes, at, first,
						  operand_size && !is64);
		}
	}
	return insn_make(INSN_UNKNOWN, 0);
}
