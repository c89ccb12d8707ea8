// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "place.h"
#include "ranges.h"

#define HOT		0.1	/* the paper's */

enum { PAGE_BITS = 12 };	/* of any mapping: it begins and ends with one */

static bool is_of_data(enum hwprof_range_of of)
{
	return of == HWPROF_RANGE_LOAD_ADDRESS ||
	       of == HWPROF_RANGE_STORE_ADDRESS ||
	       of == HWPROF_RANGE_ZERO_ADDRESS;
}

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

/* The value that was counted. False: only a row would say. */
static bool sample_value(enum hwprof_range_of of,
			 const struct hwprof_sample *sample, uint64_t *value)
{
	const struct hwprof_row_range *row = (const void *)sample->row;

	if (row && row->row.type == HWPROF_ROW_RANGE)
		*value = row->low;
	else if (is_of_data(of))
		*value = sample->addr;
	else if (of != HWPROF_RANGE_LOAD_VALUE)
		*value = sample->ip;
	else
		return false;
	return true;
}

/* One value; or a row without its raw data, of which the size is not known. */
static int add_sample(struct hwprof_ranges *ranges, struct hwprof_file *file,
		      const struct hwprof_sample *sample)
{
	struct collected_range range = {
		.pid = sample->pid,
		.count = sample->period,
		.first = sample->time,
		.last = sample->time,
	};

	if (sample->rows)
		ranges->collected.bare_rows++;
	if (sample->rows || !sample_value(ranges->of, sample, &range.low))
		range.bits = 64;
	ranges->collected.samples++;
	return range.count ? add_row(ranges, file, &range) : 0;
}

/* Ranges of other things make sense only by themselves. */
static bool skips(void *context, const struct hwprof_sample *sample)
{
	struct hwprof_event event = { .config = {
		sample->config[0], sample->config[1], sample->config[2]
	} };
	int of = hwprof_event_field(&event, "range_of");
	struct hwprof_ranges *ranges = context;

	if (ranges->of < 0)
		ranges->of = of;
	if (ranges->of != of)
		ranges->others |= 1U << of;
	return ranges->of != of;
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

/* Values are nowhere, and the same in every process. */
static int find_place(struct hwprof_ranges *ranges,
		      const struct hwprof_file *file,
		      const struct collected_range *row, struct place *place)
{
	if (ranges->of != HWPROF_RANGE_LOAD_VALUE)
		return place_find(place, ranges->objects,
				  ranges->collected.processes, file, row->pid,
				  row->first, row->last, row->low);
	*place = (struct place){ .address = row->low };
	return 0;
}

static int place_row(struct hwprof_ranges *ranges,
		     const struct hwprof_file *file,
		     const struct collected_range *row)
{
	uint64_t size = last_of(0, row->bits);	/* less one */
	struct range_group *group;
	struct place place;

	if (find_place(ranges, file, row, &place))
		return -ENOMEM;
	ranges->total += row->count;
	if (place.object && row->bits > PAGE_BITS &&
	    (!place.left || size > place.left - 1)) {
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
	if (group->pid)
		range->comm = processes_comm(ranges->collected.processes,
					     group->pid, group->last);
	if (!group->object)
		return;
	range->object = object_name(group->object);
	range->build_id = object_build_id(group->object);
	range->function = object_symbol(group->object, range->low,
					&range->function_offset);
	range->last_function = object_symbol(group->object, range->high,
					     &range->last_offset);
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

/* Branches are lost as units; an access that was not seen is none. */
static int warn_of_unseen(struct hwprof_ranges *ranges)
{
	uint64_t unseen = 0;
	size_t i;

	if (ranges->of == HWPROF_RANGE_IP || ranges->of == HWPROF_RANGE_CALLEE)
		return 0;
	for (i = 0; i < ranges->collected.session_count; i++)
		unseen += ranges->collected.sessions[i].totals.lost_events;
	if (!unseen)
		return 0;
	return warnings_add(&ranges->warnings, "%" PRIu64 " instructions are missing: what they load and store is not known to hwprof",
			    unseen);
}

static int warn(struct hwprof_ranges *ranges)
{
	const struct hwprof_totals *totals = &ranges->totals;
	struct warnings *warnings = &ranges->warnings;
	int error = warn_of_unseen(ranges);
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
		if (ranges->groups[i].object &&
		    object_warning(ranges->groups[i].object))
			error |= warnings_add(warnings, "%s",
					      object_warning(ranges->groups[i].object));
	return error;
}

/* Of what, unless that was said, there is only one thing in the file. */
static int check_of(struct hwprof_ranges *ranges, struct hwprof_file *file)
{
	char names[128] = "";
	size_t used = 0;
	int of;

	if (ranges->of < 0)
		ranges->of = HWPROF_RANGE_IP;	/* of nothing */
	if (ranges->flags >= HWPROF_RANGES_OF_FLAG(0) || !ranges->others)
		return 0;
	ranges->others |= 1U << ranges->of;
	for (of = 0; of < HWPROF_RANGES_OF_COUNT && used < sizeof(names); of++)
		if (ranges->others >> of & 1)
			used += snprintf(names + used, sizeof(names) - used,
					 "%s%s", used ? ", " : "",
					 hwprof_range_of_name(of));
	return file_fail(file, -EINVAL, "has ranges of several things: choose one (--of) of %s",
			 names);
}

static int make(struct hwprof_ranges *ranges, struct hwprof_file *file)
{
	int error;

	ranges->objects = objects_new(ranges->flags & HWPROF_NO_OBJECTS);
	if (!ranges->objects)
		return file_fail(file, -ENOMEM, "out of memory");
	ranges->collected.skips = skips;
	error = collect_samples(&ranges->collected, file, "ranges", take,
				ranges);
	if (!error)
		error = check_of(ranges, file);
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
	ranges->of = (int)(flags / HWPROF_RANGES_OF_FLAG(0)) - 1;
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

enum hwprof_range_of hwprof_ranges_of(const struct hwprof_ranges *ranges)
{
	return ranges->of;
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
