// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads hwprof's samples and the rows in them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "perfdata/file.h"
#include "event_kinds.h"

static size_t least_size(unsigned int type)
{
	switch (type) {
	case HWPROF_ROW_TOTALS:
		return offsetof(struct hwprof_row_totals, cost_ns);
	case HWPROF_ROW_BRANCHES:
		return sizeof(struct hwprof_row_branches);
	case HWPROF_ROW_LOOP:
		return sizeof(struct hwprof_row_loop);
	case HWPROF_ROW_RANGE:
		return sizeof(struct hwprof_row_range);
	case HWPROF_ROW_CONTEXT:
		return HWPROF_ROW_CONTEXT_SIZE_VER0;
	case HWPROF_ROW_TIME:
		return sizeof(struct hwprof_row_time);
	case HWPROF_ROW_CALL:
		return sizeof(struct hwprof_row_call);
	case HWPROF_ROW_PATH:
		return sizeof(struct hwprof_row_path);
	case HWPROF_ROW_VALUE:
		return sizeof(struct hwprof_row_value);
	case HWPROF_ROW_BOX:
		return sizeof(struct hwprof_row_box);
	case HWPROF_ROW_EDGE:
		return sizeof(struct hwprof_row_edge);
	}
	return sizeof(struct hwprof_row);
}

static int check_branches(struct hwprof_file *file, uint64_t offset,
			  const struct hwprof_row *row)
{
	const struct hwprof_row_branches *branches = (const void *)row;
	size_t room = (row->size - sizeof(*branches)) /
		      sizeof(branches->branches[0]);

	if (branches->count <= room)
		return 0;
	return file_damaged(file, offset,
			    "a row of %u bytes is said to have %u branches",
			    row->size, branches->count);
}

static int check_path(struct hwprof_file *file, uint64_t offset,
		      const struct hwprof_row *row)
{
	const struct hwprof_row_path *path = (const void *)row;
	size_t context = path->flags & HWPROF_PATH_IN_CONTEXT ?
			 sizeof(uint64_t) : 0;
	size_t room = row->size - sizeof(*path);

	if (context <= room &&
	    path->spelled <= (room - context) / sizeof(path->jumps[0]) &&
	    path->spelled <= path->length)
		return 0;
	return file_damaged(
		file, offset,
		"a row of %u bytes is said to have %u of a path's %u jumps%s",
		row->size, path->spelled, path->length,
		context ? ", and its context" : "");
}

static int check_context(struct hwprof_file *file, uint64_t offset,
			 const struct hwprof_row *row)
{
	const struct hwprof_row_context *context = (const void *)row;

	if (context->metric_count <= HWPROF_METRICS_MAX)
		return 0;
	return file_damaged(
		file, offset,
		"a context is said to have %u metrics: up to %d are possible",
		context->metric_count, HWPROF_METRICS_MAX);
}

/* Copies the row out of @raw, which is aligned only to 4 bytes. */
int row_copy(struct hwprof_file *file, uint64_t offset, struct byte_reader raw,
	     const struct hwprof_row **row)
{
	struct hwprof_row head;
	struct byte_reader at = raw;

	if (!reader_copy(&at, &head, sizeof(head)))
		return file_damaged(file, offset,
				    "a row has %zu bytes: %zu is the least",
				    reader_left(&raw), sizeof(head));
	if (head.size > reader_left(&raw) || head.size < least_size(head.type))
		return file_damaged(file, offset,
				    "a row of type %u is said to have %u bytes: %zu to %zu are possible",
				    head.type, head.size, least_size(head.type),
				    reader_left(&raw));
	memset(file->row, 0, sizeof(struct hwprof_row_totals));
	memcpy(file->row, raw.at, head.size);	/* older rows may be shorter */
	*row = (const void *)file->row;
	if (head.type == HWPROF_ROW_BRANCHES)
		return check_branches(file, offset, *row);
	if (head.type == HWPROF_ROW_PATH)
		return check_path(file, offset, *row);
	if (head.type == HWPROF_ROW_CONTEXT)
		return check_context(file, offset, *row);
	return 0;
}

static void set_place(struct hwprof_sample *sample, uint64_t ip, uint64_t addr,
		      uint64_t period)
{
	sample->ip = ip;
	sample->addr = addr;
	sample->period = period;
}

