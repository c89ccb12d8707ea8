// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <time.h>

#include "clock.h"
#include "must.h"
#include "phase.h"

enum { SECOND_NS = 1000000000 };

/* Return the ns that @turns of a loop of two instructions take. */
static double loop_ns(unsigned long turns)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	asm volatile("1: dec %0; jnz 1b" : "+r" (turns) : : "cc");
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * (double)SECOND_NS +
	       to.tv_nsec - from.tv_nsec;
}

/* Others run, too, so the shortest of several counts. */
void must_tell_instructions(void)
{
	unsigned long turns = SECOND_NS / 10000;
	unsigned long expected = turns * 2 * NS_INSTRUCTION;
	double ns, least = SECOND_NS;
	int i;

	for (i = 0; i < 100; i++) {
		ns = loop_ns(turns);
		least = ns < least ? ns : least;
	}
	if (least >= expected && least < expected * 1.02)
		return;
	errno = ETIME;
	die("%lu instructions take %.0f ns, not %lu", 2 * turns, least, expected);
}
