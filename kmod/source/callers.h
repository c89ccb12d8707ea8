/* SPDX-License-Identifier: GPL-2.0-only */
/* Who called what runs in user space, by tables for unwinding or frame pointers. */
#ifndef HWPROF_CALLERS_H
#define HWPROF_CALLERS_H

#include <linux/types.h>

struct pt_regs;
struct unwind;

enum {
	CALLERS_MAX	= 127,	/* as perf's stacks have, by default */
};

/*
 * Writes addresses inside the call instructions to @sites, up to CALLERS_MAX, the
 * innermost first, and says how many, and in @unwound how many of them tables have
 * told. Of current, with user registers @regs; in any context: what is not in
 * memory ends the stack. @unwind: NULL if there are no tables.
 */
u32 callers_of_user(u64 *sites, struct pt_regs *regs,
		    const struct unwind *unwind, u32 *unwound);

#endif /* HWPROF_CALLERS_H */