void row_describe(struct hwprof_sample *sample)
{
	const union {
		struct hwprof_row row;
		struct hwprof_row_loop loop;
		struct hwprof_row_range range;
		struct hwprof_row_call call;
		struct hwprof_row_context context;
		struct hwprof_row_path path;
		struct hwprof_row_value value;
		struct hwprof_row_box box;
		struct hwprof_row_edge edge;
	} *of = (const void *)sample->row;

	sample->pid = sample->tid = of->row.pid;
	switch (of->row.type) {
	case HWPROF_ROW_LOOP:
		set_place(sample, of->loop.head, of->loop.tail,
			  of->loop.back_edges);
		return;
	case HWPROF_ROW_RANGE:
		set_place(sample, of->range.low, 0, of->range.count);
		return;
	case HWPROF_ROW_CALL:
		set_place(sample, of->call.site, of->call.callee,
			  of->call.calls);
		return;
	case HWPROF_ROW_CONTEXT:
		set_place(sample, of->context.callee, of->context.site,
			  of->context.calls + of->context.deeper);
		return;
	case HWPROF_ROW_PATH:
		if (of->path.flags & HWPROF_PATH_OPEN)
			set_place(sample, of->path.end, 0, 0);
		else
			set_place(sample, of->path.start, of->path.end,
				  of->path.count);
		return;
	case HWPROF_ROW_VALUE:
		set_place(sample, of->value.ip, 0, of->value.loads);
		return;
	case HWPROF_ROW_BOX:
		set_place(sample, of->box.code, of->box.low, of->box.count);
		return;
	case HWPROF_ROW_EDGE:
		set_place(sample, of->edge.from ? of->edge.from : of->edge.end,
			  of->edge.to, of->edge.end ? of->edge.count : 0);
		return;
	}
}

int rows_decode(struct hwprof_file *file, const struct record *record,
		struct hwprof_sample *out)
{
	const struct perf_event_attr *attr;
	struct sample sample;
	int error;

	if (record->type != PERF_RECORD_SAMPLE || !record->event ||
	    !file_event_is_hwprof(file, record->event))
		return 0;
	error = sample_parse(file, record, &sample);
	if (error)
		return error;
	attr = &record->event->attr;
	*out = (struct hwprof_sample){
		.time = record->time,
		.ip = sample.ip,
		.addr = sample.addr,
		.period = sample.period,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.config = { attr->config, attr->config1, attr->config2 },
		.offset = record->offset,
	};
	out->rows = config_field(out->config, FIELD_rows);
	file->row_event = record->event;
	if (reader_left(&sample.raw)) {
		error = row_copy(file, record->offset, sample.raw, &out->row);
		if (error)
			return error;
	}
	return 1;
}

/*
 * Returns true if the file has stacks of branches or calls, which could be
 * replayed.
 */
static bool has_stacks(const struct hwprof_file *file)
{
	const uint64_t stacks = PERF_SAMPLE_BRANCH_STACK |
				PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER;
	size_t i;

	for (i = 0; i < file->event_count; i++)
		if (file->events[i].attr.sample_type & stacks)
			return true;
	return false;
}

int rows_expected(struct hwprof_file *file)
{
	size_t i;

	for (i = 0; i < file->event_count; i++)
		if (file_event_is_hwprof(file, &file->events[i]))
			return 0;
	if (!file->pipe && !file->pmus_known && file->warnings.count)
		return file_fail(file, -EBADMSG,
				 "does not say which events are hwprof's: %s",
				 hwprof_file_warning(file, 0));
	if (has_stacks(file))
		return file_fail(
			file, -ENOENT,
			"is a recording of perf with stacks, which 'hwprof replay' reads; a report is on what 'hwprof record' or 'perf record -e hwprof/.../' records");
	return file_fail(file, -ENOENT,
			 "has no event of the PMU 'hwprof': record with 'hwprof record' or 'perf record -e hwprof/.../'");
}

int hwprof_file_kinds(struct hwprof_file *file, unsigned int *kinds)
{
	int error;
	size_t i;

	*kinds = 0;
	if (file->pipe)
		return file_fail(file, -ESPIPE,
				 "was recorded to a pipe, where events come with the data");
	error = rows_expected(file);
	if (error)
		return error;
	for (i = 0; i < file->event_count; i++) {
		const struct perf_event_attr *attr = &file->events[i].attr;
		const uint64_t words[] = {
			attr->config, attr->config1, attr->config2,
		};

		if (file_event_is_hwprof(file, &file->events[i]))
			*kinds |= event_kinds_of(words);
	}
	return *kinds ? 0
		      : file_fail(file, -ENOENT,
				  "has no profile: its hwprof events are of branches, which 'hwprof script' prints");
}

struct samples {
	struct hwprof_file *file;
	hwprof_sample_fn fn;
	void *context;
};

static int give_sample(void *context, const struct record *record)
{
	struct samples *samples = context;
	struct hwprof_sample sample;
	int found = rows_decode(samples->file, record, &sample);

	if (found <= 0)
		return found;
	return samples->fn(samples->context, &sample);
}

int hwprof_file_samples(struct hwprof_file *file, hwprof_sample_fn fn,
			void *context)
{
	struct samples samples = { file, fn, context };
	int error;

	/* In a pipe, events come with the data. */
	if (!file->pipe) {
		error = rows_expected(file);
		if (error)
			return error;
	}
	error = records_read(file, give_sample, &samples);
	if (!error)
		error = rows_expected(file);
	return error;
}
