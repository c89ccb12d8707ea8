// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * A table's loops by space and head, and which of them reach an address.
 *
 * Regions can be long (a jump from a procedure's cold part to its hot one makes
 * one), so that hundreds of heads may lie within the longest one's length before
 * an address, of whose loops few reach it. So each loop has, in table->further,
 * the last one before it that ends behind its tail. Those between the two end no
 * later than it does: whoever looks for one that does can leave them out.
 *
 * Both arrays are by slot, so that a loop that comes or goes changes them only for
 * those with heads in its region.
 */
#include "loop_table.h"

static const struct loop *loop_at(const struct loop_table *table, u32 at)
{
	return &table->loops[table->order[at]];
}

/* The first place in table->order not before (space, head). */
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

/* The last loop, from that in @slot on downwards, that ends behind @tail. */
static u16 find_further(const struct loop_table *table, u16 slot, u64 tail)
{
	while (slot != ORDER_NONE && table->loops[slot].tail <= tail)
		slot = table->further[slot];
	return slot;
}

/* The loop at @at is new there, or has grown: it may hide what is before it. */
static void reach(struct loop_table *table, u32 at)
{
	const struct loop *loop = loop_at(table, at), *next;
	u16 slot = table->order[at];
	u32 i;

	table->further[slot] = find_further(table, table->before[slot],
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

/* What is before the loop at @at, if it is of its space. */
static void link_before(struct loop_table *table, u32 at)
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
	link_before(table, at);
	if (at + 1 < table->used)
		link_before(table, at + 1);
	reach(table, at);
}

/*
 * Those that it was the last further one of, in order, end one behind the other:
 * what ends no later than the first is no answer for the next one either.
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
			*further = left = find_further(table, left, next->tail);
	}
	table->used--;
	memmove(&table->order[at], &table->order[at + 1],
		(table->used - at) * sizeof(*table->order));
	if (at < table->used)
		link_before(table, at);
}

void order_grow(struct loop_table *table, const struct loop *loop)
{
	reach(table, order_search(table, loop->head, loop->space));
}

/* Loops were taken out of table->order. */
void order_link(struct loop_table *table)
{
	u32 i;

	for (i = 0; i < table->used; i++) {
		u16 slot = table->order[i];

		link_before(table, i);
		table->further[slot] = find_further(table, table->before[slot],
						    loop_at(table, i)->tail);
	}
}

u16 order_last(const struct loop_table *table, u64 head, u32 space)
{
	u32 at = order_search(table, head + 1, space);

	return at && loop_at(table, at - 1)->space == space ?
	       table->order[at - 1] : ORDER_NONE;
}
