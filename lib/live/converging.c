// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "convergence.h"
#include "converging.h"
#include "perfdata/file.h"

enum { RECORD_MAX = 1 << 16 };		/* a header's size is a u16 */

/* A session that has rows. */
struct session {
	uint32_t number;
	struct convergence *convergence;	/* NULL: it does not converge */
	uint32_t changes;		/* how often it has changed */
	struct hwprof_row_totals totals;	/* the last ones */
	bool has_totals;		/* they are not judged yet */
};

struct converging {
	struct hwprof_converge options;
	bool filtered;
	int device;
	struct hwprof_file *file;	/* the events, and the distances */
	uint8_t *record;		/* the start of a record that is cut */
	size_t record_size;		/* bytes of that start */
	bool damaged;			/* skip the rest of the rings */
	int error;			/* -ENOMEM, for the next step */
	struct session *sessions;
	size_t count, room;
	char warning[256];
};

static int add_events(struct converging *it, const struct writer_event *kinds,
		      size_t count)
{
	int error = 0;
	size_t i;

	it->file = file_new(-1, "events");
	it->record = malloc(RECORD_MAX);
	if (!it->file || !it->record)
		return -ENOMEM;
	for (i = 0; i < count && !error; i++)
		error = file_add_event(it->file, &kinds[i].attr,
				       reader_of(kinds[i].ids,
						 kinds[i].id_count *
						 sizeof(*kinds[i].ids)));
	return error;
}

struct converging *converging_new(const struct hwprof_converge *options,
				  const struct writer_event *kinds,
				  size_t count, bool filtered, int device)
{
	struct converging *it = calloc(1, sizeof(*it));

	if (!it) {
		close(device);
		return NULL;
	}
	it->options = *options;
	it->filtered = filtered;
	it->device = device;
	if (!add_events(it, kinds, count))
		return it;
	converging_close(it);
	return NULL;
}

void converging_close(struct converging *it)
{
	if (!it)
		return;
	while (it->count)
		convergence_free(it->sessions[--it->count].convergence);
	free(it->sessions);
	free(it->record);
	hwprof_file_close(it->file);
	close(it->device);
	free(it);
}

/* --- sessions ------------------------------------------------------------- */

/* Says once why a session does not converge. */
static void warn(struct converging *it, uint32_t session, const char *why)
{
	if (!*it->warning)
		snprintf(it->warning, sizeof(it->warning),
			 "session %u converges no more: %s", session, why);
}

/* Asks, or changes. Returns 0 or a negative errno. */
static int tune(const struct converging *it, uint32_t session,
		struct hwprof_tuning *tuning)
{
	tuning->size = sizeof(*tuning);
	tuning->session = session;
	return ioctl(it->device, HWPROF_IOC_TUNE, tuning) ? -errno : 0;
}

/* Adds the distance that the session has now. Returns as distances_add(). */
static int add_distance(struct converging *it,
			const struct hwprof_tuning *tuning, uint64_t begin)
{
	const struct distance distance =
		convergence_distance(tuning, it->filtered, begin);

	return distances_add(&it->file->distances, &distance);
}

/*
 * Begins with a session as it is. One that is over already, or that somebody
 * else has changed, does not converge.
 */
static int begin_session(struct converging *it, struct session *session)
{
	struct hwprof_tuning asked = { .flags = 0 };
	int error = tune(it, session->number, &asked);

	if (error) {
		if (error != -ENOENT)
			warn(it, session->number, strerror(-error));
		return 0;
	}
	if (asked.changes) {
		warn(it, session->number, "its parameters or its mask have changed");
		return 0;
	}
	if (!asked.period && !asked.budget_permille) {
		warn(it, session->number,
		     "it has neither a period, a frequency nor a budget");
		return 0;
	}
	error = add_distance(it, &asked, 0);
	if (error)
		return error == -ENOMEM ? error : 0;
	session->convergence = convergence_new(&it->options, &asked);
	return session->convergence ? 0 : -ENOMEM;
}

/* Finds or makes a session. Returns NULL if out of memory. */
static struct session *session_of(struct converging *it, uint32_t number)
{
	struct session *all;
	size_t i;

	for (i = it->count; i--;)
		if (it->sessions[i].number == number)
			return &it->sessions[i];
	all = array_grow(it->sessions, &it->room, it->count + 1, sizeof(*all));
	if (!all)
		return NULL;
	it->sessions = all;
	all[it->count] = (struct session){ .number = number };
	if (begin_session(it, &all[it->count]))
		return NULL;
	return &all[it->count++];
}

