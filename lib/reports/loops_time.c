// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attributes windows that time chose to loops. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "loops.h"
#include "location.h"
#include "base/tree.h"

static int compare_times(const void *a, const void *b)
{
	const struct collected_time *x = a, *y = b;
	int order = compare_u64(x->ip, y->ip);

	return order ? order : row_origin_compare(&x->origin, &y->origin);
}

int times_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_time *row,
		  uint64_t time)
{
	struct collected_time key = {
		.origin = row_origin_of(&row->row, HWPROF_BASIS_TIME, time),
		.ip = row->ip,
	};
	struct collected_time *sum;
	bool is_new;

	facts_date(&profile->facts, &key.origin, time);
	profile->facts.rows++;
	sum = tree_get(&profile->times, &key, sizeof(key), compare_times,
		       &is_new);
	if (!sum)
		return -ENOMEM;
	sum->windows += row->windows;
	row_origin_add(&sum->origin, &key.origin);
	return 0;
}

/*
 * Returns true if place_compare() sorts @entry behind everything that begins at
 * the address of @at.
 */
static bool is_behind(const struct loop_entry *entry,
		      const struct loop_entry *at)
{
	struct loop_entry point = *at;

	/* Among loops that begin there, the smallest comes last. */
	point.loop.tail = point.loop.head;
	return place_compare(entry, &point) > 0;
}

struct loop_entry *loops_around(struct hwprof_loops *loops,
				const struct loop_entry *at)
{
	size_t low = 0, high = loops->count;
	struct loop_entry *found = NULL;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (is_behind(&loops->entries[middle], at))
			high = middle;
		else
			low = middle + 1;
	}
	while (low--) {
		struct loop_entry *entry = &loops->entries[low];
		uint64_t length = entry->loop.tail - entry->loop.head;

		if (entry->object != at->object ||
		    entry->loop.pid != at->loop.pid ||
		    entry->file != at->file)
			break;
		if (entry->loop.tail >= at->loop.head &&
		    (!found || length <= found->loop.tail - found->loop.head))
			found = entry;
	}
	return found;
}

static int place_time(struct hwprof_loops *loops,
		      const struct collected_time *time)
{
	struct loop_entry *at = &loops->times[loops->time_count++];
	struct row_weight row = facts_weight(&loops->profile.facts,
					     &time->origin, 0);
	struct location location;

	if (location_find(&location, &loops->profile, &time->origin, time->ip))
		return -ENOMEM;
	*at = (struct loop_entry){
		.loop.object = object_name(location.object),
		.loop.head = location.address,
		.loop.pid = location.pid,
		.object = location.object,
		.file = location.file,
		.windows = weighed(&row, time->windows),
		.windows_sq = row.weight * row.weight * time->windows,
	};
	return 0;
}

int times_place(struct hwprof_loops *loops)
{
	size_t count, i;
	void **all = tree_list(loops->profile.times, &count);
	struct loop_entry *times = !all ? NULL :
		reallocarray(loops->times, loops->time_count + count + 1,
			     sizeof(*times));
	int error = times ? 0 : -ENOMEM;

	if (times)
		loops->times = times;
	for (i = 0; !error && i < count; i++)
		error = place_time(loops, all[i]);
	free(all);
	return error;
}

void times_share(struct hwprof_loops *loops)
{
	size_t i;

	for (i = 0; i < loops->count; i++)
		if (loops->entries[i].loop.basis != HWPROF_BASIS_TIME)
			return;
	if (!(loops->profile.windows > 0))
		return;
	for (i = 0; i < loops->time_count; i++) {
		const struct loop_entry *at = &loops->times[i];
		struct loop_entry *around = loops_around(loops, at);

		if (!around)
			continue;
		around->windows += at->windows;
		around->windows_sq += at->windows_sq;
	}
	for (i = 0; i < loops->count; i++) {
		struct loop_entry *entry = &loops->entries[i];

		entry->loop.share_of = "time";
		entry->loop.share = entry->windows / loops->profile.windows;
	}
}
