/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which thing of one profile is which of another, and what has changed. diff.c
 * finds counterparts by names, diff_names.c has the names of all kinds of things,
 * loop_code.c those of loops by their code.
 */
#ifndef HWPROF_DIFF_H
#define HWPROF_DIFF_H

#include "hwprof.h"
#include "json.h"

/* Names of a thing, from the surest to the one that most builds have alike. */
enum diff_name {
	DIFF_ADDRESS,		/* of one build */
	DIFF_CODE,		/* what it does, instruction by instruction */
	DIFF_CALLS,		/* function, and what it calls: see is_single() */
	DIFF_SOURCE,		/* line, or what does not move with the code */
	DIFF_OFFSET,		/* function, or that and how far in it */
	DIFF_NESTING,		/* function, and how deep in others: the same */
	DIFF_NAMES,
};

/* A profile as a list of things that are compared. */
struct diff_kind {
	size_t (*count)(const void *profile);
	double (*share)(const void *profile, size_t index);
	/* Sets the share's 95 % interval; NULL, or NaN: it is not known. */
	void (*interval)(const void *profile, size_t index, double *low,
			 double *high);
	/* Of those with one name, the first by this is the first. */
	uint64_t (*rank)(const void *profile, size_t index);
	/*
	 * Writes the thing's name to @out. False: it has none of that sort.
	 * @above: of trees, numbers of the names of what it is in, by their depth
	 * + 1; [0] is 0, as are those of what has no name.
	 */
	bool (*name)(const void *profile, size_t index, enum diff_name sort,
		     const uint64_t *above, FILE *out);
	/* How much it is in; NULL: it is no tree. */
	unsigned int (*depth)(const void *profile, size_t index);
	void (*put)(struct json *json, const char *name, const void *profile,
		    size_t index);
	/* What the things are summed up by, as one more list; NULL: nothing. */
	const struct diff_kind *procedures;
	const char *procedures_name;	/* in JSON */
};

extern const struct diff_kind loops_diff, ranges_diff, calls_diff,
			      contexts_diff, paths_diff, values_diff,
			      edges_diff;

/*
 * loop_code.c: writes what loop @index of @loops does. @sort DIFF_CODE: the mnemonics
 * of its instructions, and whom they call; DIFF_CALLS: whom it calls; both with how
 * deep it is in others of its function, which is all of DIFF_NESTING. False: its code
 * cannot be read, or it calls nobody.
 */
bool loop_code_name(const void *loops, size_t index, enum diff_name sort,
		    FILE *out);

/* -ENOMEM. */
int diff_make(struct hwprof_diff **diff, const struct diff_kind *kind,
	      const void *before, const void *after);

#endif /* HWPROF_DIFF_H */
