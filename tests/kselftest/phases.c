// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with known phases, without a library: it counts in first(), then in
 * second(), in first() again, and in third().
 */
#include "bare.h"
#include "counts.h"

enum { TURNS = 200000 };

COUNTS(first)
COUNTS(second)
COUNTS(third)

__attribute__((noreturn)) void _start(void)
{
	first(TURNS);
	second(TURNS);
	first(TURNS);
	third(TURNS);
	bare_exit();
}
