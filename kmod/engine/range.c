// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/ranges/: weights over ranges of addresses or values (range_tree.h). By
 * default branches are counted by their target, and samples by the instruction
 * that they hit. Instead, a session can count other streams of the paper
 * (Mysore et al., sections 5.3 and 5.4): values that loads give; addresses of
 * loads, of loads that give zero, or of stores; procedures called; instructions
 * with narrow operands. Or it counts pairs of an instruction and an address
 * that it accesses (section 5.5).
 *
 * A range has its count, and the part of it that rows have told. When a range
 * is merged, both go to the range around it, so that nothing is told twice.
 */
#include "engine.h"
#include "range_tree.h"
#include "window.h"

struct range_table {
	struct range_tree tree;
	u64 evicted;
	u32 of;			/* enum hwprof_range_of */
	u32 basis;
	/* Root of the last event's space, or RANGE_NO_ROOT. */
	u32 root;
	u32 space;
	u32 merged;		/* nodes that range_merge() has finished */
};

static __always_inline bool range_is_of_pairs(u32 of)
{
	return of == HWPROF_RANGE_IP_LOAD_ADDRESS ||
	       of == HWPROF_RANGE_IP_STORE_ADDRESS;
}

static void range_table_init(void *memory, size_t size,
			     const struct engine_params *params)
{
	size_t header = (sizeof(struct range_table) + 63) & ~(size_t)63;
	struct range_table *table = memory;
	u32 epsilon = params->epsilon_ppm ? params->epsilon_ppm :
					    HWPROF_DEFAULT_EPSILON_PPM;

	memset(table, 0, sizeof(*table));
	table->of = params->range_of;
	table->basis = params->basis;
	table->root = RANGE_NO_ROOT;
	range_tree_init(&table->tree, memory + header, size - header, epsilon,
			range_is_of_pairs(table->of));
}

/* Ranges need no state of a task. */
static void range_cursor_init(void *cursor, u32 tid)
{
}

/*
 * Return true if the operand has up to 16 bits, or is a number that fits in 16
 * bits, with a sign or without.
 */
static bool range_is_narrow(const struct stream_event *event)
{
	u64 value = event->value;
	unsigned int bits = 8 * event->width;

	if (event->width <= 2)
		return true;
	if (!stream_has_value(event))
		return false;
	return value <= U16_MAX ||
	       value >= (~0ULL >> (64 - bits)) - S16_MAX;
}

/*
 * Return the weight of the event in the stream that is summarised; 0: it is not
 * in it.
 */
static __always_inline unsigned int
range_weight_of(u32 of, const struct stream_event *event)
{
	switch (of) {
	case HWPROF_RANGE_IP:
		if (event->kind == STREAM_SAMPLE)
			return min(event->value, (u64)U32_MAX);
		return stream_is_branch(event->kind);
	case HWPROF_RANGE_LOAD_VALUE:
		return event->kind == STREAM_LOAD && stream_has_value(event);
	case HWPROF_RANGE_LOAD_ADDRESS:
	case HWPROF_RANGE_IP_LOAD_ADDRESS:
		return event->kind == STREAM_LOAD;
	case HWPROF_RANGE_STORE_ADDRESS:
	case HWPROF_RANGE_IP_STORE_ADDRESS:
		return event->kind == STREAM_STORE;
	case HWPROF_RANGE_CALLEE:
		return event->kind == STREAM_CALL;
	case HWPROF_RANGE_ZERO_ADDRESS:
		return event->kind == STREAM_LOAD && stream_has_value(event) &&
		       !event->value;
	case HWPROF_RANGE_NARROW_IP:
		return stream_is_access(event->kind) && range_is_narrow(event);
	}
	return 0;
}

static unsigned int range_unit(const struct engine_params *params,
			       const struct stream_event *event)
{
	return range_weight_of(params->range_of, event);
}

/* Return what is counted of the event; for a pair, the address accessed. */
static __always_inline u64 range_value_of(u32 of,
					  const struct stream_event *event)
{
	if (of == HWPROF_RANGE_LOAD_VALUE)
		return event->value;
	if (of == HWPROF_RANGE_NARROW_IP || event->kind == STREAM_SAMPLE)
		return event->from;
	return event->to;
}

/* Return false if there is no room for another address space. */
static noinline bool range_set_space(struct range_table *table, u32 space)
{
	table->space = space;
	table->root = range_root(&table->tree, space);
	return table->root != RANGE_NO_ROOT;
}

/*
 * Return false, and count @weight as evicted, if there is no room for the
 * event's space. The space of the last event is the fast path.
 */
static __always_inline bool range_is_in_space(struct range_table *table,
					      u32 space, u64 weight)
{
	if (unlikely(table->root == RANGE_NO_ROOT || table->space != space) &&
	    !range_set_space(table, space)) {
		table->evicted += weight;
		return false;
	}
	return true;
}

static __always_inline bool range_count_value(struct range_table *table,
					      u32 space, u64 value, u64 weight)
{
	if (!range_is_in_space(table, space, weight))
		return false;
	range_count(&table->tree, table->root, value, weight);
	return true;
}

/*
 * Count an access as a pair. This is a function of its own, because counting
 * single values is faster without it.
 */
static noinline bool range_feed_pair(struct range_table *table,
				     const struct stream_event *event)
{
	if (!range_is_in_space(table, event->space, 1))
		return false;
	range_count_pair(&table->tree, table->root, event->from, event->to, 1);
	return true;
}

