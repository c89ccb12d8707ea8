// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "location.h"
#include "base/tree.h"

#define HOT		0.01	/* share of the metric */

#define ORDER(a, b)	do {						       \
	int order_ = compare_u64(a, b);					       \
									       \
	if (order_)							       \
		return order_;						       \
} while (0)

/* --- rows, summed --------------------------------------------------------- */

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
	for (i = 0; i < x->spelled; i++) {
		ORDER(x->jumps[i].from, y->jumps[i].from);
		ORDER(x->jumps[i].to, y->jumps[i].to);
	}
	return row_origin_compare(&x->origin, &y->origin);
}

/*
 * Returns true for an open path that is not known up to its end: only the end
 * is useful then.
 */
static bool is_vague(const struct hwprof_row_path *row)
{
	return row->flags & HWPROF_PATH_OPEN &&
	       (row->flags & HWPROF_PATH_UNSEEN || row->spelled < row->length);
}

static int add_row(struct hwprof_profile *profile,
		   const struct hwprof_row_path *row,
		   uint64_t time)
{
	bool vague = is_vague(row);
	uint32_t spelled = vague ? 0 : row->spelled;
	size_t jumps = spelled * sizeof(row->jumps[0]);
	struct collected_path *path = malloc(sizeof(*path) + jumps), *to;
	struct hwprof_paths *paths = (struct hwprof_paths *)profile;
	bool is_new;

	if (!path)
		return -ENOMEM;
	*path = (struct collected_path){
		.origin = row_origin_of(&row->row, row->basis, time),
		.flags = (row->flags & ~HWPROF_PATH_IN_CONTEXT) |
			 (vague ? HWPROF_PATH_UNSEEN : 0),
		.length = row->length,
		.spelled = spelled,
		.start = row->start,
		.end = row->end,
		.target = row->target,
	};
	facts_date(&profile->facts, &path->origin, time);
	memcpy(path->jumps, row->jumps, jumps);
	to = tree_get(&profile->rows, path, sizeof(*path) + jumps, compare_rows,
		      &is_new);
	if (to) {
		row_origin_add(&to->origin, &path->origin);
		to->count += row->count;
		to->cycles += row->cycles;
	}
	free(path);
	return to ? path_contexts_note(paths, to, row) : -ENOMEM;
}

/* Paths whose beginning was not seen have no places. */
static int note_unseen(struct hwprof_profile *profile,
		       const struct hwprof_row_path *row, uint64_t time)
{
	struct row_origin origin = row_origin_of(&row->row, row->basis, time);

	facts_date(&profile->facts, &origin, time);
	profile->facts.unseen += row->count;
	return stretches_unseen(profile->facts.stretches, origin.stretch,
				row->count);
}

int paths_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_path *row,
		  uint64_t time)
{
	profile->facts.rows++;
	if ((row->flags & (HWPROF_PATH_OPEN | HWPROF_PATH_UNSEEN)) ==
	    HWPROF_PATH_UNSEEN)
		return note_unseen(profile, row, time);
	return add_row(profile, row, time);
}

static int take(struct hwprof_profile *profile,
		const struct hwprof_sample *sample)
{
	const struct hwprof_row_path *row = (const void *)sample->row;

	/* A sample only tells where its path ended. */
	if (!sample->rows || !row) {
		profile->facts.bare_rows += sample->rows;
		profile->facts.samples++;
		return 0;
	}
	return row->row.type == HWPROF_ROW_PATH ?
	       paths_add_row(profile, row, sample->time) : 0;
}

/* --- places --------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct path_entry *x = a, *y = b;
	int order;

	ORDER(x->spelled, y->spelled);
	ORDER(x->path.length, y->path.length);
	ORDER(x->flags, y->flags);
	order = path_compare_owners(x, y);
	return order ? order : path_compare_points(x->points, y->points,
						   path_points(x->spelled));
}

/* Places a point. The path belongs to one process if any of its code does. */
static int place_point(const struct hwprof_profile *profile,
		       const struct collected_path *row, uint64_t address,
		       struct path_entry *entry, struct path_point *point)
{
	struct location location;

	if (location_find(&location, profile, &row->origin, address))
		return -ENOMEM;
	if (location.pid) {
		entry->pid = location.pid;
		entry->file = location.file;
	}
	point->object = location.object;
	point->address = location.address;
	return 0;
}

static int place_points(const struct hwprof_profile *profile,
			const struct collected_path *row,
			struct path_entry *entry)
{
	struct path_point *point = entry->points;
	uint32_t i;
	int error;

	/* An open path whose beginning is unknown has only its place. */
	if (row->flags & HWPROF_PATH_UNSEEN)
		return place_point(profile, row, row->end, entry, point + 1);
	error = place_point(profile, row, row->start, entry, point++);
	for (i = 0; i < row->spelled && !error; i++) {
		error = place_point(profile, row, row->jumps[i].from, entry,
				    point++);
		if (!error)
			error = place_point(profile, row, row->jumps[i].to,
					    entry, point++);
	}
	if (!error)
		error = place_point(profile, row, row->end, entry, point++);
	if (!error && row->target)
		error = place_point(profile, row, row->target, entry, point);
	return error;
}

