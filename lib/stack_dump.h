/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on a user's stack that a sample has as memory, beside the registers
 * (perf record --call-graph dwarf). The code's tables for unwinding say where
 * callers are; code without tables has to keep frame pointers. x86-64 only.
 *
 * What was found of an address is kept in a table of fixed size, and each
 * object's rows once, so that most steps are a look into that table.
 */
#ifndef HWPROF_STACK_DUMP_H
#define HWPROF_STACK_DUMP_H

#include "objects.h"
#include "processes.h"

struct stack_dump {
	uint64_t ip, sp, bp;
	uint64_t r10;		/* compilers keep sp there to align the stack */
	struct span memory;	/* from sp on */
};

/* Why an unwinding ended. */
enum stack_end {
	STACK_END_OUTERMOST,	/* nobody called from there */
	STACK_END_DUMP,		/* the memory that was recorded */
	STACK_END_TABLES,	/* code without tables, nor frame pointers */
	STACK_END_ROOM,		/* more callers than there is room for */
	STACK_ENDS,
};

struct stack_unwinder;

/* NULL: out of memory. */
struct stack_unwinder *stack_unwinder_new(const struct hwprof_file *file,
					  const struct processes *processes,
					  struct objects *objects);
void stack_unwinder_free(struct stack_unwinder *unwinder);

/*
 * Writes to @to, which has @room, where the callers' calls return to, the
 * innermost first, of what @pid's @program ran at @time. Returns how many, and
 * why there are no more in *@end; or -ENOMEM.
 */
int stack_unwind(struct stack_unwinder *unwinder, uint32_t program, uint32_t pid,
		 uint64_t time, struct stack_dump dump, uint64_t *to,
		 uint32_t room, enum stack_end *end);

#endif /* HWPROF_STACK_DUMP_H */
