/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses a source for events that name none. */
#ifndef HWPROF_SOURCE_CHOICE_H
#define HWPROF_SOURCE_CHOICE_H

#include <stdbool.h>

#include "hwprof.h"

enum {
	CAREFUL_BURST = 200,		/* branches per burst */
	CAREFUL_BURST_VALUES = 4,	/* the same, for values: few loads */
	CAREFUL_BUDGET = 10,		/* permille of the program's time */
};

/* Returns true if the event names its source. */
bool source_is_named(const struct hwprof_event *event);

/* Returns true if the event steps its targets all the time. */
bool source_steps_all(const struct hwprof_event *event);

/*
 * Returns the field with which @event costs a small part of a program's time on
 * this machine: "lbr", "sample" or "burst". Returns NULL if it needs every
 * branch.
 */
const char *source_careful(const struct hwprof_event *event);

/*
 * Sets that field if @event names no source, and with @budget a budget of 1 %.
 * Returns false if there is no such field.
 */
bool source_choose_careful(struct hwprof_event *event, bool budget);

/* Returns true if the module can use @source here. */
bool source_works(const char *source);

/* Returns the sources that work here, as bits 1 << enum source_id. */
uint32_t sources_here(void);

#endif /* HWPROF_SOURCE_CHOICE_H */
