// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "place.h"

#define ORDER(a, b)	do {						       \
	int order_ = compare_u64(a, b);					       \
									       \
	if (order_)							       \
		return order_;						       \
} while (0)

/* --- rows, summed ----------------------------------------------------------- */

/* Space 0 is of no process in particular, so the pid counts too. */
static int compare_rows(const void *a, const void *b)
{
	const struct collected_path *x = a, *y = b;
	uint32_t i;

	ORDER(x->start, y->start);
	ORDER(x->end, y->end);
	ORDER(x->target, y->target);
	ORDER(x->length, y->length);
	ORDER(x->spelled, y->spelled);
	ORDER(x->flags, y->flags);
	ORDER(x->session, y->session);
	ORDER(x->space, y->space);
	ORDER(x->pid, y->pid);
	for (i = 0; i < x->spelled; i++) {
		ORDER(x->jumps[i].from, y->jumps[i].from);
		ORDER(x->jumps[i].to, y->jumps[i].to);
	}
	return 0;
}

static void add_times(struct collected_path *to,
		      const struct hwprof_row_path *row, uint64_t time)
{
	to->count += row->count;
	to->cycles += row->cycles;
	if (time < to->first)
		to->first = time;
	if (time > to->last)
		to->last = time;
	if (row->basis > to->basis)
		to->basis = row->basis;
}

static struct collected_path *path_of(const struct hwprof_row_path *row,
				      uint64_t time)
{
	size_t jumps = row->spelled * sizeof(row->jumps[0]);
	struct collected_path *path = malloc(sizeof(*path) + jumps);

	if (!path)
		return NULL;
	*path = (struct collected_path){
		.session = row->row.session,
		.space = row->row.space,
		.pid = row->row.pid,
		.flags = row->flags,
		.length = row->length,
		.spelled = row->spelled,
		.start = row->start,
		.end = row->end,
		.target = row->target,
		.first = time,
	};
	memcpy(path->jumps, row->jumps, jumps);
	return path;
}

static int add_row(struct hwprof_paths *paths, struct hwprof_file *file,
		   const struct hwprof_row_path *row, uint64_t time)
{
	struct collected_path *path = path_of(row, time), **found;

	if (!path)
		return file_fail(file, -ENOMEM, "out of memory");
	found = tsearch(path, &paths->rows, compare_rows);
	if (!found) {
		free(path);
		return file_fail(file, -ENOMEM, "out of memory");
	}
	add_times(*found, row, time);
	if (*found != path)
		free(path);
	return 0;
}

static int take(void *context, struct hwprof_file *file,
		const struct hwprof_sample *sample)
{
	const struct hwprof_row_path *row = (const void *)sample->row;
	struct hwprof_paths *paths = context;

	/* Of a sample's path no more is known than where it ended. */
	if (!sample->rows || !row) {
		paths->collected.bare_rows += sample->rows;
		paths->collected.samples++;
		return 0;
	}
	if (row->row.type != HWPROF_ROW_PATH)
		return 0;
	paths->collected.rows++;
	if (row->flags & HWPROF_PATH_UNSEEN) {
		paths->summary.unseen += row->count;
		return 0;
	}
	return add_row(paths, file, row, sample->time);
}

/* --- places ----------------------------------------------------------------- */

static int compare_points(const struct path_point *x,
			  const struct path_point *y, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		ORDER((uintptr_t)x[i].object, (uintptr_t)y[i].object);
		ORDER(x[i].address, y[i].address);
	}
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct path_entry *x = a, *y = b;

	ORDER(x->spelled, y->spelled);
	ORDER(x->path.length, y->path.length);
	ORDER(x->flags, y->flags);
	ORDER(x->pid, y->pid);
	return compare_points(x->points, y->points, path_points(x->spelled));
}

/* Of one process, if any of its code is. */
static int place_point(struct hwprof_paths *paths,
		       const struct hwprof_file *file,
		       const struct collected_path *row, uint64_t address,
		       struct path_entry *entry, struct path_point *point)
{
	struct place place;

	if (place_find(&place, paths->objects, paths->collected.processes, file,
		       row->pid, row->first, row->last, address))
		return -ENOMEM;
	if (place.pid)
		entry->pid = place.pid;
	point->object = place.object;
	point->address = place.address;
	return 0;
}

