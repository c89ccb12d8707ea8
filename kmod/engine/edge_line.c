// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The lines and edges of a task. edge.c says what an edge is. */
#include "edge_line.h"
#include "walk.h"

#define EDGE_OPEN	0	/* the end was not seen */

struct edge {
	struct saving_item item;
	u64 name[SAVING_WORDS];	/* from, to, end */
	u64 mispredicted;
	u64 cycles;		/* on the line, with the branch that ends it */
	u32 kind;		/* of the branch at from */
	u32 flags;		/* HWPROF_EDGE_* */
};

static const struct edge *edge_of(const struct saving_item *item)
{
	return container_of(item, struct edge, item);
}

static struct edge *edge_at(struct saving_item *item)
{
	return container_of(item, struct edge, item);
}

static bool edge_has_end(const struct saving_item *item)
{
	return edge_of(item)->name[2] != EDGE_OPEN;
}

static void edge_add(struct saving_item *to_item,
		     const struct saving_item *from_item)
{
	const struct edge *from = edge_of(from_item);
	struct edge *to = edge_at(to_item);

	to->mispredicted += from->mispredicted;
	to->cycles += from->cycles;
	to->kind = from->kind;
	to->flags |= from->flags;
}

static struct hwprof_row_edge edge_row_of(const struct saving_table *table,
					  const struct edge *edge)
{
	return (struct hwprof_row_edge){
		.row.type = HWPROF_ROW_EDGE,
		.row.size = sizeof(struct hwprof_row_edge),
		.row.space = edge->item.space,
		.from = edge->name[0],
		.to = edge->name[1],
		.end = edge->name[2],
		.count = edge->item.count,
		.mispredicted = edge->mispredicted,
		.cycles = edge->cycles,
		.error = edge->item.error,
		.evicted = table->evicted,
		.sum_sq = edge->item.sum_sq,
		.kind = edge->kind,
		.flags = edge->flags,
		.basis = table->basis,
	};
}

/* Emit an edge. Its place is its branch or, if that is not known, its end. */
static bool edge_tell(const struct saving_table *table,
		      struct saving_item *item, engine_emit emit, void *context)
{
	struct edge *edge = edge_at(item);
	const struct hwprof_row_edge row = edge_row_of(table, edge);

	if (!emit(context, &row, row.from ? row.from : row.end, row.to,
		  edge_has_end(item) ? row.count : 0))
		return false;
	edge->mispredicted = 0;
	edge->cycles = 0;
	return true;
}

const struct saving_kind edge_kind = {
	.size		= sizeof(struct edge),
	.words		= 3,
	.has_units	= edge_has_end,
	.add		= edge_add,
	.tell		= edge_tell,
};

/* --- lines --------------------------------------------------------------- */

static __always_inline struct edge *edge_count(struct saving_table *table,
					       const struct edge_cursor *cursor,
					       u64 end)
{
	const u64 name[SAVING_WORDS] = { cursor->from, cursor->to, end };
	struct saving_item *item = saving_get(&edge_kind, table, cursor->space,
					      name);
	struct edge *edge = edge_at(item);

	saving_count(table, item);
	edge->kind = cursor->kind;
	if (cursor->flags & (STREAM_MISPREDICTED | STREAM_PREDICTED))
		edge->flags |= HWPROF_EDGE_PREDICTION;
	if (cursor->flags & STREAM_MISPREDICTED)
		edge->mispredicted += table->times;
	return edge;
}

void edge_leave(struct saving_table *table, const struct edge_cursor *cursor)
{
	if (cursor->from)
		edge_count(table, cursor, EDGE_OPEN);
}

/*
 * Begin a line at @to, or at an unknown address if that is 0. How control came
 * there is not known. An edge of another address space is not counted: all rows
 * of a space that the task has left may have been written.
 */
static void edge_restart(struct saving_table *table, struct edge_cursor *cursor,
			 u32 space, u64 to)
{
	if (space == cursor->space)
		edge_leave(table, cursor);
	*cursor = (struct edge_cursor){
		.to = to, .position = to, .space = space,
	};
}

/* Return an address that is not EDGE_OPEN. No real branch is at 0. */
static u64 edge_end_of(u64 from)
{
	return from == EDGE_OPEN ? from + 1 : from;
}

void edge_branch(struct saving_table *table, struct edge_cursor *cursor,
		 const struct stream_event *event)
{
	struct edge *edge;

	if (unlikely(event->from < cursor->position ||
		     event->space != cursor->space))
		edge_restart(table, cursor, event->space, 0);
	edge = edge_count(table, cursor, edge_end_of(event->from));
	edge->cycles += (u64)event->cycles * table->times;
	table->pending += table->times;
	cursor->from = event->from;
	cursor->to = cursor->position = event->to;
	cursor->kind = event->kind;
	cursor->flags = event->flags;
}

/*
 * Return true for a system call that goes on behind itself: it is a part of its
 * line.
 */
static bool edge_is_in_line(const struct edge_cursor *cursor,
			    const struct stream_event *event)
{
	return event->kind == STREAM_SYSCALL && walk_steps_over(event) &&
	       event->space == cursor->space &&
	       event->from >= cursor->position;
}

/* The next line begins where the arrival leads. */
static void edge_arrive(struct saving_table *table, struct edge_cursor *cursor,
			const struct stream_event *event)
{
	edge_restart(table, cursor, event->space, event->to);
	cursor->from = event->from;
	cursor->kind = event->width;
	cursor->flags = event->flags;
}

void edge_turn(struct saving_table *table, struct edge_cursor *cursor,
	       const struct stream_event *event)
{
	if (event->kind == STREAM_ARRIVAL)
		edge_arrive(table, cursor, event);
	if (event->kind > STREAM_GAP)
		return;
	if (edge_is_in_line(cursor, event))
		cursor->position = event->to;
	else
		edge_restart(table, cursor, event->space, event->to);
}

/* The gap at the beginning of a burst begins a window. */
bool edge_feed(void *memory, void *cursor, const struct stream_event *event)
{
	struct saving_table *table = memory;

	if (likely(stream_is_branch(event->kind)))
		edge_branch(table, cursor, event);
	else
		edge_turn(table, cursor, event);
	if (event->kind == STREAM_GAP)
		table->window++;
	return saving_has_room(table);
}
