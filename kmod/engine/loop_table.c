// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Loops by head, and which of them a segment enters. See loop_table.h. */
#include "loop_table.h"

enum {
	LOOP_FRESH_MAX	= LOOP_WAYS / 2,	/* DAProf, section 3.2.4 */
};

/*
 * Note that the region of the loop is [head, tail] now. It is gone if head >
 * tail.
 */
static void loop_note_change(struct loop_table *table, const struct loop *loop,
			     u64 head, u64 tail)
{
	if (table->changes)
		table->changes[table->version++ % CHANGES] = (struct change){
			head, tail, loop->space, loop - table->loops
		};
}

static void loop_put_tail(struct loop_table *table, struct loop *loop, u64 tail)
{
	loop->tail = tail;
	table->longest = max(table->longest, tail - loop->head);
	loop_note_change(table, loop, loop->head, tail);
}

void loop_set_tail(struct loop_table *table, struct loop *loop, u64 tail)
{
	if (tail == loop->tail)
		return;
	loop_put_tail(table, loop, tail);
	order_grow(table, loop);
}

/* Invalidate all effects: they are older than the changes that are kept. */
void loop_forget_effects(struct loop_table *table)
{
	table->version += CHANGES + 1;
}

/*
 * Free a loop's slot and give its back edges up. The caller takes it out of
 * table->order.
 */
void loop_clear(struct loop_table *table, struct loop *loop)
{
	table->evicted += loop->back_edges;
	if (table->tallies)
		table->tallies[loop - table->loops] = (struct tally){ 0 };
	memset(loop, 0, sizeof(*loop));
}

/* Note that so many executions may have been split, or are missing. */
void loop_tolerate(struct loop *loop, u64 executions)
{
	loop->tolerance = min(loop->tolerance + executions, (u64)U32_MAX);
}

/* Extend a loop's region. Executions that ended before may have been split. */
static void loop_grow(struct loop_table *table, struct loop *loop, u64 tail)
{
	loop_set_tail(table, loop, tail);
	loop->tails++;
	loop_tolerate(loop, table->is_profile ? loop->runs :
					   loop->executions + loop->unclosed);
}

/*
 * Mark a loop as fresh, because it ran. If more than half of a set's ways are
 * fresh, the others stop being so, and hot loops of an earlier phase can be
 * replaced.
 */
void loop_freshen(struct loop_table *table, struct loop *loop)
{
	size_t at = loop - table->loops;
	struct loop *set = &table->loops[at & ~(size_t)(LOOP_WAYS - 1)];
	unsigned int way, fresh = 0;

	if (loop->fresh)
		return;
	loop->fresh = 1;
	for (way = 0; way < LOOP_WAYS; way++)
		fresh += set[way].fresh;
	if (fresh <= LOOP_FRESH_MAX)
		return;
	for (way = 0; way < LOOP_WAYS; way++)
		set[way].fresh = &set[way] == loop;
}

static void loop_evict(struct loop_table *table, struct loop *loop)
{
	order_remove(table, loop);
	table->gone += loop->executions + loop->unclosed;
	table->dropped = true;
	loop_note_change(table, loop, loop->head, 0);
	loop_clear(table, loop);
}

/* Count the free ways of a set, and store one of them. */
static unsigned int loop_find_free(struct loop *set, struct loop **found)
{
	unsigned int way, count = 0;

	for (way = 0; way < LOOP_WAYS; way++) {
		if (!set[way].head) {
			*found = &set[way];
			count++;
		}
	}
	return count;
}

/* Store the loop with the fewest iterations of those that are not fresh. */
static void loop_find_least(struct loop *set, struct loop **least)
{
	unsigned int way;

	for (way = 0; way < LOOP_WAYS; way++)
		if (!set[way].fresh &&
		    (!*least || set[way].heat < (*least)->heat))
			*least = &set[way];
}

/*
 * Return a free way, of the set that has more of them; if there is none, evict
 * a loop.
 */
static struct loop *loop_claim(struct loop_table *table, u64 head, u32 space)
{
	struct loop *first = loop_set(table, head, space, 0);
	struct loop *second = loop_set(table, head, space, 1);
	struct loop *free[2], *least = NULL;
	unsigned int firsts = loop_find_free(first, &free[0]);
	unsigned int seconds = loop_find_free(second, &free[1]);

	if (firsts || seconds)
		return free[seconds > firsts];
	loop_find_least(first, &least);
	loop_find_least(second, &least);
	loop_evict(table, least);
	return least;
}

