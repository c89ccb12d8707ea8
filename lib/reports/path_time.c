// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attributes windows that time chose to paths: the count goes to the path that
 * ran (Ammons, Ball, Larus, section 3.1).
 *
 * A path is open if it was in flight when a window was taken. Its beginning and
 * its place are known, but not how it continued. Its windows are divided among
 * all paths with this beginning that run over the place, in proportion to their
 * counts. If its beginning was not seen either, they are divided among all
 * paths that run over the place.
 */
#include <errno.h>
#include <stdlib.h>

#include "paths.h"
#include "base/tree.h"

/* --- open paths whose beginning was seen -------------------------------- */

/* Compares beginnings, and then the ends of the lines behind their jumps. */
static int compare_beginning(const struct path_entry *x,
			     const struct path_entry *y, size_t points)
{
	int order = path_compare_owners(x, y);

	if (!order)
		order = compare_u64(x->flags & ~HWPROF_PATH_OPEN,
				    y->flags & ~HWPROF_PATH_OPEN);
	return order ? order
		     : path_compare_points(x->points, y->points, points);
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
 * Compares @path, in the order of by_points(), with the group of paths that
 * begin like @open and run over its place. Returns a value below 0 if it comes
 * before the group, 0 if it belongs to the group, and a value above 0
 * otherwise.
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
	order = object_compare(last->object, end->object);
	return order ? order : -(last->address < end->address);
}

/*
 * Returns the first path that compares to @open above @order, which is -1 or 0.
 */
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

/*
 * Adds the windows of one open path. @sums[i] is the number of runs of the
 * first i paths. @rates[i] is the change at path i of the windows per run.
 */
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

/* --- open paths that began unseen --------------------------------------- */

/* Compares places. */
static int by_place(const void *a, const void *b)
{
	const struct path_entry *x = *(struct path_entry *const *)a;
	const struct path_entry *y = *(struct path_entry *const *)b;
	int order = path_compare_owners(x, y);

	return order ? order : path_compare_points(path_end(x), path_end(y), 1);
}

/* Returns the first of @open, sorted by place, that is not before @point. */
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

/* The open paths on a line of a path: from @first up to, but without, @end. */
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

/* Sets @runs[i] to the number of runs over the place of open[i]. */
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

/*
 * Adds windows to paths. @sums[i] is the number of windows of the first i
 * places per run over them.
 */
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

/* --- all of it ---------------------------------------------------------- */

/* Returns true if time chose all windows that were counted. */
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
