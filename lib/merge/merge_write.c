// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/events.h"
#include "live/row_records.h"
#include "merge_state.h"

enum { EVENT_NAME = 256 };

/* A part on its way to a file. */
struct output {
	const struct merge *merge;
	long part;
	struct writer *writer;
	struct writer_event *events;	/* one a group */
	uint64_t *ids;
	char (*names)[EVENT_NAME];
	struct hwprof_row_totals *totals;	/* the same */
	uint8_t *maps;			/* a bit for each program and object;
					 * object 0: it has any rows */
};

static bool is_wanted(const struct output *output,
		      const struct row_entry *entry)
{
	return output->part == MERGE_ALL || (long)entry->part == output->part;
}

/* --- events --------------------------------------------------------------- */

static void set_event(struct output *output, size_t i)
{
	const struct merge_group *group = &output->merge->groups[i];
	struct hwprof_event event = { .user = true };

	memcpy(event.config, group->words, sizeof(event.config));
	hwprof_event_set(&event, "session", 0);
	hwprof_event_print(&event, output->names[i], EVENT_NAME);
	output->ids[i] = i + 1;
	output->events[i] = (struct writer_event){
		.attr.type = ROW_RECORDS_PMU,
		.attr.size = sizeof(struct perf_event_attr),
		.attr.config = event.config[0],
		.attr.config1 = event.config[1],
		.attr.config2 = event.config[2],
		.attr.sample_period = 1,
		.attr.sample_type = EVENTS_SAMPLE_TYPE,
		.attr.sample_id_all = 1,
		.attr.exclude_kernel = 1,
		.attr.mmap = 1, .attr.mmap2 = 1, .attr.comm = 1,
		.attr.comm_exec = 1, .attr.task = 1,
		.name = output->names[i],
		.ids = &output->ids[i],
		.id_count = 1,
	};
}

static int open_output(struct output *output, const char *path)
{
	const struct merge *merge = output->merge;
	size_t count = merge->group_count, i;
	size_t maps = merge->program_count * (merge->object_count + 1);

	output->events = calloc(count + 1, sizeof(*output->events));
	output->ids = calloc(count + 1, sizeof(*output->ids));
	output->names = calloc(count + 1, sizeof(*output->names));
	output->totals = calloc(count + 1, sizeof(*output->totals));
	output->maps = calloc(maps / 8 + 1, 1);
	if (!output->events || !output->ids || !output->names ||
	    !output->totals || !output->maps)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		set_event(output, i);
	return writer_open(&output->writer, path, output->events, count);
}

static void close_output(struct output *output)
{
	writer_close(output->writer);
	free(output->events);
	free(output->ids);
	free(output->names);
	free(output->totals);
	free(output->maps);
}

/* --- maps ----------------------------------------------------------------- */

static size_t map_bit(const struct output *output, size_t program,
		      size_t object)
{
	return program * (output->merge->object_count + 1) + object;
}

/* Object 0 is none. */
static void note_map(struct output *output, uint32_t pid, size_t object)
{
	size_t bit = map_bit(output, pid - 1, object);

	output->maps[bit / 8] |= 1 << bit % 8;
}

static bool has_map(const struct output *output, size_t program, size_t object)
{
	size_t bit = map_bit(output, program, object);

	return output->maps[bit / 8] >> bit % 8 & 1;
}

static void note_address(struct output *output, uint32_t pid, uint64_t address)
{
	note_map(output, pid, merge_object_at(output->merge, address));
}

/* Jumps are in the object of the path's ends. */
static void note_row(struct output *output, const struct row_entry *entry)
{
	const struct hwprof_row_context *context = (const void *)entry->row;
	const struct row_fields *fields = entry->fields;
	uint32_t pid = entry->row->pid;
	size_t i;

	note_map(output, pid, 0);
	for (i = 0; i < fields->count; i++)
		if (fields->fields[i].rule == FIELD_PLACE)
			note_address(output, pid,
				     row_get(entry->row, &fields->fields[i],
					     0));
	if (entry->row->type != HWPROF_ROW_CONTEXT)
		return;
	note_address(output, pid, context->callee);
	note_address(output, pid, context->site);
}

static int put_map(struct output *output, size_t program, size_t object)
{
	const struct merge_object *of = &output->merge->objects[object - 1];
	struct process_change change = {
		.kind = CHANGE_MAP,
		.pid = program + 1,
		.name = of->name,
		.mapping.start = object << MERGE_OBJECT_SHIFT,
		.mapping.size = 1ULL << MERGE_OBJECT_SHIFT,
		.mapping.code = true,
		.mapping.build_id = of->id,
	};

	return records_add_change(output->writer, output->ids[0], &change);
}

