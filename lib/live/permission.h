/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about events that the kernel does not permit. */
#ifndef HWPROF_PERMISSION_H
#define HWPROF_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "hwprof.h"

/* Room for the longest text. */
enum { PERMISSION_TEXT = 160 };

/*
 * Returns true if the event attaches to programs. Other sources need only the
 * right to read, which perf checks.
 */
bool event_attaches(const struct hwprof_event *event);

/*
 * Writes the settings of the kernel that may refuse an event, with their
 * values. Yama's is one of them only if the event attaches. Returns @text.
 */
const char *permission_settings(bool attaches, char text[PERMISSION_TEXT]);

#endif /* HWPROF_PERMISSION_H */
