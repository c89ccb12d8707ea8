// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "location.h"
#include "base/tree.h"
#include "values.h"

/* --- rows, summed --------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_value *x = a, *y = b;
	int order = compare_u64(x->ip, y->ip);

	return order ? order : row_origin_compare(&x->origin, &y->origin);
}

static int add_row(struct hwprof_profile *profile,
		   const struct collected_value *from)
{
	struct collected_value *to;
	bool is_new;

	to = tree_get(&profile->rows, from, sizeof(*from), compare_rows,
		      &is_new);
	if (!to)
		return -ENOMEM;
	if (!is_new) {
		row_origin_add(&to->origin, &from->origin);
		value_sum_add(&to->sum, &from->sum);
	}
	return 0;
}

/* Returns true if the row's counts are consistent. */
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

static int add_value_row(struct hwprof_profile *profile,
			 const struct hwprof_sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct collected_value value = {
		.ip = row->ip,
	};

	if (!is_value(row))
		return file_damaged(profile->file, sample->offset,
				    "the counts of a load's %llu executions contradict each other",
				    row->loads);
	value.sum = value_sum_of(row);
	value.origin = row_origin_of(&row->row, value.sum.basis, sample->time);
	profile->facts.rows++;
	return add_row(profile, &value);
}

/*
 * Adds a sample, which is one execution that stands for several. Its value is
 * known if it has raw data.
 */
static int add_sample(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample)
{
	const struct hwprof_row_value *row = (const void *)sample->row;
	struct collected_value value = {
		.origin = row_origin_of_sample(sample),
		.ip = sample->ip,
		.sum.loads = sample->period,
		.sum.unseen = sample->period,
	};

	if (sample->rows)
		profile->facts.bare_rows++;
	else if (row && row->row.type == HWPROF_ROW_VALUE && row->count == 1) {
		value.sum.unseen = 0;
		value.sum.runs = value.sum.breaks = sample->period;
		value.sum.width = row->width;
		value.sum.count = 1;
		value.sum.values[0].value = row->values[0].value;
		value.sum.values[0].hits = sample->period;
	}
	profile->facts.samples++;
	return sample->period ? add_row(profile, &value) : 0;
}

static int take(struct hwprof_profile *profile,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(profile, sample);
	if (sample->row->type == HWPROF_ROW_VALUE)
		return add_value_row(profile, sample);
	return 0;
}

/* --- places --------------------------------------------------------------- */

static int add_entry(struct hwprof_values *values,
		     const struct collected_value *row)
{
	struct value_entry *entry = &values->entries[values->count++];
	struct location location;

	if (location_find(&location, &values->profile, &row->origin, row->ip))
		return -ENOMEM;
	*entry = (struct value_entry){
		.load.address = location.address,
		.load.pid = location.pid,
		.load.comm = profile_comm(&values->profile, location.pid,
					  row->origin.last),
		.object = location.object,
		.file = location.file,
		.last = row->origin.last,
		.sum = row->sum,
	};
	values->loads += row->sum.loads;
	values->profile.found += row->sum.loads;
	return 0;
}

static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_values *values = (struct hwprof_values *)profile;
	struct value_entry *entries = reallocarray(values->entries,
						   values->count + count + 1,
						   sizeof(*entries));
	int error = 0;
	size_t i;

	if (!entries)
		return -ENOMEM;
	values->entries = entries;
	for (i = 0; !error && i < count; i++)
		error = add_entry(values, rows[i]);
	return error;
}

static int compare_places(const void *a, const void *b)
{
	const struct value_entry *x = a, *y = b;
	int order = object_compare(x->object, y->object);

	if (!order)
		order = compare_u64(x->load.address, y->load.address);
	if (!order)
		order = compare_u64(x->load.pid, y->load.pid);
	return order ? order : compare_u64(x->file, y->file);
}

/* Merges the entries of each place. */
static void merge(struct hwprof_values *values)
{
	size_t kept = 0, i;

	qsort(values->entries, values->count, sizeof(*values->entries),
	      compare_places);
	for (i = 0; i < values->count; i++) {
		struct value_entry *entry = &values->entries[i];
		struct value_entry *last = &values->entries[kept - !!kept];

		if (!kept || compare_places(last, entry)) {
			values->entries[kept++] = *entry;
			continue;
		}
		value_sum_add(&last->sum, &entry->sum);
		if (entry->last > last->last) {
			last->last = entry->last;
			last->load.comm = entry->load.comm;
		}
	}
	values->count = kept;
}

/* --- conclusions -------------------------------------------------------- */

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
	load->value_count = entry->sum.count;
	describe_values(entry);
}

static int compare_shares(const void *a, const void *b)
{
	const struct value_entry *x = a, *y = b;
	int order = compare_u64(y->sum.loads, x->sum.loads);

	return order ? order : compare_places(a, b);
}

static int finish(struct hwprof_profile *profile)
{
	struct hwprof_values *values = (struct hwprof_values *)profile;
	size_t i, kept = 0;

	merge(values);
	qsort(values->entries, values->count, sizeof(*values->entries),
	      compare_shares);
	for (i = 0; i < values->count; i++) {
		describe(values, &values->entries[i]);
		if (profile_wants(profile, values->entries[i].load.function))
			values->entries[kept++] = values->entries[i];
	}
	values->count = kept;
	for (i = 0; i < kept; i++)
		values->entries[i].load.values = values->entries[i].values;
	return 0;
}

static void destroy(struct hwprof_profile *profile)
{
	free(((struct hwprof_values *)profile)->entries);
}

const struct profile_kind values_kind = {
	.size = sizeof(struct hwprof_values),
	.kind = HWPROF_KIND_VALUES,
	.about = "values",
	.units = "loads",
	.things = "loads",
	.lacking = "which values were loaded is not known",
	.take = take,
	.place = place_all,
	.finish = finish,
	.count = hwprof_values_count,
	.destroy = destroy,
};

size_t hwprof_values_count(const struct hwprof_profile *profile)
{
	const struct hwprof_values *values = (const void *)profile;

	return profile->kind == &values_kind ? values->count : 0;
}

const struct hwprof_load *
hwprof_values_get(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_values *values = (const void *)profile;

	return &values->entries[index].load;
}

/*
 * With an exact basis, missing executions were counted as such. Otherwise,
 * executions that no window shows are as likely as those that only one window
 * shows (Good and Turing): without that window they would be unknown.
 */
double hwprof_values_completeness(const struct hwprof_profile *profile)
{
	const struct hwprof_values *values = (const void *)profile;
	uint64_t once = 0;
	bool exact = true;
	size_t i;

	if (!values->loads || !values->profile.totals.rows)
		return NAN;
	for (i = 0; i < values->count; i++) {
		const struct value_sum *sum = &values->entries[i].sum;

		exact &= sum->basis == HWPROF_BASIS_EXACT;
		once += value_sum_is_new(sum) ? sum->loads : 0;
	}
	if (!exact)
		return 1 - (double)once / values->loads;
	if (values->profile.totals.produced < values->loads)
		return NAN;
	return (double)values->loads / values->profile.totals.produced;
}
