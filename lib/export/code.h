/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The branches and straight lines of one object, for compilers' formats. */
#ifndef HWPROF_CODE_H
#define HWPROF_CODE_H

#include "reports/edges.h"
#include "export.h"

#define CODE_OUTSIDE	UINT64_MAX	/* an address that is in no code of
					 * the object */

struct code_branch {
	uint64_t from, to;		/* one of them may be CODE_OUTSIDE */
	uint64_t count, mispredicted;
};

/* A straight line: from a target to the branch that ends it. */
struct code_line {
	uint64_t first, last;
	bool entered;			/* from another object, by a return, or
					 * by a branch that is not known */
	uint64_t count;
};

struct code_profile {
	struct code_branch *branches;	/* by address */
	size_t branch_count;
	struct code_line *lines;	/* by address */
	size_t line_count;
};

/*
 * Returns the address in the part's object of @address, which is in the object
 * of @spot; CODE_OUTSIDE if it is in no code of the part's object.
 */
uint64_t code_address(const struct part *part, const struct code_spot *spot,
		      uint64_t address);

/* Collects those of the part's object. Returns 0 or -ENOMEM. */
int code_collect(struct code_profile *code, const struct hwprof_export *export,
		 const struct part *part);
void code_free(struct code_profile *code);

/*
 * Sums lines whose addresses are the same, whatever entered them: formats
 * without that distinction have each once.
 */
void code_merge_lines(struct code_profile *code);

/*
 * Returns an address of the part's object, or CODE_OUTSIDE, as a format has it.
 */
typedef uint64_t (*code_convert_fn)(const struct hwprof_export *export,
				    const struct part *part, uint64_t address);

/* Where and how lists are written. */
struct code_text {
	const struct hwprof_export *export;
	const struct part *part;
	code_convert_fn convert;
	FILE *out;
};

/* Writes how many lines there are, and "first-last:count" of each. */
void code_put_lines(const struct code_profile *code,
		    const struct code_text *text);
/*
 * Writes how many branches led into the object, and "from->to:count" of each.
 */
void code_put_branches(const struct code_profile *code,
		       const struct code_text *text);

#endif /* HWPROF_CODE_H */
