/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes events by the rules that the module has: see config_rules.h. */
#ifndef HWPROF_EVENT_CONFIG_H
#define HWPROF_EVENT_CONFIG_H

#include "config/config_rules.h"
#include "hwprof.h"

enum { ALL_SOURCES = (1 << SOURCE_COUNT) - 1 };

/*
 * Decodes @event for a machine where @sources work, which are bits 1 << enum
 * source_id.
 */
struct session_config event_config(const struct hwprof_event *event,
				   uint32_t sources);

/* Decodes the words of a recorded event. */
struct session_config event_config_of_words(const uint64_t words[CONFIG_WORDS]);

/* Returns why the module refuses @event on any machine. */
struct config_refusal event_refusal(const struct hwprof_event *event);

#endif /* HWPROF_EVENT_CONFIG_H */
