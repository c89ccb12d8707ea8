// SPDX-License-Identifier: GPL-2.0-only
/*
 * converge TURNS EARLY LATE: a program with two phases, which make TURNS turns
 * of a loop EARLY times, and of another one LATE times. It prints the CPU time
 * of each. Without arguments, it prints how many turns take a ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "counts.h"

enum { MANY = 20000000 };

COUNTS(early)
COUNTS(late)

static long turns_of_ms(void)
{
	clock_t begin = clock();

	early(MANY);
	return MANY / ((clock() - begin) * 1000. / CLOCKS_PER_SEC);
}

int main(int argc, char **argv)
{
	long turns, times;
	clock_t begin, middle;

	if (argc < 4) {
		printf("%ld\n", turns_of_ms());
		return 0;
	}
	turns = atol(argv[1]);
	begin = clock();
	for (times = atol(argv[2]); times > 0; times--)
		early(turns);
	middle = clock();
	for (times = atol(argv[3]); times > 0; times--)
		late(turns);
	printf("%ld %ld\n", middle - begin, clock() - middle);
	return 0;
}
