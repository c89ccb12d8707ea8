// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "place.h"
#include "ranges.h"

#define HOT		0.1	/* the paper's */

enum { PAGE_BITS = 12 };	/* of any mapping: it begins and ends with one */

/* --- rows, summed ----------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_range *x = a, *y = b;
	int order = compare_u64(x->low, y->low);

	if (!order)
		order = compare_u64(x->bits, y->bits);
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

static int add_row(struct hwprof_ranges *ranges, struct hwprof_file *file,
		   const struct collected_range *from)
{
	struct collected_range **found, *row;

	found = tfind(from, &ranges->rows, compare_rows);
	if (found) {
		row = *found;
		row->count += from->count;
		if (from->first < row->first)
			row->first = from->first;
		if (from->last > row->last)
			row->last = from->last;
		if (from->basis > row->basis)
			row->basis = from->basis;
		return 0;
	}
	row = malloc(sizeof(*row));
	if (!row)
		return file_fail(file, -ENOMEM, "out of memory");
	*row = *from;
	if (!tsearch(row, &ranges->rows, compare_rows)) {
		free(row);
		return file_fail(file, -ENOMEM, "out of memory");
	}
	return 0;
}

static uint64_t last_of(uint64_t low, uint32_t bits)
{
	return range_last(&(struct range_node){ .low = low, .bits = bits });
}

static bool is_range(const struct hwprof_row_range *row)
{
	return row->bits <= 64 && row->bits % 2 == 0 &&
	       !(row->low & last_of(0, row->bits));
}

static int add_range_row(struct hwprof_ranges *ranges, struct hwprof_file *file,
			 const struct hwprof_sample *sample)
{
	const struct hwprof_row_range *row = (const void *)sample->row;
	struct collected_range range = {
		.session = row->row.session,
		.space = row->row.space,
		.pid = row->row.pid,
		.bits = row->bits,
		.basis = row->basis,
		.low = row->low,
		.count = row->count,
		.first = sample->time,
		.last = sample->time,
	};

	if (!is_range(row))
		return file_damaged(file, sample->offset,
				    "a range of 2^%u values cannot begin at 0x%llx",
				    row->bits, row->low);
	if (!range.basis || range.basis > HWPROF_BASIS_TIME)
		range.basis = HWPROF_BASIS_TIME;
	ranges->collected.rows++;
	return add_row(ranges, file, &range);
}

/* One value; or a row without its raw data, of which the size is not known. */
static int add_sample(struct hwprof_ranges *ranges, struct hwprof_file *file,
		      const struct hwprof_sample *sample)
{
	struct collected_range range = {
		.pid = sample->pid,
		.low = sample->ip,
		.count = sample->period,
		.first = sample->time,
		.last = sample->time,
	};

	if (sample->rows) {
		ranges->collected.bare_rows++;
		range.low = 0;
		range.bits = 64;
	}
	ranges->collected.samples++;
	return range.count ? add_row(ranges, file, &range) : 0;
}

static int take(void *context, struct hwprof_file *file,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(context, file, sample);
	if (sample->row->type == HWPROF_ROW_RANGE)
		return add_range_row(context, file, sample);
	return 0;
}

/* --- places ----------------------------------------------------------------- */

static struct range_group *get_group(struct hwprof_ranges *ranges,
				     struct object *object, uint32_t pid)
{
	struct range_group *groups;
	size_t i;

	for (i = 0; i < ranges->group_count; i++)
		if (ranges->groups[i].object == object &&
		    ranges->groups[i].pid == pid)
			return &ranges->groups[i];
	groups = reallocarray(ranges->groups, i + 1, sizeof(*groups));
	if (!groups)
		return NULL;
	ranges->groups = groups;
	ranges->group_count++;
	groups[i] = (struct range_group){ .object = object, .pid = pid };
	return &groups[i];
}

/*
 * Adds a row where the object has it. Its ranges are aligned otherwise than the
 * process's, so a range of more than a page may need a larger one around it:
 * that says less, and nothing that is wrong.
 */
static int add_moved(struct range_set *set, uint64_t low, uint32_t bits,
		     uint64_t count)
{
	uint64_t last = low + last_of(0, bits);

	while (bits < 64 && (low ^ last) >> bits)
		bits += 2;
	return range_set_add(set, low & ~last_of(0, bits), bits, count);
}

