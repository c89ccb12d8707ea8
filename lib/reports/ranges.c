// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "location.h"
#include "range_box.h"
#include "ranges.h"
#include "base/tree.h"

#define HOT		0.1	/* as in the paper */

enum { PAGE_BITS = 12 };	/* mappings begin and end at pages */

static bool is_of_data(enum hwprof_range_of of)
{
	return of == HWPROF_RANGE_LOAD_ADDRESS ||
	       of == HWPROF_RANGE_STORE_ADDRESS ||
	       of == HWPROF_RANGE_ZERO_ADDRESS ||
	       hwprof_range_of_pairs(of);
}

/* --- rows, summed --------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_range *x = a, *y = b;
	int order = compare_u64(x->low, y->low);

	if (!order)
		order = compare_u64(x->code, y->code);
	if (!order)
		order = compare_u64(x->bits, y->bits);
	if (!order)
		order = compare_u64(x->code_bits, y->code_bits);
	return order ? order : row_origin_compare(&x->origin, &y->origin);
}

static int add_row(struct hwprof_profile *profile,
		   const struct collected_range *from)
{
	struct collected_range *to;
	bool is_new;

	to = tree_get(&profile->rows, from, sizeof(*from), compare_rows,
		      &is_new);
	if (!to)
		return -ENOMEM;
	if (!is_new) {
		row_origin_add(&to->origin, &from->origin);
		to->count += from->count;
	}
	return 0;
}

/* Tests alignment; @bits is up to 64. */
static bool is_aligned(uint64_t low, uint32_t bits)
{
	return !(low & range_extent(bits));
}

static bool is_range(const struct hwprof_row_range *row)
{
	return row->bits <= 64 && row->bits % 2 == 0 &&
	       is_aligned(row->low, row->bits);
}

static bool is_box(const struct hwprof_row_box *row)
{
	uint32_t bits = row->code_bits + row->bits;

	return row->bits <= 64 && row->code_bits <= 64 && bits % 2 == 0 &&
	       row->code_bits == box_code_bits(bits) &&
	       is_aligned(row->low, row->bits) &&
	       is_aligned(row->code, row->code_bits);
}

int ranges_add_row(struct hwprof_profile *profile,
		   const struct hwprof_row_range *row,
		   uint64_t time)
{
	const struct collected_range range = {
		.origin = row_origin_of(&row->row, row->basis, time),
		.bits = row->bits,
		.low = row->low,
		.count = row->count,
	};

	profile->facts.rows++;
	return add_row(profile, &range);
}

static int add_range_row(struct hwprof_profile *profile,
			 const struct hwprof_sample *sample)
{
	const struct hwprof_row_range *row = (const void *)sample->row;

	if (!is_range(row))
		return file_damaged(
			profile->file, sample->offset,
			"a range of 2^%u values cannot begin at 0x%llx",
			row->bits, row->low);
	return ranges_add_row(profile, row, sample->time);
}

static int add_box_row(struct hwprof_profile *profile,
		       const struct hwprof_sample *sample)
{
	const struct hwprof_row_box *row = (const void *)sample->row;
	const struct collected_range box = {
		.origin = row_origin_of(&row->row, row->basis, sample->time),
		.bits = row->bits,
		.code_bits = row->code_bits,
		.low = row->low,
		.code = row->code,
		.count = row->count,
	};

	if (!is_box(row))
		return file_damaged(
			profile->file, sample->offset,
			"there is no box of 2^%u bytes of code from 0x%llx on by 2^%u addresses from 0x%llx on",
			row->code_bits, row->code, row->bits, row->low);
	profile->facts.rows++;
	return add_row(profile, &box);
}

/* Finds the value of a sample. Returns false if only a row would contain it. */
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

/*
 * Adds a sample, which is one value, or a row without its raw data, whose size
 * is unknown.
 */
static int add_sample(struct hwprof_ranges *ranges,
		      const struct hwprof_sample *sample)
{
	struct hwprof_profile *profile = &ranges->profile;
	struct collected_range range = {
		.origin = row_origin_of_sample(sample),
		.count = sample->period,
	};

	profile->facts.bare_rows += sample->rows;
	profile->facts.samples++;
	if (sample->rows || !sample_value(ranges->of, sample, &range.low)) {
		range.bits = 64;
		range.code_bits = hwprof_range_of_pairs(ranges->of) ? 64 : 0;
	} else if (hwprof_range_of_pairs(ranges->of)) {
		range.code = sample->ip;
	}
	return range.count ? add_row(profile, &range) : 0;
}

