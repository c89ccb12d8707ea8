/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to paths:
 * - paths.c sums the rows of a file and places them in objects.
 * - path_time.c attributes windows to paths.
 * - path_heat.c finds hot, dense and sparse paths.
 * - path_numbers.c numbers each path among all possible ones.
 * - path_contexts.c finds the calling contexts.
 * - paths_json.c writes the result.
 */
#ifndef HWPROF_PATHS_H
#define HWPROF_PATHS_H

#include "base/row_origin.h"
#include "base/json.h"
#include "code/lines.h"
#include "profile/profile.h"

/* The rows of one path in one address space of one session, summed. */
struct collected_path {
	struct row_origin origin;
	uint32_t flags;			/* HWPROF_PATH_* */
	uint32_t length, spelled;
	uint64_t start, end, target;
	uint64_t count, cycles;
	struct path_run *runs;		/* the rows by context */
	struct hwprof_path_jump jumps[];
};

/* The rows of one path in one context, summed. */
struct path_run {
	const struct collected_path *path;
	uint64_t id;			/* id of the context in the path's
					 * session */
	uint64_t count, cycles;
	struct path_run *next;		/* of the same path */
};

/*
 * How often a context ran a path. @node is its number in the tree of all files.
 */
struct path_ran {
	size_t node;
	uint64_t count, cycles;
};

struct path_point {
	struct object *object;
	uint64_t address;		/* as struct location has it */
};

/* A path in objects, merged over all processes that ran it. */
struct path_entry {
	struct hwprof_path path;	/* open paths: only the count is set */
	uint32_t pid;
	size_t file;			/* as struct location has it */
	const char *comm;
	uint32_t flags;
	uint64_t last;			/* time of the last row */
	uint64_t symbol;		/* symbol at its end; 0: none */
	const struct line **lines;	/* path_lines() elements */
	struct path_ran *ran;		/* finally sorted, the hottest first */
	size_t ran_count;
	uint32_t spelled;
	/*
	 * Start, source and target of each jump, end, target of the back edge
	 * if any.
	 */
	struct path_point points[];
};

struct hwprof_paths {
	struct hwprof_profile profile;
	struct path_entry **entries;	/* sorted by share */
	size_t count;
	struct hwprof_procedure *procedures;
	struct hwprof_procedure **order;	/* the procedures by share */
	size_t procedure_count;
	struct hwprof_paths_summary summary;
	double hot;			/* least share of a hot path */
	uint64_t undecoded;		/* branches on paths whose instructions
					 * are not known */
	void *placed;			/* tree of struct path_entry */
	void *open;			/* tree of path_entry: paths in flight
					 * when a window was taken */
	struct lines lines;
	struct hwprof_profile *contexts;	/* of all files; NULL: none */
	void *runs;			/* tree of struct path_run, of the
					 * present file */
};

static inline size_t path_points(uint32_t spelled)
{
	return 2 * (size_t)spelled + 3;
}

/*
 * Returns the number of known lines between taken jumps. Two points belong to
 * each: where it begins, and where it ends.
 */
static inline uint32_t path_lines(const struct path_entry *entry)
{
	return entry->spelled + (entry->spelled == entry->path.length);
}

static inline const struct path_point *path_end(const struct path_entry *entry)
{
	return &entry->points[path_points(entry->spelled) - 2];
}

/* path_order.c: compare by object and address, and by process, for sorting. */
int path_compare_points(const struct path_point *x, const struct path_point *y,
			size_t count);
int path_compare_owners(const struct path_entry *x, const struct path_entry *y);

/* Adds a row of time @time. Returns 0 or -ENOMEM. */
int paths_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_path *row,
		  uint64_t time);
/*
 * Attributes windows to paths if time chose all of them. Returns 0 or -ENOMEM;
 * in path_time.c.
 */
int paths_time(struct hwprof_paths *paths);

/*
 * Finds procedures, shares and heat, and sorts. Returns 0 or -ENOMEM; in
 * path_heat.c.
 */
int paths_rank(struct hwprof_paths *paths);

/*
 * Numbers the paths, which are sorted by procedure. Returns 0 or -ENOMEM; in
 * path_numbers.c.
 */
int paths_number(struct hwprof_paths *paths);

/*
 * path_contexts_take() takes a row of a context from an event that also has
 * paths. path_contexts_note() notes the context in which @path ran, if its @row
 * names it. Both return as profile_gather(); in path_contexts.c.
 */
int path_contexts_take(struct hwprof_profile *profile,
		       const struct hwprof_sample *sample);
int path_contexts_note(struct hwprof_paths *paths, struct collected_path *path,
		       const struct hwprof_row_path *row);
/*
 * path_contexts_begin() places the contexts of a file, path_contexts_add() adds
 * those that ran @path to its entry, and path_contexts_end() forgets them.
 * path_contexts_finish() completes the contexts of all files. All return as
 * profile_gather().
 */
int path_contexts_begin(struct hwprof_paths *paths);
int path_contexts_add(struct hwprof_paths *paths, struct path_entry *entry,
		      const struct collected_path *path);
void path_contexts_end(struct hwprof_paths *paths);
int path_contexts_finish(struct hwprof_paths *paths);
void path_contexts_free(struct hwprof_paths *paths);

/* Write one path, or procedure, as JSON; in paths_json.c. */
void paths_put(struct json *json, const char *name, const void *paths,
	       size_t index);
void paths_put_procedure(struct json *json, const char *name, const void *paths,
			 size_t index);
extern const struct profile_kind paths_kind;
/* Writes the whole profile; see hwprof_profile_json(). */
int paths_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_PATHS_H */
