/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COUNTS_H
#define COUNTS_H

/*
 * Defines a function that makes so many turns of a loop, one at least. noipa:
 * functions of equal code stay apart.
 */
#define COUNTS(name)							\
static __attribute__((noipa)) void name(long turns)			\
{									\
	do								\
		__asm__ volatile("nop");				\
	while (--turns);						\
}

#endif /* COUNTS_H */
