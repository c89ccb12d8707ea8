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

enum { FRED_SS_CALL_BIT = 17 };		/* "swevent": syscall, sysenter, int
					 * n */

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
