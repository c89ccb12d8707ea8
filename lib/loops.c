// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "loops.h"
#include "place.h"

/* Turns a process's addresses into the object's. */
static int place(struct hwprof_loops *loops, const struct hwprof_file *file,
		 struct loop_entry *entry)
{
	const struct collected_loop *sums = &entry->sums;
	struct place place;

	if (place_find(&place, loops->objects, loops->collected.processes,
		       file, sums->pid, sums->first, sums->last, sums->head))
		return -ENOMEM;
	entry->object = place.object;
	entry->loop.object = object_name(place.object);
	entry->loop.pid = place.pid;
	entry->loop.head = place.address;
	entry->loop.tail = place.address + (sums->tail - sums->head);
	return 0;
}

struct gather {
	struct hwprof_loops *loops;
	bool with_rows;
};

static void gather_loop(const void *node, VISIT visit, void *context)
{
	const struct collected_loop *collected = *(void *const *)node;
	struct gather *gather = context;
	struct hwprof_loops *loops = gather->loops;

	if (visit != postorder && visit != leaf)
		return;
	/* Samples beside rows say nothing more. */
	if (gather->with_rows && !collected->basis)
		return;
	loops->entries[loops->count++] = (struct loop_entry){
		.file = loops->file_count, .sums = *collected,
	};
}

