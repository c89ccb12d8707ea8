// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Windows that time chose, by the path that they were taken on: what a counter has
 * counted is added to the path that ran (Ammons, Ball, Larus, section 3.1).
 *
 * Of a path in flight, its beginning is known and where it was, but not what it
 * became. So its windows are shared out among the paths that begin like this and go
 * on over that place, by how often each was run: up to there they are the same. Of
 * one that began unseen only the place is known, and so among all that run over it.
 */
#include <errno.h>
#include <stdlib.h>

#include "paths.h"
#include "tree.h"

/* --- paths of which the beginning was seen ------------------------------------- */

/* By how they begin, and then by where the lines end that their jumps lead to. */
static int compare_beginning(const struct path_entry *x,
			     const struct path_entry *y, size_t points)
{
	int order = path_compare_owners(x, y);

	if (!order)
		order = compare_u64(x->flags & ~HWPROF_PATH_OPEN,
				    y->flags & ~HWPROF_PATH_OPEN);
	return order ? order : path_compare_points(x->points, y->points, points);
}

static int by_points(const void *a, const void *b)
{
	const struct path_entry *x = *(struct path_entry *const *)a;
	const struct path_entry *y = *(struct path_entry *const *)b;
	uint32_t spelled = x->spelled < y->spelled ? x->spelled : y->spelled;
	int order = compare_beginning(x, y, 2 * (size_t)spelled + 2);

	return order ? order : compare_u64(x->spelled, y->spelled);
}

/*
 * Does @path come, in the order of by_points(), before those that begin like @open
 * and go on over its place (below 0), is it one of them (0), or behind?
 */
static int compare_open(const struct path_entry *path,
			const struct path_entry *open)
{
	size_t common = 2 * (size_t)open->spelled + 1;
	const struct path_point *last, *end = path_end(open);
	int order;

	if (path->spelled < open->spelled) {
		order = compare_beginning(path, open,
					  2 * (size_t)path->spelled + 2);
		return order ? order : -1;
	}
	order = compare_beginning(path, open, common);
	if (order)
		return order;
	last = &path->points[common];
	order = compare_u64((uintptr_t)last->object, (uintptr_t)end->object);
	return order ? order : -(last->address < end->address);
}

/* The first path that compares to @open above @order, -1 or 0. */
static size_t find_path(const struct hwprof_paths *paths,
			const struct path_entry *open, int order)
{
	size_t low = 0, high = paths->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_open(paths->entries[middle], open) > order)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* @sums[i]: how often the first i paths were run; @rates: steps of windows a run. */
static void share_open(const struct hwprof_paths *paths,
		       const struct path_entry *open, const uint64_t *sums,
		       long double *rates)
{
	size_t first = find_path(paths, open, -1);
	size_t end = find_path(paths, open, 0);
	uint64_t runs = sums[end] - sums[first];

	if (!runs)
		return;
	rates[first] += (long double)open->path.count / runs;
	rates[end] -= (long double)open->path.count / runs;
}

static int share_seen(struct hwprof_paths *paths, struct path_entry **open,
		      size_t count)
{
	uint64_t *sums = calloc(paths->count + 1, sizeof(*sums));
	long double *rates = calloc(paths->count + 1, sizeof(*rates)), rate = 0;
	int error = sums && rates ? 0 : -ENOMEM;
	size_t i;

	if (!error) {
		qsort(paths->entries, paths->count, sizeof(*paths->entries),
		      by_points);
		for (i = 0; i < paths->count; i++)
			sums[i + 1] = sums[i] + paths->entries[i]->path.count;
		for (i = 0; i < count; i++)
			share_open(paths, open[i], sums, rates);
		for (i = 0; i < paths->count; i++) {
			struct hwprof_path *path = &paths->entries[i]->path;

			rate += rates[i];
			path->windows += rate * path->count;
		}
	}
	free(rates);
	free(sums);
	return error;
}

/* --- and those that began unseen ------------------------------------------------ */

