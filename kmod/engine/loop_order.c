// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The order of a table's loops by space and head, and which of them reach an
 * address.
 *
 * Regions can be long: a jump from a procedure's cold part to its hot one makes
 * such a region. Hundreds of heads may then be close enough before an address,
 * while few of their loops reach it. Each loop therefore has a link,
 * table->further, to the last loop before it with a greater tail. Loops between
 * the two end no later than the loop itself. A search for loops that end behind
 * it can skip them.
 *
 * The arrays are indexed by slot. A loop that comes or goes changes them only
 * for loops with heads in its region.
 */
#include "loop_table.h"

static const struct loop *loop_at(const struct loop_table *table, u32 at)
{
	return &table->loops[table->order[at]];
}

/* Return the first place in table->order that is not before (space, head). */
static u32 order_search(const struct loop_table *table, u64 head, u32 space)
{
	u32 low = 0, high = table->used;

	while (low < high) {
		u32 middle = (low + high) / 2;
		const struct loop *loop = loop_at(table, middle);

		if (loop->space < space ||
		    (loop->space == space && loop->head < head))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Return the slot of the last loop, from @slot on downwards, that ends behind
 * @tail, or ORDER_NONE.
 */
static u16 order_find_further(const struct loop_table *table, u16 slot,
			      u64 tail)
{
	while (slot != ORDER_NONE && table->loops[slot].tail <= tail)
		slot = table->further[slot];
	return slot;
}

/*
 * Update the links around the loop at @at, which is new or has grown and may
 * hide loops before it.
 */
static void order_reach(struct loop_table *table, u32 at)
{
	const struct loop *loop = loop_at(table, at), *next;
	u16 slot = table->order[at];
	u32 i;

	table->further[slot] = order_find_further(table, table->before[slot],
						  loop->tail);
	for (i = at + 1; i < table->used; i++) {
		u16 *further = &table->further[table->order[i]];

		next = loop_at(table, i);
		if (next->space != loop->space || next->head > loop->tail)
			break;
		if (next->tail < loop->tail &&
		    (*further == ORDER_NONE ||
		     table->loops[*further].head < loop->head))
			*further = slot;
	}
}

/* Link the loop at @at to the one before it, if that is of the same space. */
static void order_link_before(struct loop_table *table, u32 at)
{
	u16 *before = &table->before[table->order[at]];

	*before = ORDER_NONE;
	if (at && loop_at(table, at - 1)->space == loop_at(table, at)->space)
		*before = table->order[at - 1];
}

void order_insert(struct loop_table *table, const struct loop *loop)
{
	u32 at = order_search(table, loop->head, loop->space);

	memmove(&table->order[at + 1], &table->order[at],
		(table->used - at) * sizeof(*table->order));
	table->order[at] = loop - table->loops;
	table->used++;
	order_link_before(table, at);
	if (at + 1 < table->used)
		order_link_before(table, at + 1);
	order_reach(table, at);
}

/*
 * The loops whose further loop is the removed one have ascending tails, in this
 * order. A loop that ends too early for one of them does so for the next one,
 * too; the search for the next goes on where it ended.
 */
void order_remove(struct loop_table *table, const struct loop *loop)
{
	u32 at = order_search(table, loop->head, loop->space), i;
	u16 slot = table->order[at], left = table->before[slot];

	for (i = at + 1; i < table->used; i++) {
		const struct loop *next = loop_at(table, i);
		u16 *further = &table->further[table->order[i]];

		if (next->space != loop->space || next->head > loop->tail)
			break;
		if (*further == slot)
			*further = left = order_find_further(table, left,
							     next->tail);
	}
	table->used--;
	memmove(&table->order[at], &table->order[at + 1],
		(table->used - at) * sizeof(*table->order));
	if (at < table->used)
		order_link_before(table, at);
}

void order_grow(struct loop_table *table, const struct loop *loop)
{
	order_reach(table, order_search(table, loop->head, loop->space));
}

/* Rebuild all links, after loops were taken out of table->order. */
void order_link(struct loop_table *table)
{
	u32 i;

	for (i = 0; i < table->used; i++) {
		u16 slot = table->order[i];

		order_link_before(table, i);
		table->further[slot] =
			order_find_further(table, table->before[slot],
					   loop_at(table, i)->tail);
	}
}

u16 order_last(const struct loop_table *table, u64 head, u32 space)
{
	u32 at = order_search(table, head + 1, space);

	return at && loop_at(table, at - 1)->space == space ?
	       table->order[at - 1] : ORDER_NONE;
}
