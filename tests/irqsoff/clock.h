/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef IRQSOFF_CLOCK_H
#define IRQSOFF_CLOCK_H

/*
 * Exit if an instruction does not take the time that --icount promises. The
 * probe must not be loaded yet.
 */
void must_tell_instructions(void);

#endif /* IRQSOFF_CLOCK_H */
