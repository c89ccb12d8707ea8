// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "recording_facts.h"

struct session_facts *facts_session(struct recording_facts *facts,
				    uint32_t session)
{
	struct session_facts *all;
	size_t i;

	for (i = 0; i < facts->session_count; i++)
		if (facts->sessions[i].session == session)
			return &facts->sessions[i];
	all = reallocarray(facts->sessions, i + 1, sizeof(*all));
	if (!all)
		return NULL;
	facts->sessions = all;
	all[i] = (struct session_facts){ .session = session };
	facts->session_count++;
	return &all[i];
}

/* Rows come out of order: the ones with the highest counts are the totals. */
static void add_totals(struct session_facts *session,
		       const struct hwprof_sample *sample)
{
	const struct hwprof_row_totals *row = (const void *)sample->row;
	const struct hwprof_row_totals *known = &session->totals;

	if (session->has_totals &&
	    (row->events < known->events ||
	     (row->events == known->events &&
	      (row->delivered < known->delivered ||
	       (row->delivered == known->delivered &&
		row->task_ns < known->task_ns)))))
		return;
	session->totals = *row;
	session->time = sample->time;
	session->has_totals = true;
}

static void note_changes(struct session_facts *session,
			 const struct hwprof_sample *sample)
{
	const struct hwprof_row_totals *row = (const void *)sample->row;

	if (!row->changes)
		return;
	if (!session->changes || sample->time < session->first_change)
		session->first_change = sample->time;
	if (row->changes > session->changes ||
	    (row->changes == session->changes &&
	     sample->time < session->last_change))
		session->last_change = sample->time;
	if (row->changes > session->changes)
		session->changes = row->changes;
}

uint64_t facts_most(const struct recording_facts *facts, uint32_t session,
		    uint64_t units)
{
	double most = stretches_most(facts->stretches, session);
	double sum = ceil(units * most);

	return most == 1 ? units : sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX;
}

/* An unfinished recording has no totals, but its rows may have the count. */
static uint64_t evicted_of(const struct recording_facts *facts,
			   const struct session_facts *session)
{
	return facts_most(facts, session->session,
			  session->totals.evicted > session->evicted ?
			  session->totals.evicted : session->evicted);
}

uint64_t facts_evicted_of(const struct recording_facts *facts,
			      uint32_t session)
{
	size_t i;

	for (i = 0; i < facts->session_count; i++)
		if (facts->sessions[i].session == session)
			return evicted_of(facts, &facts->sessions[i]);
	return 0;
}

uint64_t facts_evicted(const struct recording_facts *facts)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < facts->session_count; i++)
		sum += evicted_of(facts, &facts->sessions[i]);
	return sum;
}

int facts_note(struct recording_facts *facts,
	       const struct hwprof_sample *sample)
{
	struct session_facts *session;

	if (!sample->row)
		return 0;
	session = facts_session(facts, sample->row->session);
	if (!session)
		return -ENOMEM;
	if (sample->row->type != HWPROF_ROW_TOTALS)
		return 0;
	add_totals(session, sample);
	note_changes(session, sample);
	return stretches_note(facts->stretches,
			      (const void *)sample->row) ?: 1;
}

/* --- weights -------------------------------------------------------------- */

void facts_date(const struct recording_facts *facts, struct row_origin *origin,
		uint64_t time)
{
	origin->stretch = stretches_at(facts->stretches, origin->session, time);
}

struct row_weight facts_weight(const struct recording_facts *facts,
			       const struct row_origin *origin, uint64_t units)
{
	return stretches_row(facts->stretches, origin->stretch, units);
}

double facts_windows(const struct recording_facts *facts, double *spread)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < facts->session_count; i++) {
		const struct session_facts *it = &facts->sessions[i];

		if (stretches_know(facts->stretches, it->session))
			sum += stretches_windows(facts->stretches, it->session,
						 spread);
		else
			sum += it->totals.windows;
	}
	return sum;
}

double facts_heaviest(const struct recording_facts *facts)
{
	double most = 1;
	size_t i;

	for (i = 0; i < facts->session_count; i++) {
		double of = stretches_most(facts->stretches,
					   facts->sessions[i].session);

		if (of > most)
			most = of;
	}
	return most;
}

