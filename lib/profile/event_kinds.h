/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of profiles that events have: one, or several that can go together.
 * All rows of an event with several kinds belong to one session, whose totals
 * are sums over them. A set of kinds is a mask of bits 1 << enum hwprof_kind.
 */
#ifndef HWPROF_EVENT_KINDS_H
#define HWPROF_EVENT_KINDS_H

#include "base/event_config.h"

enum {
	EVENT_KINDS_TEXT = 128,		/* of event_kinds_units() */
};

/* Returns the kinds of an event with these words; 0 if it has no profile. */
unsigned int event_kinds_of(const uint64_t words[CONFIG_WORDS]);

static inline bool event_kinds_several(unsigned int kinds)
{
	return kinds & (kinds - 1);
}

/*
 * Returns true if @row is of the kind. Totals, branches and unknown rows are of
 * none.
 */
bool event_kind_has_row(enum hwprof_kind kind, const struct hwprof_row *row);

/*
 * Returns the unit of totals that are sums over @kinds, such as "units of loops
 * and calls", in @text of EVENT_KINDS_TEXT bytes. For one kind, returns @units.
 */
const char *event_kinds_units(unsigned int kinds, const char *units,
			      char *text);

/* Returns names, such as "loops and calls", in @text. */
const char *event_kinds_names(unsigned int kinds, char *text);

#endif /* HWPROF_EVENT_KINDS_H */
