/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each scenario takes the module through some of its paths. It exits if it did
 * not reach them.
 */
#ifndef IRQSOFF_SCENARIO_H
#define IRQSOFF_SCENARIO_H

enum {
	SESSIONS	= 40,		/* more than a step feeds */
	STEPPED		= 10,		/* as many as a step feeds */
};

/* Profiles and events of one session. */
void sizes(void);
void engines(void);
void branches(void);
void ends(void);
void flushes(void);
void windows(void);

/* Many events. */
void sessions(void);
void limit(void);
void samples(void);
void groups(void);
void switches(void);
void filters(void);

/* The device, and changes of what runs. */
void device(void);
void stacks(void);
void changes(void);

/* Whole CPUs, and the module as a whole. */
void whole_cpu(void);
void hotplug(void);
void module(void);
void sleepers(void);

/* Open an event of each of SESSIONS sessions of this task. */
void open_sessions(int fd[SESSIONS]);

/* Run code, and sleep, by turns. */
void run_by_turns(void);

#endif /* IRQSOFF_SCENARIO_H */
