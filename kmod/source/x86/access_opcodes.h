/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The opcode maps (Intel SDM volume 2, appendix A) as far as memory is
 * concerned. An entry says what follows the opcode, and what happens to the
 * memory operand if ModRM has one. 0: not known.
 */
#ifndef HWPROF_ACCESS_OPCODES_H
#define HWPROF_ACCESS_OPCODES_H

#include "engine/types.h"

enum map { ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A };

/* Width of the memory operand, in the low bits of an entry. */
enum access_width {
	B = 1,		/* 1 byte */
	W,		/* 2 */
	D,		/* 4 */
	Q,		/* 8 */
	DQ,		/* 16 */
	V,		/* 2, 4 or 8, as the instruction's operands */
	Y,		/* 4, or 8 with REX.W in 64-bit code */
	X,		/* a vector: 16, or 32 with VEX.L */
	XH, XQ, XE,	/* a half, quarter, eighth of a vector */
	XD,		/* 8, or 32 with VEX.L */
	FM,		/* a scalar of FMA: 4, or 8 with VEX.W */
	/* depends on the mandatory prefix: by_prefix[] */
	PX, PI, PI16, PI4, P6F, P70, PSD, P12, P13, P16, P2A, P2C, P2E, P51,
	P5A, P7E, PE6, PF0, PF1,
	WIDTHS,
	WIDTH_MASK = 31,
};

enum access_entry {
	LD	= 1 << 5,	/* loads from the memory operand */
	ST	= 1 << 6,	/* stores to it */
	RW	= LD | ST,	/* does both */
	NONE	= 1 << 7,	/* known; no memory operand */
	M	= 1 << 8,	/* ModRM follows */
	/* an immediate follows: of 1 byte; 2; 2 or 4; 2, 4 or 8 */
	I8	= 1 << 9,
	I16	= 2 << 9,
	IZ	= 3 << 9,
	IV	= 4 << 9,
	IMMEDIATE = 7 << 9,
	NOMEM	= 1 << 12 | M,	/* its memory operand is not known */
	TO	= 1 << 13 | LD,	/* only loads, into ModRM's register */
	GROUP	= 1 << 14 | M,	/* ModRM's register field says what it is */
	ODD	= 1 << 15,	/* see access_decode.c */
};

#define ALU(op)								       \
	[(op)]		= M | RW | B,					       \
	[(op) + 1]	= M | RW | V,					       \
	[(op) + 2]	= M | LD | B,					       \
	[(op) + 3]	= M | LD | V,					       \
	[(op) + 4]	= NONE | I8,					       \
	[(op) + 5]	= NONE | IZ

static const u16 one_byte[256] = {
	ALU(0x00), ALU(0x08), ALU(0x10), ALU(0x18),
	ALU(0x20), ALU(0x28), ALU(0x30),
	[0x27]		= NONE, [0x2f] = NONE, [0x37] = NONE, [0x3f] = NONE,
	[0x38]		= M | LD | B, [0x39] = M | LD | V,	/* cmp */
	[0x3a]		= M | LD | B, [0x3b] = M | LD | V,
	[0x3c]		= NONE | I8, [0x3d] = NONE | IZ,
	[0x40 ... 0x4f]	= NONE,		/* inc, dec; REX */
	[0x50 ... 0x5f]	= ODD,		/* push, pop */
	[0x63]		= ODD | M | TO | D,	/* movsxd */
	[0x68]		= ODD | IZ,	/* push */
	[0x69]		= M | LD | V | IZ,
	[0x6a]		= ODD | I8,
	[0x6b]		= M | LD | V | I8,
	[0x70 ... 0x7f]	= NONE | I8,
	[0x80]		= GROUP | I8 | B, [0x81] = GROUP | IZ | V,
	[0x83]		= GROUP | I8 | V,
	[0x84]		= M | LD | B, [0x85] = M | LD | V,
	[0x86]		= M | RW | B, [0x87] = M | RW | V,
	[0x88]		= M | ST | B, [0x89] = M | ST | V,
	[0x8a]		= M | TO | B, [0x8b] = M | TO | V,
	[0x8c]		= M | ST | W,
	[0x8d]		= M,		/* lea */
	[0x8e]		= M | LD | W,
	[0x8f]		= ODD | M,	/* pop */
	[0x90 ... 0x99]	= NONE,
	[0x9b]		= NONE,
	[0x9c]		= ODD, [0x9d] = ODD,	/* pushf, popf */
	[0x9e]		= NONE, [0x9f] = NONE,
	[0xa0 ... 0xa7]	= ODD,		/* mov to or from an address, movs,
					 * cmps */
	[0xa8]		= NONE | I8, [0xa9] = NONE | IZ,
	[0xaa ... 0xaf]	= ODD,		/* stos, lods, scas */
	[0xb0 ... 0xb7]	= NONE | I8, [0xb8 ... 0xbf] = NONE | IV,
	[0xc0]		= M | RW | B | I8, [0xc1] = M | RW | V | I8,
	[0xc2]		= ODD | I16, [0xc3] = ODD,	/* ret */
	[0xc6]		= GROUP | I8 | B, [0xc7] = GROUP | IZ | V,
	[0xc9]		= ODD,		/* leave */
	[0xcc]		= NONE, [0xcd] = NONE | I8, [0xce] = NONE,
	[0xd0]		= M | RW | B, [0xd1] = M | RW | V,
	[0xd2]		= M | RW | B, [0xd3] = M | RW | V,
	[0xd4]		= NONE | I8, [0xd5] = NONE | I8, [0xd6] = NONE,
	[0xd8 ... 0xdf]	= ODD | M,	/* x87 */
	[0xe0 ... 0xe3]	= NONE | I8,
	[0xe8]		= ODD | IZ,	/* call */
	[0xe9]		= ODD | IZ,	/* jmp */
	[0xeb]		= NONE | I8,
	[0xf1]		= NONE, [0xf4] = NONE, [0xf5] = NONE,
	[0xf6]		= GROUP | B, [0xf7] = GROUP | V,
	[0xf8 ... 0xfd]	= NONE,
	[0xfe]		= GROUP | B, [0xff] = ODD | M,
};

