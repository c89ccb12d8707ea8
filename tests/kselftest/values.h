/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads with known values: x86/values.S. */
#ifndef VALUES_H
#define VALUES_H

#define VALUES_CONSTANT	0x0123456789abcdef
#define VALUES_EARLY	0xfffffffffffffff5	/* first half of the time */
#define VALUES_LATE	0x7			/* second half */
#define VALUES_STRIDE	24
#define VALUES_TURNS	4			/* 0x100, 0x101, ... in turn */

#ifndef __ASSEMBLER__
/* Runs each named load @times times. */
void values_run(unsigned long times);
extern const char value_constant[], value_zero[], value_stride[],
		  value_glacial[], value_turns[];
#endif

#endif /* VALUES_H */
