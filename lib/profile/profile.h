/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The common part of all profiles, with which each begins. The rows of each
 * file are summed (recording_facts.c), located in objects (location.c), and
 * added to those of the previous files. The profile is then made from these
 * sums.
 */
#ifndef HWPROF_PROFILE_H
#define HWPROF_PROFILE_H

#include "recording_facts.h"
#include "diff.h"
#include "code/objects.h"
#include "base/warnings.h"

/*
 * Sums a file's rows in profile->rows, and notes everything else in
 * profile->facts. Returns 0, -ENOMEM, or as file_fail().
 */
typedef int (*profile_gather)(struct hwprof_profile *profile, void *context);

/*
 * One kind of profile. Functions return as profile_gather(). The last four may
 * be NULL.
 */
struct profile_kind {
	enum hwprof_kind kind;
	size_t size;			/* of the profile */
	const char *about;		/* field that its events have */
	const char *units;		/* what rows count, such as "back
					 * edges" */
	const char *things;		/* what it is about, such as "loops" */
	const char *lacking;		/* what is unknown about rows without
					 * raw data */
	/* Adds a sample or row to profile->rows. */
	int (*take)(struct hwprof_profile *profile,
		    const struct hwprof_sample *sample);
	/*
	 * Return an array of all sums in profile->rows, which the caller frees,
	 * or NULL; and free profile->rows. Both are NULL if the sums are a tree
	 * of tree.h.
	 */
	void **(*list)(const struct hwprof_profile *profile, size_t *count);
	void (*free_rows)(void *rows);
	/* Adds the sums of a file, @rows[0] to [@count - 1]. */
	int (*place)(struct hwprof_profile *profile, void **rows, size_t count);
	/* Makes the profile from all files. */
	int (*finish)(struct hwprof_profile *profile);
	/* Returns the number of things in the profile. */
	size_t (*count)(const struct hwprof_profile *profile);
	/* Frees the kind's own fields, but not @profile. */
	void (*destroy)(struct hwprof_profile *profile);
	/* Sets the kind's own fields in a new profile. */
	void (*configure)(struct hwprof_profile *profile,
			  const struct hwprof_options *options);
	/* Returns true for a sample of the kind to be ignored. */
	bool (*skips)(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample);
	/* Takes a sample of another kind, from an event with several. */
	int (*beside)(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample);
	/* Adds the kind's own warnings about the file with @totals. */
	int (*warn)(struct hwprof_profile *profile,
		    const struct hwprof_totals *totals);
};

/* kinds.c: returns the kind of this number. */
const struct profile_kind *profile_kind_of(enum hwprof_kind kind);

struct hwprof_profile {
	const struct profile_kind *kind;
	unsigned int flags;		/* enum hwprof_flags */
	char message[256];		/* of the last failure */
	struct hwprof_totals totals;	/* of all files */
	char *function;			/* copy of options->function */
	char *event;			/* the first that was replayed; NULL:
					 * none */
	bool replayed;			/* from stacks of other recorders */
	bool events;			/* several events were replayed */
	double inferred;		/* share of branches whose kinds were
					 * inferred */
	struct objects *objects;
	struct warnings warnings;
	struct numbers masks;		/* of the files' sessions, as text */

	struct hwprof_file *file;	/* file that is being read */
	struct recording_facts facts;	/* its processes and sessions */
	void *rows;			/* its summed rows: a tree, or the
					 * kind's own; each begins with
					 * struct row_origin */
	void *times;			/* loops: its windows by time, a tree */
	uint64_t found;			/* units in its rows */

	/*
	 * Sums over all files: windows, weighed; with weights, what makes the
	 * sum of all units vary, and the largest weight; how distances changed.
	 */
	double windows, spread, heaviest;
	struct hwprof_distances distances;

	struct recording_facts *files;	/* previous files; names point into
					 * them */
	size_t file_count;
};

/*
 * A profile that grows while a session runs. profile_take() adds a row, as it
 * does for a file's samples. Records about processes go to facts.processes,
 * which must be settled before profile_snapshot() makes a profile of everything
 * so far. @file has the name for messages, and counts of lost records. Returns
 * NULL without memory.
 */
struct hwprof_profile *profile_gathering(const struct profile_kind *kind,
					 const struct hwprof_options *options,
					 struct hwprof_file *file);
int profile_take(struct hwprof_profile *profile,
		 const struct hwprof_sample *sample);
int profile_snapshot(struct hwprof_profile **result,
		     struct hwprof_profile *gathering,
		     const struct hwprof_options *options);
/*
 * Makes a profile of a part of a recording. @part gets each sample, and calls
 * profile_take() for those that the profile is to have.
 */
typedef int (*profile_part_fn)(void *context, struct hwprof_profile *profile,
			       const struct hwprof_sample *sample);
int profile_read_part(struct hwprof_profile **profile,
		      const struct profile_kind *kind, struct hwprof_file *file,
		      const struct hwprof_options *options,
		      profile_part_fn part, void *context);

/* Notes the name of an event that was replayed. Returns 0 or -ENOMEM. */
int profile_note_event(struct hwprof_profile *profile, const char *name);

/* Forgets the rows, but not the processes. */
void profile_reset(struct hwprof_profile *gathering);

/*
 * Returns 0, or -EINVAL if @options do not fit @kind: @message, of @size bytes,
 * says why.
 */
int profile_check_options(enum hwprof_kind kind,
			  const struct hwprof_options *options, char *message,
			  size_t size);

/* Does as hwprof_profile_read(), for @kind. */
int profile_read(struct hwprof_profile **profile,
		 const struct profile_kind *kind,
		 struct hwprof_file *const *files, size_t count,
		 const struct hwprof_options *options);
/*
 * Makes a profile of @kind from what @gather, which gets @context, finds in all
 * @files. Returns 0 or as file_fail().
 */
int profile_make(struct hwprof_profile **profile,
		 const struct profile_kind *kind,
		 struct hwprof_file *const *files, size_t count,
		 const struct hwprof_options *options, profile_gather gather,
		 void *context);

/*
 * profile_place() places the summed rows of the present file; it returns as
 * kind->place. profile_free_rows() frees them.
 */
int profile_place(struct hwprof_profile *profile);
void profile_free_rows(struct hwprof_profile *profile);

/* Returns true if the options want a thing of this function (NULL: none). */
bool profile_wants(const struct hwprof_profile *profile, const char *function);

/*
 * Returns the name of a process in the file that is being read; NULL if
 * unknown.
 */
const char *profile_comm(const struct hwprof_profile *profile, uint32_t pid,
			 uint64_t time);

#endif /* HWPROF_PROFILE_H */
