// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwprof/ranges/: the weight of samples by the instruction they hit, and of
 * branches by where control arrived, over ranges (see range_tree.h).
 *
 * A range keeps what it was counted and what rows told of that. Where it is
 * merged, both go to the range around it, so that nothing is told twice.
 */
#include "engine.h"
#include "range_tree.h"
#include "window.h"

struct range_table {
	struct range_tree tree;
	u64 evicted;
	u32 basis;
	u32 root;		/* of the last event's space; RANGE_NO_ROOT */
	u32 space;
	u32 merged;		/* nodes that merge() is through with */
};

static void range_table_init(void *memory, size_t size,
			     const struct engine_params *params)
{
	size_t header = (sizeof(struct range_table) + 63) & ~(size_t)63;
	struct range_table *table = memory;
	u32 epsilon = params->epsilon_ppm ? params->epsilon_ppm :
					    HWPROF_DEFAULT_EPSILON_PPM;

	memset(table, 0, sizeof(*table));
	table->basis = params->basis;
	table->root = RANGE_NO_ROOT;
	range_tree_init(&table->tree, memory + header, size - header, epsilon);
}

/* Ranges are of what happens, wherever its task is. */
static void range_cursor_init(void *cursor, u32 tid)
{
}

static unsigned int range_unit(const struct engine_params *params,
			       const struct stream_event *event)
{
	if (event->kind == STREAM_SAMPLE)
		return min(event->value, (u64)U32_MAX);
	return stream_is_branch(event->kind);
}

static u64 event_value(const struct stream_event *event)
{
	return event->kind == STREAM_SAMPLE ? event->from : event->to;
}

/* False: the event's address space is one too many. */
static noinline bool set_space(struct range_table *table, u32 space)
{
	table->space = space;
	table->root = range_root(&table->tree, space);
	return table->root != RANGE_NO_ROOT;
}

static __always_inline bool count(struct range_table *table, u32 space,
				  u64 value, u64 weight)
{
	if (unlikely(table->root == RANGE_NO_ROOT || table->space != space) &&
	    !set_space(table, space)) {
		table->evicted += weight;
		return false;
	}
	range_count(&table->tree, table->root, value, weight);
	return true;
}

static bool range_feed(void *memory, void *cursor,
		       const struct stream_event *event)
{
	unsigned int weight = range_unit(NULL, event);

	return !weight || count(memory, event->space, event_value(event),
				weight);
}

static bool range_feed_window(void *memory, struct window *window,
			      struct window_counts *counts)
{
	const struct stream_event *event;
	bool room = true;

	while ((event = window_next(window))) {
		counts->events += window->times;
		if (event->kind == STREAM_GAP)
			counts->gaps += window->times;
		if (!stream_is_branch(event->kind))
			continue;
		counts->units += window->times;
		room &= count(memory, event->space, event->to, window->times);
	}
	return room;
}

/* --- from a table into a profile --------------------------------------------- */

static void take(struct range_table *profile, struct range_table *table,
		 u32 node)
{
	u64 weight = *range_own(&table->tree, node) -
		     *range_told(&table->tree, node);
	u32 root = range_root(&profile->tree, range_space(&table->tree, node));

	*range_told(&table->tree, node) += weight;
	table->tree.n_told += weight;
	if (root == RANGE_NO_ROOT) {
		profile->evicted += weight;
		return;
	}
	range_count_range(&profile->tree, root, range_low(&table->tree, node),
			  range_bits(&table->tree, node), weight);
}

/* Items are nodes, because that is what a caller waits for. */
static size_t range_merge(void *memory, void *table_memory, size_t limit)
{
	struct range_table *profile = memory, *table = table_memory;
	u32 nodes = range_node_count(&table->tree);
	size_t taken;

	for (taken = 0; taken < limit; taken++) {
		u32 node = table->merged;

		if (node == nodes)
			break;
		table->merged++;
		if (range_is_used(&table->tree, node) &&
		    *range_own(&table->tree, node))
			take(profile, table, node);
	}
	if (taken == limit)
		return taken;
	profile->evicted += table->evicted;
	table->evicted = 0;
	table->merged = 0;
	table->root = RANGE_NO_ROOT;
	range_tree_clear(&table->tree);
	return taken;
}

/* --- rows -------------------------------------------------------------------- */

/* Its last value. */
static u64 range_high(u64 low, u32 bits)
{
	return bits == RANGE_BITS ? ~0ULL : low + ((1ULL << bits) - 1);
}

static bool emit_node(struct range_table *table, u32 node, engine_emit emit,
		      void *context)
{
	const struct range_tree *tree = &table->tree;
	struct hwprof_row_range row = {
		.row.type = HWPROF_ROW_RANGE,
		.row.size = sizeof(row),
		.row.space = range_space(tree, node),
		.low = range_low(tree, node),
		.bits = range_bits(tree, node),
		.count = *range_own(tree, node) - *range_told(tree, node),
		.basis = table->basis,
	};

	if (!row.count)
		return true;
	if (!emit(context, &row, row.low, range_high(row.low, row.bits),
		  row.count))
		return false;
	*range_told(tree, node) += row.count;
	table->tree.n_told += row.count;
	return true;
}

static bool range_rows(void *memory, u32 space, size_t *at, engine_emit emit,
		       void *context)
{
	struct range_table *table = memory;
	const struct range_tree *tree = &table->tree;

	for (; *at < range_node_count(tree); ++*at) {
		if (!range_is_used(tree, *at) ||
		    (space && range_space(tree, *at) != space))
			continue;
		if (!emit_node(table, *at, emit, context))
			return false;
	}
	return true;
}

static void range_sample(const struct stream_event *event, u64 period,
			 struct engine_sample *sample)
{
	struct hwprof_row_range *row = &sample->range;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_RANGE;
	row->row.size = sizeof(*row);
	sample->ip = row->low = event_value(event);
	sample->addr = event->from;
	row->count = period;
	row->basis = HWPROF_BASIS_EXACT;
}

static void range_forget(void *memory, u32 space)
{
	struct range_table *table = memory;
	u32 root = range_root_find(&table->tree, space);

	if (root == RANGE_NO_ROOT)
		return;
	table->evicted += range_root_drop(&table->tree, root);
	table->root = RANGE_NO_ROOT;
}

static u64 range_evicted(const void *memory)
{
	return ((const struct range_table *)memory)->evicted;
}

static u64 range_pending(const void *memory)
{
	const struct range_tree *tree =
		&((const struct range_table *)memory)->tree;

	return tree->n - tree->n_told;
}

const struct engine_ops range_engine = {
	.name		= "ranges",
	.samples	= true,
	.cursor_size	= 0,
	.table_min	= 32 * 1024,
	.table_init	= range_table_init,
	.cursor_init	= range_cursor_init,
	.unit		= range_unit,
	.feed		= range_feed,
	.feed_window	= range_feed_window,
	.merge		= range_merge,
	.rows		= range_rows,
	.sample		= range_sample,
	.forget		= range_forget,
	.evicted	= range_evicted,
	.pending	= range_pending,
};