/* Skips ranges of other streams than the selected one, or the first. */
static bool skips(struct hwprof_profile *profile,
		  const struct hwprof_sample *sample)
{
	struct hwprof_event event = { .config = {
		sample->config[0], sample->config[1], sample->config[2]
	} };
	int of = hwprof_event_field(&event, "range_of");
	struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;

	if (ranges->of < 0)
		ranges->of = of;
	if (ranges->of != of)
		ranges->others |= 1U << of;
	return ranges->of != of;
}

static int take(struct hwprof_profile *profile,
		const struct hwprof_sample *sample)
{
	struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;

	if (!sample->rows || !sample->row)
		return add_sample(ranges, sample);
	if (sample->row->type == HWPROF_ROW_RANGE &&
	    !hwprof_range_of_pairs(ranges->of))
		return add_range_row(profile, sample);
	if (sample->row->type == HWPROF_ROW_BOX &&
	    hwprof_range_of_pairs(ranges->of))
		return add_box_row(profile, sample);
	return 0;
}

/* --- places --------------------------------------------------------------- */

/* Finds or adds a group. For ranges that are not pairs, @code has no object. */
static struct range_group *get_group(struct hwprof_ranges *ranges,
				     const struct location *location,
				     const struct location *code)
{
	const struct location *whose = location->pid ? location : code;
	bool same = ranges->profile.flags & HWPROF_SAME_PROCESSES;
	size_t file = same ? 0 : whose->file, i;
	struct range_group *groups;

	for (i = 0; i < ranges->group_count; i++)
		if (ranges->groups[i].object == location->object &&
		    ranges->groups[i].code == code->object &&
		    ranges->groups[i].pid == whose->pid &&
		    ranges->groups[i].file == file)
			return &ranges->groups[i];
	groups = reallocarray(ranges->groups, i + 1, sizeof(*groups));
	if (!groups)
		return NULL;
	ranges->groups = groups;
	ranges->group_count++;
	groups[i] = (struct range_group){
		.object = location->object, .code = code->object,
		.pid = whose->pid, .file = file,
		.evicted = facts_evicted(&ranges->profile.facts),
	};
	return &groups[i];
}

/*
 * Adds a row at its place in the object. Alignment there differs from the
 * process's, so a range of more than a page may need a larger one around it.
 * The larger range is less precise, but not wrong.
 */
static int add_moved(struct range_set *set, range_number low,
		     range_number last, uint32_t bits, uint64_t count)
{
	while ((low ^ last) & ~range_extent(bits))
		bits += 2;
	return range_set_add(set, low & ~range_extent(bits), bits, count);
}

static int add_moved_box(struct range_set *set, struct pair low,
			 const struct collected_range *box)
{
	struct pair last = {
		low.code + (uint64_t)range_extent(box->code_bits),
		low.address + (uint64_t)range_extent(box->bits),
	};

	return add_moved(set, box_number(low), box_number(last),
			 box->code_bits + box->bits, box->count);
}

/* Values have no location, and are the same in every process. */
static int find_location(struct hwprof_ranges *ranges,
			 const struct collected_range *row,
			 struct location *location)
{
	if (ranges->of != HWPROF_RANGE_LOAD_VALUE)
		return location_find(location, &ranges->profile, &row->origin,
				  row->low);
	*location = (struct location){ .address = row->low };
	if (ranges->profile.flags & HWPROF_PER_PROCESS) {
		location->pid = row->origin.pid & ~PROCESS_GUEST;
		location->file = ranges->profile.file_count + 1;
	}
	return 0;
}

/* Returns true if some of the 2^@bits bytes may be in another object. */
static bool is_left(const struct location *location, uint32_t bits)
{
	return location->object && bits > PAGE_BITS &&
	       (!location->left || range_extent(bits) > location->left - 1);
}

static int place_row(struct hwprof_ranges *ranges,
		     const struct collected_range *row)
{
	struct location location, code = { .object = NULL };
	bool pairs = hwprof_range_of_pairs(ranges->of);
	struct range_group *group;

	if (find_location(ranges, row, &location) ||
	    (pairs && location_find(&code, &ranges->profile, &row->origin,
				 row->code)))
		return -ENOMEM;
	ranges->total += row->count;
	ranges->profile.found += row->count;
	if (is_left(&location, row->bits) || is_left(&code, row->code_bits)) {
		ranges->elsewhere += row->count;
		return 0;
	}
	group = get_group(ranges, &location, &code);
	if (!group)
		return -ENOMEM;
	if (row->origin.last >= group->last) {
		group->last = row->origin.last;
		group->comm = profile_comm(&ranges->profile, group->pid,
					   group->last);
	}
	if (row->origin.basis > group->basis)
		group->basis = row->origin.basis;
	if (pairs)
		return add_moved_box(
			&group->set,
			(struct pair){code.address, location.address}, row);
	return add_moved(&group->set, location.address,
			 location.address + (uint64_t)range_extent(row->bits),
			 row->bits, row->count);
}

