/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of rows, as far as adding rows up needs to know them. Rows of
 * loops, time, calls, edges, paths and contexts can be added; rows of ranges,
 * boxes and values cannot yet.
 */
#ifndef HWPROF_ROW_FIELDS_H
#define HWPROF_ROW_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "hwprof.h"

/* How a field of two rows becomes one. */
enum field_rule {
	FIELD_PLACE,		/* an address; part of what the row is about */
	FIELD_NAME,		/* another part of what the row is about */
	FIELD_EXTENT,		/* an address above the place before it: the
				 * highest */
	FIELD_SUM,		/* an increase */
	FIELD_LEAST,		/* the lowest; 0: unknown */
	FIELD_MOST,		/* the highest */
	FIELD_LATEST,		/* that of the latest row; 0: unknown */
	FIELD_BOUND,		/* the highest of a session; of several
				 * sessions, the sum */
};

struct row_field {
	size_t offset;		/* in the row */
	size_t size;		/* 4 or 8 */
	size_t count;		/* elements, one behind the other */
	enum field_rule rule;
};

struct row_fields {
	unsigned int type;		/* enum hwprof_row_type */
	enum hwprof_kind kind;		/* whose rows they are */
	size_t size;			/* of a row, without jumps */
	const struct row_field *fields;	/* places come first */
	size_t count;
};

/* Returns the fields of a type of rows; NULL if it cannot be added. */
const struct row_fields *row_fields_of(unsigned int type);

/* Reads and writes element @index of a field. Writing saturates. */
uint64_t row_get(const struct hwprof_row *row, const struct row_field *field,
		 size_t index);
void row_set(struct hwprof_row *row, const struct row_field *field,
	     size_t index, uint64_t value);

/* Returns true for a field that is part of what the row is about. */
bool row_field_names(const struct row_field *field);

/*
 * Adds the counts of @from to @to: rows about one thing. @sessions is true if
 * they are of different sessions; @later, if @from is the later one.
 */
void row_add(const struct row_fields *fields, struct hwprof_row *to,
	     const struct hwprof_row *from, bool sessions, bool later);

#endif /* HWPROF_ROW_FIELDS_H */