/* By where they were. */
static int by_place(const void *a, const void *b)
{
	const struct path_entry *x = *(struct path_entry *const *)a;
	const struct path_entry *y = *(struct path_entry *const *)b;
	int order = path_compare_owners(x, y);

	return order ? order : path_compare_points(path_end(x), path_end(y), 1);
}

/* The first of @open, sorted by place, that is at @point or behind it. */
static size_t find_place(struct path_entry *const *open, size_t count,
			 const struct path_entry *path,
			 const struct path_point *point)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = path_compare_owners(open[middle], path);

		if (!order)
			order = path_compare_points(path_end(open[middle]),
						    point, 1);
		if (order >= 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Those that are on a line of a path: from @first on, before @end. */
struct places {
	size_t first, end;
};

static struct places places_on(struct path_entry *const *open, size_t count,
			       const struct path_entry *path, uint32_t line)
{
	const struct path_point *first = &path->points[2 * (size_t)line];
	struct path_point behind = first[1];

	behind.address++;
	if (first->object != behind.object || behind.address <= first->address)
		return (struct places){ 0, 0 };
	return (struct places){
		find_place(open, count, path, first),
		find_place(open, count, path, &behind),
	};
}

/* @runs[i]: how often paths ran over open[i]. */
static void count_runs(const struct hwprof_paths *paths,
		       struct path_entry *const *open, size_t count,
		       uint64_t *runs)
{
	uint32_t line;
	size_t i;

	for (i = 0; i < paths->count; i++) {
		const struct path_entry *path = paths->entries[i];

		for (line = 0; line < path_lines(path); line++) {
			struct places on = places_on(open, count, path, line);

			runs[on.first] += path->path.count;
			runs[on.end] -= path->path.count;
		}
	}
	for (i = 1; i < count; i++)
		runs[i] += runs[i - 1];
}

/* @sums[i]: windows of the first i places, for each run over them. */
static void add_shares(struct hwprof_paths *paths,
		       struct path_entry *const *open, size_t count,
		       const long double *sums)
{
	uint32_t line;
	size_t i;

	for (i = 0; i < paths->count; i++) {
		struct path_entry *path = paths->entries[i];

		for (line = 0; line < path_lines(path); line++) {
			struct places on = places_on(open, count, path, line);

			path->path.windows += path->path.count *
					      (sums[on.end] - sums[on.first]);
		}
	}
}

static int share_unseen(struct hwprof_paths *paths, struct path_entry **open,
			size_t count)
{
	uint64_t *runs = calloc(count + 1, sizeof(*runs));
	long double *sums = calloc(count + 1, sizeof(*sums));
	int error = sums && runs ? 0 : -ENOMEM;
	size_t i;

	if (!error) {
		qsort(open, count, sizeof(*open), by_place);
		count_runs(paths, open, count, runs);
		for (i = 0; i < count; i++)
			sums[i + 1] = sums[i] + (runs[i] ?
				(long double)open[i]->path.count / runs[i] : 0);
		add_shares(paths, open, count, sums);
	}
	free(sums);
	free(runs);
	return error;
}

/* --- all of them ------------------------------------------------------------------ */

/* Time must have chosen all that was counted. */
static bool is_of_time(const struct hwprof_paths *paths)
{
	size_t i;

	for (i = 0; i < paths->count; i++)
		if (paths->entries[i]->path.basis != HWPROF_BASIS_TIME)
			return false;
	return paths->count;
}

int paths_time(struct hwprof_paths *paths)
{
	struct path_entry **open;
	size_t count, seen = 0, i;
	int error = 0;

	if (!is_of_time(paths))
		return 0;
	open = tree_list(paths->open, &count);
	if (!open)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct path_entry *it = open[i];

		if (it->flags & HWPROF_PATH_UNSEEN)
			continue;
		open[i] = open[seen];
		open[seen++] = it;
	}
	if (count)
		error = share_seen(paths, open, seen);
	if (!error && count)
		error = share_unseen(paths, open + seen, count - seen);
	free(open);
	return error;
}
