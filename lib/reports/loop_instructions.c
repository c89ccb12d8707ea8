// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts instructions of loops: each path's runs times the instructions of its
 * blocks in the loop, for events with both loops and paths.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "loops.h"
#include "paths.h"
#include "profile/inner.h"

int loop_paths_take(struct hwprof_profile *profile,
		    const struct hwprof_sample *sample)
{
	struct hwprof_loops *loops = (struct hwprof_loops *)profile;

	if (!(profile->flags & HWPROF_BY_INSTRUCTIONS) || !sample->rows ||
	    sample->row->type != HWPROF_ROW_PATH)
		return 0;
	return inner_take(&loops->paths, &paths_kind, profile, profile->flags,
			  sample);
}

int loop_paths_place(struct hwprof_loops *loops)
{
	int error;

	if (!loops->paths)
		return 0;
	error = inner_place(loops->paths, &loops->profile);
	inner_forget(loops->paths);
	return error;
}

/*
 * Sets *@count to the instructions from @first to the end of the block, or to 0
 * if they cannot be decoded. Returns 0 or -ENOMEM.
 */
static int count_from(uint64_t first, const struct line *line,
		      const struct block *block, struct lines *lines,
		      uint32_t *count)
{
	const struct line *part = lines_get(lines, line->object, first,
					    line->object, block->last.address);

	if (!part)
		return -ENOMEM;
	*count = part->undecoded ? 0 : part->blocks[0].instructions;
	return 0;
}

/*
 * Adds @runs of a block to the loops around its end. A loop ends with a jump,
 * as a block does, so all of a block's loops are around its end. It may begin
 * before the heads of some: these get what is behind their heads.
 */
static int add_block(struct loop_entry *around, uint64_t runs,
		     const struct line *line, const struct block *block,
		     struct lines *lines)
{
	uint32_t added = 0, count;

	while (around && added < block->instructions) {
		count = block->instructions;
		if (around->loop.head > block->first &&
		    count_from(around->loop.head, line, block, lines, &count))
			return -ENOMEM;
		if (count > added) {
			around->loop.instructions += runs * (count - added);
			added = count;
		}
		around = (struct loop_entry *)around->loop.parent;
	}
	return 0;
}

static int add_line(struct hwprof_loops *loops, struct hwprof_paths *paths,
		    const struct path_entry *entry, const struct line *line)
{
	struct loop_entry at = {
		.object = line->object, .file = entry->file,
		.loop.pid = entry->pid,
	};
	uint32_t i;

	for (i = 0; i < line->count; i++) {
		at.loop.head = line->blocks[i].last.address;
		if (add_block(loops_around(loops, &at), entry->path.count, line,
			      &line->blocks[i], &paths->lines))
			return -ENOMEM;
	}
	return 0;
}

/* Adds a path, unless a part of it cannot be decoded. */
static int add_path(struct hwprof_loops *loops, struct hwprof_paths *paths,
		    const struct path_entry *entry)
{
	uint32_t i;

	for (i = 0; entry->path.instructions && i < path_lines(entry); i++)
		if (add_line(loops, paths, entry, entry->lines[i]))
			return -ENOMEM;
	return 0;
}

/* Sets the shares of @total instructions. Only exact ones have intervals. */
static void set_shares(struct hwprof_loops *loops, uint64_t total)
{
	size_t i;

	for (i = 0; i < loops->count; i++) {
		struct hwprof_loop *loop = &loops->entries[i].loop;

		loop->share_of = "instructions";
		loop->share = (double)loop->instructions / total;
		loop->share_low = loop->share_high =
			loop->basis == HWPROF_BASIS_EXACT ? loop->share : NAN;
	}
}

static int warn_of_undecoded(struct hwprof_loops *loops,
			     const struct hwprof_paths *paths)
{
	return !paths->undecoded ? 0 :
	       warnings_add(&loops->profile.warnings,
			    "%.2g %% of the branches are on paths whose code cannot be decoded: their instructions are left out",
			    100.0 * paths->undecoded / paths->summary.branches);
}

/* Sets *@total to the instructions of all paths. Returns 0 or -ENOMEM. */
static int add_all(struct hwprof_loops *loops, struct hwprof_paths *paths,
		   uint64_t *total)
{
	size_t i;

	*total = 0;
	for (i = 0; i < paths->count; i++) {
		*total += paths->entries[i]->path.instructions;
		if (add_path(loops, paths, paths->entries[i]))
			return -ENOMEM;
	}
	return 0;
}

static int without(struct hwprof_loops *loops, const char *why)
{
	return warnings_add(&loops->profile.warnings, "%s: shares are of %s",
			    why, loops->entries[0].loop.share_of);
}

int loops_share_instructions(struct hwprof_loops *loops)
{
	struct hwprof_paths *paths = (struct hwprof_paths *)loops->paths;
	uint64_t total;

	if (!(loops->profile.flags & HWPROF_BY_INSTRUCTIONS) || !loops->count)
		return 0;
	if (!paths)
		return without(loops, "the recording has no paths beside its loops (-e loops,paths)");
	if (paths_kind.finish(&paths->profile) ||
	    add_all(loops, paths, &total))
		return -ENOMEM;
	if (!total)
		return without(loops, "no code could be decoded");
	/* Time says more, where it is known. */
	if (strcmp(loops->entries[0].loop.share_of, "time"))
		set_shares(loops, total);
	return warn_of_undecoded(loops, paths);
}