static void free_entry(void *node)
{
	struct path_entry *entry = node;

	free(entry->lines);
	free(entry->ran);
	free(entry);
}

static struct path_entry *make_entry(const struct collected_path *row)
{
	struct path_entry *entry;

	entry = calloc(1, sizeof(*entry) + path_points(row->spelled) *
					   sizeof(entry->points[0]));
	if (!entry)
		return NULL;
	entry->flags = row->flags;
	entry->spelled = row->spelled;
	entry->path.length = row->length;
	entry->path.called = row->flags & HWPROF_PATH_CALLED;
	entry->path.returns = !row->target;
	entry->path.spelled = row->spelled;
	return entry;
}

static void add_to_entry(struct path_entry *entry,
			 const struct hwprof_profile *profile,
			 const struct collected_path *row)
{
	/* No units: their squares are for intervals, which paths have not. */
	struct row_weight weight = facts_weight(&profile->facts, &row->origin,
						0);
	uint64_t count = weighed(&weight, row->count);
	struct hwprof_path *path = &entry->path;

	path->count += count;
	path->cycles += weighed(&weight, row->cycles);
	path->branches += count * ((uint64_t)row->length + 1);
	if (row->origin.basis > path->basis)
		path->basis = row->origin.basis;
	if (row->origin.last >= entry->last) {
		entry->last = row->origin.last;
		entry->comm = profile_comm(profile, entry->pid, entry->last);
	}
}

static int place_row(struct hwprof_paths *paths,
		     const struct collected_path *row)
{
	struct path_entry *entry = make_entry(row), **found = NULL;
	bool open = row->flags & HWPROF_PATH_OPEN;

	if (!entry)
		return -ENOMEM;
	if (!place_points(&paths->profile, row, entry))
		found = tsearch(entry, open ? &paths->open : &paths->placed,
				compare_places);
	if (!found) {
		free_entry(entry);
		return -ENOMEM;
	}
	if (*found != entry)
		free_entry(entry);
	add_to_entry(*found, &paths->profile, row);
	if (open)
		return 0;
	paths->profile.found += row->count;
	return path_contexts_add(paths, *found, row);
}

static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_paths *paths = (struct hwprof_paths *)profile;
	uint64_t unseen = profile->facts.unseen;
	int error = path_contexts_begin(paths);
	size_t i;

	paths->summary.unseen += unseen +
				 stretches_more(profile->facts.stretches);
	profile->found += unseen;
	for (i = 0; !error && i < count; i++)
		error = place_row(paths, rows[i]);
	path_contexts_end(paths);
	return error;
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

/* --- blocks --------------------------------------------------------------- */

static uint32_t blocks_of(const struct line *line)
{
	return line->undecoded ? 1 : line->count;
}

static uint64_t instructions_of(const struct line *line)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; !line->undecoded && i < line->count; i++)
		count += line->blocks[i].instructions;
	return count;
}

/* Counts the instructions of a path, if all of its lines are known. */
static void count_instructions(struct path_entry *entry)
{
	uint64_t run = 0, of_line;
	uint32_t i;

	if (entry->spelled < entry->path.length)
		return;
	for (i = 0; i < path_lines(entry); i++) {
		of_line = instructions_of(entry->lines[i]);
		if (!of_line)
			return;
		run += of_line;
	}
	entry->path.instructions = run * entry->path.count;
}

/* Finds the lines of a path. Returns 0 or -ENOMEM. */
static int find_lines(struct hwprof_paths *paths, struct path_entry *entry)
{
	uint32_t count = path_lines(entry), i;

	entry->lines = calloc(count, sizeof(*entry->lines));
	if (!entry->lines)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct path_point *first = &entry->points[2 * (size_t)i];
		const struct path_point *last = first + 1;

		entry->lines[i] = lines_get(&paths->lines, first->object,
					    first->address, last->object,
					    last->address);
		if (!entry->lines[i])
			return -ENOMEM;
		entry->path.blocks += blocks_of(entry->lines[i]);
	}
	count_instructions(entry);
	return 0;
}

/*
 * Returns the callee of a call, or of a jump to the beginning of another
 * procedure.
 */
static const char *callee_of(const struct line *line,
			     const struct instruction *last, const char *own)
{
	const char *name = NULL;
	uint64_t offset;

	if (last->target)
		name = object_symbol(line->object, last->target, &offset);
	if (!name || offset ||
	    (last->ending != ENDING_CALL && own && !strcmp(name, own)))
		return NULL;
	return name;
}

