/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matches the things of two profiles, and computes what changed. diff.c matches
 * by name, diff_names.c builds the names of all kinds of things, and
 * loop_code.c builds those of loops from their code.
 */
#ifndef HWPROF_DIFF_H
#define HWPROF_DIFF_H

#include "hwprof.h"
#include "base/json.h"

/* Sorts of names, from the most certain to the most widely shared. */
enum diff_name {
	DIFF_ADDRESS,		/* valid within one build */
	DIFF_CODE,		/* what it does, instruction by instruction */
	DIFF_CALLS,		/* function, and its callees: see is_single() */
	DIFF_SOURCE,		/* line, or everything that does not move with
				 * the code */
	DIFF_OFFSET,		/* function and offset, or function alone */
	DIFF_NESTING,		/* function and nesting depth: see
				 * is_single() */
	DIFF_NAMES,
};

/* A profile as a list of things to compare. */
struct diff_kind {
	size_t (*count)(const void *profile);
	double (*share)(const void *profile, size_t index);
	/* Sets the 95 % interval of the share, or NaN; NULL: unknown. */
	void (*interval)(const void *profile, size_t index, double *low,
			 double *high);
	/* Orders things of one name: the smallest rank comes first. */
	uint64_t (*rank)(const void *profile, size_t index);
	/*
	 * Writes the thing's name of that sort to @out. Returns false if it has
	 * none. For trees, @above[depth + 1] is the number of the name of each
	 * ancestor; [0], and those without a name, are 0.
	 */
	bool (*name)(const void *profile, size_t index, enum diff_name sort,
		     const uint64_t *above, FILE *out);
	/* Returns the depth in the tree; NULL: the kind is no tree. */
	unsigned int (*depth)(const void *profile, size_t index);
	void (*put)(struct json *json, const char *name, const void *profile,
		    size_t index);
	/* A second list that sums up the things; NULL: none. */
	const struct diff_kind *procedures;
	const char *procedures_name;	/* in JSON */
};

extern const struct diff_kind loops_diff, ranges_diff, calls_diff,
			      contexts_diff, paths_diff, values_diff,
			      edges_diff;

/*
 * Writes the behaviour of loop @index of @loops as a name; in loop_code.c. With
 * DIFF_CODE it has the mnemonics of its instructions and its callees, with
 * DIFF_CALLS its callees. Both have the depth in loops of its function, and
 * DIFF_NESTING has only that. Returns false if the code cannot be read, or the
 * loop calls nothing.
 */
bool loop_code_name(const void *loops, size_t index, enum diff_name sort,
		    FILE *out);

/* Compares two profiles of one kind. Returns 0 or -ENOMEM. */
int diff_make(struct hwprof_diff **diff, const struct diff_kind *kind,
	      const void *before, const void *after);

#endif /* HWPROF_DIFF_H */
