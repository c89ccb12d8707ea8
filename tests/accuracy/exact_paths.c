// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_paths FILE: compares the paths in a recording with all branches in it.
 *
 * For each process, the counts of all paths must be exact, with no other paths.
 * The oracle keeps the whole sequence of jumps of each frame. Prints paths that
 * differ. Then it prints the number of paths, how often they ran, and the share
 * of the branches on hot paths: those with a hundredth and more, as in table 4
 * of the paper. Exit status 1: a path differs, or branches are missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwprof.h"
#include "tests/oracle/array.h"
#include "tests/oracle/paths.h"
#include "tests/oracle/rows.h"

#define HOT	0.01

/*
 * Maps a session's address space to a pid, which all sessions have in common.
 */
struct owner {
	u32 space, pid;
};

struct owners {
	struct owner *items;
	size_t count, room;
};

struct walking {
	struct exact_paths paths;
	struct path_walk *walk;
	u32 thread;
};

static void take_branch(void *context, u32 thread,
			const struct stream_event *event)
{
	struct walking *walking = context;

	if (!walking->walk || thread != walking->thread) {
		if (walking->walk)
			path_walk_free(walking->walk);
		walking->walk = path_walk_new(&walking->paths);
		walking->thread = thread;
	}
	path_walk_event(walking->walk, event);
}

static void note_owners(struct owners *owners, const struct branch_rows *rows)
{
	size_t i, k;

	for (i = 0; i < rows->count; i++) {
		const struct hwprof_row *row = &rows->items[i]->row;

		for (k = 0; k < owners->count; k++)
			if (owners->items[k].space == row->space)
				break;
		if (k == owners->count)
			*array_push(owners) = (struct owner){
				row->space, row->pid
			};
	}
}

static u32 owner_of(const struct owners *owners, u32 space)
{
	size_t i;

	for (i = 0; i < owners->count; i++)
		if (owners->items[i].space == space)
			return owners->items[i].pid;
	return 0;
}

/* Finds the exact paths by pid. Returns how many branches are missing. */
static u64 walk_branches(const char *name, struct exact_paths *exact)
{
	struct walking walking = { 0 };
	struct branch_rows branches = { 0 };
	struct loop_rows loops = { 0 };
	struct owners owners = { 0 };
	u64 missing;
	size_t i;

	if (!rows_read(name, &branches, &loops))
		exit(1);
	note_owners(&owners, &branches);
	missing = rows_branches(&branches, take_branch, &walking);
	if (walking.walk)
		path_walk_free(walking.walk);
	rows_free(&branches, &loops);
	paths_finish(&walking.paths);
	for (i = 0; i < walking.paths.count; i++) {
		struct exact_path *path = &walking.paths.items[i];

		path->space = owner_of(&owners, path->space);
		paths_add(exact, path);
	}
	paths_free(&walking.paths);
	free(owners.items);
	paths_finish(exact);
	return missing;
}

static int take_row(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_path *row = (const void *)sample->row;
	struct exact_path path;

	if (!row || row->row.type != HWPROF_ROW_PATH)
		return 0;
	path = path_of_row(row);
	path.space = row->row.pid;
	path.flags &= ~HWPROF_PATH_IN_CONTEXT;
	paths_add(context, &path);
	return 0;
}

static void read_paths(const char *name, struct exact_paths *told)
{
	struct hwprof_file *file;

	if (hwprof_file_open(&file, name) ||
	    hwprof_file_samples(file, take_row, told)) {
		fprintf(stderr, "%s\n", hwprof_file_error(file));
		exit(1);
	}
	hwprof_file_close(file);
	paths_finish(told);
}

/*
 * Prints one path of @a that @b lacks, or has with another count. Returns how
 * many there are.
 */
static size_t differ(const struct exact_paths *a, const struct exact_paths *b,
		     const char *who)
{
	size_t differing = 0, i;

	for (i = 0; i < a->count; i++) {
		const struct exact_path *path = &a->items[i];
		const struct exact_path *other = paths_find(b, path);

		if (other && other->count == path->count)
			continue;
		if (!differing++)
			printf("# %s: process %u, from 0x%" PRIx64
			       " to 0x%" PRIx64
			       ", flags %u, %zu jumps: %" PRIu64
			       ", not %" PRIu64 "\n",
			       who, path->space, path->start, path->end,
			       path->flags, path->length,
			       other ? other->count : 0, path->count);
	}
	return differing;
}

static u64 branches_of(const struct exact_path *path)
{
	return path->flags & HWPROF_PATH_UNSEEN ? 0 :
	       path->count * (path->length + 1);
}

/* Prints the share of hot paths in all processes together, like one program. */
static void print_heat(const struct exact_paths *exact)
{
	u64 branches = 0, hot = 0, unseen = 0;
	size_t hot_count = 0, i;

	for (i = 0; i < exact->count; i++) {
		branches += branches_of(&exact->items[i]);
		if (exact->items[i].flags & HWPROF_PATH_UNSEEN)
			unseen += exact->items[i].count;
	}
	for (i = 0; i < exact->count; i++) {
		u64 own = branches_of(&exact->items[i]);

		if (own < HOT * branches)
			continue;
		hot += own;
		hot_count++;
	}
	printf("%zu paths, run %" PRIu64 " times (%" PRIu64
	       " of them begun unseen): %zu hot ones have %.1f%% of the branches\n",
	       exact->count, exact->finished, unseen, hot_count,
	       branches ? 100.0 * hot / branches : 0);
}

int main(int argc, char **argv)
{
	struct exact_paths exact = { 0 }, told = { 0 };
	size_t differing;
	u64 missing;

	if (argc != 2)
		return 2;
	missing = walk_branches(argv[1], &exact);
	if (missing)
		printf("# %" PRIu64 " branches are missing\n", missing);
	read_paths(argv[1], &told);
	differing = differ(&exact, &told, "as told") +
		    differ(&told, &exact, "by the oracle");
	print_heat(&exact);
	paths_free(&exact);
	paths_free(&told);
	return missing || differing || !exact.count;
}
