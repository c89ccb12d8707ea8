/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exact paths of full traces, by the plainest code there is. Each frame has
 * its whole sequence of jumps, however deep it is. Finished paths are compared
 * jump by jump.
 */
#ifndef TESTS_ORACLE_PATHS_H
#define TESTS_ORACLE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/stream.h"
#include "linux/hwprof.h"

struct exact_path {
	u32 space;
	u32 flags;		/* HWPROF_PATH_*; all unseen paths are one */
	u64 start, end;
	u64 target;		/* 0: a return */
	u64 count;
	u64 cycles;
	size_t length;		/* all jumps */
	size_t spelled;		/* jumps that a row can encode */
	struct hwprof_path_jump jumps[HWPROF_PATH_JUMPS_MAX];
};

struct exact_paths {
	void *tree;
	struct exact_path *items;	/* sorted, by paths_finish() */
	size_t count, room;
	u64 finished;		/* all paths, also of unseen beginning */
};

/* The walk of a thread: paths_event() takes its events in order. */
struct path_walk;

struct path_walk *path_walk_new(struct exact_paths *paths);
void path_walk_free(struct path_walk *walk);
void path_walk_event(struct path_walk *walk, const struct stream_event *event);

/* Returns the path of a row, without its context. */
struct exact_path path_of_row(const struct hwprof_row_path *row);

/* Adds @path with its count and cycles. */
void paths_add(struct exact_paths *paths, const struct exact_path *path);
void paths_finish(struct exact_paths *paths);
void paths_free(struct exact_paths *paths);

/* Compares everything that distinguishes two paths. */
int paths_compare(const void *a, const void *b);

/* Returns the path, or NULL if there is none. Only after paths_finish(). */
const struct exact_path *paths_find(const struct exact_paths *paths,
				    const struct exact_path *path);

#endif /* TESTS_ORACLE_PATHS_H */
