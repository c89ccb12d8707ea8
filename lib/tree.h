/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees of <search.h> that own what is in them: it is freed by tdestroy(). */
#ifndef HWPROF_TREE_H
#define HWPROF_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef int (*tree_compare)(const void *a, const void *b);

/*
 * What compares as @key, which has @size bytes: what is there, or a copy of @key
 * that is put there; @is_new says which. NULL: out of memory.
 */
void *tree_get(void **root, const void *key, size_t size, tree_compare compare,
	       bool *is_new);

/* An array of all that is there, in order, to be freed. NULL: out of memory. */
void *tree_list(const void *root, size_t *count);

#endif /* HWPROF_TREE_H */
