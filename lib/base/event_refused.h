/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why the rules refuse an event, in words. */
#ifndef HWPROF_EVENT_REFUSED_H
#define HWPROF_EVENT_REFUSED_H

#include <stdbool.h>
#include <stddef.h>

#include "hwprof.h"

/*
 * Writes why the module refuses @event on any machine, with the sources that it
 * could name instead. Returns false if there is no reason.
 */
bool event_refused(const struct hwprof_event *event, char *text, size_t size);

#endif /* HWPROF_EVENT_REFUSED_H */
