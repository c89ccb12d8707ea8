/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call chains whose user part comes later (Linux 6.19 and newer): the kernel
 * writes it when the thread returns to user space, in a record of its own.
 * Thread and cookie tell which samples it belongs to.
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
 * Copies @count addresses of the user part, for samples of this round and the
 * next. Returns 0 or -ENOMEM.
 */
int deferred_add(struct deferred *deferred, uint32_t tid, uint64_t cookie,
		 const uint64_t *addresses, uint32_t count);

/*
 * Finds a user part. Returns its number of addresses, or -1 if it is not there.
 */
int deferred_find(const struct deferred *deferred, uint32_t tid,
		  uint64_t cookie, const uint64_t **addresses);

/* Ends a round: forgets the parts of the round before. */
void deferred_turn(struct deferred *deferred);

#endif /* HWPROF_DEFERRED_H */
