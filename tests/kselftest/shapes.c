// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with debug information and without a library, for perf's reports.
 * Three quarters of its back edges belong to hot(), one quarter to cold().
 */
#include "bare.h"

static __attribute__((noinline)) void hot(long times)
{
	do
		__asm__ volatile("nop");		/* the head of hot */
	while (--times);
}

static __attribute__((noinline)) void cold(long times)
{
	do
		__asm__ volatile("nop");
	while (--times);
}

__attribute__((noreturn)) void _start(void)
{
	hot(15001);
	cold(5001);
	bare_exit();
}
