/* SPDX-License-Identifier: GPL-2.0-only */
/* What stepping costs here, and what to say about it. */
#ifndef HWPROF_PACE_H
#define HWPROF_PACE_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "hwprof.h"

struct pace {
	double step_ns;		/* of one stepped instruction; 0: not known */
	double slowdown;	/* of a small loop, as a factor */
};

/* Steps a loop of this program itself, for some milliseconds. */
void pace_measure(struct pace *pace);

/*
 * Says that @who is stepped by @event (as the user has it: @text) and at what
 * cost, and what to type after "hwprof @command" instead.
 */
void pace_warn(struct pace *pace, const struct hwprof_event *event,
	       const char *text, const char *command, const char *who);

/* Says how many bursts a second the event's budget allows. */
void pace_say_bursts(struct pace *pace, const struct hwprof_event *event);

/* What the sessions of this process have counted so far. */
struct pace_totals {
	uint64_t events, windows, cost_ns, task_ns;
};

void pace_read_totals(struct pace_totals *totals);

#endif /* HWPROF_PACE_H */