static void end_session(struct session *session)
{
	convergence_free(session->convergence);
	session->convergence = NULL;
}

/* --- rows ----------------------------------------------------------------- */

static void take_totals(struct converging *it, struct session *session,
			const struct hwprof_row_totals *row, uint64_t time)
{
	if (row->changes > session->changes) {
		warn(it, session->number,
		     "somebody else has changed its parameters or its mask");
		end_session(session);
		return;
	}
	distances_date(&it->file->distances, session->number, row->changes,
		       time);
	session->totals = *row;
	session->has_totals = true;
}

static int take_row(struct converging *it, const struct hwprof_row *row,
		    uint64_t time)
{
	struct session *session = session_of(it, row->session);

	if (!session)
		return -ENOMEM;
	if (!session->convergence)
		return 0;
	if (row->type != HWPROF_ROW_TOTALS)
		return convergence_row(session->convergence, row);
	take_totals(it, session, (const void *)row, time);
	return 0;
}

/* Skips samples that cannot be parsed, of which the file's reader tells. */
static int take_sample(void *context, const struct record *record)
{
	struct converging *it = context;
	const struct hwprof_row *row;
	struct sample sample;

	if (record->type != PERF_RECORD_SAMPLE || !record->event ||
	    sample_parse(it->file, record, &sample) ||
	    !reader_left(&sample.raw) ||
	    row_copy(it->file, 0, sample.raw, &row))
		return 0;
	return take_row(it, row, record->time);
}

static int take_record(struct converging *it)
{
	const struct perf_event_header *header = (void *)it->record;
	struct byte_reader body = reader_of(it->record, header->size);
	int error;

	reader_skip(&body, sizeof(*header));
	error = record_deliver(it->file, header, body, 0, take_sample, it);
	return error == -ENOMEM ? error : 0;
}

void converging_begin(struct converging *it)
{
	it->record_size = 0;
	it->damaged = false;
}

/* Returns how many bytes the record lacks, as far as is known. */
static size_t missing(const struct converging *it)
{
	const struct perf_event_header *header = (void *)it->record;

	return (it->record_size < sizeof(*header) ? sizeof(*header) :
						     header->size) -
	       it->record_size;
}

void converging_take(struct converging *it, const void *bytes, size_t size)
{
	const struct perf_event_header *header = (void *)it->record;
	struct byte_reader left = reader_of(bytes, size);

	while (reader_left(&left) && !it->error && !it->damaged) {
		size_t part = missing(it);

		if (part > reader_left(&left))
			part = reader_left(&left);
		reader_copy(&left, it->record + it->record_size, part);
		it->record_size += part;
		if (it->record_size < sizeof(*header))
			break;
		it->damaged = header->size < sizeof(*header);
		if (it->damaged || missing(it))
			continue;
		it->error = take_record(it);
		it->record_size = 0;
	}
}

/* --- changes -------------------------------------------------------------- */

/* Returns 0, -EAGAIN if it can be tried again, or another negative errno. */
static int change_session(struct converging *it, struct session *session,
			  struct hwprof_tuning *change)
{
	int error = tune(it, session->number, change);

	if (error == -EINTR)
		return -EAGAIN;
	if (error)
		return error;
	if (change->changes != session->changes + 1)
		return -EBUSY;
	error = add_distance(it, change, DISTANCE_NEVER);
	if (error)
		return error;
	session->changes = change->changes;
	convergence_changed(session->convergence);
	return 0;
}

static int step_session(struct converging *it, struct session *session)
{
	struct hwprof_tuning change;
	int error;

	if (!session->convergence || !session->has_totals)
		return 0;
	session->has_totals = false;
	if (!convergence_totals(session->convergence, &session->totals,
				&change))
		return 0;
	if (distances_full(&it->file->distances)) {
		warn(it, session->number, "there were too many changes");
		end_session(session);
		return 0;
	}
	error = change_session(it, session, &change);
	if (!error || error == -EAGAIN)
		return 0;
	/* ENOENT: it is over. */
	if (error == -EBUSY)
		warn(it, session->number,
		     "somebody else has changed its parameters or its mask");
	else if (error != -ENOENT)
		warn(it, session->number, strerror(-error));
	end_session(session);
	return error == -ENOMEM ? error : 0;
}

int converging_step(struct converging *it)
{
	size_t i;

	for (i = 0; i < it->count && !it->error; i++)
		it->error = step_session(it, &it->sessions[i]);
	return it->error;
}

const struct distances *converging_distances(const struct converging *it)
{
	return &it->file->distances;
}

const char *converging_warning(const struct converging *it)
{
	return *it->warning ? it->warning : NULL;
}