struct loop *loop_get(struct loop_table *table, u64 head, u64 tail,
			     u32 space)
{
	struct loop *loop = loop_find(table, head, space);

	if (!loop) {
		loop = loop_claim(table, head, space);
		loop->head = head;
		loop->space = space;
		loop->tails = 1;
		loop->rebase = table->dropped;
		loop_tolerate(loop, table->gone);
		loop_put_tail(table, loop, tail);
		order_insert(table, loop);
		loop_freshen(table, loop);
	} else if (unlikely(tail > loop->tail)) {
		loop_grow(table, loop, tail);
	}
	return loop;
}

/* --- entries, from segments -------------------------------------------- */

static bool entered_in_earlier_range(const struct entered *entered,
				     const struct loop *loop)
{
	const struct range *range;

	for (range = entered->heads; range < &entered->heads[entered->range];
	     range++)
		if (loop->head >= range->low && loop->head <= range->high &&
		    loop->tail >= range->least)
			return true;
	return false;
}

static void loop_add_range(struct entered *entered, u64 low, u64 high,
			   u64 least)
{
	entered->heads[entered->ranges++] = (struct range){ low, high, least };
}

static void entered_begin_range(const struct loop_table *table,
				struct entered *entered)
{
	if (entered->range == entered->ranges)
		return;
	entered->at = order_last(table, entered->heads[entered->range].high,
				 entered->segment->space);
	entered->left = entered->most;
}

/*
 * Return the lowest head of loops that the last branch may enter. A call enters
 * only loops whose head is its target.
 */
static u64 loop_lowest_head(const struct flow_segment *segment, u64 longest)
{
	u64 target = segment->target;
	u64 low = target - min(target, longest);

	if (segment->call)
		return target;
	return target > segment->end ? max(low, segment->end + 1) : low;
}

struct entered entered_begin(const struct loop_table *table,
				    const struct flow_segment *segment,
				    u32 most)
{
	struct entered entered = { .segment = segment, .most = most };
	u64 low = segment->start, line = low, longest = table->longest;
	unsigned int i;

	for (i = 0; i < segment->edges; i++) {
		u64 from = segment->edge[i].from, to = segment->edge[i].to;

		loop_add_range(&entered, low, from, line);
		low = max(from + 1, to - min(to, longest));
		line = to;
	}
	loop_add_range(&entered, low, segment->end, line);
	if (segment->target)
		loop_add_range(&entered, loop_lowest_head(segment, longest),
			       segment->target, segment->target);
	entered_begin_range(table, &entered);
	return entered;
}

/* Return the next loop that the segment may enter; NULL at the end. */
static struct loop *entered_step(const struct loop_table *table,
				 struct entered *entered)
{
	for (; entered->range < entered->ranges;
	     entered_begin_range(table, entered)) {
		const struct range *range = &entered->heads[entered->range];

		while (entered->at != ORDER_NONE && entered->left--) {
			u16 at = entered->at;
			struct loop *loop = &table->loops[at];

			if (loop->head < range->low)
				break;
			if (loop->tail >= range->least) {
				entered->at = table->before[at];
				return loop;
			}
			entered->at = table->further[at];
		}
		entered->looked += entered->most - entered->left;
		entered->range++;
	}
	return NULL;
}

struct loop *entered_next(const struct loop_table *table,
				 struct entered *entered)
{
	struct loop *loop;

	while ((loop = entered_step(table, entered))) {
		if (entered_in_earlier_range(entered, loop))
			continue;
		entered->entries = flow_entries(entered->segment, loop->head,
						loop->tail);
		if (entered->entries)
			return loop;
	}
	return NULL;
}

/*
 * Count the back edges that @count runs of the segment took. Return their loop;
 * NULL if it ends otherwise.
 */
struct loop *loop_count_back_edges(struct loop_table *table,
				     const struct flow_segment *segment,
				     u64 count)
{
	struct loop *loop;

	if (!flow_is_back_edge(segment, table->params.span))
		return NULL;
	loop = loop_get(table, segment->target, segment->end, segment->space);
	loop->back_edges += count;
	loop->heat += count;
	return loop;
}

void loop_segment_evicted(struct flow_table *flow,
			    const struct flow_segment *segment, u64 count)
{
	struct loop_table *table = container_of(flow, struct loop_table, flow);
	struct entered entered;
	struct loop *loop;

	if (!table->is_profile)
		loop_count_back_edges(table, segment, count);
	entered = entered_begin(table, segment, LOOPS_LOOKED_AT);
	while ((loop = entered_next(table, &entered)))
		loop->entries += count * entered.entries;
	table->looked += entered.looked;
}

