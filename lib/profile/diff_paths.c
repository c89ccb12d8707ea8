// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "diff_paths.h"
#include "base/text.h"

/* They stand around a path in a name. */
#define BEGIN	'\1'
#define END	'\2'

void diff_put_path(FILE *out, const char *path)
{
	fprintf(out, "%c%s%c", BEGIN, text_or_empty(path), END);
}

/*
 * Returns the index of a path of @length bytes, or where it would have to be.
 * *@found says which.
 */
static size_t search(const struct diff_paths *paths, const char *path,
		     size_t length, bool *found)
{
	size_t low = 0, high = paths->count;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *other = paths->all[middle].path;
		int order = strncmp(other, path, length);

		if (!order && !other[length]) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_path(struct diff_paths *paths, const char *path, size_t length)
{
	struct diff_path *all;
	bool found;
	size_t at = search(paths, path, length, &found);
	char *copy;

	if (found || !length)
		return 0;
	all = realloc(paths->all, (paths->count + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	paths->all = all;
	copy = strndup(path, length);
	if (!copy)
		return -ENOMEM;
	memmove(all + at + 1, all + at, (paths->count - at) * sizeof(*all));
	all[at] = (struct diff_path){ copy, false };
	paths->count++;
	return 0;
}

int diff_paths_add(struct diff_paths *paths, const char *name)
{
	const char *begin, *end;
	int error = 0;

	while (!error && (begin = strchr(name, BEGIN)) &&
	       (end = strchr(begin, END))) {
		error = add_path(paths, begin + 1, end - begin - 1);
		name = end;
	}
	return error;
}

void diff_paths_free(struct diff_paths *paths)
{
	size_t i;

	for (i = 0; i < paths->count; i++)
		free(paths->all[i].path);
	free(paths->all);
}

static int compare_files(const void *a, const void *b)
{
	const struct diff_path *x = *(void *const *)a, *y = *(void *const *)b;

	return strcmp(path_file_name(x->path), path_file_name(y->path));
}

/* Marks those of @count paths, sorted by file name, whose name is unique. */
static void mark_unique(struct diff_path **paths, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		paths[i]->moved =
			(!i || compare_files(&paths[i - 1], &paths[i])) &&
			(i + 1 == count ||
			 compare_files(&paths[i], &paths[i + 1]));
}

/* Marks paths that @other lacks. Returns how many it lacks, or -ENOMEM. */
static int mark(struct diff_paths *paths, const struct diff_paths *other)
{
	struct diff_path **missing = calloc(paths->count + 1, sizeof(*missing));
	size_t count = 0, i;
	bool found;

	if (!missing)
		return -ENOMEM;
	for (i = 0; i < paths->count; i++) {
		const char *path = paths->all[i].path;

		search(other, path, strlen(path), &found);
		if (!found)
			missing[count++] = &paths->all[i];
	}
	qsort(missing, count, sizeof(*missing), compare_files);
	mark_unique(missing, count);
	free(missing);
	return count > INT_MAX ? INT_MAX : (int)count;
}

int diff_paths_compare(struct diff_paths *before, struct diff_paths *after)
{
	int left = mark(before, after), right = mark(after, before);

	if (left < 0 || right < 0)
		return -ENOMEM;
	return left && right;
}

/* Returns where the part of a path up to @end begins that names the object. */
static const char *kept(const struct diff_paths *paths, const char *path,
			const char *end)
{
	bool found;
	size_t at = search(paths, path, end - path, &found);

	if (!found || !paths->all[at].moved)
		return path;
	return path + (path_file_name(paths->all[at].path) -
		       paths->all[at].path);
}

void diff_paths_shorten(const struct diff_paths *paths, char *name)
{
	const char *from = name, *end;
	char *to = name;

	while (*from) {
		end = *from == BEGIN ? strchr(from, END) : NULL;
		*to++ = *from++;
		if (end)
			from = kept(paths, from, end);
	}
	*to = '\0';
}
