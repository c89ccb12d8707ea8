/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The procedure that an address is in, by where it begins: as symbols say, or
 * what programs have for unwinding. Code of which neither tells anything is one
 * procedure for each map; so is the kernel. What was asked for last is kept, in a
 * table of fixed size.
 */
#ifndef HWPROF_PROCEDURES_H
#define HWPROF_PROCEDURES_H

#include "objects.h"
#include "processes.h"

struct procedures;

/* NULL: out of memory. */
struct procedures *procedures_new(const struct hwprof_file *file,
				  const struct processes *processes,
				  struct objects *objects);
void procedures_free(struct procedures *procedures);

/*
 * Sets @begin to the address that the procedure with @address begins at, in
 * @pid's @program at @time; 0: nothing is known to be there. -ENOMEM.
 */
int procedures_find(struct procedures *procedures, uint32_t program,
		    uint32_t pid, uint64_t time, uint64_t address,
		    uint64_t *begin);

#endif /* HWPROF_PROCEDURES_H */
