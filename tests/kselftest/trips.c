// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with known trip counts, without a library, for estimates: inner 7,
 * middle 3, outer 30,000, or 1,000,000 in `long_trips` and 1,000 in
 * `short_trips`. The middle loop begins directly behind a call, where a window
 * that began in the callee continues.
 */
#include "bare.h"

#ifndef OUTER
#define OUTER	30000
#endif

enum { MIDDLE = 3, INNER = 7 };

static __attribute__((noinline)) void inner(long times)
{
	do
		__asm__ volatile("nop");
	while (--times);
}

static __attribute__((noinline)) void middle(long times)
{
	do
		inner(INNER);
	while (--times);
}

static __attribute__((noinline)) void outer(long times)
{
	do
		middle(MIDDLE);
	while (--times);
}

__attribute__((noreturn)) void _start(void)
{
	outer(OUTER);
	bare_exit();
}