static int place_row(struct hwprof_ranges *ranges,
		     const struct hwprof_file *file,
		     const struct collected_range *row)
{
	uint64_t size = last_of(0, row->bits);	/* less one */
	struct range_group *group;
	struct place place;

	if (place_find(&place, ranges->objects, ranges->collected.processes,
		       file, row->pid, row->first, row->last, row->low))
		return -ENOMEM;
	ranges->total += row->count;
	if (row->bits > PAGE_BITS && (!place.left || size > place.left - 1)) {
		ranges->elsewhere += row->count;
		return 0;
	}
	if (ranges->flags & HWPROF_PER_PROCESS)
		place.pid = row->pid;
	group = get_group(ranges, place.object, place.pid);
	if (!group)
		return -ENOMEM;
	if (row->last > group->last)
		group->last = row->last;
	if (row->basis > group->basis)
		group->basis = row->basis;
	return add_moved(&group->set, place.address, row->bits, row->count);
}

struct placing {
	struct hwprof_ranges *ranges;
	const struct hwprof_file *file;
	int error;
};

static void place_one(const void *node, VISIT visit, void *context)
{
	const struct collected_range *row = *(void *const *)node;
	struct placing *placing = context;

	if (visit != postorder && visit != leaf)
		return;
	/* Samples beside rows say nothing more. */
	if (placing->ranges->collected.rows && !row->basis)
		return;
	if (!placing->error)
		placing->error = place_row(placing->ranges, placing->file, row);
}

static int compare_groups(const void *a, const void *b)
{
	const struct range_group *x = a, *y = b;

	return compare_u64(y->set.nodes[0].count, x->set.nodes[0].count);
}

static int place_all(struct hwprof_ranges *ranges,
		     const struct hwprof_file *file)
{
	struct placing placing = { ranges, file, 0 };
	size_t i;

	twalk_r(ranges->rows, place_one, &placing);
	for (i = 0; i < ranges->group_count && !placing.error; i++)
		placing.error = range_set_build(&ranges->groups[i].set,
						ranges->hot * ranges->total);
	if (!placing.error && ranges->group_count)
		qsort(ranges->groups, ranges->group_count,
		      sizeof(*ranges->groups), compare_groups);
	return placing.error;
}

/* --- what is hot ------------------------------------------------------------ */

static void describe(struct hwprof_ranges *ranges,
		     const struct range_group *group,
		     const struct range_node *node, struct hwprof_range *range)
{
	*range = (struct hwprof_range){
		.object = object_name(group->object),
		.build_id = object_build_id(group->object),
		.low = node->low,
		.high = range_last(node),
		.bits = node->bits,
		.least = node->count,
		.most = node->count + node->around + ranges->elsewhere,
		.own = node->rest,
		.share = (double)node->rest / ranges->total,
		.basis = group->basis,
		.pid = group->pid,
	};
	range->function = object_symbol(group->object, range->low,
					&range->function_offset);
	range->last_function = object_symbol(group->object, range->high,
					     &range->last_offset);
	if (group->pid)
		range->comm = processes_comm(ranges->collected.processes,
					     group->pid, group->last);
}

/* The last one of those before @range that has it inside. */
static void set_parent(struct hwprof_ranges *ranges, size_t first,
		       struct hwprof_range *range)
{
	struct hwprof_range *parent = range - 1;

	while (parent >= ranges->ranges + first && parent->high < range->low)
		parent--;
	range->parent = parent >= ranges->ranges + first ? parent :
							   ranges->ranges;
	range->depth = range->parent->depth + 1;
}

static void pick_hot(struct hwprof_ranges *ranges,
		     const struct range_group *group)
{
	const struct range_set *set = &group->set;
	size_t first = ranges->count, i;

	for (i = 0; i < set->count; i++) {
		struct hwprof_range *range = &ranges->ranges[ranges->count];

		if (!set->nodes[i].hot)
			continue;
		describe(ranges, group, &set->nodes[i], range);
		set_parent(ranges, first, range);
		ranges->count++;
	}
	if (group->basis > ranges->ranges[0].basis)
		ranges->ranges[0].basis = group->basis;
}