static const u16 map_0f[256] = {
	[0x00]		= NOMEM, [0x01] = NOMEM, [0x02] = NOMEM, [0x03] = NOMEM,
	[0x05 ... 0x09]	= NONE, [0x0b] = NONE,
	[0x0d]		= M,		/* prefetchw */
	[0x10]		= M | LD | PSD, [0x11] = M | ST | PSD,
	[0x12]		= M | LD | P12, [0x13] = M | ST | P13,
	[0x14]		= M | LD | PX, [0x15] = M | LD | PX,
	[0x16]		= M | LD | P16, [0x17] = M | ST | P13,
	[0x18]		= M, [0x19] = M,	/* prefetch, nop */
	[0x1a]		= NOMEM, [0x1b] = NOMEM,
	[0x1c ... 0x1f]	= M,
	[0x28]		= M | LD | PX, [0x29] = M | ST | PX,
	[0x2a]		= M | LD | P2A, [0x2b] = M | ST | PSD,
	[0x2c]		= M | LD | P2C, [0x2d] = M | LD | P2C,
	[0x2e]		= M | LD | P2E, [0x2f] = M | LD | P2E,
	[0x30 ... 0x35]	= NONE,
	[0x40 ... 0x4f]	= M | LD | V,	/* cmov, whether it moves or not */
	[0x50]		= M, [0x51] = M | LD | PSD,
	[0x52]		= M | LD | P51, [0x53] = M | LD | P51,
	[0x54 ... 0x57]	= M | LD | PX,
	[0x58]		= M | LD | PSD, [0x59] = M | LD | PSD,
	[0x5a]		= M | LD | P5A, [0x5b] = M | LD | X,
	[0x5c ... 0x5f]	= M | LD | PSD,
	[0x60 ... 0x62]	= M | LD | PI4,
	[0x63 ... 0x6b]	= M | LD | PI,
	[0x6c]		= M | LD | PX, [0x6d] = M | LD | PX,
	[0x6e]		= M | LD | Y, [0x6f] = M | LD | P6F,
	[0x70]		= M | LD | P70 | I8,
	[0x71 ... 0x73]	= NOMEM | I8,	/* registers only */
	[0x74 ... 0x76]	= M | LD | PI,
	[0x77]		= NONE,
	[0x7c]		= M | LD | X, [0x7d] = M | LD | X,
	[0x7e]		= ODD | M | P7E, [0x7f] = M | ST | P6F,
	[0x80 ... 0x8f]	= ODD | IZ,
	[0x90 ... 0x9f]	= M | ST | B,
	[0xa0]		= ODD, [0xa1] = ODD,	/* push, pop */
	[0xa2]		= NONE,
	[0xa3]		= NOMEM,	/* bt */
	[0xa4]		= M | RW | V | I8, [0xa5] = M | RW | V,
	[0xa8]		= ODD, [0xa9] = ODD,
	[0xab]		= NOMEM,
	[0xac]		= M | RW | V | I8, [0xad] = M | RW | V,
	[0xae]		= ODD | M,
	[0xaf]		= M | LD | V,
	[0xb0]		= M | RW | B, [0xb1] = M | RW | V,
	[0xb3]		= NOMEM,
	[0xb6]		= M | TO | B, [0xb7] = M | TO | W,
	[0xb8]		= M | LD | V,
	[0xba]		= GROUP | I8 | V,
	[0xbb]		= NOMEM,
	[0xbc]		= M | LD | V, [0xbd] = M | LD | V,
	[0xbe]		= M | TO | B, [0xbf] = M | TO | W,
	[0xc0]		= M | RW | B, [0xc1] = M | RW | V,
	[0xc2]		= M | LD | PSD | I8,
	[0xc3]		= M | ST | Y,
	[0xc4]		= M | LD | W | I8, [0xc5] = M | I8,
	[0xc6]		= M | LD | PX | I8,
	[0xc7]		= ODD | M,
	[0xc8 ... 0xcf]	= NONE,
	[0xd0]		= M | LD | X,
	[0xd1 ... 0xd3]	= M | LD | PI16,
	[0xd4]		= M | LD | PI, [0xd5] = M | LD | PI,
	[0xd6]		= M | ST | Q, [0xd7] = M,
	[0xd8 ... 0xe0]	= M | LD | PI,
	[0xe1]		= M | LD | PI16, [0xe2] = M | LD | PI16,
	[0xe3 ... 0xe5]	= M | LD | PI,
	[0xe6]		= M | LD | PE6,
	[0xe7]		= M | ST | PI,
	[0xe8 ... 0xef]	= M | LD | PI,
	[0xf0]		= M | LD | X,
	[0xf1 ... 0xf3]	= M | LD | PI16,
	[0xf4 ... 0xf6]	= M | LD | PI,
	[0xf8 ... 0xfe]	= M | LD | PI,
};

