/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call chains whose user's part comes later (Linux 6.19 and newer): the
 * kernel writes it when the thread goes back to user space, in a record of
 * its own. The thread and a cookie tell which samples it is of.
 */
#ifndef HWPROF_DEFERRED_H
#define HWPROF_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deferred;

struct deferred *deferred_new(void);
void deferred_free(struct deferred *deferred);

/*
 * Keeps the user's part of @count addresses, a copy, for samples of this
 * round and the next one. -ENOMEM.
 */
int deferred_add(struct deferred *deferred, uint32_t tid, uint64_t cookie,
		 const uint64_t *addresses, uint32_t count);

/* Finds it, and returns how many addresses it has; -1: it is not there. */
int deferred_find(const struct deferred *deferred, uint32_t tid,
		  uint64_t cookie, const uint64_t **addresses);

/* A round is over: forgets the parts of the one before it. */
void deferred_turn(struct deferred *deferred);

#endif /* HWPROF_DEFERRED_H */
