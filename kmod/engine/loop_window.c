// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Loops from windows: branch records, and bursts.
 *
 * A window does not show whole executions, so none is followed. Trip counts
 * follow from back edges and entries: from the ratio of their sums over all
 * windows, not from the mean of ratios of single windows. Both are functions of
 * single lines: where the line began, the branch that ended it, and where that
 * led. Each line is therefore a segment of its own, and no frames are kept. A
 * return leads behind a call, and a line begins there.
 *
 * The confidence of a result depends on how much windows differ; sums over
 * windows of squares and products tell that (lib/reports/estimate.c). The
 * effects of a line on loops are found once, and stored beside the line.
 */
#include "loop_line.h"

/* --- sums ----------------------------------------------------------------- */

/* Account for the last window of the loop; another one begins. */
void window_close(struct loop_table *table, struct loop *loop)
{
	struct tally *tally;
	u64 back_edges, entries, times;

	if (!table->effects)
		return;
	tally = &table->tallies[loop - table->loops];
	if (!tally->counts)
		return;
	back_edges = tally->counts % TALLY_ENTRY;
	entries = tally->counts / TALLY_ENTRY;
	times = tally->times;
	tally->counts = 0;
	loop->sum_back_sq += times * back_edges * back_edges;
	loop->sum_entry_sq += times * entries * entries;
	loop->sum_cross += times * back_edges * entries;
	loop->unclosed += times * entries; /* no execution is followed to its
					    * end */
	loop->heat += times * (back_edges + entries);
	loop_freshen(table, loop);
}

void effects_count_first(struct loop_table *table, const struct effect *effect,
			 const struct effect *end)
{
	for (; effect < end; effect++) {
		struct tally *tally = &table->tallies[effect->loop];

		if (tally->window != table->window) {
			window_close(table, &table->loops[effect->loop]);
			tally->window = table->window;
			tally->times = table->times;
		}
		tally->counts += effect->counts;
	}
}

/* --- what a line does ----------------------------------------------------- */

static void effects_add(struct loop_table *table, struct effects *effects,
			const struct loop *loop, u32 counts)
{
	if (effects->count == EFFECTS_MAX ||
	    table->effect_used == table->effect_room)
		return;
	effects->effect[effects->count++] = (struct effect){
		loop - table->loops, counts
	};
	table->effect_used++;
}

/* If little room is left, forget all effects. */
static void loop_window_make_room(struct loop_table *table)
{
	if (table->effect_room - table->effect_used >= EFFECTS_MAX)
		return;
	table->effect_used = 0;
	loop_forget_effects(table);
}

void effects_find(struct loop_table *table, struct effects *effects,
		  const struct flow_slot *slot)
{
	const struct flow_segment *line = flow_segment(&table->flow, slot);
	struct entered entered;
	struct loop *loop = NULL;

	if (flow_is_back_edge(line, table->params.span))
		loop = loop_get(table, line->target, line->end, line->space);
	loop_window_make_room(table);
	effects->key = slot->key;
	effects->version = table->version;
	effects->count = 0;
	effects->effect = &table->effect[table->effect_used];
	if (loop)
		effects_add(table, effects, loop, TALLY_BACK_EDGE);
	entered = entered_begin(table, line, LOOPS_LOOKED_AT);
	while ((loop = entered_next(table, &entered)))
		effects_add(table, effects, loop,
			    entered.entries * TALLY_ENTRY);
}

static bool loop_change_matters(const struct change *change,
				const struct flow_segment *line,
				const struct effects *effects)
{
	unsigned int i;

	if (change->space != line->space)
		return false;
	for (i = 0; i < effects->count; i++)
		if (effects->effect[i].loop == change->loop)
			return true;
	return flow_entries(line, change->head, change->tail);
}

