/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of an interrupt by a trigger, in ns, with a handler that only reads
 * the clock twice.
 */
#ifndef HWPROF_INTERRUPTION_H
#define HWPROF_INTERRUPTION_H

#include <linux/types.h>

struct pt_regs;
struct session;

/* Measure the costs of interrupting the kernel, when the module is loaded. */
void interruptions_init(void);

/* Wait for pending measurements. No session is left. */
void interruptions_exit(void);

/**
 * interruption_cost() - Tell what an interrupt of the session's trigger costs
 * @session: the session.
 * @regs: registers of the interrupted code.
 *
 * To interrupt a program costs more than to interrupt the kernel, by as much as
 * interruption_done() has measured on this CPU. That difference is at most the
 * cost itself.
 *
 * interruption_clock_cost() returns the cost of a clock's interrupt of the
 * kernel.
 *
 * Return: ns; 0: not known.
 */
u64 interruption_cost(const struct session *session, struct pt_regs *regs);
u64 interruption_clock_cost(void);

/* End a handler that found control at @regs. */
void interruption_done(const struct session *session, struct pt_regs *regs);

#endif /* HWPROF_INTERRUPTION_H */
