/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The location of a process's address: its object, and where it is there. */
#ifndef HWPROF_LOCATION_H
#define HWPROF_LOCATION_H

#include "base/row_origin.h"
#include "profile/profile.h"

struct location {
	struct object *object;
	uint32_t pid;		/* process that the location belongs to; 0: all
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
int location_find(struct location *location,
		  const struct hwprof_profile *profile,
		  const struct row_origin *origin, uint64_t address);

#endif /* HWPROF_LOCATION_H */
