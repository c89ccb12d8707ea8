/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where an address of a process is: in which object, and where in that. */
#ifndef HWPROF_PLACE_H
#define HWPROF_PLACE_H

#include "objects.h"
#include "processes.h"

struct place {
	struct object *object;
	uint32_t pid;		/* whose the code is alone; 0: of all that map
				 * the object, and the kernel's */
	uint64_t address;	/* in the object; in the process where that is
				 * no file */
	uint64_t left;		/* bytes from here on that are mapped so */
};

/*
 * Finds the place of @address in @pid at some time from @first to @last.
 * -ENOMEM.
 */
int place_find(struct place *place, struct objects *objects,
	       const struct processes *processes,
	       const struct hwprof_file *file, uint32_t pid, uint64_t first,
	       uint64_t last, uint64_t address);

#endif /* HWPROF_PLACE_H */
