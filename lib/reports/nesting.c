// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loops.h"

static int compare_place(const struct loop_entry *x, const struct loop_entry *y)
{
	int order;

	if (x->object == y->object && x->loop.pid == y->loop.pid)
		return (x->file > y->file) - (x->file < y->file);
	if (x->object == y->object)
		return x->loop.pid < y->loop.pid ? -1 : 1;
	order = strcmp(x->loop.object, y->loop.object);
	/* There may be two builds of one name. */
	return order ? order : object_compare(x->object, y->object);
}

int place_compare(const void *a, const void *b)
{
	const struct loop_entry *x = a, *y = b;
	int order = compare_place(x, y);

	if (order)
		return order;
	if (x->loop.head != y->loop.head)
		return x->loop.head < y->loop.head ? -1 : 1;
	return (x->loop.tail < y->loop.tail) - (x->loop.tail > y->loop.tail);
}

static bool contains(const struct hwprof_loop *outer,
		     const struct hwprof_loop *inner)
{
	return outer->head <= inner->head && outer->tail >= inner->tail &&
	       (outer->head != inner->head || outer->tail != inner->tail);
}

/*
 * Returns the smallest open region that contains @loop; the one with the lower
 * head among equals.
 */
static const struct hwprof_loop *find_parent(struct loop_entry **open,
					     size_t count,
					     const struct hwprof_loop *loop)
{
	const struct hwprof_loop *best = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct hwprof_loop *outer = &open[i]->loop;

		if (contains(outer, loop) &&
		    (!best || outer->tail - outer->head <
			      best->tail - best->head))
			best = outer;
	}
	return best;
}

/* Drops the regions that end before @entry, or are in another place. */
static size_t close_regions(struct loop_entry **open, size_t count,
			    const struct loop_entry *entry)
{
	size_t kept = 0, i;

	for (i = 0; i < count; i++)
		if (!compare_place(open[i], entry) &&
		    open[i]->loop.tail >= entry->loop.head)
			open[kept++] = open[i];
	return kept;
}

/* Sweeps over addresses: a region comes before the regions inside it. */
int nesting_find(struct loop_entry *entries, size_t count)
{
	struct loop_entry **open =
		calloc(count + 1, sizeof(struct loop_entry *));
	size_t open_count = 0, i;

	if (!open)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct hwprof_loop *loop = &entries[i].loop;

		open_count = close_regions(open, open_count, &entries[i]);
		loop->parent = find_parent(open, open_count, loop);
		loop->depth = loop->parent ? loop->parent->depth + 1 : 0;
		open[open_count++] = &entries[i];
	}
	free(open);
	return 0;
}