/* Fails if the files have ranges of several streams, and none was selected. */
static int check_of(struct hwprof_ranges *ranges)
{
	unsigned int all = ranges->others;
	char names[128] = "";
	size_t used = 0;
	int of;

	if (ranges->profile.flags >= HWPROF_RANGES_OF_FLAG(0) || !all)
		return 0;
	all |= 1U << ranges->of;
	for (of = 0; of < HWPROF_RANGES_OF_COUNT && used < sizeof(names); of++)
		if (all >> of & 1)
			used += snprintf(names + used, sizeof(names) - used,
					 "%s%s", used ? ", " : "",
					 hwprof_range_of_name(of));
	return file_fail(ranges->profile.file, -EINVAL,
			 "%s ranges of several things: choose one (--of) of %s",
			 ranges->profile.file_count
				 ? "and the files before it have"
				 : "has",
			 names);
}

static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;
	int error = check_of(ranges);
	size_t i;

	ranges->evicted += facts_evicted(&profile->facts);
	for (i = 0; !error && i < count; i++)
		error = place_row(ranges, rows[i]);
	return error;
}

static int compare_groups(const void *a, const void *b)
{
	const struct range_group *x = a, *y = b;

	return compare_u64(y->set.nodes[0].count, x->set.nodes[0].count);
}

static int build_sets(struct hwprof_ranges *ranges)
{
	int error = 0;
	size_t i;

	for (i = 0; i < ranges->group_count && !error; i++)
		error = range_set_build(&ranges->groups[i].set,
					ranges->hot * ranges->total);
	if (!error && ranges->group_count)
		qsort(ranges->groups, ranges->group_count,
		      sizeof(*ranges->groups), compare_groups);
	return error;
}

/* --- what is hot ---------------------------------------------------------- */

static void name_code(struct object *object, struct hwprof_span *code)
{
	code->object = object_name(object);
	code->build_id = object_build_id(object);
	code->function = object_symbol(object, code->low,
				       &code->function_offset);
	code->last_function = object_symbol(object, code->high,
					    &code->last_offset);
}

static void set_ends(struct hwprof_range *range, const struct range_node *node,
		     bool pairs)
{
	struct pair low = { 0, node->low }, high = { 0, range_last(node) };

	range->bits = node->bits;
	if (pairs) {
		low = box_pair(node->low);
		high = box_pair(range_last(node));
		range->code.bits = box_code_bits(node->bits);
		range->bits -= range->code.bits;
	}
	range->low = low.address;
	range->high = high.address;
	range->code.low = low.code;
	range->code.high = high.code;
}

/*
 * Returns the evicted events that may belong to the group: those of its file if
 * it is of one process, else of all files.
 */
static uint64_t evicted_around(const struct hwprof_ranges *ranges,
			       const struct range_group *group)
{
	return group->file ? group->evicted : ranges->evicted;
}

static void describe(struct hwprof_ranges *ranges,
		     const struct range_group *group,
		     const struct range_node *node, struct hwprof_range *range)
{
	*range = (struct hwprof_range){
		.least = node->count,
		.most = node->count + node->around + ranges->elsewhere +
			evicted_around(ranges, group),
		.own = node->rest,
		.share = (double)node->rest / ranges->total,
		.basis = group->basis,
		.pid = group->pid,
		.comm = group->comm,
	};
	set_ends(range, node, hwprof_range_of_pairs(ranges->of));
	if (group->code)
		name_code(group->code, &range->code);
	if (!group->object)
		return;
	range->object = object_name(group->object);
	range->build_id = object_build_id(group->object);
	range->function = object_symbol(group->object, range->low,
					&range->function_offset);
	range->last_function = object_symbol(group->object, range->high,
					     &range->last_offset);
}

static bool is_inside(const struct hwprof_range *inner,
		      const struct hwprof_range *outer)
{
	return inner->low >= outer->low && inner->high <= outer->high &&
	       inner->code.low >= outer->code.low &&
	       inner->code.high <= outer->code.high;
}

/*
 * Sets the parent of @range, which is the last range before it that contains
 * it.
 */
