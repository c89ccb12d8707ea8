/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records that stand in a recording twice. `perf record` reads the head of a ring
 * twice: it copies records up to the second value, and goes on next time from the
 * first one. Records that arrive in between are copied in two rounds of its reading,
 * one behind the other.
 */
#ifndef HWPROF_REREADS_H
#define HWPROF_REREADS_H

#include "file.h"

struct record_keys {
	uint64_t *keys;			/* a hash table; 0: free */
	size_t room, count;		/* room is a power of two, or 0 */
};

struct rereads {
	struct record_keys older;	/* of the round before, */
	struct record_keys newer;	/* and of this one */
	uint64_t count;			/* of records that were there before */
	uint64_t offset;		/* in the file, of the first one */
};

/* All zeros is one that has seen nothing. */
void rereads_destroy(struct rereads *rereads);

/*
 * To be called for each record, in the file's order. Returns 1 if @record was there
 * in the round before, and then counts it; 0 if not; -ENOMEM.
 */
int rereads_check(struct rereads *rereads, const struct record *record);

#endif /* HWPROF_REREADS_H */
