/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwinds calls on a user stack whose memory and registers are in a sample
 * (perf record --call-graph dwarf), with the code's tables for unwinding. Code
 * without tables must keep frame pointers. x86-64 only.
 *
 * Results for an address are kept in a table of fixed size, and each object's
 * rows once. Most steps are therefore a lookup in that table.
 */
#ifndef HWPROF_STACK_DUMP_H
#define HWPROF_STACK_DUMP_H

#include "objects.h"
#include "processes.h"

struct stack_dump {
	uint64_t ip, sp, bp;
	uint64_t r10;		/* compilers keep sp here to align the stack */
	struct byte_reader memory;	/* from sp on */
};

/* Why unwinding ended. */
enum stack_end {
	STACK_END_OUTERMOST,	/* the outermost frame, which has no caller */
	STACK_END_DUMP,		/* the end of the recorded memory */
	STACK_END_TABLES,	/* code without tables or frame pointers */
	STACK_END_ROOM,		/* no room for more callers */
	STACK_ENDS,
};

struct stack_unwinder;

/* Returns NULL if out of memory. */
struct stack_unwinder *stack_unwinder_new(const struct hwprof_file *file,
					  const struct processes *processes,
					  struct objects *objects);
void stack_unwinder_free(struct stack_unwinder *unwinder);

/*
 * Writes return addresses, the innermost first, to @to, which has @room for
 * them. @pid ran @program at @time. Sets *@end to why there are no more.
 * Returns their number, or -ENOMEM.
 */
int stack_unwind(struct stack_unwinder *unwinder, uint32_t program,
		 uint32_t pid, uint64_t time, struct stack_dump dump,
		 uint64_t *to, uint32_t room, enum stack_end *end);

#endif /* HWPROF_STACK_DUMP_H */
