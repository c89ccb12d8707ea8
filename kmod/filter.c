// SPDX-License-Identifier: GPL-2.0-only
/* Which events pass a filter. See filter.h. */
#include "filter.h"

static const struct filter_range *filter_range_of(const struct filter_set *set,
						  u64 address)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (filter_in_range(&set->ranges[i], address))
			return &set->ranges[i];
	return NULL;
}

bool filter_has_slowly(const struct filter_set *set, u64 address)
{
	return filter_range_of(set, address);
}

bool filter_passes_slowly(struct lane *lane, u64 ip, u32 events)
{
	const struct mask *mask = mask_now(lane->session);

	if (mask && !mask_passes_ip(mask, ip))
		return false;
	return !filter_is_set(lane->session) ||
	       filter_has(filter_of(lane, events), ip);
}

/*
 * A gap behind which nothing is known. Engines that see windows, or write
 * branches in order, take arrivals for such.
 */
static void filter_become_gap(struct stream_event *event, u64 to)
{
	event->kind = STREAM_GAP;
	event->from = 0;
	event->to = to;
	event->flags = 0;
}

static bool filter_knows_arrivals(const struct session *session)
{
	return session->params.basis == HWPROF_BASIS_EXACT &&
	       !session->engine->immediate;
}

static void filter_become_arrival(const struct session *session,
				  struct stream_event *event)
{
	if (!filter_knows_arrivals(session) || event->kind == STREAM_SYSCALL) {
		filter_become_gap(event, event->to);
		return;
	}
	event->width = event->kind;
	event->kind = STREAM_ARRIVAL;
}

static enum filter_verdict filter_judge_branch(struct lane *lane,
					       struct stream_event *event,
					       bool inside, bool leads_inside)
{
	struct cursor *cursor = lane->cursor;
	bool fell = cursor && cursor->outside && inside;

	if (cursor)
		cursor->outside = !leads_inside;
	if (fell)
		return FILTER_FELL;
	if (inside)
		return FILTER_PASSES;
	if (event->kind == STREAM_CALL &&
	    !filter_knows_arrivals(lane->session) &&
	    filter_shows_calls(lane->session))
		return FILTER_CALLS;
	filter_become_arrival(lane->session, event);
	return FILTER_ARRIVES;
}

enum filter_verdict filter_judge(struct lane *lane,
				 const struct filter_set *set,
				 struct stream_event *event)
{
	bool inside = filter_has(set, event->from), leads_inside;

	if (stream_is_access(event->kind))
		return inside ? FILTER_PASSES : FILTER_DROPS;
	leads_inside = filter_has(set, event->to);
	if (likely(!inside && !leads_inside && event->kind != STREAM_GAP))
		return FILTER_DROPS;
	if (event->kind != STREAM_GAP)
		return filter_judge_branch(lane, event, inside, leads_inside);
	if (!leads_inside)
		event->to = 0;
	if (lane->cursor)
		lane->cursor->outside = false;
	return FILTER_PASSES;
}

struct stream_event filter_fall(struct lane *lane, const struct filter_set *set,
				const struct stream_event *event)
{
	const struct filter_range *range = filter_range_of(set, event->from);
	struct stream_event arrival = {
		.kind = STREAM_JUMP,
		.to = range ? range->begin : event->from,
	};

	filter_become_arrival(lane->session, &arrival);
	if (arrival.kind == STREAM_GAP)
		arrival.to = 0;
	return arrival;
}
