/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where an address of a process is: in which object, and where in that. */
#ifndef HWPROF_PLACE_H
#define HWPROF_PLACE_H

#include "origin.h"
#include "profile.h"

struct place {
	struct object *object;
	uint32_t pid;		/* whose it is alone: of memory of no file, or
				 * if all are set apart; 0: of all that map the
				 * object */
	size_t file;		/* that the process is in, counted; else 0 */
	uint64_t address;	/* in the object; in the process where that is
				 * no file */
	uint64_t left;		/* bytes from here on that are mapped so */
};

/* Finds where @address was in the row's process, at its times. -ENOMEM. */
int place_find(struct place *place, const struct hwprof_profile *profile,
	       const struct origin *origin, uint64_t address);

#endif /* HWPROF_PLACE_H */
