/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the kernel or the module did not open an event, in a sentence. */
#ifndef HWPROF_REFUSAL_H
#define HWPROF_REFUSAL_H

#include <linux/perf_event.h>

#include "hwprof.h"

/* @error: the errno, positive. @text: how the event was given. */
void explain_refusal(const struct perf_event_attr *attr,
		     const struct hwprof_event *event, const char *text,
		     int error);

#endif /* HWPROF_REFUSAL_H */
