/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything in a recording besides the rows of its engines: processes and
 * their maps, sessions and their totals.
 */
#ifndef HWPROF_COLLECT_H
#define HWPROF_COLLECT_H

#include "perfdata/file.h"
#include "perfdata/metrics.h"
#include "code/processes.h"
#include "subjects.h"
#include "base/warnings.h"

struct collected_session {
	uint32_t session;
	uint64_t time;			/* of the row of totals */
	struct hwprof_row_totals totals;
	bool has_totals;
	uint64_t evicted;		/* highest count that a row reports */
};

struct collected {
	struct collected_session *sessions;
	size_t session_count;
	uint64_t rows, samples;
	uint64_t bare_rows;		/* without raw data */
	unsigned int several;		/* kinds of events that have several;
					 * see subjects.h */
	uint64_t elsewhere;		/* units in other kinds' rows of these
					 * events */
	uint64_t unclear;		/* samples of these events that do not
					 * tell their kind */
	uint64_t unseen;		/* paths of rows without a place */
	struct metrics metrics;		/* of rows of contexts */
	struct processes *processes;
};

/*
 * Reads all of @file: notes maps in @collected, and passes the samples of
 * hwprof events with the field @about to @take. Returns 0, -ENOMEM, or what
 * @take or file_fail() returned.
 */
typedef int (*collect_fn)(void *context, const struct hwprof_sample *sample);
int collect(struct collected *collected, struct hwprof_file *file,
	    const char *about, collect_fn take, void *context);

/*
 * Notes the session of a sample. Returns 1 if it was a row of totals, 0 if not,
 * or -ENOMEM.
 */
int collected_note(struct collected *collected,
		   const struct hwprof_sample *sample);
/*
 * Returns true if the event has several kinds of profiles, and the sample is
 * known to be of another than @kind.
 */
bool collected_elsewhere(struct collected *collected, enum hwprof_kind kind,
			 const struct hwprof_sample *sample);
/* Returns the number of units that @session evicted; 0 if unknown. */
uint64_t collected_evicted_of(const struct collected *collected,
			      uint32_t session);
/* Returns the number of units that all sessions evicted. */
uint64_t collected_evicted(const struct collected *collected);
/* Finds or adds a session; NULL if out of memory. */
struct collected_session *collected_session(struct collected *collected,
					    uint32_t session);
void collected_free(struct collected *collected);

void totals_add(struct hwprof_totals *to, const struct hwprof_totals *from);
/* Adds the totals of the run to @totals. */
void collected_totals(const struct collected *collected,
		      const struct hwprof_file *file,
		      struct hwprof_totals *totals);
/*
 * Adds warnings about the recording, in which @found @units were found. Returns
 * 0 or -ENOMEM.
 */
int collected_warn(const struct collected *collected,
		   const struct hwprof_totals *totals, uint64_t found,
		   const char *units, struct warnings *warnings);

#endif /* HWPROF_COLLECT_H */
