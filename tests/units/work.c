// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls for ever. Without frame pointers, who called NAME is known only by the
 * table for unwinding.
 */
#define NOT_INLINED __attribute__((noinline, noclone))

static volatile unsigned int turns;

NOT_INLINED unsigned int NAME(unsigned int most)
{
	unsigned int i;

	for (i = 0; i < most; i++)
		turns += i;
	return turns;
}

NOT_INLINED unsigned int calls(unsigned int most)
{
	return NAME(most) + NAME(most / 2);
}

int main(void)
{
	while (calls(1000) != 1 || turns)
		;
	return 0;
}