void facts_distances(const struct recording_facts *facts,
		     struct hwprof_distances *sum)
{
	size_t i;

	for (i = 0; i < facts->session_count; i++) {
		uint32_t session = facts->sessions[i].session;

		stretches_tell(facts->stretches, session,
			       stretches_know(facts->stretches, session), sum);
	}
}

/* --- reading -------------------------------------------------------------- */

bool facts_elsewhere(struct recording_facts *facts, enum hwprof_kind kind,
		     const struct hwprof_sample *sample)
{
	unsigned int kinds = event_kinds_of(sample->config);

	if (!event_kinds_several(kinds))
		return false;
	facts->several |= kinds;
	if (!sample->row) {
		facts->unclear++;
		return true;
	}
	if (event_kind_has_row(kind, sample->row))
		return false;
	if (sample->rows)
		facts->elsewhere += sample->period;
	return true;
}

struct reading {
	struct recording_facts *facts;
	struct hwprof_file *file;
	const char *about;
	facts_fn take;
	void *context;
};

static int take_record(void *context, const struct record *record)
{
	struct hwprof_event event = { .user = false };
	struct reading *reading = context;
	struct hwprof_sample sample;
	int found;

	if (record->type != PERF_RECORD_SAMPLE)
		return processes_note(reading->facts->processes,
				      reading->file, record);
	found = rows_decode(reading->file, record, &sample);
	if (found <= 0)
		return found;
	memcpy(event.config, sample.config, sizeof(event.config));
	return hwprof_event_field(&event, reading->about) ?
	       reading->take(reading->context, &sample) : 0;
}

int facts_collect(struct recording_facts *facts, struct hwprof_file *file,
		  const char *about, facts_fn take, void *context)
{
	struct reading reading = { facts, file, about, take, context };
	int error = 0;

	facts->processes = processes_new();
	if (!facts->processes)
		return -ENOMEM;
	if (file->distances.count && !facts->stretches)
		facts->stretches = stretches_new(&file->distances);
	if (file->distances.count && !facts->stretches)
		return -ENOMEM;
	/* In a pipe, events come with the data. */
	if (!file->pipe)
		error = rows_expected(file);
	if (!error)
		error = records_read(file, take_record, &reading);
	if (!error)
		error = rows_expected(file);
	if (!error)
		error = processes_settle(facts->processes, UINT64_MAX);
	return error;
}

/* --- totals --------------------------------------------------------------- */

double hwprof_overhead(const struct hwprof_totals *totals)
{
	if (!totals->cost_ns || totals->task_ns <= totals->cost_ns)
		return -1;
	return (double)totals->cost_ns / (totals->task_ns - totals->cost_ns);
}

void facts_totals(const struct recording_facts *facts,
		      const struct hwprof_file *file,
		      struct hwprof_totals *totals)
{
	size_t i;

	for (i = 0; i < facts->session_count; i++) {
		const struct hwprof_row_totals *row =
			&facts->sessions[i].totals;
		uint32_t budget;

		totals->events += row->events;
		totals->lost += row->lost;
		totals->evicted += row->evicted;
		totals->gaps += row->gaps;
		totals->produced += row->produced;
		totals->delivered += row->delivered;
		totals->pending += row->pending;
		totals->windows += row->windows;
		totals->cost_ns += row->cost_ns;
		totals->task_ns += row->task_ns;
		totals->unmeasured += row->unmeasured;
		totals->lost_events += row->lost_events;
		budget = stretches_budget(facts->stretches,
					  facts->sessions[i].session) ?:
			 row->budget_permille;
		if (budget > totals->budget_permille)
			totals->budget_permille = budget;
		if (hwprof_source_name(row->source))
			totals->sources |= 1U << row->source;
	}
	totals->sessions = facts->session_count;
	totals->kinds = facts->several;
	/* perf repeats the number of lost samples as a total at the end. */
	totals->lost_records = file_lost(file);
	totals->rows = facts->rows;
	totals->samples = facts->samples;
}