static void set_parent(struct hwprof_ranges *ranges, size_t first,
		       struct hwprof_range *range)
{
	struct hwprof_range *parent = range - 1;

	while (parent >= ranges->ranges + first && !is_inside(range, parent))
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
		.least = ranges->total,
		.most = ranges->total + ranges->evicted,
		.own = ranges->total,
	};
	if (hwprof_range_of_pairs(ranges->of)) {
		whole->code.high = UINT64_MAX;
		whole->code.bits = 64;
	}
	ranges->count = 1;
	for (i = 0; i < ranges->group_count; i++)
		pick_hot(ranges, &ranges->groups[i]);
	for (i = 1; i < ranges->count; i++)
		whole->own -= ranges->ranges[i].own;
	if (ranges->total)
		whole->share = (double)whole->own / ranges->total;
	return 0;
}

/* --- ranges with events --------------------------------------------------- */

static void give_range(const struct range_group *group,
		       const struct range_node *node, bool pairs, ranges_fn fn,
		       void *context)
{
	struct hwprof_range range = { .own = node->own, .pid = group->pid };

	set_ends(&range, node, pairs);
	if (group->object) {
		range.object = object_name(group->object);
		range.build_id = object_build_id(group->object);
	}
	if (group->code) {
		range.code.object = object_name(group->code);
		range.code.build_id = object_build_id(group->code);
	}
	fn(context, &range);
}

void ranges_each(const struct hwprof_profile *profile, ranges_fn fn,
		 void *context)
{
	const struct hwprof_ranges *ranges = (const void *)profile;
	bool pairs = hwprof_range_of_pairs(ranges->of);
	size_t i, k;

	for (i = 0; i < ranges->group_count; i++) {
		const struct range_group *group = &ranges->groups[i];

		for (k = 0; k < group->set.count; k++)
			if (group->set.nodes[k].own)
				give_range(group, &group->set.nodes[k], pairs,
					   fn, context);
	}
}

/* --- all of it ------------------------------------------------------------ */

/*
 * Warns about instructions whose accesses are unknown. Lost branches are
 * counted as units instead.
 */
static int warn_of_unseen(struct hwprof_profile *profile,
			  const struct hwprof_totals *totals)
{
	const struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;
	const struct recording_facts *facts = &profile->facts;
	uint64_t unseen = 0;
	size_t i;

	if (ranges->of == HWPROF_RANGE_IP || ranges->of == HWPROF_RANGE_CALLEE)
		return 0;
	for (i = 0; i < facts->session_count; i++)
		unseen += facts->sessions[i].totals.lost_events;
	if (!unseen)
		return 0;
	return warnings_add(&profile->warnings,
			    "%" PRIu64 " instructions are missing: what they load and store is not known to hwprof",
			    unseen);
}

static int finish(struct hwprof_profile *profile)
{
	struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;
	int error = build_sets(ranges);

	if (ranges->of < 0)
		ranges->of = HWPROF_RANGE_IP;	/* without any rows */
	return error ? error : find_hot(ranges);
}

static void destroy(struct hwprof_profile *profile)
{
	struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;

	while (ranges->group_count)
		range_set_free(&ranges->groups[--ranges->group_count].set);
	free(ranges->groups);
	free(ranges->ranges);
}

static void configure(struct hwprof_profile *profile,
		      const struct hwprof_options *options)
{
	struct hwprof_ranges *ranges = (struct hwprof_ranges *)profile;

	ranges->hot = options->hot ? options->hot : HOT;
	ranges->of = (int)(options->flags / HWPROF_RANGES_OF_FLAG(0)) - 1;
}

const struct profile_kind ranges_kind = {
	.size = sizeof(struct hwprof_ranges),
	.kind = HWPROF_KIND_RANGES,
	.about = "ranges",
	.units = "events",
	.things = "ranges",
	.lacking = "how large their ranges are is not known",
	.take = take,
	.place = place_all,
	.finish = finish,
	.count = hwprof_ranges_count,
	.destroy = destroy,
	.skips = skips,
	.warn = warn_of_unseen,
	.configure = configure,
};

enum hwprof_range_of hwprof_ranges_of(const struct hwprof_profile *profile)
{
	const struct hwprof_ranges *ranges = (const void *)profile;

	return ranges->of;
}

size_t hwprof_ranges_count(const struct hwprof_profile *profile)
{
	const struct hwprof_ranges *ranges = (const void *)profile;

	return profile->kind == &ranges_kind ? ranges->count : 0;
}

const struct hwprof_range *
hwprof_ranges_get(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_ranges *ranges = (const void *)profile;

	return &ranges->ranges[index];
}
