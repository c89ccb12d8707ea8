/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callers of what runs in user space, found by unwind tables or frame
 * pointers.
 */
#ifndef HWPROF_CALLERS_H
#define HWPROF_CALLERS_H

#include <linux/types.h>

struct pt_regs;
struct unwind;

enum {
	CALLERS_MAX	= 127,	/* the default of perf's stacks */
};

/**
 * callers_of_user() - Find the call sites that current is in
 * @sites: where addresses inside the call instructions go, innermost first:
 *	room for CALLERS_MAX.
 * @regs: user registers of current.
 * @unwind: unwind tables, or NULL.
 * @unwound: set to the number of sites that tables have found.
 *
 * Memory that is paged out ends the stack.
 *
 * Context: any.
 * Return: number of sites.
 */
u32 callers_of_user(u64 *sites, struct pt_regs *regs,
		    const struct unwind *unwind, u32 *unwound);

#endif /* HWPROF_CALLERS_H */
