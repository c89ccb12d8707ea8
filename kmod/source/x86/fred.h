/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FRED, the other way into the kernel on newer CPUs. Two things differ for the
 * trap flag:
 *
 * - A return from a system call with the flag set traps at once, before an
 *   instruction has run, if the saved SS still says that it was a system call.
 * - `syscall` leaves rcx and r11 to the program.
 *
 * Written by the kernel's sources; no CPU with FRED has run it yet.
 */
#ifndef HWPROF_FRED_H
#define HWPROF_FRED_H

#include "engine/types.h"

enum { FRED_SS_CALL_BIT = 17 };		/* "swevent": syscall, sysenter, int
					 * n */

/*
 * Return why stepping is refused on this CPU; NULL: it is not. @is_allowed: the
 * administrator has asked for what no test has run.
 */
static inline const char *fred_refusal(bool has_fred, bool is_allowed)
{
	return has_fred && !is_allowed ?
	       "not tried on CPUs with FRED: loading the module with "
	       "allow_untested=fred allows it" : NULL;
}

/* Return the saved SS of a system call as if something else had interrupted. */
static inline unsigned long long fred_ss_without_call(unsigned long long ss)
{
	return ss & ~(1ULL << FRED_SS_CALL_BIT);
}

/*
 * Return true if the trap at @ip came before any instruction behind the call,
 * at @to, had run.
 */
static inline int fred_is_return(int has_fred, unsigned long long ip,
				 unsigned long long to)
{
	return has_fred && ip == to;
}

#endif /* HWPROF_FRED_H */
