/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the beginning of the procedure that contains an address, from symbols
 * or tables for unwinding. Code without both is one procedure per map, and so
 * is the kernel. Recent answers are kept in a table of fixed size.
 */
#ifndef HWPROF_PROCEDURES_H
#define HWPROF_PROCEDURES_H

#include "objects.h"
#include "processes.h"

struct procedures;

/* Returns NULL if out of memory. */
struct procedures *procedures_new(const struct hwprof_file *file,
				  const struct processes *processes,
				  struct objects *objects);
void procedures_free(struct procedures *procedures);

/*
 * Sets @begin to where the procedure at @address begins in @program of @pid at
 * @time; 0 if nothing is known to be there. Returns 0 or -ENOMEM.
 */
int procedures_find(struct procedures *procedures, uint32_t program,
		    uint32_t pid, uint64_t time, uint64_t address,
		    uint64_t *begin);

#endif /* HWPROF_PROCEDURES_H */
