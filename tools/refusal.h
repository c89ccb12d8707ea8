/* SPDX-License-Identifier: GPL-2.0-only */
/* Explains in a sentence why the kernel or the module did not open an event. */
#ifndef HWPROF_REFUSAL_H
#define HWPROF_REFUSAL_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "hwprof.h"

/* @error is the positive errno. @text is the event as given. */
void explain_refusal(const struct perf_event_attr *attr,
		     const struct hwprof_event *event, const char *text,
		     int error);

/*
 * Says that the event @text would step programs that run already, and to give
 * it @instead. Returns the exit status of wrong usage.
 */
int refuse_stepping(const char *text, const char *instead);

/*
 * Returns true if an event that names no source, and is opened as it is given,
 * would step its programs.
 */
bool steps_unasked(const struct hwprof_event *event);

#endif /* HWPROF_REFUSAL_H */