static void describe_block(struct hwprof_block *block, const struct line *line,
			   const struct block *decoded)
{
	const struct instruction *last = &decoded->last;

	block->first = decoded->first;
	block->last = last->address;
	block->instructions = decoded->instructions;
	block->conditional = last->ending == ENDING_COND;
	block->taken = last->ending &&
		       (!block->conditional || last->address == line->last);
	if (last->ending)
		block->branch = last->mnemonic;
}

static void locate_block(struct hwprof_block *block, const struct line *line)
{
	block->object = object_name(line->object);
	block->function = object_symbol(line->object, block->first,
					&block->offset);
	block->file = object_line(line->object, block->first, &block->line);
	block->last_file = object_line(line->end, block->last,
				       &block->last_line);
}

/* --- all of it ------------------------------------------------------------ */

static int warn(struct hwprof_profile *profile,
		const struct hwprof_totals *totals)
{
	if (!totals->samples || totals->rows || profile->facts.bare_rows)
		return 0;
	return warnings_add(
		&profile->warnings,
		"%" PRIu64
		" samples of paths are left out: they say no more than where a path ended; record with the field 'rows'",
		totals->samples);
}

static int warn_of_undecoded(struct hwprof_paths *paths)
{
	if (!(paths->profile.flags & HWPROF_BY_INSTRUCTIONS) ||
	    !paths->undecoded)
		return 0;
	if (!strcmp(paths->summary.metric, "branches"))
		return warnings_add(
			&paths->profile.warnings,
			"no code could be decoded: shares are of branches");
	if (strcmp(paths->summary.metric, "instructions"))
		return 0;
	return warnings_add(
		&paths->profile.warnings,
		"paths with %.2g %% of the branches have no share: code of theirs cannot be decoded",
		100.0 * paths->undecoded / paths->summary.branches);
}

static int finish(struct hwprof_profile *profile)
{
	struct hwprof_paths *paths = (struct hwprof_paths *)profile;
	size_t i;

	paths->entries = tree_list(paths->placed, &paths->count);
	if (!paths->entries)
		return -ENOMEM;
	for (i = 0; i < paths->count; i++) {
		describe(paths->entries[i]);
		if (find_lines(paths, paths->entries[i]))
			return -ENOMEM;
	}
	return path_contexts_finish(paths) ?: paths_time(paths) ?:
	       paths_rank(paths) ?: warn_of_undecoded(paths);
}

static void destroy(struct hwprof_profile *profile)
{
	struct hwprof_paths *paths = (struct hwprof_paths *)profile;

	tdestroy(paths->placed, free_entry);
	tdestroy(paths->open, free_entry);
	path_contexts_free(paths);
	lines_free(&paths->lines);
	free(paths->entries);
	free(paths->order);
	free(paths->procedures);
}

static void configure(struct hwprof_profile *profile,
		      const struct hwprof_options *options)
{
	struct hwprof_paths *paths = (struct hwprof_paths *)profile;

	paths->hot = options->hot ? options->hot : HOT;
}

const struct profile_kind paths_kind = {
	.size = sizeof(struct hwprof_paths),
	.kind = HWPROF_KIND_PATHS,
	.about = "paths",
	.units = "paths",
	.things = "paths",
	.lacking = "which paths they are of is not known",
	.take = take,
	.place = place_all,
	.finish = finish,
	.count = hwprof_paths_count,
	.destroy = destroy,
	.warn = warn,
	.configure = configure,
	.beside = path_contexts_take,
};

size_t hwprof_paths_count(const struct hwprof_profile *profile)
{
	const struct hwprof_paths *paths = (const void *)profile;

	return profile->kind == &paths_kind ? paths->count : 0;
}

const struct hwprof_path *
hwprof_paths_get(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_paths *paths = (const void *)profile;

	return &paths->entries[index]->path;
}

void hwprof_paths_block(const struct hwprof_profile *profile, size_t index,
			uint32_t number, struct hwprof_block *block)
{
	const struct hwprof_paths *paths = (const void *)profile;
	const struct line *const *at = paths->entries[index]->lines;
	const struct block *decoded = NULL;

	for (; number >= blocks_of(*at); at++)
		number -= blocks_of(*at);
	*block = (struct hwprof_block){
		.first = (*at)->first, .last = (*at)->last,
		.undecoded = (*at)->undecoded,
	};
	if (!block->undecoded) {
		decoded = &(*at)->blocks[number];
		describe_block(block, *at, decoded);
	}
	locate_block(block, *at);
	if (decoded)
		block->callee = callee_of(*at, &decoded->last,
					  block->function);
}

size_t hwprof_paths_procedures(const struct hwprof_profile *profile)
{
	const struct hwprof_paths *paths = (const void *)profile;

	return profile->kind == &paths_kind ? paths->procedure_count : 0;
}

const struct hwprof_procedure *
hwprof_paths_procedure(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_paths *paths = (const void *)profile;

	return paths->order[index];
}

const struct hwprof_paths_summary *
hwprof_paths_summary(const struct hwprof_profile *profile)
{
	const struct hwprof_paths *paths = (const void *)profile;

	return &paths->summary;
}
