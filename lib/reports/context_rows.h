/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The summed rows of a file's contexts, in a hash table by session and id. A
 * recording of many processes has millions of them.
 */
#ifndef HWPROF_CONTEXT_ROWS_H
#define HWPROF_CONTEXT_ROWS_H

#include "contexts.h"

struct context_rows;

/*
 * Returns the row with the session and id of @key. If @key has no id, it
 * returns the row with the same session, process, callee and site. If there is
 * no such row, it adds a copy of @key and sets @is_new. Creates *@rows if it is
 * NULL. Returns NULL if out of memory.
 */
struct collected_context *context_rows_get(struct context_rows **rows,
					   const struct collected_context *key,
					   bool *is_new);

/* Returns the row @id of @session, or NULL. @rows may be NULL. */
struct collected_context *context_rows_find(const struct context_rows *rows,
					    uint32_t session, uint64_t id);

/*
 * Returns an array of all @count rows in the order in which they were added.
 * The caller frees it. Returns NULL if out of memory. @rows may be NULL.
 */
void **context_rows_list(const struct context_rows *rows, size_t *count);

/* Frees @rows; NULL is allowed. */
void context_rows_free(struct context_rows *rows);

#endif /* HWPROF_CONTEXT_ROWS_H */
