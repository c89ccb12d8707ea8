// SPDX-License-Identifier: GPL-2.0-only
/* Nested loops, which call each other directly and through a pointer. */
#include <stdio.h>
#include <stdlib.h>

#define CALLED __attribute__((noinline, noclone))

CALLED unsigned long leaf(unsigned long x)
{
	return x * 3 + 1;
}

CALLED unsigned long middle(unsigned long n)
{
	unsigned long sum = 0;
	unsigned long i;

	for (i = 0; i < 4; i++) {
		if ((n ^ i) & 2)
			sum += leaf(n + i);
		else
			sum ^= leaf(n - i) + 1;
	}
	return sum;
}

static unsigned long (*volatile pointer)(unsigned long) = middle;

int main(int argc, char **argv)
{
	unsigned long times = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
	unsigned long sum = 0;
	unsigned long i;

	for (i = 0; i < times; i++)
		sum += i & 1 ? middle(i) : pointer(i);
	printf("%lu\n", sum);
	return 0;
}
