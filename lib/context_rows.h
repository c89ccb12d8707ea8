/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of contexts of a file, summed, in a hash table by session and id: a
 * recording of many processes has millions.
 */
#ifndef HWPROF_CONTEXT_ROWS_H
#define HWPROF_CONTEXT_ROWS_H

#include "contexts.h"

struct context_rows;

/*
 * Returns the row of the same session and id as @key or, where that has no id, of
 * the same session, process, callee and site. If there is none, a copy of @key
 * becomes it; @is_new says so. *@rows is made if it is NULL. NULL: out of memory.
 */
struct collected_context *
context_rows_get(struct context_rows **rows, const struct collected_context *key,
		 bool *is_new);

/* Returns the row @id of @session; NULL: there is none. @rows may be NULL. */
struct collected_context *context_rows_find(const struct context_rows *rows,
					    uint32_t session, uint64_t id);

/*
 * Returns an array of all @count rows, in the order in which they came, that is to
 * be freed. NULL: out of memory. @rows may be NULL.
 */
void **context_rows_list(const struct context_rows *rows, size_t *count);

/* Frees @rows; NULL is allowed. */
void context_rows_free(struct context_rows *rows);

#endif /* HWPROF_CONTEXT_ROWS_H */
