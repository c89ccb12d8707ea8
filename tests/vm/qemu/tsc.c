// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many ticks of the TSC a second of the machine's battery-backed clock has,
 * which counts by itself. As root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <x86intrin.h>

enum { INDEX = 0x70, DATA = 0x71, SECONDS = 0, STATUS_A = 10, UPDATES = 0x80 };

static unsigned int rtc(unsigned int which)
{
	outb(which, INDEX);
	return inb(DATA);
}

static unsigned int second(void)
{
	while (rtc(STATUS_A) & UPDATES)
		;
	return rtc(SECONDS);
}

/* The time when the next second begins. */
static unsigned long long next(void)
{
	unsigned int now = second();

	while (second() == now)
		;
	return __rdtsc();
}

int main(void)
{
	enum { TIMES = 3 };
	unsigned long long begin;
	unsigned int i;

	if (iopl(3)) {
		perror("iopl");
		return 2;
	}
	begin = next();
	for (i = 1; i < TIMES; i++)
		next();
	/* A host with other work to do may keep us from seeing it begin. */
	printf("%.1f GHz\n", (next() - begin) / (1e9 * TIMES));
	return 0;
}
