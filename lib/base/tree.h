/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees of <search.h> that own their elements, which tdestroy() frees. */
#ifndef HWPROF_TREE_H
#define HWPROF_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef int (*tree_compare)(const void *a, const void *b);

/*
 * Returns the element that compares equal to @key, of @size bytes. If there is
 * none, adds a copy of @key and sets @is_new. Returns NULL if out of memory.
 */
void *tree_get(void **root, const void *key, size_t size, tree_compare compare,
	       bool *is_new);

/*
 * Returns an array of all elements in order, which the caller frees; NULL
 * without memory.
 */
void *tree_list(const void *root, size_t *count);

#endif /* HWPROF_TREE_H */
