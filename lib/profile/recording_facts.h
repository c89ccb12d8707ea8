/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything in a recording besides the rows of its engines: processes and
 * their maps, sessions and their totals.
 */
#ifndef HWPROF_RECORDING_FACTS_H
#define HWPROF_RECORDING_FACTS_H

#include "perfdata/file.h"
#include "perfdata/metrics.h"
#include "code/processes.h"
#include "event_kinds.h"
#include "stretches.h"
#include "base/row_origin.h"
#include "base/warnings.h"

struct session_facts {
	uint32_t session;
	uint64_t time;			/* of the row of totals */
	struct hwprof_row_totals totals;
	bool has_totals;
	/*
	 * How often its parameters or mask have changed, and the times of the
	 * first totals after the first and the last change.
	 */
	uint32_t changes;
	uint64_t first_change, last_change;
	uint64_t evicted;		/* highest count that a row reports */
};

struct recording_facts {
	struct session_facts *sessions;
	size_t session_count;
	uint64_t rows, samples;
	uint64_t bare_rows;		/* without raw data */
	unsigned int several;		/* kinds of events that have several;
					 * see event_kinds.h */
	uint64_t elsewhere;		/* units in other kinds' rows of these
					 * events */
	uint64_t unclear;		/* samples of these events that do not
					 * tell their kind */
	uint64_t unseen;		/* paths of rows without a place */
	struct metrics metrics;		/* of rows of contexts */
	struct stretches *stretches;	/* NULL: rows have no weights */
	struct processes *processes;
};

/*
 * Reads all of @file: notes maps in @facts, and passes the samples of
 * hwprof events with the field @about to @take. Returns 0, -ENOMEM, or what
 * @take or file_fail() returned.
 */
typedef int (*facts_fn)(void *context, const struct hwprof_sample *sample);
int facts_collect(struct recording_facts *facts, struct hwprof_file *file,
		  const char *about, facts_fn take, void *context);

/*
 * Notes the session of a sample. Returns 1 if it was a row of totals, 0 if not,
 * or -ENOMEM.
 */
int facts_note(struct recording_facts *facts,
	       const struct hwprof_sample *sample);
/*
 * Returns true if the event has several kinds of profiles, and the sample is
 * known to be of another than @kind.
 */
bool facts_elsewhere(struct recording_facts *facts, enum hwprof_kind kind,
		     const struct hwprof_sample *sample);
/*
 * Returns the number of units that @session evicted, times the largest weight
 * of its rows, because it is not known when they were; 0 if unknown.
 */
uint64_t facts_evicted_of(const struct recording_facts *facts,
			  uint32_t session);
/* Returns the same of all sessions. */
uint64_t facts_evicted(const struct recording_facts *facts);
/* Finds or adds a session; NULL if out of memory. */
struct session_facts *facts_session(struct recording_facts *facts,
				    uint32_t session);
void facts_free(struct recording_facts *facts);

/* Sets the stretch of a row of that time. */
void facts_date(const struct recording_facts *facts, struct row_origin *origin,
		uint64_t time);
/*
 * Returns the weight of the row, which has @units. stretches_weigh() comes
 * first.
 */
struct row_weight facts_weight(const struct recording_facts *facts,
			       const struct row_origin *origin, uint64_t units);
/* Returns an upper bound of @units of the session, as if weighed. */
uint64_t facts_most(const struct recording_facts *facts, uint32_t session,
		    uint64_t units);
/* Returns all windows, weighed, and adds to *@spread as stretches_windows(). */
double facts_windows(const struct recording_facts *facts, double *spread);
/* Returns the largest weight of a row. */
double facts_heaviest(const struct recording_facts *facts);
/* Adds how distances changed to @sum. */
void facts_distances(const struct recording_facts *facts,
		     struct hwprof_distances *sum);

void totals_add(struct hwprof_totals *to, const struct hwprof_totals *from);
/* Adds the totals of the run to @totals. */
void facts_totals(const struct recording_facts *facts,
		      const struct hwprof_file *file,
		      struct hwprof_totals *totals);
/*
 * Adds warnings about the recording, in which @found @units were found. Returns
 * 0 or -ENOMEM.
 */
int facts_warn(const struct recording_facts *facts,
	       const struct hwprof_totals *totals, uint64_t found,
	       const char *units, struct warnings *warnings);

#endif /* HWPROF_RECORDING_FACTS_H */
