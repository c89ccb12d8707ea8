/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about events that the kernel does not permit. */
#ifndef HWPROF_PERMISSION_H
#define HWPROF_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "hwprof.h"

/* Room for the longest text, and for a security label with its end. */
enum { PERMISSION_TEXT = 352, PERMISSION_LABEL = 128 };

/*
 * Returns true if the event attaches to programs. Other sources need only the
 * right to read, which perf checks.
 */
bool event_attaches(const struct hwprof_event *event);

/*
 * Gets this program's security label: the name of an AppArmor profile and its
 * mode, or a context of SELinux. A longer one is cut off. Returns false if
 * there is none, or if it says that the program is not confined.
 */
bool permission_label(char label[PERMISSION_LABEL]);

/*
 * Writes the settings of the kernel that may refuse an event, with their
 * values. If the event attaches, Yama's scope and the security label are among
 * them. Returns @text.
 */
const char *permission_settings(bool attaches, char text[PERMISSION_TEXT]);

#endif /* HWPROF_PERMISSION_H */
