// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "estimate.h"
#include "loops.h"
#include "location.h"
#include "base/tree.h"
#include "profile/inner.h"

/* Adds a loop with its location in the profile of all files. */
static int add_entry(struct hwprof_loops *loops,
		     const struct collected_loop *sums)
{
	struct loop_entry *entry = &loops->entries[loops->count++];
	struct hwprof_loop *loop = &entry->loop;
	uint64_t entries = sums->entries > 0 ? sums->entries : 0;
	struct row_weight row = facts_weight(&loops->profile.facts,
					     &sums->origin,
					     sums->back_edges + entries);
	struct location location;

	*entry = (struct loop_entry){ .sums = *sums };
	collected_weigh(&entry->sums, &row);
	if (location_find(&location, &loops->profile, &sums->origin,
			  sums->head))
		return -ENOMEM;
	entry->object = location.object;
	entry->file = location.file;
	loop->object = object_name(location.object);
	loop->head = location.address;
	loop->tail = location.address + (sums->tail - sums->head);
	loop->pid = location.pid;
	loop->comm =
		profile_comm(&loops->profile, location.pid, sums->origin.last);
	loops->profile.found += sums->back_edges;
	return 0;
}

/* Adds the loops of this file to those of the previous files. */
static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_loops *loops = (struct hwprof_loops *)profile;
	struct loop_entry *entries = reallocarray(loops->entries,
						  loops->count + count + 1,
						  sizeof(*entries));
	int error = 0;
	size_t i;

	if (!entries)
		return -ENOMEM;
	loops->entries = entries;
	for (i = 0; !error && i < count; i++)
		error = add_entry(loops, rows[i]);
	return error ?: times_place(loops) ?: loop_paths_place(loops);
}

static bool same_place(const struct loop_entry *a, const struct loop_entry *b)
{
	return a->object == b->object && a->loop.pid == b->loop.pid &&
	       a->file == b->file && a->loop.head == b->loop.head;
}

/* Merges the entries of each place. */
static void merge(struct hwprof_loops *loops)
{
	size_t kept = 0, i;

	qsort(loops->entries, loops->count, sizeof(*loops->entries),
	      place_compare);
	for (i = 0; i < loops->count; i++) {
		struct loop_entry *entry = &loops->entries[i];
		struct loop_entry *last = &loops->entries[kept - !!kept];

		if (kept && same_place(last, entry)) {
			collected_add(&last->sums, &entry->sums);
			last->sums.tolerance += entry->sums.tolerance;
			if (entry->loop.tail > last->loop.tail)
				last->loop.tail = entry->loop.tail;
		} else {
			loops->entries[kept++] = *entry;
		}
	}
	loops->count = kept;
}

static uint64_t weight(const struct hwprof_loop *loop)
{
	return loop->entries_seen + loop->back_edges_seen;
}

static void describe(struct hwprof_loops *loops)
{
	const bool bursts = loops->profile.totals.sources ==
			    1U << HWPROF_SOURCE_STEP;
	double total = 0;
	size_t i;

	for (i = 0; i < loops->count; i++) {
		struct loop_entry *entry = &loops->entries[i];
		struct hwprof_loop *loop = &entry->loop;

		estimate_loop(loop, &entry->sums, bursts);
		widen_loop(loop, loops->profile.inferred);
		total += weight(loop);
		loop->function = object_symbol(entry->object, loop->head,
					       &loop->function_offset);
		loop->file = object_line(entry->object, loop->head,
					 &loop->line);
		loop->build_id = object_build_id(entry->object);
	}
	for (i = 0; i < loops->count; i++) {
		struct hwprof_loop *loop = &loops->entries[i].loop;

		loop->share_of = loop->basis ? "iterations" : "back_edges";
		if (total > 0)
			loop->share = weight(loop) / total;
	}
	loops->total = total;
}

static int warn(struct hwprof_profile *profile,
		const struct hwprof_totals *totals)
{
	if (!totals->samples || totals->rows || profile->facts.bare_rows)
		return 0;
	return warnings_add(
		&profile->warnings,
		"the file has samples, not rows: only back edges are known, as far as the periods tell; record with the field 'rows' for entries and trip counts");
}

/* Sets the interval of a share. */
static void share_interval(const struct hwprof_loops *loops,
			   struct loop_entry *entry)
{
	struct share_facts facts = share_facts_of(&loops->profile,
						  loops->total);

	facts.in_loop = entry->windows;
	facts.in_loop_sq = entry->windows_sq;
	estimate_loop_share(&entry->loop, &entry->sums, &facts);
}

/* Completes the profile of all files. */
static int finish(struct hwprof_profile *profile)
{
	struct hwprof_loops *loops = (struct hwprof_loops *)profile;
	size_t i, kept = 0;

	merge(loops);
	describe(loops);
	times_share(loops);
	for (i = 0; i < loops->count; i++)
		share_interval(loops, &loops->entries[i]);
	loops->order = calloc(loops->count + 1, sizeof(struct loop_entry *));
	if (!loops->order || nesting_find(loops->entries, loops->count) ||
	    loops_share_instructions(loops))
		return -ENOMEM;
	for (i = 0; i < loops->count; i++)
		if (profile_wants(profile, loops->entries[i].loop.function))
			loops->order[kept++] = &loops->entries[i];
	loops->count = kept;
	return hwprof_loops_sort(profile, "share");
}

static void destroy(struct hwprof_profile *profile)
{
	struct hwprof_loops *loops = (struct hwprof_loops *)profile;

	free(loops->order);
	free(loops->entries);
	free(loops->times);
	inner_free(loops->paths);
}

const struct profile_kind loops_kind = {
	.size = sizeof(struct hwprof_loops),
	.kind = HWPROF_KIND_LOOPS,
	.about = "loops",
	.units = "back edges",
	.things = "loops",
	.lacking = "only back edges are known, no entries and trip counts",
	.take = loops_take,
	.place = place_all,
	.finish = finish,
	.count = hwprof_loops_count,
	.destroy = destroy,
	.warn = warn,
	.beside = loop_paths_take,
};

size_t hwprof_loops_count(const struct hwprof_profile *profile)
{
	const struct hwprof_loops *loops = (const void *)profile;

	return profile->kind == &loops_kind ? loops->count : 0;
}

const struct hwprof_loop *
hwprof_loops_get(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_loops *loops = (const void *)profile;

	return &loops->order[index]->loop;
}
