// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "table.h"
#include "base/array.h"

enum {
	COLUMNS_MAX = 16,
	GAP = 2,		/* spaces between columns */
	SHRUNK_LEAST = 12,	/* smallest width of a column that shrinks */
};

/* Replaces control characters. Returns NULL if out of memory. */
static char *cleaned(char *cell)
{
	const char *text = clean(cell);

	if (text == cell)
		return cell;
	free(cell);
	return strdup(text);
}

void table_add(struct table *table, const char *format, ...)
{
	va_list args;
	char **cells, *cell;
	int got;

	cells = array_grow(table->cells, &table->cell_room,
			   table->cell_count + 1, sizeof(*cells));
	if (!cells) {
		table->failed = true;
		return;
	}
	table->cells = cells;
	va_start(args, format);
	got = vasprintf(&cell, format, args);
	va_end(args);
	if (got < 0)
		table->failed = true;
	else
		table->cells[table->cell_count++] = cleaned(cell);
	table->failed |= got >= 0 && !table->cells[table->cell_count - 1];
}

void table_free(struct table *table)
{
	size_t i;

	for (i = 0; i < table->cell_count; i++)
		free(table->cells[i]);
	free(table->cells);
}

static void measure(const struct table *table, size_t *widths)
{
	size_t i, column;

	for (column = 0; column < table->column_count; column++)
		widths[column] = strlen(table->columns[column].title);
	for (i = 0; i < table->cell_count; i++) {
		size_t length = strlen(table->cells[i]);

		column = i % table->column_count;
		if (length > widths[column])
			widths[column] = length;
	}
}

/* Shrinks the widest column that may shrink, until the table fits. */
static void shrink(const struct table *table, size_t *widths, size_t width)
{
	for (;;) {
		size_t total = 0, column, widest = COLUMNS_MAX;

		for (column = 0; column < table->column_count; column++) {
			total += widths[column] + GAP;
			if (table->columns[column].shrinks &&
			    widths[column] > SHRUNK_LEAST &&
			    (widest == COLUMNS_MAX ||
			     widths[column] > widths[widest]))
				widest = column;
		}
		if (total - GAP <= width || widest == COLUMNS_MAX)
			return;
		widths[widest]--;
	}
}

static void print_cell(const struct table_column *column, const char *text,
		       size_t width, bool last, FILE *out)
{
	int field = width;

	if (strlen(text) > width)
		fprintf(out, "%.*s~", field - 1, text);
	else if (column->right)
		fprintf(out, "%*s", field, text);
	else
		fprintf(out, "%-*s", last ? 0 : field, text);
	if (!last)
		fprintf(out, "%*s", GAP, "");
	else
		putc('\n', out);
}

void table_print(const struct table *table, size_t width, FILE *out)
{
	size_t widths[COLUMNS_MAX], count = table->column_count, i;

	measure(table, widths);
	if (width)
		shrink(table, widths, width);
	for (i = 0; i < count; i++)
		print_cell(&table->columns[i], table->columns[i].title,
			   widths[i], i == count - 1, out);
	for (i = 0; i < table->cell_count; i++)
		print_cell(&table->columns[i % count], table->cells[i],
			   widths[i % count], i % count == count - 1, out);
}
