/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the profiles of all engines have in common, and begin with. Of each file in
 * turn, its rows are summed (collect.c), placed in objects (place.c), and added to
 * those of the files before it; then the profile is made of all that.
 */
#ifndef HWPROF_PROFILE_H
#define HWPROF_PROFILE_H

#include "collect.h"
#include "objects.h"
#include "warnings.h"

struct profile;

/*
 * What an engine's rows are, and become. Functions return 0, -ENOMEM, or another
 * error by file_fail(); the last three may be NULL.
 */
struct profile_kind {
	size_t size;			/* of the profile */
	const char *about;		/* the field that its events have */
	const char *units;		/* what rows count, "back edges" */
	const char *things;		/* what samples are of, "loops" */
	const char *lacking;		/* what rows without raw data leave open */
	/* Sums up a sample or row in profile->rows. */
	int (*take)(struct profile *profile, const struct hwprof_sample *sample);
	/* Adds the file's sums, @rows[0] to [@count - 1]. */
	int (*place)(struct profile *profile, void **rows, size_t count);
	/* Makes the profile of all files. */
	int (*finish)(struct profile *profile);
	/* Frees what is the kind's own, but not @profile. */
	void (*destroy)(struct profile *profile);
	/* Samples of the kind that are not wanted. */
	bool (*skips)(struct profile *profile,
		      const struct hwprof_sample *sample);
	/* Sentences of the kind's own about the file with @totals. */
	int (*warn)(struct profile *profile, const struct hwprof_totals *totals);
};

struct profile {
	const struct profile_kind *kind;
	unsigned int flags;		/* enum hwprof_loops_flags */
	struct hwprof_totals totals;	/* of all files */
	struct objects *objects;
	struct warnings warnings;

	struct hwprof_file *file;	/* that is read now, */
	struct collected collected;	/* what came with its rows, */
	void *rows;			/* a tree of what they sum up to, each
					 * beginning with a struct origin, */
	uint64_t found;			/* and the units in them */

	struct collected *files;	/* from those before it: names point there */
	size_t file_count;
};

/* NULL: out of memory. */
struct profile *profile_new(const struct profile_kind *kind, unsigned int flags);
/* NULL is allowed. */
void profile_free(struct profile *profile);

/*
 * Reads all @files by @gather, which puts a file's rows into profile->rows and
 * what comes with them into profile->collected, and returns as the kind's; NULL:
 * what the file's hwprof samples say. When it fails, *@profile is freed and NULL,
 * and the file it failed at has the sentence. @profile: of profile_new().
 */
typedef int (*profile_gather)(struct profile *profile, void *context);
int profile_read(struct profile **profile, struct hwprof_file *const *files,
		 size_t count, profile_gather gather, void *context);

/* The process's name while it was in the file that is read now; or NULL. */
const char *profile_comm(const struct profile *profile, uint32_t pid,
			 uint64_t time);

#endif /* HWPROF_PROFILE_H */
