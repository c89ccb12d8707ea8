/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The classes of opcodes, for those that access memory. An instruction has one
 * class, also if it accesses several operands. With the prefix lock it is
 * atomic, whatever its opcode.
 */
#ifndef HWPROF_ACCESS_CLASS_H
#define HWPROF_ACCESS_CLASS_H

#include "access_opcodes.h"
#include "../../../uapi/linux/hwprof.h"

enum {
	MOV	= HWPROF_CLASS_MOVE,
	MATH	= HWPROF_CLASS_ARITHMETIC,
	STRING	= HWPROF_CLASS_STRING,
	STACK	= HWPROF_CLASS_STACK,
	BRANCH	= HWPROF_CLASS_BRANCH,
	VECTOR	= HWPROF_CLASS_VECTOR,
	ATOMIC	= HWPROF_CLASS_ATOMIC,
	/* Other fields of the instruction say what it is. */
	CLASS_OF_GROUP5	= HWPROF_CLASSES,
	CLASS_OF_MOVBE,			/* movbe, or with f2 crc32 */
};

static const u8 access_classes[4][256] = {
	[ONE_BYTE] = {
		[0x00 ... 0x4f]	= MATH,
		[0x50 ... 0x62]	= STACK,	/* push, pop */
		[0x63]		= MOV,		/* movsxd */
		[0x64 ... 0x67]	= MATH,
		[0x68]		= STACK,
		[0x69]		= MATH,		/* imul */
		[0x6a]		= STACK,
		[0x6b]		= MATH,
		[0x6c ... 0x85]	= MATH,		/* and test */
		[0x86 ... 0x87]	= ATOMIC,	/* xchg locks by itself */
		[0x88 ... 0x8e]	= MOV,
		[0x8f]		= STACK,	/* pop */
		[0x90 ... 0x9b]	= MATH,
		[0x9c ... 0x9d]	= STACK,	/* pushf, popf */
		[0x9e ... 0x9f]	= MATH,
		[0xa0 ... 0xa3]	= MOV,
		[0xa4 ... 0xa7]	= STRING,		/* movs, cmps */
		[0xa8 ... 0xa9]	= MATH,
		[0xaa ... 0xaf]	= STRING,		/* stos, lods, scas */
		[0xb0 ... 0xc1]	= MATH,		/* and shifts */
		[0xc2 ... 0xc3]	= BRANCH,	/* ret */
		[0xc6 ... 0xc7]	= MOV,
		[0xc8 ... 0xc9]	= STACK,	/* leave */
		[0xca ... 0xd7]	= MATH,		/* shifts */
		[0xd8 ... 0xdf]	= VECTOR,	/* x87 */
		[0xe8 ... 0xe9]	= BRANCH,	/* call */
		[0xf6 ... 0xfe]	= MATH,
		[0xff]		= CLASS_OF_GROUP5,
	},
	[MAP_0F] = {
		[0x10 ... 0x3f]	= VECTOR,
		[0x40 ... 0x4f]	= MOV,		/* cmov */
		[0x50 ... 0x7f]	= VECTOR,
		[0x80 ... 0x8f]	= BRANCH,
		[0x90 ... 0x9f]	= MOV,		/* set */
		[0xa0 ... 0xa1]	= STACK,	/* push fs, pop fs */
		[0xa2 ... 0xa7]	= MATH,		/* bt, shld */
		[0xa8 ... 0xa9]	= STACK,
		[0xaa ... 0xad]	= MATH,		/* bts, shrd */
		[0xae]		= VECTOR,	/* ldmxcsr, stmxcsr */
		[0xaf ... 0xb5]	= MATH,		/* imul, cmpxchg */
		[0xb6 ... 0xb7]	= MOV,		/* movzx */
		[0xb8 ... 0xbd]	= MATH,		/* popcnt, bts, bsf */
		[0xbe ... 0xbf]	= MOV,		/* movsx */
		[0xc0 ... 0xc1]	= MATH,		/* xadd */
		[0xc2]		= VECTOR,
		[0xc3]		= MOV,		/* movnti */
		[0xc4 ... 0xc6]	= VECTOR,
		[0xc7 ... 0xcf]	= MATH,		/* cmpxchg8b */
		[0xd0 ... 0xff]	= VECTOR,
	},
	[MAP_0F38] = {
		[0x00 ... 0xef]	= VECTOR,
		[0xf0 ... 0xf1]	= CLASS_OF_MOVBE,
		[0xf2 ... 0xff]	= MATH,		/* andn, bextr, adx, mulx */
	},
	[MAP_0F3A] = {
		[0x00 ... 0xef]	= VECTOR,
		[0xf0 ... 0xff]	= MATH,		/* rorx */
	},
};

/* ff: inc, dec, call, jmp and push */
static const u8 group5_classes[8] = {
	MATH, MATH, BRANCH, BRANCH, BRANCH, BRANCH, STACK, MATH,
};

#endif /* HWPROF_ACCESS_CLASS_H */
