// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "loops.h"
#include "base/tree.h"

static int compare_loops(const void *a, const void *b)
{
	const struct collected_loop *x = a, *y = b;
	int order = compare_u64(x->head, y->head);

	return order ? order : row_origin_compare(&x->origin, &y->origin);
}

void collected_add(struct collected_loop *to, const struct collected_loop *from)
{
	unsigned int i;

	if (from->tail - from->head > to->tail - to->head)
		to->tail = to->head + (from->tail - from->head);
	to->back_edges += from->back_edges;
	/* Rows of a damaged file may have any value: avoid signed overflow. */
	to->entries = (uint64_t)to->entries + from->entries;
	to->executions += from->executions;
	to->unclosed += from->unclosed;
	if (from->trip_min && (!to->trip_min || from->trip_min < to->trip_min))
		to->trip_min = from->trip_min;
	if (from->trip_max > to->trip_max)
		to->trip_max = from->trip_max;
	if (from->trip_recent &&
	    (from->origin.last >= to->origin.last || !to->trip_recent))
		to->trip_recent = from->trip_recent;
	row_origin_add(&to->origin, &from->origin);
	to->sum_back_sq += from->sum_back_sq;
	to->sum_entry_sq += from->sum_entry_sq;
	to->sum_cross += from->sum_cross;
	if (from->weight > to->weight)
		to->weight = from->weight;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		to->trips[i] += from->trips[i];
}

/* Entries may be below 0: see struct hwprof_row_loop. */
static int64_t weighed_entries(const struct row_weight *row, int64_t entries)
{
	uint64_t count = weighed(row, entries < 0 ? -(uint64_t)entries :
						    (uint64_t)entries);

	if (count > INT64_MAX)
		count = INT64_MAX;
	return entries < 0 ? -(int64_t)count : (int64_t)count;
}

void collected_weigh(struct collected_loop *loop, const struct row_weight *row)
{
	double square = row->weight * row->weight;

	if (row->weight == 1)
		return;
	loop->back_edges = weighed(row, loop->back_edges);
	loop->entries = weighed_entries(row, loop->entries);
	loop->sum_back_sq *= square;
	loop->sum_entry_sq *= square;
	loop->sum_cross *= square;
	loop->weight = row->weight;
}

struct collected_loop collected_loop_of(const struct hwprof_row_loop *row,
					uint64_t time)
{
	struct collected_loop loop = {
		.origin = row_origin_of(&row->row, row->basis, time),
		.head = row->head,
		.tail = row->tail,
		.back_edges = row->back_edges,
		.entries = row->entries,
		.executions = row->executions,
		.unclosed = row->unclosed,
		.trip_min = row->trip_min,
		.trip_max = row->trip_max,
		.trip_recent = row->trip_recent,
		.sum_back_sq = row->sum_back_sq,
		.sum_entry_sq = row->sum_entry_sq,
		.sum_cross = row->sum_cross,
	};
	unsigned int i;

	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		loop.trips[i] = row->trips[i];
	return loop;
}

static int add_sum(struct hwprof_profile *profile,
		   const struct collected_loop *from,
		   uint64_t tolerance)
{
	struct collected_loop *loop;
	bool is_new;

	loop = tree_get(&profile->rows, from, sizeof(*from), compare_loops,
			&is_new);
	if (!loop)
		return -ENOMEM;
	if (!is_new)
		collected_add(loop, from);
	if (tolerance > loop->tolerance)
		loop->tolerance = tolerance;
	return 0;
}

int loops_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_loop *row,
		  uint64_t time)
{
	struct collected_loop loop = collected_loop_of(row, time);

	facts_date(&profile->facts, &loop.origin, time);
	profile->facts.rows++;
	return add_sum(profile, &loop, row->tolerance);
}

static int add_row(struct hwprof_profile *profile,
		   const struct hwprof_sample *sample)
{
	const struct hwprof_row_loop *row = (const void *)sample->row;

	if (row->tail < row->head)
		return file_damaged(
			profile->file, sample->offset,
			"a loop ends at 0x%llx, before its head 0x%llx",
			row->tail, row->head);
	return loops_add_row(profile, row, sample->time);
}

/*
 * Adds a sample. It tells that a loop iterated, and its period how often;
 * everything else is unknown. Without raw data, ip is the head and addr the
 * branch back.
 */
static int add_sample(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample)
{
	const struct hwprof_row_loop *row = (const void *)sample->row;
	struct collected_loop loop = {
		.origin = row_origin_of_sample(sample),
		.head = sample->ip,
		.tail = sample->addr > sample->ip ? sample->addr : sample->ip,
		.back_edges = sample->period,
	};

	if (row && row->row.type == HWPROF_ROW_LOOP && row->tail >= row->head) {
		loop.origin = row_origin_of(&row->row, 0, sample->time);
		loop.origin.basis = 0;
		loop.head = row->head;
		loop.tail = row->tail;
	}
	profile->facts.samples++;
	return add_sum(profile, &loop, 0);
}

int loops_take(struct hwprof_profile *profile,
	       const struct hwprof_sample *sample)
{
	/* perf record without -R leaves only the sample around a row. */
	if (sample->rows && !sample->row) {
		profile->facts.bare_rows++;
		return sample->period ? add_sample(profile, sample) : 0;
	}
	if (!sample->rows)
		return add_sample(profile, sample);
	if (sample->row->type == HWPROF_ROW_LOOP)
		return add_row(profile, sample);
	if (sample->row->type == HWPROF_ROW_TIME)
		return times_add_row(profile, (const void *)sample->row,
				     sample->time);
	return 0;
}
