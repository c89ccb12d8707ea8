// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "phase_profile.h"
#include "profile/profile.h"
#include "profile/row_thing.h"

enum { NS_OF_MS = 1000000 };

/* --- the run -------------------------------------------------------------- */

struct reading {
	struct phase_run run;
	struct recording_facts facts;
	enum hwprof_kind kind;
	uint64_t interval_ms;
	bool counts;			/* there are rows with times */
};

static void note_interval(struct reading *reading,
			  const struct hwprof_sample *sample)
{
	const struct hwprof_event event = {
		.config = {
			sample->config[0], sample->config[1],
			sample->config[2],
		},
	};
	uint64_t interval = hwprof_event_field(&event, "interval_ms");

	reading->interval_ms = interval ? interval :
					  HWPROF_DEFAULT_INTERVAL_MS;
}

static int take_count(void *context, const struct hwprof_sample *sample)
{
	struct reading *reading = context;

	if (!sample->row ||
	    facts_elsewhere(&reading->facts, reading->kind, sample))
		return 0;
	if (sample->row->type == HWPROF_ROW_TOTALS)
		return phase_run_end(&reading->run, sample->time);
	if (sample->row->type == HWPROF_ROW_TIME)
		return 0;
	reading->counts = true;
	note_interval(reading, sample);
	return phase_run_add(&reading->run, sample->time,
			     row_thing(sample->row), sample->period);
}

int phases_read(struct phases *phases, enum hwprof_kind kind,
		struct hwprof_file *file, double threshold)
{
	struct reading reading = { .kind = kind };
	int error = facts_collect(&reading.facts, file,
				  profile_kind_of(kind)->about, take_count,
				  &reading);

	*phases = (struct phases){ .intervals = NULL };
	if (!error && !reading.counts)
		error = file_fail(file, -ENOENT,
				  "has no rows of %s: phases are found by the times of rows",
				  profile_kind_of(kind)->things);
	/* Totals of several sessions, or of an exit, come close together. */
	if (!error)
		error = phases_find(phases, &reading.run,
				    reading.interval_ms * NS_OF_MS / 2,
				    threshold);
	facts_free(&reading.facts);
	phase_run_free(&reading.run);
	return error == -ENOMEM ? file_fail(file, error, "out of memory") :
				  error;
}

/* --- the profile of a phase ----------------------------------------------- */

/* The totals of a session, which its rows of totals count from its start. */
struct session {
	uint32_t number;
	struct hwprof_row_totals last, sum;	/* sum: of the phase */
};

struct part {
	const struct phases *phases;
	size_t phase;
	struct session *sessions;
	size_t count, room;
};

static struct session *session_of(struct part *part, uint32_t number)
{
	struct session *sessions;
	size_t i;

	for (i = 0; i < part->count; i++)
		if (part->sessions[i].number == number)
			return &part->sessions[i];
	sessions = array_grow(part->sessions, &part->room, part->count + 1,
			      sizeof(*sessions));
	if (!sessions)
		return NULL;
	part->sessions = sessions;
	memset(&sessions[part->count], 0, sizeof(*sessions));
	sessions[part->count].number = number;
	return &sessions[part->count++];
}

/* Adds the increase of totals from @last to @now. */
static void add_increase(struct hwprof_row_totals *sum,
			 const struct hwprof_row_totals *last,
			 const struct hwprof_row_totals *now)
{
	int i;

	sum->delivered += now->delivered - last->delivered;
	sum->lost += now->lost - last->lost;
	sum->evicted += now->evicted - last->evicted;
	sum->events += now->events - last->events;
	sum->gaps += now->gaps - last->gaps;
	sum->lost_events += now->lost_events - last->lost_events;
	sum->windows += now->windows - last->windows;
	sum->cost_ns += now->cost_ns - last->cost_ns;
	sum->task_ns += now->task_ns - last->task_ns;
	sum->unmeasured += now->unmeasured - last->unmeasured;
	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		sum->metrics[i] += now->metrics[i] - last->metrics[i];
	/* Units belong to the phase whose rows have them. */
	sum->produced = sum->delivered + sum->lost + sum->evicted;
}

/* Gives the profile the totals of the phase in place of those of the run. */
static int take_totals(struct part *part, struct hwprof_profile *profile,
		       const struct hwprof_sample *sample, bool wanted)
{
	const struct hwprof_row_totals *now = (const void *)sample->row;
	struct session *session = session_of(part, now->row.session);
	struct hwprof_row_totals row = *now;
	struct hwprof_sample copy = *sample;

	if (!session)
		return -ENOMEM;
	if (wanted) {
		add_increase(&session->sum, &session->last, now);
		row = session->sum;
		row.row = now->row;
		row.memory = now->memory;
		row.basis = now->basis;
		row.source = now->source;
		row.budget_permille = now->budget_permille;
		row.changes = profile->facts.stretches ? now->changes : 0;
	}
	session->last = *now;
	copy.row = &row.row;
	return wanted ? profile_take(profile, &copy) : 0;
}

static int take_part(void *context, struct hwprof_profile *profile,
		     const struct hwprof_sample *sample)
{
	struct part *part = context;
	bool wanted = phases_at(part->phases, sample->time) == part->phase;

	if (sample->row && sample->row->type == HWPROF_ROW_TOTALS)
		return take_totals(part, profile, sample, wanted);
	return wanted ? profile_take(profile, sample) : 0;
}

int phase_profile_read(struct hwprof_profile **profile, enum hwprof_kind kind,
		       struct hwprof_file *file,
		       const struct hwprof_options *options,
		       const struct phases *phases, size_t phase)
{
	struct part part = { .phases = phases, .phase = phase };
	int error = profile_read_part(profile, profile_kind_of(kind), file,
				      options, take_part, &part);

	free(part.sessions);
	return error;
}