static size_t count_hot(const struct hwprof_ranges *ranges)
{
	size_t count = 0, i, k;

	for (i = 0; i < ranges->group_count; i++)
		for (k = 0; k < ranges->groups[i].set.count; k++)
			count += ranges->groups[i].set.nodes[k].hot;
	return count;
}

static int find_hot(struct hwprof_ranges *ranges)
{
	struct hwprof_range *whole;
	size_t i;

	ranges->ranges = calloc(1 + count_hot(ranges), sizeof(*whole));
	if (!ranges->ranges)
		return -ENOMEM;
	whole = ranges->ranges;
	*whole = (struct hwprof_range){
		.high = UINT64_MAX, .bits = 64,
		.least = ranges->total, .most = ranges->total,
		.own = ranges->total,
	};
	ranges->count = 1;
	for (i = 0; i < ranges->group_count; i++)
		pick_hot(ranges, &ranges->groups[i]);
	for (i = 1; i < ranges->count; i++)
		whole->own -= ranges->ranges[i].own;
	if (ranges->total)
		whole->share = (double)whole->own / ranges->total;
	return 0;
}

/* --- all of it -------------------------------------------------------------- */

static int warn(struct hwprof_ranges *ranges)
{
	const struct hwprof_totals *totals = &ranges->totals;
	struct warnings *warnings = &ranges->warnings;
	int error = 0;
	size_t i;

	if (ranges->collected.bare_rows)
		error |= warnings_add(warnings, "%" PRIu64 " rows have no raw data: how large their ranges are is not known; record with 'perf record -R'",
				      ranges->collected.bare_rows);
	else if (totals->samples && totals->rows)
		error |= warnings_add(warnings, "the file has rows and %" PRIu64 " samples of ranges: the samples are left out",
				      totals->samples);
	error |= collected_warn(&ranges->collected, totals, ranges->total,
				"events", warnings);
	for (i = 0; i < ranges->group_count; i++)
		if (object_warning(ranges->groups[i].object))
			error |= warnings_add(warnings, "%s",
					      object_warning(ranges->groups[i].object));
	return error;
}

static int make(struct hwprof_ranges *ranges, struct hwprof_file *file)
{
	int error;

	ranges->objects = objects_new(ranges->flags & HWPROF_NO_OBJECTS);
	if (!ranges->objects)
		return file_fail(file, -ENOMEM, "out of memory");
	error = collect_samples(&ranges->collected, file, "ranges", take,
				ranges);
	if (error)
		return error;
	collected_totals(&ranges->collected, file, &ranges->totals);
	if (place_all(ranges, file) || find_hot(ranges) || warn(ranges))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

int hwprof_ranges_read(struct hwprof_ranges **result, struct hwprof_file *file,
		       double hot, unsigned int flags)
{
	struct hwprof_ranges *ranges;
	int error;

	*result = NULL;
	if (!(hot >= 0 && hot <= 1))
		return file_fail(file, -EINVAL,
				 "ranges with %g of all events are to be hot: above 0, up to 1 is allowed",
				 hot);
	ranges = calloc(1, sizeof(*ranges));
	if (!ranges)
		return file_fail(file, -ENOMEM, "out of memory");
	ranges->hot = hot ? hot : HOT;
	ranges->flags = flags;
	error = make(ranges, file);
	if (error) {
		hwprof_ranges_free(ranges);
		return error;
	}
	*result = ranges;
	return 0;
}

void hwprof_ranges_free(struct hwprof_ranges *ranges)
{
	if (!ranges)
		return;
	while (ranges->group_count)
		range_set_free(&ranges->groups[--ranges->group_count].set);
	tdestroy(ranges->rows, free);
	free(ranges->groups);
	free(ranges->ranges);
	warnings_free(&ranges->warnings);
	collected_free(&ranges->collected);
	objects_free(ranges->objects);
	free(ranges);
}

size_t hwprof_ranges_count(const struct hwprof_ranges *ranges)
{
	return ranges->count;
}

const struct hwprof_range *hwprof_ranges_get(const struct hwprof_ranges *ranges,
					     size_t index)
{
	return &ranges->ranges[index];
}

const struct hwprof_totals *hwprof_ranges_totals(const struct hwprof_ranges *ranges)
{
	return &ranges->totals;
}

const char *hwprof_ranges_warning(const struct hwprof_ranges *ranges,
				  size_t index)
{
	return warnings_get(&ranges->warnings, index);
}
