/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow. */
#ifndef HWPROF_ARRAY_H
#define HWPROF_ARRAY_H

#include <stdlib.h>

/*
 * Makes room for @needed elements of @size bytes in @array, which has room for
 * *@room so far. The room doubles. Returns the array, which may have moved; or
 * NULL if out of memory, when it is as it was.
 */
static inline void *array_grow(void *array, size_t *room, size_t needed,
			       size_t size)
{
	size_t more = *room ? *room : 64;

	while (more < needed)
		more *= 2;
	if (more == *room)
		return array;
	array = reallocarray(array, more, size);
	if (array)
		*room = more;
	return array;
}

#endif /* HWPROF_ARRAY_H */
