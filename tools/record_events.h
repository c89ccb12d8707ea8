/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a request to record. Functions that return an int return -1, or
 * the exit status after a message.
 */
#ifndef HWPROF_RECORD_EVENTS_H
#define HWPROF_RECORD_EVENTS_H

#include "config/config_rules.h"
#include "record.h"

/*
 * Decodes the event as the module will. Returns false if it names no source,
 * and none that works here sees what it wants.
 */
bool record_decode(const struct hwprof_event *event,
		   struct session_config *config);

/* Returns true if the event's source has one of the capabilities @caps. */
bool record_is_from(const struct hwprof_event *event, uint32_t caps);

/*
 * Copies the parsed event, with all later changes, to the one that is opened
 * and named in the file.
 */
void record_set_config(struct record_request *request, size_t index);

/* Adds an event, as the user wrote it. */
int record_add_event(struct record_request *request, const char *text);

/* Adds what events leave open, once it is known whose programs they are for. */
int record_complete_events(struct record_request *request);

/* Checks that the CPU can keep the branch records that the events want. */
int record_check_records(const struct record_request *request);

/* record_rates.c: what --trigger, --budget, -c and -F say, or nothing does. */
int record_set_trigger(struct record_request *request);
int record_set_budget(struct record_request *request);
void record_set_default_budget(struct record_request *request);
int record_set_periods(struct record_request *request);
/* Checks that all events can do what --converge wants. */
int record_check_converge(struct record_request *request);

/* record_metrics.c: what --metric says. */
int record_set_metrics(struct record_request *request);

#endif /* HWPROF_RECORD_EVENTS_H */