static int put_program(struct output *output, size_t program)
{
	const struct merge *merge = output->merge;
	const struct process_change change = {
		.kind = CHANGE_COMM,
		.pid = program + 1,
		.name = merge->programs[program],
	};
	int error;
	size_t object;

	if (!has_map(output, program, 0))
		return 0;
	error = records_add_change(output->writer, output->ids[0], &change);
	for (object = 1; object <= merge->object_count && !error; object++)
		if (has_map(output, program, object))
			error = put_map(output, program, object);
	return error;
}

static int put_programs(struct output *output)
{
	const struct row_table *rows = &output->merge->rows;
	int error = 0;
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (is_wanted(output, rows->entries[i]))
			note_row(output, rows->entries[i]);
	for (i = 0; i < output->merge->program_count && !error; i++)
		error = put_program(output, i);
	return error;
}

/* --- rows and totals ------------------------------------------------------ */

/* Pairs and edges say what was evicted before their last row: everything. */
static void set_evicted(struct hwprof_row *row, uint64_t evicted)
{
	if (row->type == HWPROF_ROW_CALL)
		((struct hwprof_row_call *)row)->evicted = evicted;
	else if (row->type == HWPROF_ROW_EDGE)
		((struct hwprof_row_edge *)row)->evicted = evicted;
}

static int put_row(struct output *output, const struct row_entry *entry)
{
	struct hwprof_row_totals *totals = &output->totals[entry->group];
	struct hwprof_sample sample = { .row = entry->row };
	struct row_place place;

	row_describe(&sample);
	place = (struct row_place){
		.time = entry->last, .ip = sample.ip, .addr = sample.addr,
		.period = sample.period,
	};
	totals->delivered += sample.period;
	totals->produced += sample.period;
	set_evicted(entry->row, totals->evicted);
	return records_add_row(output->writer, output->ids[entry->group],
			       entry->row, &place);
}

/* Without the account, the totals say only what the rows are. */
static void begin_totals(struct output *output)
{
	bool account = output->part == MERGE_ALL ||
		       output->part == MERGE_ACCOUNT;
	size_t i;

	for (i = 0; i < output->merge->group_count; i++) {
		const struct hwprof_row_totals *from =
			&output->merge->groups[i].totals;
		struct hwprof_row_totals *to = &output->totals[i];

		if (account)
			*to = *from;
		else
			to->basis = from->basis, to->source = from->source;
		to->row = (struct hwprof_row){
			.type = HWPROF_ROW_TOTALS,
			.size = sizeof(*to),
			.session = i + 1,
		};
	}
}

static int put_rows(struct output *output)
{
	const struct row_table *rows = &output->merge->rows;
	int error = 0;
	size_t i;

	for (i = 0; i < rows->count && !error; i++)
		if (is_wanted(output, rows->entries[i]))
			error = put_row(output, rows->entries[i]);
	return error;
}

static int put_totals(struct output *output)
{
	const struct row_place place = { .time = 0 };
	int error = 0;
	size_t i;

	for (i = 0; i < output->merge->group_count && !error; i++) {
		const struct hwprof_row_totals *totals = &output->totals[i];

		/* A part has a session only if it has rows of it. */
		if (totals->produced || totals->events)
			error = records_add_row(output->writer, output->ids[i],
						&totals->row, &place);
	}
	return error;
}

/* Says how many records were lost, as perf does at the end. */
static int put_lost(struct output *output)
{
	uint64_t lost = output->merge->lost_records;

	return !lost || output->part >= 0 ? 0 :
	       writer_add_lost(output->writer, output->ids[0], lost, 0);
}

static int write_all(struct output *output)
{
	const struct writer_facts facts = {
		.pmu_type = ROW_RECORDS_PMU, .of = output->merge->machine,
	};
	struct writer_summary summary;
	int error = put_programs(output);

	if (error)
		return error;
	begin_totals(output);
	error = put_rows(output);
	if (!error)
		error = put_totals(output);
	if (!error)
		error = put_lost(output);
	return error ? error : writer_finish(output->writer, &facts, &summary);
}

int merge_write(struct merge *merge, long part, const char *path,
		char *message, size_t size)
{
	struct output output = { .merge = merge, .part = part };
	int error;

	if (!merge->machine) {
		snprintf(message, size, "%s: there is nothing to write", path);
		return -ENODATA;
	}
	error = open_output(&output, path);
	if (!error)
		error = write_all(&output);
	if (error)
		snprintf(message, size, "%s", writer_error(output.writer));
	close_output(&output);
	return error;
}
