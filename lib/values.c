// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>

#include "place.h"
#include "values.h"

/* --- rows, summed ----------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_value *x = a, *y = b;
	int order = compare_u64(x->ip, y->ip);

	if (!order)
		order = compare_u64(x->session, y->session);
	if (!order)
		order = compare_u64(x->space, y->space);
	/* Space 0 is of no process in particular, so the pid counts too. */
	if (!order)
		order = compare_u64(x->pid, y->pid);
	/* Samples and rows of one run count the same things: not to be added. */
	return order ? order : x->samples - y->samples;
}

static int add_row(struct hwprof_values *values, struct hwprof_file *file,
		   const struct collected_value *from)
{
	struct collected_value **found, *row;

	found = tfind(from, &values->rows, compare_rows);
	if (found) {
		row = *found;
		value_sum_add(&row->sum, &from->sum);
		if (from->first < row->first)
			row->first = from->first;
		if (from->last > row->last)
			row->last = from->last;
		return 0;
	}
	row = malloc(sizeof(*row));
	if (!row)
		return file_fail(file, -ENOMEM, "out of memory");
	*row = *from;
	if (!tsearch(row, &values->rows, compare_rows)) {
		free(row);
		return file_fail(file, -ENOMEM, "out of memory");
	}
	values->row_count++;
	return 0;
}

/* Do its counts go together? */
static bool is_value(const struct hwprof_row_value *row)
{
	uint64_t left;
	uint32_t i;

	if (row->count > HWPROF_VALUES_MAX || row->unseen > row->loads)
		return false;
	left = row->loads - row->unseen;
	if (row->breaks > row->runs || row->runs > left ||
	    row->strides > row->runs - row->breaks)
		return false;
	for (i = 0; i < row->count; i++) {
		if (row->values[i].hits > left)
			return false;
		left -= row->values[i].hits;
	}
	return true;
}

static int add_value_row(struct hwprof_values *values, struct hwprof_file *file,
			 const struct hwprof_sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct collected_value value = {
		.session = row->row.session,
		.space = row->row.space,
		.pid = row->row.pid,
		.ip = row->ip,
		.first = sample->time,
		.last = sample->time,
	};

	if (!is_value(row))
		return file_damaged(file, sample->offset,
				    "the counts of a load's %llu executions contradict each other",
				    row->loads);
	value.sum = value_sum_of(row);
	values->collected.rows++;
	return add_row(values, file, &value);
}

/* One execution, which stands for others; their value, if raw data has it. */
static int add_sample(struct hwprof_values *values, struct hwprof_file *file,
		      const struct hwprof_sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct collected_value value = {
		.pid = sample->pid,
		.samples = true,
		.ip = sample->ip,
		.first = sample->time,
		.last = sample->time,
		.sum.loads = sample->period,
		.sum.unseen = sample->period,
	};

	if (sample->rows)
		values->collected.bare_rows++;
	else if (row && row->row.type == HWPROF_ROW_VALUE && row->count == 1) {
		value.sum.unseen = 0;
		value.sum.runs = value.sum.breaks = sample->period;
		value.sum.width = row->width;
		value.sum.count = 1;
		value.sum.values[0].value = row->values[0].value;
		value.sum.values[0].hits = sample->period;
	}
	values->collected.samples++;
	return sample->period ? add_row(values, file, &value) : 0;
}

static int take(void *context, struct hwprof_file *file,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(context, file, sample);
	if (sample->row->type == HWPROF_ROW_VALUE)
		return add_value_row(context, file, sample);
	return 0;
}

/* --- places ----------------------------------------------------------------- */

struct placing {
	struct hwprof_values *values;
	const struct hwprof_file *file;
	int error;
};