/* The loops that were collected from @file join those of files before it. */
static int place_all(struct hwprof_loops *loops, const struct hwprof_file *file)
{
	struct gather gather = { loops, loops->collected.rows };
	size_t i = loops->count;
	struct loop_entry *all =
		reallocarray(loops->entries,
			     i + loops->collected.loop_count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	loops->entries = all;
	twalk_r(loops->collected.loops, gather_loop, &gather);
	for (; i < loops->count; i++) {
		struct loop_entry *entry = &loops->entries[i];

		if (place(loops, file, entry))
			return -ENOMEM;
		if (loops->flags & HWPROF_PER_PROCESS)
			entry->loop.pid = entry->sums.pid;
		if (entry->loop.pid)
			entry->loop.comm =
				processes_comm(loops->collected.processes,
					       entry->loop.pid,
					       entry->sums.last);
	}
	return 0;
}

static bool same_place(const struct loop_entry *a, const struct loop_entry *b)
{
	return a->object == b->object && a->loop.pid == b->loop.pid &&
	       (!a->loop.pid || a->file == b->file) &&
	       a->loop.head == b->loop.head;
}

/* One entry for what has one place. */
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
	double total = 0;
	size_t i;

	for (i = 0; i < loops->count; i++) {
		struct loop_entry *entry = &loops->entries[i];
		struct hwprof_loop *loop = &entry->loop;

		estimate_loop(loop, &entry->sums);
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
}

/* What is to be said of one file, whose loops have the indices from @first on. */
static int warn_of_totals(struct hwprof_loops *loops, size_t first,
			  const struct hwprof_totals *totals)
{
	struct warnings *warnings = &loops->warnings;
	uint64_t found = 0;
	int error = 0;
	size_t i;

	if (loops->collected.bare_rows)
		error |= warnings_add(warnings, "the rows have no raw data: only back edges are known; record with 'perf record -R' for entries and trip counts");
	else if (totals->samples && !totals->rows)
		error |= warnings_add(warnings, "the file has samples, not rows: only back edges are known, as far as the periods tell; record with the field 'rows' for entries and trip counts");
	else if (totals->samples)
		error |= warnings_add(warnings, "the file has rows and %" PRIu64 " samples of loops: the samples are left out",
				      totals->samples);
	for (i = first; i < loops->count; i++)
		found += loops->entries[i].sums.back_edges;
	return error | collected_warn(&loops->collected, totals, found,
				      "back edges", warnings);
}

/* Objects come one after the other, so each is named once. */
static int warn_of_objects(struct hwprof_loops *loops)
{
	const struct object *last = NULL;
	int error = 0;
	size_t i;

	for (i = 0; i < loops->count; i++) {
		const struct object *object = loops->entries[i].object;

		if (object != last && object_warning(object))
			error |= warnings_add(&loops->warnings, "%s",
					      object_warning(object));
		last = object;
	}
	return error;
}

/* What was collected from @file is kept, since names point into it. */
static int keep_collected(struct hwprof_loops *loops)
{
	struct collected *files = reallocarray(loops->files,
					       loops->file_count + 1,
					       sizeof(*files));

	if (!files)
		return -ENOMEM;
	loops->files = files;
	files[loops->file_count++] = loops->collected;
	loops->collected = (struct collected){ .rows = 0 };
	return 0;
}

static int take_file(struct hwprof_loops *loops, struct hwprof_file *file)
{
	struct hwprof_totals totals = { .rows = 0 };
	size_t first = loops->count;

	if (place_all(loops, file) || times_place(loops, file))
		return -ENOMEM;
	collected_totals(&loops->collected, file, &totals);
	totals_add(&loops->totals, &totals);
	if (warn_of_totals(loops, first, &totals))
		return -ENOMEM;
	return keep_collected(loops);
}

/* Of all files. */
static int make_loops(struct hwprof_loops *loops)
{
	size_t i;

	merge(loops);
	describe(loops);
	times_share(loops);
	loops->order = calloc(loops->count + 1, sizeof(struct loop_entry *));
	if (!loops->order || nesting_find(loops->entries, loops->count))
		return -ENOMEM;
	for (i = 0; i < loops->count; i++)
		loops->order[i] = &loops->entries[i];
	if (warn_of_objects(loops))
		return -ENOMEM;
	return hwprof_loops_sort(loops, "share");
}

static int read_files(struct hwprof_loops *loops,
		      struct hwprof_file *const *files, size_t count,
		      loops_gather gather, void *context)
{
	int error = 0;
	size_t i;

	for (i = 0; i < count && !error; i++) {
		size_t said = loops->warnings.count;

		error = gather(loops, files[i], context);
		if (error)
			return error;
		error = take_file(loops, files[i]);
		if (!error && count > 1)
			error = warnings_name(&loops->warnings, said,
					      files[i]->name);
	}
	if (!error)
		error = make_loops(loops);
	return error ? file_fail(files[i ? i - 1 : 0], error, "out of memory") : 0;
}

int loops_make(struct hwprof_loops **result, struct hwprof_file *const *files,
	       size_t count, unsigned int flags, loops_gather gather,
	       void *context)
{
	struct hwprof_loops *loops = calloc(1, sizeof(*loops));
	int error;

	*result = NULL;
	if (!loops || !(loops->objects = objects_new(flags & HWPROF_NO_OBJECTS))) {
		free(loops);
		return file_fail(files[0], -ENOMEM, "out of memory");
	}
	loops->flags = flags;
	error = read_files(loops, files, count, gather, context);
	if (error) {
		hwprof_loops_free(loops);
		return error;
	}
	*result = loops;
	return 0;
}

static int gather_rows(struct hwprof_loops *loops, struct hwprof_file *file,
		       void *context)
{
	return collect(&loops->collected, file);
}

int hwprof_loops_read(struct hwprof_loops **result,
		      struct hwprof_file *const *files, size_t count,
		      unsigned int flags)
{
	return loops_make(result, files, count, flags, gather_rows, NULL);
}

void hwprof_loops_free(struct hwprof_loops *loops)
{
	if (!loops)
		return;
	warnings_free(&loops->warnings);
	free(loops->order);
	free(loops->entries);
	free(loops->times);
	collected_free(&loops->collected);
	while (loops->file_count)
		collected_free(&loops->files[--loops->file_count]);
	free(loops->files);
	objects_free(loops->objects);
	free(loops);
}

size_t hwprof_loops_count(const struct hwprof_loops *loops)
{
	return loops->count;
}

const struct hwprof_loop *hwprof_loops_get(const struct hwprof_loops *loops,
					   size_t index)
{
	return &loops->order[index]->loop;
}

const struct hwprof_totals *hwprof_loops_totals(const struct hwprof_loops *loops)
{
	return &loops->totals;
}

const char *hwprof_loops_warning(const struct hwprof_loops *loops, size_t index)
{
	return warnings_get(&loops->warnings, index);
}

const char *hwprof_loops_error(const struct hwprof_loops *loops)
{
	return loops->message;
}
