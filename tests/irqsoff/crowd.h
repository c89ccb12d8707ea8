/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many events of this task. Perf goes through all of them with interrupts off
 * when the task is switched and when one of them is opened or enabled, and sets
 * no bound to that. A crowd of the module's events is therefore compared with
 * one of perf's own.
 */
#ifndef IRQSOFF_CROWD_H
#define IRQSOFF_CROWD_H

struct crowd {
	const char *name;
	unsigned int count;
	/* Returns the descriptor of event @i. Exits if that fails. */
	int (*open)(unsigned int i);
};

/* The instructions that perf needs at the most for all of them: end_phase(). */
struct crowd_took {
	unsigned long opening, running, enabling, exiting;
};

/* Return the allowance of a crowd of perf's own, which needs what it needs. */
struct crowd_took crowd_unbounded(void);

/*
 * Open the events, run code and sleep by turns, disable and enable an event,
 * and close all. Then let a task exit that has as many. A part is too long if
 * it takes 100,000 instructions more than @allowed. Return what they took.
 */
struct crowd_took crowd_measure(const struct crowd *crowd,
				struct crowd_took allowed);

/* Return the descriptor of an event of page faults: one of perf's own. */
int crowd_open_faults(unsigned int i);

#endif /* IRQSOFF_CROWD_H */