static const u16 map_0f38[256] = {
	[0x00 ... 0x0b]	= M | LD | PI,
	[0x0c ... 0x0f]	= M | LD | X,
	[0x10]		= M | LD | X,
	[0x13]		= M | LD | XH,
	[0x14 ... 0x17]	= M | LD | X,
	[0x18]		= M | LD | D, [0x19] = M | LD | Q, [0x1a] = M | LD | DQ,
	[0x1c ... 0x1e]	= M | LD | PI,
	[0x20]		= M | LD | XH, [0x21] = M | LD | XQ,
	[0x22]		= M | LD | XE,
	[0x23]		= M | LD | XH, [0x24] = M | LD | XQ,
	[0x25]		= M | LD | XH,
	[0x28 ... 0x2b]	= M | LD | X,
	[0x30]		= M | LD | XH, [0x31] = M | LD | XQ,
	[0x32]		= M | LD | XE,
	[0x33]		= M | LD | XH, [0x34] = M | LD | XQ,
	[0x35]		= M | LD | XH,
	[0x36 ... 0x40]	= M | LD | X,
	[0x41]		= M | LD | DQ,
	[0x45 ... 0x47]	= M | LD | X,
	[0x58]		= M | LD | D, [0x59] = M | LD | Q, [0x5a] = M | LD | DQ,
	[0x78]		= M | LD | B, [0x79] = M | LD | W,
#define FMA(op)								       \
	[(op) + 6 ... (op) + 8] = M | LD | X, [(op) + 9] = M | LD | FM,       \
	[(op) + 10] = M | LD | X, [(op) + 11] = M | LD | FM,		       \
	[(op) + 12] = M | LD | X, [(op) + 13] = M | LD | FM,		       \
	[(op) + 14] = M | LD | X, [(op) + 15] = M | LD | FM
	FMA(0x90), FMA(0xa0), FMA(0xb0),
#undef FMA
	[0xc8 ... 0xcd]	= M | LD | DQ,	/* sha */
	[0xcf]		= M | LD | X,
	[0xdb ... 0xdf]	= M | LD | X,	/* aes */
	[0xf0]		= M | LD | PF0,	/* movbe, crc32 */
	[0xf1]		= ODD | M | PF1,
	[0xf2]		= M | LD | Y, [0xf3] = M | LD | Y,
	[0xf5 ... 0xf7]	= M | LD | Y,
};

