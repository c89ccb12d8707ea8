/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths of objects in the names of things. An object that was built into
 * another folder has another path in each of two recordings, and is recognised
 * by its file name.
 */
#ifndef HWPROF_DIFF_PATHS_H
#define HWPROF_DIFF_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The path of an object, and whether its file name stands for it. */
struct diff_path {
	char *path;
	bool moved;
};

/* The paths of one side, sorted. */
struct diff_paths {
	struct diff_path *all;
	size_t count;
};

/* Writes the path of an object, or nothing for NULL, as a part of a name. */
void diff_put_path(FILE *out, const char *path);

/* Adds the paths that are in @name. Returns 0 or -ENOMEM. */
int diff_paths_add(struct diff_paths *paths, const char *name);

void diff_paths_free(struct diff_paths *paths);

/*
 * Marks as moved the paths that the other side lacks. Of several such paths
 * with one file name, none is marked: nothing tells which is which. Returns 1
 * if each side has a path that the other one lacks, 0 if not, or -ENOMEM.
 */
int diff_paths_compare(struct diff_paths *before, struct diff_paths *after);

/* Replaces the moved paths in @name by their file names. */
void diff_paths_shorten(const struct diff_paths *paths, char *name);

#endif /* HWPROF_DIFF_PATHS_H */
