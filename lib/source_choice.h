/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source that an event gets which names none. */
#ifndef HWPROF_SOURCE_CHOICE_H
#define HWPROF_SOURCE_CHOICE_H

#include <stdbool.h>

#include "hwprof.h"

enum {
	CAREFUL_BURST = 200,		/* branches a burst */
	CAREFUL_BUDGET = 10,		/* permille of the program's time */
};

/* Returns true if the event says where its events come from. */
bool source_is_named(const struct hwprof_event *event);

/* Returns true if the event steps all that it is attached to, all the time. */
bool source_steps_all(const struct hwprof_event *event);

/*
 * Returns the field that lets @event take a small part of a program's time on
 * this machine: "lbr", "sample" or "burst". NULL: it needs every branch.
 */
const char *source_careful(const struct hwprof_event *event);

/*
 * Sets that field, if @event names no source, and a budget of 1 % if @budget.
 * Returns false if there is no such field.
 */
bool source_choose_careful(struct hwprof_event *event, bool budget);

/* Returns true if the module can use @source here. */
bool source_works(const char *source);

#endif /* HWPROF_SOURCE_CHOICE_H */