/* All have an immediate of one byte. */
static const u16 map_0f3a[256] = {
	[0x00 ... 0x02]	= M | LD | X,
	[0x04 ... 0x06]	= M | LD | X,
	[0x08]		= M | LD | X, [0x09] = M | LD | X,
	[0x0a]		= M | LD | D, [0x0b] = M | LD | Q,
	[0x0c ... 0x0e]	= M | LD | X, [0x0f] = M | LD | PI,
	[0x14]		= M | ST | B, [0x15] = M | ST | W,
	[0x16]		= M | ST | Y, [0x17] = M | ST | D,
	[0x18]		= M | LD | DQ, [0x19] = M | ST | DQ,
	[0x1d]		= M | ST | XH,
	[0x20]		= M | LD | B, [0x21] = M | LD | D, [0x22] = M | LD | Y,
	[0x38]		= M | LD | DQ, [0x39] = M | ST | DQ,
	[0x40]		= M | LD | X, [0x41] = M | LD | DQ, [0x42] = M | LD | X,
	[0x44]		= M | LD | X, [0x46] = M | LD | X,
	[0x4a ... 0x4c]	= M | LD | X,
	[0x60 ... 0x63]	= M | LD | DQ,
	[0xcc]		= M | LD | DQ,
	[0xce]		= M | LD | X, [0xcf] = M | LD | X,
	[0xdf]		= M | LD | DQ,
	[0xf0]		= M | LD | Y,	/* rorx */
};

/* Opcodes 80, 81, 83: all but cmp store. */
static const u8 group1[8] = { RW, RW, RW, RW, RW, RW, RW, LD };
static const u8 group3[8] = { LD, LD, RW, RW, LD, LD, LD, LD };
static const u8 group4[8] = { RW, RW };
static const u8 group5[8] = { RW, RW, LD, 0, LD, 0, LD };
static const u8 group8[8] = { 0, 0, 0, 0, LD, RW, RW, RW };
static const u8 group11[8] = { ST };

/* x87: d8 to df, indexed by the register field. */
static const u8 x87[8][8] = {
	{ LD | D, LD | D, LD | D, LD | D, LD | D, LD | D, LD | D, LD | D },
	{ LD | D, 0, ST | D, ST | D, 0, LD | W, 0, ST | W },
	{ LD | D, LD | D, LD | D, LD | D, LD | D, LD | D, LD | D, LD | D },
	{ LD | D, ST | D, ST | D, ST | D, 0, LD, 0, ST },	/* 80 bits */
	{ LD | Q, LD | Q, LD | Q, LD | Q, LD | Q, LD | Q, LD | Q, LD | Q },
	{ LD | Q, ST | Q, ST | Q, ST | Q, 0, 0, 0, ST | W },
	{ LD | W, LD | W, LD | W, LD | W, LD | W, LD | W, LD | W, LD | W },
	{ LD | W, ST | W, ST | W, ST | W, LD, LD | Q, ST, ST | Q },
};

/* Width without a mandatory prefix, with 66, f3, f2. 0: there is none. */
static const u8 by_prefix[WIDTHS - PX][4] = {
	[PX - PX]	= { X, X },
	[PI - PX]	= { Q, X },		/* MMX or SSE */
	[PI16 - PX]	= { Q, DQ },		/* a number of bits, likewise */
	[PI4 - PX]	= { D, X },
	[P6F - PX]	= { Q, X, X },
	[P70 - PX]	= { Q, X, X, X },
	[PSD - PX]	= { X, X, D, Q },
	[P12 - PX]	= { Q, Q, X, XD },
	[P13 - PX]	= { Q, Q },
	[P16 - PX]	= { Q, Q, X },
	[P2A - PX]	= { Q, Q, Y, Y },
	[P2C - PX]	= { Q, DQ, D, Q },
	[P2E - PX]	= { D, Q },
	[P51 - PX]	= { X, 0, D },
	[P5A - PX]	= { XH, X, D, Q },
	[P7E - PX]	= { Y, Y, Q },
	[PE6 - PX]	= { 0, X, XH, X },
	[PF0 - PX]	= { V, V, 0, B },
	[PF1 - PX]	= { V, V, 0, V },
};

#endif /* HWPROF_ACCESS_OPCODES_H */
