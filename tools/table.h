/* SPDX-License-Identifier: GPL-2.0-only */
/* Text in columns. */
#ifndef HWPROF_TABLE_H
#define HWPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
	const char *title;
	bool right;		/* numbers: aligned to the right */
	bool shrinks;		/* gives way where the table is too wide */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	char **cells;		/* rows of column_count */
	size_t cell_count, cell_room;
	bool failed;		/* for want of memory */
};

/* Adds the next cell, as printf() does. */
void table_add(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* @width: of the terminal, in characters; 0: as wide as it gets. */
void table_print(const struct table *table, size_t width, FILE *out);
void table_free(struct table *table);

#endif /* HWPROF_TABLE_H */
