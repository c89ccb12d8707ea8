/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of rows, in which rows about one thing are added up. Two rows are
 * about one thing if they have one session, space and pid, and agree in the
 * fields that name it; see row_fields.h.
 */
#ifndef HWPROF_ROW_TABLE_H
#define HWPROF_ROW_TABLE_H

#include "row_fields.h"

struct row_entry {
	const struct row_fields *fields;
	uint64_t hash;
	uint64_t first, last;		/* times of the rows */
	size_t group, part;		/* for the table's user, as all below */
	uint64_t new_id;		/* of a context; 0: not known yet */
	uint64_t caller_id;		/* the new id of its caller; 0: none */
	bool listed;			/* its new id is being found */
	struct hwprof_row *row;		/* belongs to the entry */
};

struct row_table {
	struct row_entry **entries;	/* in the order of their arrival */
	size_t count, room;
	size_t *slots;			/* index + 1 of the entry; 0: free */
	size_t slot_count;		/* a power of two, or 0 */
};

/*
 * Adds @row, which is copied: see row_add() for @sessions. *@entry, unless
 * @entry is NULL, receives its entry. Returns 0 or -ENOMEM.
 */
int row_table_add(struct row_table *table, const struct row_fields *fields,
		  const struct hwprof_row *row, uint64_t first, uint64_t last,
		  bool sessions, struct row_entry **entry);

/* Returns the entry of the thing that @row is about; NULL: none. */
struct row_entry *row_table_find(const struct row_table *table,
				 const struct row_fields *fields,
				 const struct hwprof_row *row);

void row_table_free(struct row_table *table);

#endif /* HWPROF_ROW_TABLE_H */