static int place_row(struct hwprof_values *values,
		     const struct hwprof_file *file,
		     const struct collected_value *row)
{
	struct value_entry *entry = &values->entries[values->count];
	struct place place;

	if (place_find(&place, values->objects, values->collected.processes,
		       file, row->pid, row->first, row->last, row->ip))
		return -ENOMEM;
	if (values->flags & HWPROF_PER_PROCESS)
		place.pid = row->pid;
	entry->object = place.object;
	entry->load.address = place.address;
	entry->load.pid = place.pid;
	entry->first = row->first;
	entry->last = row->last;
	entry->sum = row->sum;
	values->count++;
	return 0;
}

static void place_one(const void *node, VISIT visit, void *context)
{
	const struct collected_value *row = *(void *const *)node;
	struct placing *placing = context;

	if (visit != postorder && visit != leaf)
		return;
	/* Samples beside rows say nothing more. */
	if (placing->values->collected.rows && row->samples)
		return;
	if (!placing->error)
		placing->error = place_row(placing->values, placing->file, row);
}

static int compare_places(const void *a, const void *b)
{
	const struct value_entry *x = a, *y = b;
	int order = compare_u64((uintptr_t)x->object, (uintptr_t)y->object);

	if (!order)
		order = compare_u64(x->load.address, y->load.address);
	return order ? order : compare_u64(x->load.pid, y->load.pid);
}

/* One entry for what has one place. */
static void merge(struct hwprof_values *values)
{
	size_t kept = 0, i;

	qsort(values->entries, values->count, sizeof(*values->entries),
	      compare_places);
	for (i = 0; i < values->count; i++) {
		struct value_entry *entry = &values->entries[i];
		struct value_entry *last = &values->entries[kept - !!kept];

		values->loads += entry->sum.loads;
		if (!kept || compare_places(last, entry)) {
			values->entries[kept++] = *entry;
			continue;
		}
		value_sum_add(&last->sum, &entry->sum);
		if (entry->last > last->last)
			last->last = entry->last;
	}
	values->count = kept;
}

/* --- what is said of them ----------------------------------------------------- */

static void describe_values(struct value_entry *entry)
{
	uint32_t i;

	for (i = 0; i < entry->sum.count; i++) {
		struct hwprof_load_value *value = &entry->values[i];

		value->value = entry->sum.values[i].value;
		value->hits = entry->sum.values[i].hits;
		value->invariance = value_sum_invariance(&entry->sum, i);
		value_sum_interval(&entry->sum, i, &value->low, &value->high);
	}
}

static void describe(struct hwprof_values *values, struct value_entry *entry)
{
	struct hwprof_load *load = &entry->load;

	load->object = object_name(entry->object);
	load->build_id = object_build_id(entry->object);
	load->function = object_symbol(entry->object, load->address,
				       &load->function_offset);
	load->file = object_line(entry->object, load->address, &load->line);
	load->executions = entry->sum.loads;
	load->seen = entry->sum.loads - entry->sum.unseen;
	load->runs = entry->sum.runs;
	load->breaks = entry->sum.breaks;
	load->share = (double)entry->sum.loads / values->loads;
	load->width = entry->sum.width;
	load->kind = value_sum_class(&entry->sum);
	load->stride = entry->sum.strides ? entry->sum.stride : 0;
	load->strides = entry->sum.strides;
	load->basis = entry->sum.basis;
	if (load->pid)
		load->comm = processes_comm(values->collected.processes,
					    load->pid, entry->last);
	load->value_count = entry->sum.count;
	describe_values(entry);
}

static int compare_shares(const void *a, const void *b)
{
	const struct value_entry *x = a, *y = b;
	int order = compare_u64(y->sum.loads, x->sum.loads);

	return order ? order : compare_places(a, b);
}

