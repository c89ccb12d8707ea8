/* SPDX-License-Identifier: GPL-2.0-only */
/* Explains in a sentence why the kernel or the module did not open an event. */
#ifndef HWPROF_REFUSAL_H
#define HWPROF_REFUSAL_H

#include <linux/perf_event.h>

#include "hwprof.h"

/* @error is the positive errno. @text is the event as given. */
void explain_refusal(const struct perf_event_attr *attr,
		     const struct hwprof_event *event, const char *text,
		     int error);

#endif /* HWPROF_REFUSAL_H */
