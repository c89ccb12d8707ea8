/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a recording says besides its engines' rows: processes and what they had
 * mapped, sessions and their totals.
 */
#ifndef HWPROF_COLLECT_H
#define HWPROF_COLLECT_H

#include "file.h"
#include "metrics.h"
#include "processes.h"
#include "subjects.h"
#include "warnings.h"

struct collected_session {
	uint32_t session;
	uint64_t time;			/* of the totals */
	struct hwprof_row_totals totals;
	bool has_totals;
	uint64_t evicted;		/* the most that any row told of */
};

struct collected {
	struct collected_session *sessions;
	size_t session_count;
	uint64_t rows, samples;
	uint64_t bare_rows;		/* without raw data */
	unsigned int several;		/* subjects of events that have more than
					 * one: see subjects.h */
	uint64_t elsewhere;		/* units in these events' other rows */
	uint64_t unclear;		/* their samples that say not of what */
	uint64_t unseen;		/* paths of rows without a place */
	struct metrics metrics;		/* of contexts' rows */
	struct processes *processes;
};

/*
 * Reads all of @file: maps go into @collected, and samples of events that are
 * @about something, the field's name, to @take, which returns 0, -ENOMEM or a
 * file_fail(); as collect() does.
 */
typedef int (*collect_fn)(void *context, const struct hwprof_sample *sample);
int collect(struct collected *collected, struct hwprof_file *file,
	    const char *about, collect_fn take, void *context);

/* Notes the sample's session. 1: it was a row of its totals; 0; -ENOMEM. */
int collected_note(struct collected *collected,
		   const struct hwprof_sample *sample);
/* Is it, of an event with several subjects, not of @kind, as far as it says? */
bool collected_elsewhere(struct collected *collected, enum hwprof_kind kind,
			 const struct hwprof_sample *sample);
/* What @session gave up; 0 if it is not known. */
uint64_t collected_evicted_of(const struct collected *collected,
			      uint32_t session);
/* The same of all sessions. */
uint64_t collected_evicted(const struct collected *collected);
/* Session @session, made if need be. NULL: out of memory. */
struct collected_session *collected_session(struct collected *collected,
					    uint32_t session);
void collected_free(struct collected *collected);

void totals_add(struct hwprof_totals *to, const struct hwprof_totals *from);
/* Adds the run's totals to @totals, ... */
void collected_totals(const struct collected *collected,
		      const struct hwprof_file *file,
		      struct hwprof_totals *totals);
/* ... and says what is to be said of them, if @found @units are in the file.
 * -ENOMEM. */
int collected_warn(const struct collected *collected,
		   const struct hwprof_totals *totals, uint64_t found,
		   const char *units, struct warnings *warnings);

#endif /* HWPROF_COLLECT_H */
