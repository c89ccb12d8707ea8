/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Lines of windows, as the loop engine counts them: the common cases, inline.
 * loop_window.c says what follows from a line.
 */
#ifndef HWPROF_ENGINE_LOOP_LINE_H
#define HWPROF_ENGINE_LOOP_LINE_H

#include "loop_table.h"

/**
 * loop_window_begin() - Begin a window
 * @table: a table of windows.
 * @times: how often the window was seen.
 */
void loop_window_begin(struct loop_table *table, u32 times);

/**
 * effects_find() - Find out what a line does to loops
 * @table: the table.
 * @effects: where to store it.
 * @slot: the line's slot.
 */
void effects_find(struct loop_table *table, struct effects *effects,
		  const struct flow_slot *slot);

/**
 * effects_hold() - Check effects after regions have changed
 * @table: the table.
 * @effects: effects that were found at an older version; updated if they hold.
 * @slot: the line's slot.
 *
 * Return: true if the effects are still those of the line.
 */
bool effects_hold(const struct loop_table *table, struct effects *effects,
		  const struct flow_slot *slot);

/**
 * effects_count_first() - Count effects, some of which are a loop's first
 * @table: the table.
 * @effect: the first effect of a line that is not counted yet.
 * @end: behind the line's last effect.
 */
void effects_count_first(struct loop_table *table, const struct effect *effect,
			 const struct effect *end);

/**
 * line_restart() - Begin a line of which nothing is known before @at
 * @table: the table.
 * @line: the line in flight.
 * @event: the event, which tells the address space.
 * @at: where the line begins.
 */
void line_restart(struct loop_table *table, struct line *line,
		  const struct stream_event *event, u64 at);

/**
 * line_turn() - Take any event but jumps, calls and returns
 * @table: the table.
 * @line: the line in flight.
 * @event: the event.
 */
void line_turn(struct loop_table *table, struct line *line,
	       const struct stream_event *event);

static __always_inline bool effects_known(struct loop_table *table,
					  struct effects *effects,
					  const struct flow_slot *slot)
{
	return likely(effects->key == slot->key &&
		      effects->version == table->version) ||
	       effects_hold(table, effects, slot);
}

static __always_inline void effects_count(struct loop_table *table,
					  const struct flow_slot *slot)
{
	struct effects *effects = &table->effects[slot - table->flow.slots];
	const struct effect *effect, *end;

	if (unlikely(!effects_known(table, effects, slot)))
		effects_find(table, effects, slot);
	end = effects->effect + effects->count;
	for (effect = effects->effect; effect < end; effect++) {
		struct tally *tally = &table->tallies[effect->loop];

		if (unlikely(tally->window != table->window)) {
			effects_count_first(table, effect, end);
			break;
		}
		tally->counts += effect->counts;
	}
}

/* Begin a line at @start whose code before @position has run. */
static __always_inline void line_begin(struct line *line, u64 start,
				       u64 position)
{
	line->start = start;
	line->position = position;
}

/*
 * Return the key of a line. A signal ends a line like a call at the address
 * before. @call goes into the signature, because otherwise such a line and one
 * with a jump there would have the same key.
 */
static __always_inline u64 line_key(const struct line *line, u64 end,
				    u64 target, bool call)
{
	u64 signature = (line->start ^ line->salt ^ (u64)call << 48) *
			HASH_PRIME;

	return flow_mix(signature, end, target) | 1;
}

/*
 * End the line with the branch at @end. @target is that of a jump or a call; 0
 * for others.
 */
static __always_inline void line_end(struct loop_table *table,
				     const struct line *line, u64 end,
				     u64 target, bool call)
{
	u64 key = line_key(line, end, target, call);
	struct flow_slot *slot = flow_home(&table->flow, key);

	if (likely(slot->key == key)) {
		slot->count += table->times;
	} else {
		const struct flow_segment segment = {
			.start = line->start, .end = end, .target = target,
			.space = line->space, .call = call,
		};

		slot = flow_table_add(&table->flow, key, &segment,
				      table->times);
	}
	effects_count(table, slot);
}

/*
 * Take a branch from @line->position or behind it. Return true if it is a back
 * edge.
 */
static __always_inline bool line_branch(struct loop_table *table,
					struct line *line, unsigned int kind,
					u64 from, u64 to)
{
	if (likely(stream_is_jump(kind))) {
		line_end(table, line, from, to, false);
		line_begin(line, to, to);
		return to <= from && from - to <= table->params.span;
	}
	if (kind == STREAM_CALL) {
		line_end(table, line, from, to, true);
		line_begin(line, to, to);
	} else {
		line_end(table, line, from, 0, false);
		line_begin(line, to - 1, to);
	}
	return false;
}

#endif /* HWPROF_ENGINE_LOOP_LINE_H */
