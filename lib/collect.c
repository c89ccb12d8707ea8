// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "loops.h"

static int compare_loops(const void *a, const void *b)
{
	const struct collected_loop *x = a, *y = b;
	int order = compare_u64(x->head, y->head);

	if (!order)
		order = compare_u64(x->session, y->session);
	if (!order)
		order = compare_u64(x->space, y->space);
	/* Space 0 is of no process in particular, so the pid counts too. */
	if (!order)
		order = compare_u64(x->pid, y->pid);
	/* Samples and rows of one run count the same things: not to be added. */
	return order ? order : !!x->basis - !!y->basis;
}

static struct collected_loop *get_loop(struct collected *collected,
				       const struct collected_loop *key)
{
	struct collected_loop **found, *loop;

	found = tfind(key, &collected->loops, compare_loops);
	if (found)
		return *found;
	loop = malloc(sizeof(*loop));
	if (!loop)
		return NULL;
	*loop = *key;
	if (!tsearch(loop, &collected->loops, compare_loops)) {
		free(loop);
		return NULL;
	}
	collected->loop_count++;
	return loop;
}

void collected_add(struct collected_loop *to, const struct collected_loop *from)
{
	unsigned int i;

	if (from->tail - from->head > to->tail - to->head)
		to->tail = to->head + (from->tail - from->head);
	to->back_edges += from->back_edges;
	to->entries += from->entries;
	to->executions += from->executions;
	to->unclosed += from->unclosed;
	if (from->trip_min && (!to->trip_min || from->trip_min < to->trip_min))
		to->trip_min = from->trip_min;
	if (from->trip_max > to->trip_max)
		to->trip_max = from->trip_max;
	if (from->trip_recent && (from->last >= to->last || !to->trip_recent))
		to->trip_recent = from->trip_recent;
	if (from->first < to->first)
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
	/* The weaker statement holds for the sum. */
	if (from->basis > to->basis)
		to->basis = from->basis;
	to->sum_back_sq += from->sum_back_sq;
	to->sum_entry_sq += from->sum_entry_sq;
	to->sum_cross += from->sum_cross;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		to->trips[i] += from->trips[i];
}

struct collected_loop collected_loop_of(const struct hwprof_row_loop *row,
					uint64_t time)
{
	struct collected_loop loop = {
		.session = row->row.session,
		.space = row->row.space,
		.pid = row->row.pid,
		.head = row->head,
		.tail = row->tail,
		.first = time,
		.last = time,
		.back_edges = row->back_edges,
		.entries = row->entries,
		.executions = row->executions,
		.unclosed = row->unclosed,
		.trip_min = row->trip_min,
		.trip_max = row->trip_max,
		.trip_recent = row->trip_recent,
		.basis = row->basis,
		.sum_back_sq = row->sum_back_sq,
		.sum_entry_sq = row->sum_entry_sq,
		.sum_cross = row->sum_cross,
	};
	unsigned int i;

	if (!loop.basis || loop.basis > HWPROF_BASIS_TIME)
		loop.basis = HWPROF_BASIS_TIME;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		loop.trips[i] = row->trips[i];
	return loop;
}

static int add_loop(struct collected *collected,
		    const struct collected_loop *from, uint64_t tolerance)
{
	struct collected_loop empty = {
		.session = from->session,
		.space = from->space,
		.pid = from->pid,
		.head = from->head,
		.tail = from->head,
		.first = UINT64_MAX,
		.basis = from->basis,
	};
	struct collected_loop *loop = get_loop(collected, &empty);

	if (!loop)
		return -ENOMEM;
	collected_add(loop, from);
	if (tolerance > loop->tolerance)
		loop->tolerance = tolerance;
	return 0;
}

int collected_add_row(struct collected *collected,
		      const struct hwprof_row_loop *row, uint64_t time)
{
	struct collected_loop loop = collected_loop_of(row, time);

	collected->rows++;
	return add_loop(collected, &loop, row->tolerance);
}

