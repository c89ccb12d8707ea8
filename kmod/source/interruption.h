/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What it costs to be interrupted by a trigger, in ns, with a handler that does no
 * more than look at the clock twice.
 */
#ifndef HWPROF_INTERRUPTION_H
#define HWPROF_INTERRUPTION_H

#include <linux/types.h>

struct pt_regs;
struct session;

/* Measures them when the module is loaded: of the kernel. */
void interruptions_init(void);

/* No session is left. */
void interruptions_exit(void);

/*
 * The session's, where control was found there; 0: not known. A program's costs
 * more than the kernel's: by as much as interruption_done() has measured on this
 * CPU, at most as much again. Of a clock it is known everywhere.
 */
u64 interruption_cost(const struct session *session, struct pt_regs *regs);
u64 interruption_clock_cost(void);

/* The handler ends, of one that found control there. */
void interruption_done(const struct session *session, struct pt_regs *regs);

#endif /* HWPROF_INTERRUPTION_H */
