/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Lines and edges in flight: what is below the edge engine. */
#ifndef HWPROF_ENGINE_EDGE_LINE_H
#define HWPROF_ENGINE_EDGE_LINE_H

#include "saving.h"

/* The line in flight, and the branch that led to it. */
struct edge_cursor {
	u64 from;		/* address of the branch; 0: not known */
	u64 to;			/* where the line begins; 0: not known */
	u64 position;		/* control is at this address or behind it */
	u32 space;
	u16 kind;		/* of the branch: enum stream_kind */
	u16 flags;		/* of the branch: STREAM_MISPREDICTED, ... */
};

/* How edges are kept in a space-saving table. */
extern const struct saving_kind edge_kind;

/* engine_ops.feed() of the edge engine. */
bool edge_feed(void *table, void *cursor, const struct stream_event *event);

/**
 * edge_branch() - Count the edge that a branch ends, and begin the next line
 * @table: the table.
 * @cursor: the line in flight.
 * @event: a jump, call or return.
 */
void edge_branch(struct saving_table *table, struct edge_cursor *cursor,
		 const struct stream_event *event);

/**
 * edge_turn() - Take any event that is not a branch
 * @table: the table.
 * @cursor: the line in flight.
 * @event: the event.
 */
void edge_turn(struct saving_table *table, struct edge_cursor *cursor,
	       const struct stream_event *event);

/* Forget the line in flight; what runs now is not known. */
static inline void edge_cursor_begin(struct edge_cursor *cursor)
{
	memset(cursor, 0, sizeof(*cursor));
}

/**
 * edge_leave() - Count the branch of the line in flight, without an end
 * @table: the table.
 * @cursor: the line in flight, whose end will not be seen.
 */
void edge_leave(struct saving_table *table, const struct edge_cursor *cursor);

#endif /* HWPROF_ENGINE_EDGE_LINE_H */
