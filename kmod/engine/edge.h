/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The parts of the edge engine that a walk for several engines calls. */
#ifndef HWPROF_ENGINE_EDGE_H
#define HWPROF_ENGINE_EDGE_H

#include "saving.h"

/* The line in flight, and the branch that led to it. */
struct edge_cursor {
	u64 from;		/* the branch's address; 0: not known */
	u64 to;			/* where the line begins; 0: not known */
	u64 position;		/* control is there or behind it */
	u32 space;
	u16 kind;		/* of the branch, enum stream_kind, */
	u16 flags;		/* and STREAM_MISPREDICTED and so on */
};

bool edge_feed(void *table, void *cursor, const struct stream_event *event);

/* A jump, call or return. */
void edge_branch(struct saving_table *table, struct edge_cursor *cursor,
		 const struct stream_event *event);

/* Any other event. */
void edge_turn(struct saving_table *table, struct edge_cursor *cursor,
	       const struct stream_event *event);

/* Nothing is known of what runs now. */
static inline void edge_cursor_begin(struct edge_cursor *cursor)
{
	memset(cursor, 0, sizeof(*cursor));
}

/* Counts the branch of the line in flight, whose end is not seen. */
void edge_leave(struct saving_table *table, const struct edge_cursor *cursor);

#endif /* HWPROF_ENGINE_EDGE_H */