static int place_points(struct hwprof_paths *paths,
			const struct hwprof_file *file,
			const struct collected_path *row,
			struct path_entry *entry)
{
	struct path_point *point = entry->points;
	int error = place_point(paths, file, row, row->start, entry, point++);
	uint32_t i;

	for (i = 0; i < row->spelled && !error; i++) {
		error = place_point(paths, file, row, row->jumps[i].from, entry,
				    point++);
		if (!error)
			error = place_point(paths, file, row, row->jumps[i].to,
					    entry, point++);
	}
	if (!error)
		error = place_point(paths, file, row, row->end, entry, point++);
	if (!error && row->target)
		error = place_point(paths, file, row, row->target, entry, point);
	return error;
}

static struct path_entry *make_entry(const struct hwprof_paths *paths,
				     const struct collected_path *row)
{
	struct path_entry *entry;

	entry = calloc(1, sizeof(*entry) + path_points(row->spelled) *
					   sizeof(entry->points[0]));
	if (!entry)
		return NULL;
	if (paths->flags & HWPROF_PER_PROCESS)
		entry->pid = row->pid;
	entry->flags = row->flags;
	entry->spelled = row->spelled;
	entry->path.length = row->length;
	entry->path.called = row->flags & HWPROF_PATH_CALLED;
	entry->path.returns = !row->target;
	entry->path.blocks = row->spelled + (row->spelled == row->length);
	return entry;
}

static void add_to_entry(struct path_entry *entry,
			 const struct collected_path *row)
{
	struct hwprof_path *path = &entry->path;

	path->count += row->count;
	path->cycles += row->cycles;
	path->branches += row->count * ((uint64_t)row->length + 1);
	if (row->basis > path->basis)
		path->basis = row->basis;
	if (row->last > entry->last)
		entry->last = row->last;
}

static int place_row(struct hwprof_paths *paths, const struct hwprof_file *file,
		     const struct collected_path *row)
{
	struct path_entry *entry = make_entry(paths, row), **found = NULL;

	if (!entry)
		return -ENOMEM;
	if (!place_points(paths, file, row, entry))
		found = tsearch(entry, &paths->placed, compare_places);
	if (!found) {
		free(entry);
		return -ENOMEM;
	}
	if (*found != entry)
		free(entry);
	else
		paths->count++;
	add_to_entry(*found, row);
	return 0;
}

struct placing {
	struct hwprof_paths *paths;
	const struct hwprof_file *file;
	int error;
};

static void place_one(const void *node, VISIT visit, void *context)
{
	struct placing *placing = context;

	if ((visit == postorder || visit == leaf) && !placing->error)
		placing->error = place_row(placing->paths, placing->file,
					   *(void *const *)node);
}

static void list_one(const void *node, VISIT visit, void *context)
{
	struct hwprof_paths *paths = context;

	if (visit == postorder || visit == leaf)
		paths->entries[paths->count++] = *(void *const *)node;
}

static void describe(struct path_entry *entry)
{
	const struct path_point *first = entry->points;
	const struct path_point *last = path_end(entry);
	struct hwprof_path *path = &entry->path;
	uint64_t offset;

	path->start_object = object_name(first->object);
	path->start = first->address;
	path->start_function = object_symbol(first->object, first->address,
					     &path->start_offset);
	path->start_file = object_line(first->object, first->address,
				       &path->start_line);
	path->end = last->address;
	path->end_file = object_line(last->object, last->address,
				     &path->end_line);
	if (object_symbol(last->object, last->address, &offset))
		entry->symbol = last->address - offset;
}

static int place_all(struct hwprof_paths *paths, const struct hwprof_file *file)
{
	struct placing placing = { paths, file, 0 };
	size_t i;

	twalk_r(paths->rows, place_one, &placing);
	if (placing.error)
		return placing.error;
	paths->entries = calloc(paths->count + 1, sizeof(*paths->entries));
	if (!paths->entries)
		return -ENOMEM;
	paths->count = 0;
	twalk_r(paths->placed, list_one, paths);
	for (i = 0; i < paths->count; i++)
		describe(paths->entries[i]);
	return 0;
}

/* --- all of it -------------------------------------------------------------- */

