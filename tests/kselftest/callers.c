// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with frame pointers and known time. Of 16 parts, left() runs 8 when
 * called by first() and 4 when called by second(). again(), which calls itself,
 * runs 4.
 */
#include "bare.h"

#ifndef TURNS
#define TURNS 3000	/* some seconds in emulation */
#endif
#ifndef DEPTH
#define DEPTH 4		/* of again() */
#endif
#define PART 20000

/* Called, so that its caller has a frame. */
static __attribute__((noinline)) void spin(long times)
{
	do
		__asm__ volatile("nop");
	while (--times);
	__asm__ volatile("");
}

static __attribute__((noinline)) void left(long parts)
{
	while (parts--) {
		long times = PART;

		do
			__asm__ volatile("nop");
		while (--times);
	}
	spin(1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void first(void)
{
	left(8);
	__asm__ volatile("");
}

static __attribute__((noinline)) void second(void)
{
	left(4);
	__asm__ volatile("");
}

static __attribute__((noinline)) void again(int depth)
{
	long times = PART;

	do
		__asm__ volatile("nop");
	while (--times);
	if (depth > 1)
		again(depth - 1);
	spin(1);
	__asm__ volatile("");
}

__attribute__((noreturn)) void _start(void)
{
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		first();
		second();
		again(DEPTH);
	}
	bare_exit();
}
