/* SPDX-License-Identifier: GPL-2.0-only */
/* Growing arrays: a struct with `items`, `count` and `room`. */
#ifndef TESTS_ORACLE_ARRAY_H
#define TESTS_ORACLE_ARRAY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *array_more(void *items, size_t room, size_t size)
{
	items = realloc(items, room * size);
	if (!items) {
		fprintf(stderr, "no memory for %zu bytes\n", room * size);
		abort();
	}
	return items;
}

/*
 * Appends an item and returns it. It is not initialised: the caller sets all of
 * it.
 */
#define array_push(a)							       \
	({								       \
		if ((a)->count == (a)->room) {				       \
			(a)->room = (a)->room ? 2 * (a)->room : 16;	       \
			(a)->items = array_more((a)->items, (a)->room,	       \
						sizeof(*(a)->items));	       \
		}							       \
		&(a)->items[(a)->count++];				       \
	})

#endif /* TESTS_ORACLE_ARRAY_H */
