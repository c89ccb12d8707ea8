/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The place of a process's address: its object, and where it is there. */
#ifndef HWPROF_PLACE_H
#define HWPROF_PLACE_H

#include "base/row_origin.h"
#include "profile/profile.h"

struct place {
	struct object *object;
	uint32_t pid;		/* process that the place belongs to; 0: all
				 * processes that map the object. Not 0 for
				 * memory in no file, or if processes are kept
				 * apart */
	size_t file;		/* number of the process's file, from 1; else
				 * 0 */
	uint64_t address;	/* in the object; without a file, in the
				 * process */
	uint64_t left;		/* bytes of the same mapping from here on */
};

/*
 * Finds @address in the process of the rows, at their time. Returns 0 or
 * -ENOMEM.
 */
int place_find(struct place *place, const struct hwprof_profile *profile,
	       const struct row_origin *origin, uint64_t address);

#endif /* HWPROF_PLACE_H */
