/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of profiles that events have: one, or several that can go together.
 * All rows of an event with several kinds belong to one session, whose totals
 * are sums over them. A set of kinds is a mask of bits 1 << enum hwprof_kind.
 */
#ifndef HWPROF_SUBJECTS_H
#define HWPROF_SUBJECTS_H

#include "base/event_config.h"

enum {
	SUBJECTS_TEXT = 128,		/* of subjects_units() */
};

/* Returns the kinds of an event with these words; 0 if it has no profile. */
unsigned int subjects_of(const uint64_t words[CONFIG_WORDS]);

static inline bool subjects_several(unsigned int subjects)
{
	return subjects & (subjects - 1);
}

/*
 * Returns true if @row is of the kind. Totals, branches and unknown rows are of
 * none.
 */
bool subject_has_row(enum hwprof_kind kind, const struct hwprof_row *row);

/*
 * Returns the unit of totals that are sums over @subjects, such as "units of
 * loops and calls", in @text of SUBJECTS_TEXT bytes; of one kind alone, @units.
 */
const char *subjects_units(unsigned int subjects, const char *units,
			   char *text);

/* Returns names, such as "loops and calls", in @text. */
const char *subjects_names(unsigned int subjects, char *text);

#endif /* HWPROF_SUBJECTS_H */
