// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/row_origin.h"
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
	const struct row_entry *const *rows;	/* of the part */
	size_t row_count;
	struct label_table labels;		/* of programs */
	struct numbers maps;		/* program and object that the rows are
					 * about; object 0: a program that has
					 * any */
};

/* --- the rows of parts ---------------------------------------------------- */

/* Sets where each part begins in by_part. */
static void count_parts(struct merge *merge)
{
	const struct row_table *rows = &merge->rows;
	size_t begin = 0, count, i;

	for (i = 0; i < merge->part_count; i++)
		merge->parts[i].begin = 0;
	for (i = 0; i < rows->count; i++)
		merge->parts[rows->entries[i]->part].begin++;
	for (i = 0; i < merge->part_count; i++) {
		count = merge->parts[i].begin;
		merge->parts[i].begin = begin;
		begin += count;
	}
}

/* Sorts the rows by part, once, in the order of their arrival. */
static int sort_parts(struct merge *merge)
{
	const struct row_table *rows = &merge->rows;
	size_t i;

	if (merge->by_part)
		return 0;
	merge->by_part = calloc(rows->count + 1, sizeof(*merge->by_part));
	if (!merge->by_part)
		return -ENOMEM;
	count_parts(merge);
	for (i = 0; i < rows->count; i++)
		merge->by_part[merge->parts[rows->entries[i]->part].begin++] =
			rows->entries[i];
	/* Each begin is now the next one's. */
	count_parts(merge);
	return 0;
}

/* Finds the rows that are wanted. */
static int choose_rows(struct output *output, struct merge *merge)
{
	const struct row_table *rows = &merge->rows;
	long part = output->part;
	size_t end = rows->count;
	int error;

	if (part == MERGE_ACCOUNT)
		return 0;
	if (part == MERGE_ALL) {
		output->rows = (const struct row_entry *const *)rows->entries;
		output->row_count = rows->count;
		return 0;
	}
	error = sort_parts(merge);
	if (error || (size_t)part >= merge->part_count)
		return error;
	if ((size_t)part + 1 < merge->part_count)
		end = merge->parts[part + 1].begin;
	output->rows = merge->by_part + merge->parts[part].begin;
	output->row_count = end - merge->parts[part].begin;
	return 0;
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
		.attr = records_attr(&event),
		.name = output->names[i],
		.ids = &output->ids[i],
		.id_count = 1,
	};
	output->events[i].attr.exclude_kernel = 1;
}

static int open_output(struct output *output, const char *path)
{
	const struct merge *merge = output->merge;
	size_t count = merge->group_count, i;

	output->events = calloc(count + 1, sizeof(*output->events));
	output->ids = calloc(count + 1, sizeof(*output->ids));
	output->names = calloc(count + 1, sizeof(*output->names));
	output->totals = calloc(count + 1, sizeof(*output->totals));
	if (!output->events || !output->ids || !output->names ||
	    !output->totals)
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
	numbers_free(&output->maps);
	labels_free(&output->labels);
}

/* --- maps ----------------------------------------------------------------- */

/* Object 0 is none. */
static int note_map(struct output *output, uint32_t pid, size_t object)
{
	const uint64_t words[NUMBERED_WORDS] = { pid - 1, object };
	bool is_new;

	return numbers_words(&output->maps, words, &is_new) ? 0 : -ENOMEM;
}

static int compare_maps(const void *a, const void *b)
{
	const struct numbered *const *x = a, *const *y = b;
	int order = compare_u64((*x)->words[0], (*y)->words[0]);

	return order ? order : compare_u64((*x)->words[1], (*y)->words[1]);
}

static int note_address(struct output *output, uint32_t pid, uint64_t address)
{
	return note_map(output, pid, merge_object_at(output->merge, address));
}

/* Jumps are in the object of the path's ends. */
static int note_row(struct output *output, const struct row_entry *entry)
{
	const struct hwprof_row_context *context = (const void *)entry->row;
	const struct row_fields *fields = entry->fields;
	uint32_t pid = entry->row->pid;
	int error = note_map(output, pid, 0);
	size_t i;

	for (i = 0; i < fields->count && !error; i++)
		if (fields->fields[i].rule == FIELD_PLACE)
			error = note_address(output, pid,
					     row_get(entry->row,
						     &fields->fields[i], 0));
	if (error || entry->row->type != HWPROF_ROW_CONTEXT)
		return error;
	error = note_address(output, pid, context->callee);
	return error ? error : note_address(output, pid, context->site);
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
	const struct process_change change = {
		.kind = CHANGE_COMM,
		.pid = program + 1,
		.name = output->merge->programs[program].name,
	};

	return records_add_change(output->writer, output->ids[0], &change);
}

/* A program comes before its objects, which are in order. */
static int put_programs(struct output *output)
{
	int error = 0;
	size_t i;

	for (i = 0; i < output->row_count && !error; i++)
		error = note_row(output, output->rows[i]);
	if (error || !output->maps.count)
		return error;
	qsort(output->maps.list, output->maps.count,
	      sizeof(*output->maps.list), compare_maps);
	for (i = 0; i < output->maps.count && !error; i++) {
		const uint64_t *map = output->maps.list[i]->words;

		error = map[1] ? put_map(output, map[0], map[1]) :
				 put_program(output, map[0]);
	}
	return error;
}

static bool is_labelled(const struct label *label)
{
	return label->uid != LABEL_NO_UID || *label->cgroup;
}

/* The writer marks those that it needs. */
static int set_labels(struct output *output)
{
	const struct merge *merge = output->merge;
	int error = 0;
	size_t i;

	for (i = 0; i < merge->program_count && !error; i++)
		if (is_labelled(&merge->programs[i].label))
			error = labels_set(&output->labels,
					   &merge->programs[i].label);
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
	int error = 0;
	size_t i;

	for (i = 0; i < output->row_count && !error; i++)
		error = put_row(output, output->rows[i]);
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
		.labels = &output->labels,
		.masks = &output->merge->machine->masks,
	};
	struct writer_summary summary;
	int error = put_programs(output);

	if (!error)
		error = set_labels(output);
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
	error = choose_rows(&output, merge);
	if (!error)
		error = open_output(&output, path);
	if (!error)
		error = write_all(&output);
	if (error == -ENOMEM)
		snprintf(message, size, "out of memory");
	else if (error)
		snprintf(message, size, "%s", writer_error(output.writer));
	close_output(&output);
	return error;
}