static bool range_feed(void *memory, void *cursor,
		       const struct stream_event *event)
{
	struct range_table *table = memory;
	unsigned int weight;

	/* the usual case first */
	if (likely(table->of == HWPROF_RANGE_IP &&
		   stream_is_branch(event->kind)))
		return range_count_value(table, event->space, event->to, 1);
	weight = range_weight_of(table->of, event);
	if (!weight)
		return true;
	if (range_is_of_pairs(table->of))
		return range_feed_pair(table, event);
	return range_count_value(table, event->space,
				 range_value_of(table->of, event), weight);
}

static bool range_feed_window(void *memory, struct window *window,
			      struct window_counts *counts)
{
	struct range_table *table = memory;
	const struct stream_event *event;
	bool room = true;

	while ((event = window_next(window))) {
		counts->events += window->times;
		if (event->kind == STREAM_GAP)
			counts->gaps += window->times;
		if (!range_weight_of(table->of, event))
			continue;
		counts->units += window->times;
		room &= range_count_value(table, event->space,
					  range_value_of(table->of, event),
					  window->times);
	}
	return room;
}

/* --- from a table into a profile ------------------------------------------ */

static void range_take(struct range_table *profile, struct range_table *table,
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

/*
 * An item of the limit is a node, used or not, because looking at nodes takes
 * the time that callers wait for.
 */
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
			range_take(profile, table, node);
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

/* --- rows ----------------------------------------------------------------- */

/* Return the highest value of a range. */
static u64 range_high(u64 low, u32 bits)
{
	return bits == RANGE_BITS ? ~0ULL : low + ((1ULL << bits) - 1);
}

static bool range_emit_range(const struct range_table *table, u32 node,
			     u64 count, engine_emit emit, void *context)
{
	const struct range_tree *tree = &table->tree;
	const struct hwprof_row_range row = {
		.row.type = HWPROF_ROW_RANGE,
		.row.size = sizeof(row),
		.row.space = range_space(tree, node),
		.low = range_low(tree, node).value,
		.bits = range_bits(tree, node),
		.count = count,
		.basis = table->basis,
		.of = table->of,
	};

	return emit(context, &row, row.low, range_high(row.low, row.bits),
		    count);
}

static bool range_emit_box(const struct range_table *table, u32 node, u64 count,
			   engine_emit emit, void *context)
{
	const struct range_tree *tree = &table->tree;
	struct range_key low = range_low(tree, node);
	u32 bits = range_bits(tree, node), code_bits = range_code_bits(bits);
	const struct hwprof_row_box row = {
		.row.type = HWPROF_ROW_BOX,
		.row.size = sizeof(row),
		.row.space = range_space(tree, node),
		.code = low.code,
		.low = low.value,
		.count = count,
		.code_bits = code_bits,
		.bits = bits - code_bits,
		.basis = table->basis,
		.of = table->of,
	};

	return emit(context, &row, row.code, row.low, count);
}

static bool range_emit_node(struct range_table *table, u32 node,
			    engine_emit emit, void *context)
{
	u64 *told = range_told(&table->tree, node);
	u64 count = *range_own(&table->tree, node) - *told;

	if (!count)
		return true;
	if (!(range_is_of_pairs(table->of) ? range_emit_box :
	      range_emit_range)(table, node, count, emit, context))
		return false;
	*told += count;
	table->tree.n_told += count;
	return true;
}

static bool range_rows(void *memory, u32 space, size_t *at, size_t limit,
		       engine_emit emit, void *context)
{
	struct range_table *table = memory;
	const struct range_tree *tree = &table->tree;

	for (; *at < range_node_count(tree) && limit; ++*at, limit--) {
		if (!range_is_used(tree, *at) ||
		    (space && range_space(tree, *at) != space))
			continue;
		if (!range_emit_node(table, *at, emit, context))
			return false;
	}
	return *at == range_node_count(tree);
}

static void range_describe_value(u32 of, const struct stream_event *event,
				 u64 period, struct hwprof_row_range *row)
{
	*row = (struct hwprof_row_range) {
		.row.type = HWPROF_ROW_RANGE,
		.row.size = sizeof(*row),
		.low = range_value_of(of, event),
		.count = period,
		.basis = HWPROF_BASIS_EXACT,
		.of = of,
	};
}

static void range_describe_pair(u32 of, const struct stream_event *event,
				u64 period, struct hwprof_row_box *row)
{
	*row = (struct hwprof_row_box) {
		.row.type = HWPROF_ROW_BOX,
		.row.size = sizeof(*row),
		.code = event->from,
		.low = event->to,
		.count = period,
		.basis = HWPROF_BASIS_EXACT,
		.of = of,
	};
}

/*
 * Make the row of one value or pair. Its place is the instruction of an access,
 * or where control went.
 */
static void range_sample(const struct engine_params *params,
			 const struct stream_event *event, u64 period,
			 struct engine_sample *sample)
{
	u32 of = params->range_of;
	bool access = stream_is_access(event->kind);

	sample->ip = access ? event->from : range_value_of(of, event);
	sample->addr = access ? event->to : event->from;
	if (range_is_of_pairs(of))
		range_describe_pair(of, event, period, &sample->box);
	else
		range_describe_value(of, event, period, &sample->range);
}

/* All of a tree goes at once. Nodes have numbers of 16 bits. */
static bool range_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	struct range_table *table = memory;
	u32 root = range_root_find(&table->tree, space);

	if (root == RANGE_NO_ROOT)
		return true;
	table->evicted += range_root_drop(&table->tree, root);
	table->root = RANGE_NO_ROOT;
	return true;
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
