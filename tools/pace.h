/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures the cost of stepping on this machine, and tells users about it. */
#ifndef HWPROF_PACE_H
#define HWPROF_PACE_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "hwprof.h"

struct pace {
	double step_ns;		/* of a stepped instruction; 0: unknown */
	double slowdown;	/* of a small loop, as a factor */
};

enum { PACE_STEPPED_ROUNDS = 2000, PACE_FREE_ROUNDS = 1 << 20 };

/* CPU time of a small loop of two instructions, in ns. */
struct pace_times {
	double free;		/* PACE_FREE_ROUNDS that are not stepped */
	double rest;		/* one stepped round, and reading the clock */
	double stepped;		/* the same with PACE_STEPPED_ROUNDS more */
};

/* Computes the pace. Leaves it alone if the times cannot be right. */
void pace_of_times(struct pace *pace, const struct pace_times *times);

/* Steps a loop of this program for some milliseconds. */
void pace_measure(struct pace *pace);

/*
 * Warns that @who is stepped by @event, which the user gave as @text, at what
 * cost, and what to type after "hwprof @command" instead.
 */
void pace_warn(struct pace *pace, const struct hwprof_event *event,
	       const char *text, const char *command, const char *who);

/*
 * Returns how many bursts per second of CPU time the event's budget allows; 0
 * if the event has no bursts or no budget, or if stepping cannot be measured.
 */
double pace_burst_rate(struct pace *pace, const struct hwprof_event *event);

/* Prints how many bursts per second the event's budget allows. */
void pace_say_bursts(struct pace *pace, const struct hwprof_event *event);

/* Counts of this process's sessions so far. */
struct pace_totals {
	uint64_t events, windows, cost_ns, task_ns;
};

void pace_read_totals(struct pace_totals *totals);

#endif /* HWPROF_PACE_H */
