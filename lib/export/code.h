/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The branches and straight lines of one object, for compilers' formats. */
#ifndef HWPROF_CODE_H
#define HWPROF_CODE_H

#include "edges.h"
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
/* Returns the number of branches to the object's code. */
size_t code_count_led(const struct code_profile *code);

#endif /* HWPROF_CODE_H */
