/* SPDX-License-Identifier: GPL-2.0-only */
/* Who called what runs in user space, by frame pointers. */
#ifndef HWPROF_CALLERS_H
#define HWPROF_CALLERS_H

#include <linux/types.h>

struct pt_regs;

enum {
	CALLERS_MAX	= 127,	/* as perf's stacks have, by default */
};

/*
 * Writes addresses inside the call instructions to @sites, up to CALLERS_MAX, the
 * innermost first, and says how many. Of current, with user registers @regs; in
 * any context: what is not in memory ends the stack.
 */
u32 callers_of_user(u64 *sites, struct pt_regs *regs);

#endif /* HWPROF_CALLERS_H */
