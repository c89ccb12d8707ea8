// SPDX-License-Identifier: GPL-2.0-only
#include "region.h"

#include "array.h"

static int compare(uint32_t space_a, uint64_t a, uint32_t space_b, uint64_t b)
{
	if (space_a != space_b)
		return space_a < space_b ? -1 : 1;
	return a == b ? 0 : a < b ? -1 : 1;
}

static int by_head(const void *a, const void *b)
{
	const struct oracle_loop *x = a, *y = b;

	return compare(x->space, x->head, y->space, y->head);
}

static int by_start(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return compare(x->space, x->start, y->space, y->start);
}

void regions_add(struct regions *regions, uint32_t space, uint64_t head,
		 uint64_t from)
{
	*array_push(&regions->loops) = (struct oracle_loop){
		.space = space, .head = head, .tail = from,
	};
}

/* Keeps one loop per head, with its farthest tail. */
static void join_loops(struct regions *regions)
{
	struct oracle_loop *loops = regions->loops.items;
	size_t i, n = 0;

	if (regions->loops.count)
		qsort(loops, regions->loops.count, sizeof(*loops), by_head);
	for (i = 0; i < regions->loops.count; i++) {
		if (!n || by_head(&loops[n - 1], &loops[i]))
			loops[n++] = loops[i];
		else if (loops[n - 1].tail < loops[i].tail)
			loops[n - 1].tail = loops[i].tail;
	}
	regions->loops.count = n;
}

static void cut_cells(struct regions *regions)
{
	const struct oracle_loop *loop = regions->loops.items;
	size_t i, n = 0;
	struct cell *cells;

	for (i = 0; i < regions->loops.count; i++, loop++) {
		*array_push(&regions->cells) = (struct cell){
			.space = loop->space, .start = loop->head,
		};
		if (loop->tail == UINT64_MAX)
			continue;
		*array_push(&regions->cells) = (struct cell){
			.space = loop->space, .start = loop->tail + 1,
		};
	}
	cells = regions->cells.items;
	if (regions->cells.count)
		qsort(cells, regions->cells.count, sizeof(*cells), by_start);
	for (i = 0; i < regions->cells.count; i++)
		if (!n || by_start(&cells[n - 1], &cells[i]))
			cells[n++] = cells[i];
	regions->cells.count = n;
}

static size_t cell_above(const struct regions *regions, uint32_t space,
			 uint64_t address)
{
	size_t low = 0, high = regions->cells.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct cell *cell = &regions->cells.items[middle];

		if (compare(cell->space, cell->start, space, address) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct cell *regions_cell(const struct regions *regions, uint32_t space,
				uint64_t address)
{
	size_t above = cell_above(regions, space, address);

	if (!above || regions->cells.items[above - 1].space != space)
		return NULL;
	return &regions->cells.items[above - 1];
}

static void fill_cells(struct regions *regions)
{
	const struct oracle_loop *loop = regions->loops.items;
	struct cell *cell;
	size_t i, k, last;

	for (i = 0; i < regions->loops.count; i++, loop++) {
		k = cell_above(regions, loop->space, loop->head) - 1;
		last = cell_above(regions, loop->space, loop->tail);
		for (; k < last; k++) {
			cell = &regions->cells.items[k];
			cell->loops = array_more(cell->loops, cell->count + 1,
						 sizeof(*cell->loops));
			cell->loops[cell->count++] = i;
		}
	}
}

/*
 * Sets the parent: the smallest region that strictly contains the loop's. Of
 * two such regions, the one with the lower head.
 */
static void find_parent(const struct regions *regions, struct oracle_loop *loop)
{
	const struct cell *cell =
		regions_cell(regions, loop->space, loop->head);
	const struct oracle_loop *other, *best = NULL;
	size_t i;

	for (i = 0; i < cell->count; i++) {
		other = &regions->loops.items[cell->loops[i]];
		if (other == loop || other->tail < loop->tail)
			continue;
		if (!best ||
		    other->tail - other->head < best->tail - best->head)
			best = other;
	}
	loop->has_parent = best;
	loop->parent = best ? best->head : 0;
}

void regions_finish(struct regions *regions)
{
	size_t i;

	join_loops(regions);
	cut_cells(regions);
	fill_cells(regions);
	for (i = 0; i < regions->loops.count; i++)
		find_parent(regions, &regions->loops.items[i]);
}

size_t regions_from(const struct regions *regions, uint32_t space,
		    uint64_t address)
{
	size_t low = 0, high = regions->loops.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct oracle_loop *loop = &regions->loops.items[middle];

		if (compare(loop->space, loop->head, space, address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void regions_free(struct regions *regions)
{
	size_t i;

	for (i = 0; i < regions->cells.count; i++)
		free(regions->cells.items[i].loops);
	free(regions->cells.items);
	free(regions->loops.items);
}
