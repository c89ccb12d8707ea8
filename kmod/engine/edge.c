// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/edges/: how often each branch led where, and which branch was taken
 * next. Zilles and Sohi (A Programmable Co-processor for Profiling, HPCA 2001)
 * name edge profiles among the uses of such a table. Between the two branches
 * is a straight line, so that an edge also tells which branches on that line
 * were not taken.
 *
 * An edge is counted when its line ends with the next branch, which is the
 * unit. If the beginning of a line was not seen, the edge is that of an unknown
 * branch. If a gap or a signal comes before the end of a line, the edge has the
 * end 0. It is counted, but has no units, so that each branch is a unit once.
 *
 * Edges are kept in a space-saving table.
 */
#include "edge_line.h"
#include "window_feed.h"

static void edge_table_init(void *memory, size_t size,
			    const struct engine_params *params)
{
	saving_init(&edge_kind, memory, size, params);
}

static void edge_cursor_init(void *cursor, u32 tid)
{
	edge_cursor_begin(cursor);
}

static unsigned int edge_unit(const struct engine_params *params,
			      const struct stream_event *event)
{
	return stream_is_branch(event->kind);
}

static size_t edge_merge(void *profile, void *table, size_t limit)
{
	return saving_merge(&edge_kind, profile, table, limit);
}

static bool edge_rows(void *table, u32 space, size_t *at, size_t limit,
		      engine_emit emit, void *context)
{
	return saving_rows(&edge_kind, table, space, at, limit, emit,
			   context);
}

static void edge_sample(const struct engine_params *params,
			const struct stream_event *event, u64 period,
			struct engine_sample *sample)
{
	struct hwprof_row_edge *row = &sample->edge;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_EDGE;
	row->row.size = sizeof(*row);
	sample->ip = row->from = event->from;
	sample->addr = row->to = event->to;
	row->count = period;
	row->kind = event->kind;
	row->basis = HWPROF_BASIS_EXACT;
}

static bool edge_forget(void *table, u32 space, size_t *at, size_t limit)
{
	return saving_forget(&edge_kind, table, space, at, limit);
}

const struct engine_ops edge_engine = {
	.name		= "edges",
	.cursor_size	= sizeof(struct edge_cursor),
	.table_min	= 32 * 1024,
	.table_init	= edge_table_init,
	.cursor_init	= edge_cursor_init,
	.unit		= edge_unit,
	.feed		= edge_feed,
	.feed_window	= edge_feed_window,
	.merge		= edge_merge,
	.rows		= edge_rows,
	.sample		= edge_sample,
	.forget		= edge_forget,
	.evicted	= saving_evicted,
	.pending	= saving_pending,
};