bool effects_hold(const struct loop_table *table, struct effects *effects,
		  const struct flow_slot *slot)
{
	const struct flow_segment *line = flow_segment(&table->flow, slot);

	if (effects->key != slot->key ||
	    table->version - effects->version > CHANGES)
		return false;
	for (; effects->version != table->version; effects->version++)
		if (loop_change_matters(table->changes +
					effects->version % CHANGES,
					line, effects))
			return false;
	return true;
}

/* --- the walk ------------------------------------------------------------- */

void line_restart(struct loop_table *table, struct line *line,
		  const struct stream_event *event, u64 at)
{
	line->space = event->space;
	line->salt = table->params.seed ^ event->space * HASH_PRIME;
	line_begin(line, at, at);
}

void line_turn(struct loop_table *table, struct line *line,
	       const struct stream_event *event)
{
	u64 from = event->from, to = event->to;

	switch (event->kind) {
	case STREAM_SYSCALL:
		if (walk_steps_over(event))
			break;		/* an instruction of its line */
		line_end(table, line, from, 0, false);
		line_restart(table, line, event, to);
		break;
	case STREAM_SIGNAL:
		/* The instruction at from was not executed. */
		if (from > line->start)
			line_end(table, line, from - 1, to, true);
		line_begin(line, to, to);
		break;
	case STREAM_SIGRETURN:
		line_restart(table, line, event, to);
		break;
	case STREAM_GAP:
		line_restart(table, line, event, to ? to : ~0ULL);
		table->window++;
		break;
	}
}

bool line_feed(struct loop_table *table, struct line *line,
	       const struct stream_event *event)
{
	if (unlikely(table->window_of != line)) {
		table->window_of = line;
		table->window++;
		table->times = 1;
	}
	if (likely(stream_is_branch(event->kind))) {
		/* Something was not seen. */
		if (unlikely(event->from < line->position ||
			     event->space != line->space))
			line_restart(table, line, event, event->from);
		line_branch(table, line, event->kind, event->from, event->to);
	} else {
		line_turn(table, line, event);
	}
	return flow_has_table_room(&table->flow);
}

void loop_window_begin(struct loop_table *table, u32 times)
{
	table->window_of = NULL;
	table->window++;
	table->times = times;
}

/* Return true if the back edge is in the region of its loop already. */
static bool loop_knows_edge(const struct loop_table *table,
			    const struct window_branch *branch, u32 space)
{
	const struct loop *loop = loop_find(table, branch->to, space);

	return loop && loop->tail >= branch->from;
}

/*
 * The effect of a window depends on the regions of loops. Only a back edge to a
 * new head, or from beyond the tail of its loop, changes them. One whose
 * head is not in the window changes none, but counts as if it did. A new line
 * may evict another one; this takes a full set in a table that is half empty,
 * and loses what is counted as evicted.
 */
bool loop_knows_window(void *memory, struct window *window)
{
	struct loop_table *table = memory;

	while (window->next != window->newest) {
		const struct window_branch *branch = --window->next;

		if (!stream_is_jump(*--window->kind) ||
		    branch->to > branch->from)
			continue;
		if (branch->from - branch->to <= table->params.span &&
		    !loop_knows_edge(table, branch, window->event.space))
			return false;
	}
	return true;
}

/* --- memory --------------------------------------------------------------- */

/*
 * Return the bytes that windows need in addition, for so many loops and
 * segments.
 */
size_t window_table_size(u32 loops, u32 segments)
{
	return loops * (sizeof(struct tally) + sizeof(struct place)) +
	       segments * (sizeof(struct effects) +
			   EFFECTS * sizeof(struct effect)) +
	       CHANGES * sizeof(struct change);
}

void window_table_init(struct loop_table *table, void *memory)
{
	u32 segments = table->flow.slot_count;

	table->effects = memory;
	table->changes = (struct change *)(table->effects + segments);
	table->places = (struct place *)(table->changes + CHANGES);
	table->tallies = (struct tally *)(table->places + table->slots);
	table->effect = (struct effect *)(table->tallies + table->slots);
	table->effect_room = segments * EFFECTS;
}
