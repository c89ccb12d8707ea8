// SPDX-License-Identifier: GPL-2.0-only
/* `heaps`: loads from a part of its heap for ever. */
#include <stdlib.h>

enum { ALL = 65536, HOT = 4096 };

int main(void)
{
	/* Smaller than blocks that malloc() maps separately. */
	volatile char *heap = malloc(ALL);
	unsigned int i, sum = 0;

	for (i = 0; i < ALL; i++)
		heap[i] = i;
	for (;;)
		for (i = 0; i < HOT; i++)
			sum += heap[ALL / 2 + i];
	return sum;
}