static int add_loop_row(struct collected *collected, struct hwprof_file *file,
			const struct hwprof_sample *sample)
{
	const struct hwprof_row_loop *row = (const void *)sample->row;

	if (row->tail < row->head)
		return file_damaged(file, sample->offset,
				    "a loop ends at 0x%llx, before its head 0x%llx",
				    row->tail, row->head);
	if (collected_add_row(collected, row, sample->time))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

/*
 * A sample says that some loop went round, and its period how often; the rest
 * has to be left open. Without the raw data, ip is the head and addr the
 * branch back.
 */
static int add_sample(struct collected *collected, struct hwprof_file *file,
		      const struct hwprof_sample *sample)
{
	const struct hwprof_row_loop *row = (const void *)sample->row;
	struct collected_loop loop = {
		.pid = sample->pid,
		.head = sample->ip,
		.tail = sample->addr > sample->ip ? sample->addr : sample->ip,
		.first = sample->time,
		.last = sample->time,
		.back_edges = sample->period,
	};

	if (row && row->row.type == HWPROF_ROW_LOOP && row->tail >= row->head) {
		loop.session = row->row.session;
		loop.space = row->row.space;
		loop.pid = row->row.pid;
		loop.head = row->head;
		loop.tail = row->tail;
	}
	collected->samples++;
	if (add_loop(collected, &loop, 0))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

struct collected_session *collected_session(struct collected *collected,
					    uint32_t session)
{
	struct collected_session *all;
	size_t i;

	for (i = 0; i < collected->session_count; i++)
		if (collected->sessions[i].session == session)
			return &collected->sessions[i];
	all = reallocarray(collected->sessions, i + 1, sizeof(*all));
	if (!all)
		return NULL;
	collected->sessions = all;
	all[i] = (struct collected_session){ .session = session };
	collected->session_count++;
	return &all[i];
}

/* Rows come out of order: the run's totals are the ones that saw most. */
static void add_totals(struct collected_session *session,
		       const struct hwprof_sample *sample)
{
	const struct hwprof_row_totals *row = (const void *)sample->row;
	const struct hwprof_row_totals *known = &session->totals;

	if (session->has_totals &&
	    (row->events < known->events ||
	     (row->events == known->events && row->delivered < known->delivered)))
		return;
	session->totals = *row;
	session->time = sample->time;
	session->has_totals = true;
}

struct reading {
	struct collected *collected;
	struct hwprof_file *file;
	const char *about;
	collect_take take;
	void *context;
};

static bool is_about(const struct hwprof_sample *sample, const char *field)
{
	struct hwprof_event event = { .config = { sample->config[0] } };

	return hwprof_event_field(&event, field);
}

static int take_sample(struct reading *reading,
		       const struct hwprof_sample *sample)
{
	struct collected_session *session;

	if (!is_about(sample, reading->about) ||
	    (reading->collected->skips &&
	     reading->collected->skips(reading->context, sample)))
		return 0;
	if (sample->row) {
		session = collected_session(reading->collected,
					    sample->row->session);
		if (!session)
			return file_fail(reading->file, -ENOMEM,
					 "out of memory");
		if (sample->row->type == HWPROF_ROW_TOTALS) {
			add_totals(session, sample);
			return 0;
		}
	}
	return reading->take(reading->context, reading->file, sample);
}

static int take_record(void *context, const struct record *record)
{
	struct reading *reading = context;
	struct hwprof_sample sample;
	int found;

	if (record->type != PERF_RECORD_SAMPLE)
		return processes_note(reading->collected->processes,
				      reading->file, record);
	found = rows_decode(reading->file, record, &sample);
	if (found <= 0)
		return found;
	return take_sample(reading, &sample);
}

int collect_samples(struct collected *collected, struct hwprof_file *file,
		    const char *about, collect_take take, void *context)
{
	struct reading reading = { collected, file, about, take, context };
	int error = 0;

	collected->processes = processes_new();
	if (!collected->processes)
		return file_fail(file, -ENOMEM, "out of memory");
	/* A pipe's events come with its data. */
	if (!file->pipe)
		error = rows_expected(file);
	if (!error)
		error = records_read(file, take_record, &reading);
	if (!error)
		error = rows_expected(file);
	if (!error && processes_settle(collected->processes, UINT64_MAX))
		error = file_fail(file, -ENOMEM, "out of memory");
	return error;
}

static int take_loop(void *context, struct hwprof_file *file,
		     const struct hwprof_sample *sample)
{
	struct collected *collected = context;

	/* perf record without -R: the sample around a row is all there is. */
	if (sample->rows && !sample->row) {
		collected->bare_rows++;
		return sample->period ? add_sample(collected, file, sample) : 0;
	}
	if (!sample->rows)
		return add_sample(collected, file, sample);
	if (sample->row->type == HWPROF_ROW_LOOP)
		return add_loop_row(collected, file, sample);
	if (sample->row->type == HWPROF_ROW_TIME &&
	    collected_add_time(collected, (const void *)sample->row,
			       sample->time))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

int collect(struct collected *collected, struct hwprof_file *file)
{
	return collect_samples(collected, file, "loops", take_loop, collected);
}

/* --- totals ----------------------------------------------------------------- */

void collected_totals(const struct collected *collected,
		      const struct hwprof_file *file,
		      struct hwprof_totals *totals)
{
	size_t i;

	for (i = 0; i < collected->session_count; i++) {
		const struct hwprof_row_totals *row =
			&collected->sessions[i].totals;

		totals->events += row->events;
		totals->lost += row->lost;
		totals->evicted += row->evicted;
		totals->gaps += row->gaps;
		totals->produced += row->produced;
		totals->delivered += row->delivered;
		totals->pending += row->pending;
		totals->windows += row->windows;
		if (hwprof_source_name(row->source))
			totals->sources |= 1U << row->source;
	}
	totals->sessions = collected->session_count;
	/* perf says what was lost a second time, at the end and in all. */
	totals->lost_records = file->lost > file->lost_samples ?
			       file->lost : file->lost_samples;
	totals->rows = collected->rows;
	totals->samples = collected->samples;
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
	to->sources |= from->sources;
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
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " %s were lost: no table, cursor or ring was free",
				      totals->lost, totals->produced, units);
	if (totals->evicted)
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " %s were given up for want of memory: raise memory_mib, or --memory of a replay",
				      totals->evicted, totals->produced, units);
	if (totals->pending)
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " %s were in no row yet when the recording ended",
				      totals->pending, totals->produced, units);
	if (totals->lost_records)
		error |= warnings_add(warnings, "%" PRIu64 " records were lost: record with more ring pages (-m)",
				      totals->lost_records);
	return error;
}

int collected_warn(const struct collected *collected,
		   const struct hwprof_totals *totals, uint64_t found,
		   const char *units, struct warnings *warnings)
{
	uint64_t account = totals->delivered + totals->lost + totals->evicted +
			   totals->pending;
	int error = 0;
	size_t i;

	for (i = 0; i < collected->session_count; i++)
		if (totals->rows && !collected->sessions[i].has_totals)
			error |= warnings_add(warnings, "session %u has no totals: the recording was cut short",
					      collected->sessions[i].session);
	error |= warn_of_lost(totals, units, warnings);
	if (totals->rows && totals->produced && found < totals->delivered)
		error |= warnings_add(warnings, "rows are missing: the file has %" PRIu64 " of the %" PRIu64 " %s that were delivered",
				      found, totals->delivered, units);
	if (totals->produced != account)
		error |= warnings_add(warnings, "the totals do not add up: %" PRIu64 " produced, %" PRIu64 " delivered, lost, evicted or pending",
				      totals->produced, account);
	return error;
}

void collected_free(struct collected *collected)
{
	tdestroy(collected->loops, free);
	tdestroy(collected->times, free);
	free(collected->sessions);
	processes_free(collected->processes);
}