void totals_add(struct hwprof_totals *to, const struct hwprof_totals *from)
{
	to->events += from->events;
	to->lost += from->lost;
	to->evicted += from->evicted;
	to->gaps += from->gaps;
	to->produced += from->produced;
	to->delivered += from->delivered;
	to->pending += from->pending;
	to->windows += from->windows;
	to->cost_ns += from->cost_ns;
	to->task_ns += from->task_ns;
	to->unmeasured += from->unmeasured;
	to->lost_events += from->lost_events;
	if (from->budget_permille > to->budget_permille)
		to->budget_permille = from->budget_permille;
	to->sources |= from->sources;
	to->kinds |= from->kinds;
	to->sessions += from->sessions;
	to->lost_records += from->lost_records;
	to->rows += from->rows;
	to->samples += from->samples;
}

static int warn_of_lost(const struct hwprof_totals *totals, const char *units,
			struct warnings *warnings)
{
	int error = 0;

	if (totals->lost)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" %s were lost: no table, cursor or ring was free",
			totals->lost, totals->produced, units);
	if (totals->evicted)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" %s were given up for want of memory: raise memory_mib, or --memory of a replay",
			totals->evicted, totals->produced, units);
	if (totals->pending)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" %s were in no row yet when the recording ended",
			totals->pending, totals->produced, units);
	if (totals->lost_records)
		error |= warnings_add(
			warnings,
			"%" PRIu64
			" records were lost: record with more ring pages (-m)",
			totals->lost_records);
	return error;
}

#define CHANGES_ADD_UP							       \
	"counts from before and after add up, however often windows and samples were taken and whatever was left out"

static int warn_of_changes(const struct recording_facts *facts,
			   const struct session_facts *session,
			   struct warnings *warnings)
{
	double first = session->first_change / 1e9;
	double last = session->last_change / 1e9;

	if (!session->changes ||
	    stretches_know(facts->stretches, session->session))
		return 0;
	if (session->changes == 1)
		return warnings_add(
			warnings,
			"parameters or the mask of session %u have changed once, by %.6f s: " CHANGES_ADD_UP,
			session->session, last);
	return warnings_add(
		warnings,
		"parameters or the mask of session %u have changed %u times, from %.6f s to %.6f s: " CHANGES_ADD_UP,
		session->session, session->changes, first, last);
}

int facts_warn(const struct recording_facts *facts,
	       const struct hwprof_totals *totals, uint64_t found,
	       const char *units, struct warnings *warnings)
{
	uint64_t account = totals->delivered + totals->lost + totals->evicted +
			   totals->pending;
	char text[EVENT_KINDS_TEXT];
	int error = 0;
	size_t i;

	for (i = 0; i < facts->session_count; i++)
		if (totals->rows && !facts->sessions[i].has_totals)
			error |= warnings_add(warnings,
					      "session %u has no totals: the recording was cut short",
					      facts->sessions[i].session);
	for (i = 0; i < facts->session_count; i++)
		error |= warn_of_changes(facts, &facts->sessions[i], warnings);
	error |= warn_of_lost(totals, units, warnings);
	if (facts->unclear)
		error |= warnings_add(warnings,
				      "%" PRIu64
				      " samples without raw data are left out: of which of %s they are is not known; record with 'perf record -R'",
				      facts->unclear,
				      event_kinds_names(facts->several, text));
	found += facts->elsewhere;
	if (totals->rows && totals->produced && found < totals->delivered)
		error |= warnings_add(warnings,
				      "rows are missing: the file has %" PRIu64
				      " of the %" PRIu64
				      " %s that were delivered",
				      found, totals->delivered, units);
	if (totals->produced != account)
		error |= warnings_add(warnings,
				      "the totals do not add up: %" PRIu64
				      " produced, %" PRIu64
				      " delivered, lost, evicted or pending",
				      totals->produced, account);
	return error;
}

void facts_free(struct recording_facts *facts)
{
	free(facts->sessions);
	metrics_free(&facts->metrics);
	stretches_free(facts->stretches);
	processes_free(facts->processes);
}
