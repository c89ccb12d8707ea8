// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table's loops by space and head, and which of them reach an address.
 *
 * Regions can be long (a jump from a procedure's cold part to its hot one makes
 * one), so that hundreds of heads may lie within the longest one's length before
 * an address, of whose loops few reach it. Each loop has in table->further how
 * many places before it the last one is that ends behind its tail, or how many
 * there are where none does. Loops between the two end no later than it does:
 * whoever looks for one that does can leave them out.
 */
#include "loop_table.h"

static const struct loop *loop_at(const struct loop_table *table, u32 at)
{
	return &table->loops[table->order[at]];
}

/* The first place in table->order not before (space, head). */
u32 order_search(const struct loop_table *table, u64 head, u32 space)
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
 * How many places before @at the last one is, from @from - 1 downwards, that ends
 * behind @tail.
 */
static u32 find_further(const struct loop_table *table, u32 at, u32 from,
			u64 tail)
{
	while (from && loop_at(table, from - 1)->tail <= tail)
		from -= table->further[from - 1];
	return at - from + 1;
}

/* The loop at @at is new there, or has grown: it may hide what is before it. */
static void reach(struct loop_table *table, u32 at)
{
	u64 tail = loop_at(table, at)->tail;
	u32 i;

	table->further[at] = find_further(table, at, at, tail);
	for (i = at + 1; i < table->used; i++)
		if (table->further[i] > i - at && loop_at(table, i)->tail < tail)
			table->further[i] = i - at;
}

void order_insert(struct loop_table *table, const struct loop *loop)
{
	u32 at = order_search(table, loop->head, loop->space);
	size_t behind = (table->used - at) * sizeof(*table->order);
	u32 i;

	memmove(&table->order[at + 1], &table->order[at], behind);
	memmove(&table->further[at + 1], &table->further[at], behind);
	table->order[at] = loop - table->loops;
	table->used++;
	for (i = at + 1; i < table->used; i++)
		table->further[i] += table->further[i] >= i - at;
	reach(table, at);
}

void order_remove(struct loop_table *table, const struct loop *loop)
{
	u32 at = order_search(table, loop->head, loop->space);
	size_t behind = (table->used - at - 1) * sizeof(*table->order);
	u32 i;

	for (i = at + 1; i < table->used; i++) {
		if (table->further[i] == i - at)
			table->further[i] = find_further(
				table, i, at, loop_at(table, i)->tail);
		table->further[i] -= table->further[i] > i - at;
	}
	memmove(&table->order[at], &table->order[at + 1], behind);
	memmove(&table->further[at], &table->further[at + 1], behind);
	table->used--;
}

void order_grow(struct loop_table *table, const struct loop *loop)
{
	reach(table, order_search(table, loop->head, loop->space));
}

/* Loops were taken out of table->order. */
void order_link(struct loop_table *table)
{
	u32 i;

	for (i = 0; i < table->used; i++)
		table->further[i] = find_further(table, i, i,
						 loop_at(table, i)->tail);
}
