/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Phases of a scenario. The end of each prints the longest part with interrupts
 * off that probe/irqsoff.c saw, and all parts that are too long.
 */
#ifndef IRQSOFF_PHASE_H
#define IRQSOFF_PHASE_H

#include <stdbool.h>

enum { NS_INSTRUCTION = 2 };	/* by --icount */

/* Begin a phase. Ends the one before. */
void __attribute__((format(printf, 1, 2))) phase(const char *format, ...);

/* Begin the same phase once more: forget its parts so far. */
void restart_phase(void);

/*
 * End the phase, if there is one. Return the instructions that perf took at the
 * most to go through all events of a task.
 */
unsigned long end_phase(void);

/*
 * Let each part take so many instructions more than usual. Perf may need them
 * itself.
 */
void allow(unsigned long instructions);

/*
 * Count a part only if one was too long in an earlier run, in the same phase,
 * that ended in the same place. Functions are traced now, which takes time
 * itself.
 */
void count_parts_seen_before(void);

/* Return whether a part was too long. At least one must have been seen. */
bool parts_too_long(void);

#endif /* IRQSOFF_PHASE_H */
