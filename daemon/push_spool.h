/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that wait when hwprofd ends: a file in the store has them for the
 * next start.
 */
#ifndef HWPROFD_PUSH_SPOOL_H
#define HWPROFD_PUSH_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "push_body.h"

/* A request that waits. */
struct push_waiting {
	struct push_waiting *next;
	int kind;
	int64_t begin, end;		/* seconds since 1970 */
	size_t size;
	char bytes[];
};

/*
 * Writes the requests of all receivers, of which @first has the lists, to the
 * file @path. Returns 0 or a negative errno; there is no file then.
 */
int push_spool_write(const char *path,
		     struct push_waiting *const first[PUSH_TARGETS]);

/*
 * Reads that file and removes it. Calls @fn for each request, which gets it and
 * frees it. A file that makes no sense is read up to that place. Returns 0,
 * also if there is no file; -EBADMSG; or another negative errno.
 */
typedef void (*push_spool_fn)(void *context, enum push_to to,
			      struct push_waiting *waiting);
int push_spool_read(const char *path, uint64_t most, push_spool_fn fn,
		    void *context);

#endif /* HWPROFD_PUSH_SPOOL_H */
