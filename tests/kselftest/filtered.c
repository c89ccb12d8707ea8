// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program without a library, of which a filter shows wanted() alone: its
 * loops call other functions that have loops, and one that calls it again. It
 * is called from several places, and through a pointer.
 */
#include "bare.h"

enum { TURNS = 300 };

#define NOINLINE __attribute__((noinline, noclone))

long wanted(long n);
static volatile long sum;

static NOINLINE long leaf(long n)
{
	long i;

	for (i = 0; i < n; i++)
		sum += i;
	return n;
}

static NOINLINE long other(long n)
{
	long i, all = 0;

	for (i = 0; i < n % 3; i++)
		all += leaf(i);
	return all + wanted(n - 1);
}

NOINLINE long wanted(long n)
{
	long i, k, all = 0;

	for (i = 0; i < n % 7; i++) {
		for (k = 0; k <= i; k++)
			sum += k;
		all += leaf(i);
	}
	do
		all += n & 1 ? leaf(1) : 1;
	while (all < n);
	return n > 10 ? all + other(n / 2) : all;
}

static long (*volatile const pointer)(long) = wanted;

__attribute__((noreturn)) void _start(void)
{
	long i;

	for (i = 0; i < TURNS; i++) {
		if (i & 1)
			wanted(i % 40);
		else
			pointer(i % 30);
		leaf(i % 5);
	}
	bare_exit();
}
