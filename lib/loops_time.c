// SPDX-License-Identifier: LGPL-2.1-or-later
/* Windows that time chose, by the loop that they were taken in. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "loops.h"
#include "place.h"

static int compare_times(const void *a, const void *b)
{
	const struct collected_time *x = a, *y = b;
	int order = compare_u64(x->ip, y->ip);

	if (!order)
		order = compare_u64(x->session, y->session);
	if (!order)
		order = compare_u64(x->space, y->space);
	return order ? order : compare_u64(x->pid, y->pid);
}

int collected_add_time(struct collected *collected,
		       const struct hwprof_row_time *row, uint64_t time)
{
	struct collected_time **found, *sum, key = {
		.session = row->row.session, .space = row->row.space,
		.pid = row->row.pid, .ip = row->ip, .first = time,
	};

	collected->rows++;
	found = tfind(&key, &collected->times, compare_times);
	sum = found ? *found : malloc(sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	if (!found) {
		*sum = key;
		if (!tsearch(sum, &collected->times, compare_times)) {
			free(sum);
			return -ENOMEM;
		}
		collected->time_count++;
	}
	sum->windows += row->windows;
	if (time < sum->first)
		sum->first = time;
	if (time > sum->last)
		sum->last = time;
	return 0;
}

/* Does @entry come behind what begins at @address there, in place_compare()? */
static bool is_behind(const struct loop_entry *entry,
		      const struct loop_entry *at)
{
	struct loop_entry point = *at;

	/* Of what begins there, the smallest comes last. */
	point.loop.tail = point.loop.head;
	return place_compare(entry, &point) > 0;
}

/* The smallest region around @at's head, of equal ones the lower; or NULL. */
static struct loop_entry *find_around(struct hwprof_loops *loops,
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
		    (at->loop.pid && entry->file != at->file))
			break;
		if (entry->loop.tail >= at->loop.head &&
		    (!found || length <= found->loop.tail - found->loop.head))
			found = entry;
	}
	return found;
}

struct placing {
	struct hwprof_loops *loops;
	const struct hwprof_file *file;
	int error;
};

static void place_time(const void *node, VISIT visit, void *context)
{
	const struct collected_time *time = *(void *const *)node;
	struct placing *placing = context;
	struct hwprof_loops *loops = placing->loops;
	struct loop_entry *at;
	struct place place;

	if ((visit != postorder && visit != leaf) || placing->error)
		return;
	placing->error = place_find(&place, loops->objects,
				    loops->collected.processes, placing->file,
				    time->pid, time->first, time->last,
				    time->ip);
	if (placing->error)
		return;
	at = &loops->times[loops->time_count++];
	*at = (struct loop_entry){
		.object = place.object,
		.file = loops->file_count,
		.windows = time->windows,
	};
	at->loop.object = object_name(place.object);
	at->loop.pid = loops->flags & HWPROF_PER_PROCESS ? time->pid :
							   place.pid;
	at->loop.head = place.address;
}

int times_place(struct hwprof_loops *loops, const struct hwprof_file *file)
{
	struct placing placing = { loops, file, 0 };
	size_t count = loops->time_count + loops->collected.time_count + 1;
	struct loop_entry *all = reallocarray(loops->times, count, sizeof(*all));

	if (!all)
		return -ENOMEM;
	loops->times = all;
	twalk_r(loops->collected.times, place_time, &placing);
	return placing.error;
}

void times_share(struct hwprof_loops *loops)
{
	size_t i;

	for (i = 0; i < loops->count; i++)
		if (loops->entries[i].loop.basis != HWPROF_BASIS_TIME)
			return;
	if (!loops->totals.windows)
		return;
	for (i = 0; i < loops->time_count; i++) {
		const struct loop_entry *at = &loops->times[i];
		struct loop_entry *around = find_around(loops, at);

		if (around)
			around->windows += at->windows;
	}
	for (i = 0; i < loops->count; i++) {
		struct loop_entry *entry = &loops->entries[i];

		entry->loop.share_of = "time";
		entry->loop.share = (double)entry->windows /
				    loops->totals.windows;
	}
}
