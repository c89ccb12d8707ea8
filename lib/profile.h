/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the profiles of all engines have in common, and begin with. Of each file in
 * turn, its rows are summed (collect.c), placed in objects (place.c), and added to
 * those of the files before it; then the profile is made of all that.
 */
#ifndef HWPROF_PROFILE_H
#define HWPROF_PROFILE_H

#include "collect.h"
#include "diff.h"
#include "objects.h"
#include "warnings.h"

/*
 * Puts a file's rows into profile->rows and what comes with them into
 * profile->collected. 0, -ENOMEM, or another error by file_fail().
 */
typedef int (*profile_gather)(struct hwprof_profile *profile, void *context);

/*
 * What an engine's rows are, and become. Functions return as profile_gather();
 * the last six may be NULL.
 */
struct profile_kind {
	enum hwprof_kind kind;
	size_t size;			/* of the profile */
	const char *about;		/* the field that its events have */
	const char *units;		/* what rows count, "back edges" */
	const char *things;		/* what samples are of, "loops" */
	const char *lacking;		/* what rows without raw data leave open */
	/* Sums up a sample or row in profile->rows. */
	int (*take)(struct hwprof_profile *profile,
		    const struct hwprof_sample *sample);
	/*
	 * An array of all sums in profile->rows, to be freed, or NULL; and
	 * frees profile->rows. Both NULL: it is a tree, as tree.h has them.
	 */
	void **(*list)(const struct hwprof_profile *profile, size_t *count);
	void (*free_rows)(void *rows);
	/* Adds the file's sums, @rows[0] to [@count - 1]. */
	int (*place)(struct hwprof_profile *profile, void **rows, size_t count);
	/* Makes the profile of all files. */
	int (*finish)(struct hwprof_profile *profile);
	/* How many things the profile has. */
	size_t (*count)(const struct hwprof_profile *profile);
	/* Frees what is the kind's own, but not @profile. */
	void (*destroy)(struct hwprof_profile *profile);
	/* As hwprof_profile_json(); @options is not NULL. */
	int (*json)(const struct hwprof_profile *profile,
		    const struct hwprof_json_options *options, FILE *out);
	const struct diff_kind *diff;	/* how to compare two of them */
	/* Sets what is the kind's own in a new profile. */
	void (*configure)(struct hwprof_profile *profile,
			  const struct hwprof_options *options);
	/* Gathers rows from stacks in samples, by struct hwprof_replay_options. */
	profile_gather replay;
	/* Samples of the kind that are not wanted. */
	bool (*skips)(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample);
	/* Takes a sample of another kind, of an event with several. */
	int (*beside)(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample);
	/* Sentences of the kind's own about the file with @totals. */
	int (*warn)(struct hwprof_profile *profile,
		    const struct hwprof_totals *totals);
};

struct hwprof_profile {
	const struct profile_kind *kind;
	unsigned int flags;		/* enum hwprof_flags */
	char message[256];		/* of the last call that failed */
	struct hwprof_totals totals;	/* of all files */
	char *function;			/* of options, a copy */
	char *event;			/* that was replayed; NULL: none, or */
	bool events;			/* several */
	double inferred;		/* part of the branches whose kinds are */
	struct objects *objects;
	struct warnings warnings;

	struct hwprof_file *file;	/* that is read now, */
	struct collected collected;	/* what came with its rows, */
	void *rows;			/* what they sum up to, a tree or the
					 * kind's own, each beginning with a
					 * struct origin, */
	void *times;			/* another one, of windows: of loops, */
	uint64_t found;			/* and the units in them */

	struct collected *files;	/* from those before it: names point there */
	size_t file_count;
};

/*
 * A profile in the making, of what comes while it runs: rows go to
 * profile_take(), as of a file's samples, and records about processes to
 * collected.processes, which are to be settled before profile_snapshot() makes a
 * profile of all that has come. @file: for its sentences, and of records that
 * were lost. NULL: out of memory.
 */
struct hwprof_profile *profile_gathering(enum hwprof_kind kind,
					 const struct hwprof_options *options,
					 struct hwprof_file *file);
int profile_take(struct hwprof_profile *profile,
		 const struct hwprof_sample *sample);
int profile_snapshot(struct hwprof_profile **result,
		     struct hwprof_profile *gathering,
		     const struct hwprof_options *options);
/* Forgets the rows, but not the processes. */
void profile_reset(struct hwprof_profile *gathering);

/*
 * Returns 0, or -EINVAL if @options do not go with @kind: then @message says
 * why, in @size bytes.
 */
int profile_check_options(enum hwprof_kind kind,
			  const struct hwprof_options *options, char *message,
			  size_t size);

/* Is what has the function of that name (NULL: none) wanted? */
bool profile_wants(const struct hwprof_profile *profile, const char *function);

/* The process's name while it was in the file that is read now; or NULL. */
const char *profile_comm(const struct hwprof_profile *profile, uint32_t pid,
			 uint64_t time);

#endif /* HWPROF_PROFILE_H */