static int place_all(struct hwprof_values *values,
		     const struct hwprof_file *file)
{
	struct placing placing = { values, file, 0 };
	size_t i;

	values->entries = calloc(values->row_count + 1,
				 sizeof(*values->entries));
	if (!values->entries)
		return -ENOMEM;
	twalk_r(values->rows, place_one, &placing);
	if (placing.error)
		return placing.error;
	merge(values);
	qsort(values->entries, values->count, sizeof(*values->entries),
	      compare_shares);
	for (i = 0; i < values->count; i++) {
		describe(values, &values->entries[i]);
		values->entries[i].load.values = values->entries[i].values;
	}
	return 0;
}

static int warn(struct hwprof_values *values)
{
	const struct hwprof_totals *totals = &values->totals;
	struct warnings *warnings = &values->warnings;
	int error = 0;
	size_t i;

	if (values->collected.bare_rows)
		error |= warnings_add(warnings, "%" PRIu64 " rows have no raw data: which values were loaded is not known; record with 'perf record -R'",
				      values->collected.bare_rows);
	else if (totals->samples && totals->rows)
		error |= warnings_add(warnings, "the file has rows and %" PRIu64 " samples of loads: the samples are left out",
				      totals->samples);
	error |= collected_warn(&values->collected, totals, values->loads,
				"loads", warnings);
	for (i = 0; i < values->count; i++) {
		const char *sentence =
			object_warning(values->entries[i].object);
		size_t k;

		for (k = 0; sentence && k < i; k++)
			if (values->entries[k].object ==
			    values->entries[i].object)
				sentence = NULL;
		if (sentence)
			error |= warnings_add(warnings, "%s", sentence);
	}
	return error;
}

static int make(struct hwprof_values *values, struct hwprof_file *file)
{
	int error;

	values->objects = objects_new(values->flags & HWPROF_NO_OBJECTS);
	if (!values->objects)
		return file_fail(file, -ENOMEM, "out of memory");
	error = collect_samples(&values->collected, file, "values", take,
				values);
	if (error)
		return error;
	collected_totals(&values->collected, file, &values->totals);
	if (place_all(values, file) || warn(values))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

int hwprof_values_read(struct hwprof_values **result, struct hwprof_file *file,
		       unsigned int flags)
{
	struct hwprof_values *values = calloc(1, sizeof(*values));
	int error;

	*result = NULL;
	if (!values)
		return file_fail(file, -ENOMEM, "out of memory");
	values->flags = flags;
	error = make(values, file);
	if (error) {
		hwprof_values_free(values);
		return error;
	}
	*result = values;
	return 0;
}

void hwprof_values_free(struct hwprof_values *values)
{
	if (!values)
		return;
	tdestroy(values->rows, free);
	free(values->entries);
	warnings_free(&values->warnings);
	collected_free(&values->collected);
	objects_free(values->objects);
	free(values);
}

size_t hwprof_values_count(const struct hwprof_values *values)
{
	return values->count;
}

const struct hwprof_load *hwprof_values_get(const struct hwprof_values *values,
					    size_t index)
{
	return &values->entries[index].load;
}

/*
 * Where all was seen, what is missing was counted as such. Else, what no window
 * shows is as likely as what one alone did (Good and Turing): leaving out that
 * window, it would not have been known.
 */
double hwprof_values_completeness(const struct hwprof_values *values)
{
	uint64_t once = 0;
	bool exact = true;
	size_t i;

	if (!values->loads || !values->collected.rows)
		return NAN;
	for (i = 0; i < values->count; i++) {
		const struct value_sum *sum = &values->entries[i].sum;

		exact &= sum->basis == HWPROF_BASIS_EXACT;
		once += value_sum_is_new(sum) ? sum->loads : 0;
	}
	if (!exact)
		return 1 - (double)once / values->loads;
	if (values->totals.produced < values->loads)
		return NAN;
	return (double)values->loads / values->totals.produced;
}

const struct hwprof_totals *
hwprof_values_totals(const struct hwprof_values *values)
{
	return &values->totals;
}

const char *hwprof_values_warning(const struct hwprof_values *values,
				  size_t index)
{
	return warnings_get(&values->warnings, index);
}