/* Each object once, in the order of the hottest path in it. */
static int warn_of_objects(struct hwprof_paths *paths)
{
	const char *last = NULL;
	int error = 0;
	size_t i, k;

	for (i = 0; i < paths->count; i++) {
		const struct path_entry *entry = paths->entries[i];

		for (k = 0; k < path_points(entry->spelled); k++) {
			const struct object *object = entry->points[k].object;
			const char *sentence = object ?
					       object_warning(object) : NULL;
			size_t known = 0;
			const char *other;

			if (!sentence || sentence == last)
				continue;
			last = sentence;
			while ((other = warnings_get(&paths->warnings, known)) &&
			       strcmp(other, sentence))
				known++;
			if (!other)
				error |= warnings_add(&paths->warnings, "%s",
						      sentence);
		}
	}
	return error;
}

static int warn(struct hwprof_paths *paths)
{
	const struct hwprof_totals *totals = &paths->totals;
	uint64_t found = paths->summary.count + paths->summary.unseen;
	int error = 0;

	if (paths->collected.bare_rows)
		error |= warnings_add(&paths->warnings, "%" PRIu64 " rows have no raw data: which paths they are of is not known; record with 'perf record -R'",
				      paths->collected.bare_rows);
	else if (totals->samples)
		error |= warnings_add(&paths->warnings, "%" PRIu64 " samples of paths are left out: they say no more than where a path ended; record with the field 'rows'",
				      totals->samples);
	error |= collected_warn(&paths->collected, totals, found, "paths",
				&paths->warnings);
	return error | warn_of_objects(paths);
}

static int make(struct hwprof_paths *paths, struct hwprof_file *file)
{
	int error;

	paths->objects = objects_new(paths->flags & HWPROF_NO_OBJECTS);
	if (!paths->objects)
		return file_fail(file, -ENOMEM, "out of memory");
	error = collect_samples(&paths->collected, file, "paths", take, paths);
	if (error)
		return error;
	collected_totals(&paths->collected, file, &paths->totals);
	if (place_all(paths, file) || paths_rank(paths) || warn(paths))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

int hwprof_paths_read(struct hwprof_paths **result, struct hwprof_file *file,
		      unsigned int flags)
{
	struct hwprof_paths *paths = calloc(1, sizeof(*paths));
	int error;

	*result = NULL;
	if (!paths)
		return file_fail(file, -ENOMEM, "out of memory");
	paths->flags = flags;
	error = make(paths, file);
	if (error) {
		hwprof_paths_free(paths);
		return error;
	}
	*result = paths;
	return 0;
}

void hwprof_paths_free(struct hwprof_paths *paths)
{
	if (!paths)
		return;
	tdestroy(paths->rows, free);
	tdestroy(paths->placed, free);
	free(paths->entries);
	free(paths->order);
	free(paths->procedures);
	warnings_free(&paths->warnings);
	collected_free(&paths->collected);
	objects_free(paths->objects);
	free(paths);
}

size_t hwprof_paths_count(const struct hwprof_paths *paths)
{
	return paths->count;
}

const struct hwprof_path *hwprof_paths_get(const struct hwprof_paths *paths,
					   size_t index)
{
	return &paths->entries[index]->path;
}

/* Points come in pairs: where a block begins, and where it ends. */
void hwprof_paths_block(const struct hwprof_paths *paths, size_t index,
			uint32_t number, struct hwprof_block *block)
{
	const struct path_point *first =
		&paths->entries[index]->points[2 * (size_t)number];
	const struct path_point *last = first + 1;

	*block = (struct hwprof_block){
		.object = object_name(first->object),
		.first = first->address,
		.last = last->address,
	};
	block->function = object_symbol(first->object, first->address,
					&block->offset);
	block->file = object_line(first->object, first->address, &block->line);
	block->last_file = object_line(last->object, last->address,
				       &block->last_line);
}

size_t hwprof_paths_procedures(const struct hwprof_paths *paths)
{
	return paths->procedure_count;
}

const struct hwprof_procedure *
hwprof_paths_procedure(const struct hwprof_paths *paths, size_t index)
{
	return paths->order[index];
}

const struct hwprof_paths_summary *
hwprof_paths_summary(const struct hwprof_paths *paths)
{
	return &paths->summary;
}

const struct hwprof_totals *hwprof_paths_totals(const struct hwprof_paths *paths)
{
	return &paths->totals;
}

const char *hwprof_paths_warning(const struct hwprof_paths *paths, size_t index)
{
	return warnings_get(&paths->warnings, index);
}
