/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records that are in a recording twice. `perf record` reads the head of a ring
 * twice: it copies records up to the second value, but next time continues from
 * the first. It thus copies the records that arrive in between in two
 * successive rounds.
 */
#ifndef HWPROF_REREADS_H
#define HWPROF_REREADS_H

#include "file.h"

struct record_keys {
	uint64_t *keys;			/* a hash table; 0: free */
	size_t room, count;		/* room is a power of two, or 0 */
};

struct rereads {
	struct record_keys older;	/* records of the previous round */
	struct record_keys newer;	/* records of this round */
	uint64_t count;			/* records that were seen before */
	uint64_t offset;		/* of the first of these, in the file */
};

/* A zeroed struct is empty. */
void rereads_destroy(struct rereads *rereads);

/*
 * Checks each record, in the order of the file. Returns 1 and counts it if
 * @record was in the previous round, 0 if not, or -ENOMEM.
 */
int rereads_check(struct rereads *rereads, const struct record *record);

#endif /* HWPROF_REREADS_H */
