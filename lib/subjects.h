/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What events are about: one thing, or several of those that can be together. Of
 * an event with several, rows of all these are of one session, and its totals are
 * sums over them. A set of kinds is a mask of bits 1 << enum hwprof_kind.
 */
#ifndef HWPROF_SUBJECTS_H
#define HWPROF_SUBJECTS_H

#include "hwprof.h"

enum {
	SUBJECTS_TEXT = 128,		/* of subjects_units() */
};

/* What an event with this @config has profiles of; 0: it has none. */
unsigned int subjects_of(uint64_t config);

/* All that an event may have beside others. */
unsigned int subjects_together(void);

static inline bool subjects_several(unsigned int subjects)
{
	return subjects & (subjects - 1);
}

/* Is @row of the kind? Of totals, branches and what is unknown, it is not. */
bool subject_has_row(enum hwprof_kind kind, const struct hwprof_row *row);

/*
 * What totals that are sums over @subjects count, "units of loops and calls", in
 * @text of SUBJECTS_TEXT bytes; of one alone, @units.
 */
const char *subjects_units(unsigned int subjects, const char *units,
			   char *text);

/* "loops and calls", the same. */
const char *subjects_names(unsigned int subjects, char *text);

#endif /* HWPROF_SUBJECTS_H */
