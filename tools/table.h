/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints text in columns. */
#ifndef HWPROF_TABLE_H
#define HWPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
	const char *title;
	bool right;		/* aligned to the right, for numbers */
	bool shrinks;		/* may be cut if the table is too wide */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	char **cells;		/* in rows of column_count */
	size_t cell_count, cell_room;
	bool failed;		/* out of memory */
};

/* Adds the next cell; see printf(). */
void table_add(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* @width is that of the terminal in characters; 0: unlimited. */
void table_print(const struct table *table, size_t width, FILE *out);
void table_free(struct table *table);

#endif /* HWPROF_TABLE_H */
