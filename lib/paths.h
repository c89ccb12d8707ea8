/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to paths: paths.c sums the rows of a file and places them in objects;
 * path_time.c says on which of them windows were taken, path_heat.c what is hot,
 * dense and sparse, path_numbers.c which of all paths that there may be each one is,
 * path_contexts.c by whom they were called;
 * paths_json.c writes them out.
 */
#ifndef HWPROF_PATHS_H
#define HWPROF_PATHS_H

#include "origin.h"
#include "json.h"
#include "lines.h"
#include "profile.h"

/* The rows of one path in one address space of one session, summed. */
struct collected_path {
	struct origin origin;
	uint32_t flags;			/* HWPROF_PATH_* */
	uint32_t length, spelled;
	uint64_t start, end, target;
	uint64_t count, cycles;
	struct path_run *runs;		/* of these, by context */
	struct hwprof_path_jump jumps[];
};

/* Of the rows of a path, those of one context. */
struct path_run {
	const struct collected_path *path;
	uint64_t id;			/* of the context, in the path's session */
	uint64_t count, cycles;
	struct path_run *next;		/* of the same path */
};

/* How often a context ran a path; its number in the tree of all. */
struct path_ran {
	size_t node;
	uint64_t count, cycles;
};

struct path_point {
	struct object *object;
	uint64_t address;		/* as struct place has it */
};

/* A path in objects, of all processes that ran it there. */
struct path_entry {
	struct hwprof_path path;	/* open: nothing but its count */
	uint32_t pid;
	size_t file;			/* as struct place has it */
	const char *comm;
	uint32_t flags;
	uint64_t last;			/* time of the last row */
	uint64_t symbol;		/* that has its end; 0: none */
	const struct line **lines;	/* path_lines() of them */
	struct path_ran *ran;		/* in the end, the hottest first */
	size_t ran_count;
	uint32_t spelled;
	/* start, each jump's two, end, and the back edge's target or none */
	struct path_point points[];
};

struct hwprof_paths {
	struct hwprof_profile profile;
	struct path_entry **entries;	/* sorted by share */
	size_t count;
	struct hwprof_procedure *procedures;
	struct hwprof_procedure **order;	/* of these, by share */
	size_t procedure_count;
	struct hwprof_paths_summary summary;
	void *placed;			/* tree of struct path_entry */
	void *open;			/* likewise, of those windows were taken on */
	struct lines lines;
	struct hwprof_profile *contexts;	/* of all files; NULL: there are
						 * none */
	void *runs;			/* tree of struct path_run, of this file */
};

static inline size_t path_points(uint32_t spelled)
{
	return 2 * (size_t)spelled + 3;
}

/*
 * Lines between taken jumps, as far as these are known. Points come in pairs: where
 * one begins, and where it ends.
 */
static inline uint32_t path_lines(const struct path_entry *entry)
{
	return entry->spelled + (entry->spelled == entry->path.length);
}

static inline const struct path_point *path_end(const struct path_entry *entry)
{
	return &entry->points[path_points(entry->spelled) - 2];
}

/* paths.c: by object and address; by which processes a path is of. For sorting. */
int path_compare_points(const struct path_point *x, const struct path_point *y,
			size_t count);
int path_compare_owners(const struct path_entry *x, const struct path_entry *y);

/* Sums up a row as of @time. -ENOMEM. */
int paths_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_path *row,
		  uint64_t time);
/* replay.c: gathers rows from branch stacks. */
int paths_replay(struct hwprof_profile *profile, void *options);

/* path_time.c: shares out the windows, if time chose all. -ENOMEM. */
int paths_time(struct hwprof_paths *paths);

/* path_heat.c: finds procedures, shares and heat, and sorts. -ENOMEM. */
int paths_rank(struct hwprof_paths *paths);

/* path_numbers.c: numbers them, while they are sorted by procedure. -ENOMEM. */
int paths_number(struct hwprof_paths *paths);

/*
 * path_contexts.c: takes the row of a context that stands beside paths; notes in
 * which context @path ran, if its @row says so. -ENOMEM, or as profile_gather().
 */
int path_contexts_take(struct hwprof_profile *profile,
		       const struct hwprof_sample *sample);
int path_contexts_note(struct hwprof_paths *paths, struct collected_path *path,
		       const struct hwprof_row_path *row);
/*
 * Places a file's contexts; adds those that ran @path to its entry; forgets the
 * file's. Then the contexts of all files are finished. The same.
 */
int path_contexts_begin(struct hwprof_paths *paths);
int path_contexts_add(struct hwprof_paths *paths, struct path_entry *entry,
		      const struct collected_path *path);
void path_contexts_end(struct hwprof_paths *paths);
int path_contexts_finish(struct hwprof_paths *paths);
void path_contexts_free(struct hwprof_paths *paths);

/* paths_json.c: writes one path, or procedure, as JSON. */
void paths_put(struct json *json, const char *name, const void *paths,
	       size_t index);
void paths_put_procedure(struct json *json, const char *name, const void *paths,
			 size_t index);
extern const struct profile_kind paths_kind;
/* JSON of all of it: as hwprof_profile_json(). */
int paths_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_PATHS_H */
