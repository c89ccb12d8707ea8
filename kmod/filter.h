/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters: a session may look at ranges of instructions alone. They are perf's
 * address filters (PERF_EVENT_IOC_SET_FILTER). Perf finds out where a file is
 * mapped. What it finds is kept here for each process, because perf's events
 * may change hands between processes.
 *
 * An event of the stream passes if its instruction is in a range. Branches into
 * the ranges are arrivals, which engines follow, and which count for nothing.
 */
#ifndef HWPROF_FILTER_H
#define HWPROF_FILTER_H

#include <linux/sched.h>

#include "session.h"

enum { FILTER_RANGES = 8 };

struct filter_range {
	u64 begin;
	u64 size;			/* in bytes; 0: not mapped */
};

struct filter_set {
	struct filter_range hull;	/* around all ranges */
	struct filter_range ranges[FILTER_RANGES];
	u32 count;
	u64 name;			/* hash of what was asked for */
};

/* The ranges of a process, in one session. */
struct filter_space {
	struct session *session;	/* NULL: the record is free */
	/* Only compared. NULL: the ranges are those of all processes. */
	const struct mm_struct *mm;
	pid_t tgid;
	u32 now;			/* the valid one of the sets */
	struct filter_set sets[2];
};

extern const struct filter_set filter_nothing;

static __always_inline bool filter_in_range(const struct filter_range *range,
					    u64 address)
{
	return address - range->begin < range->size;
}

bool filter_has_slowly(const struct filter_set *set, u64 address);

/* Return true if the address is in one of the ranges. */
static __always_inline bool filter_has(const struct filter_set *set,
				       u64 address)
{
	return unlikely(filter_in_range(&set->hull, address)) &&
	       (likely(set->count == 1) || filter_has_slowly(set, address));
}

const struct filter_space *filter_look_up(struct lane *lane);

/* Return the ranges of current. Interrupts are off, or this is an NMI. */
static __always_inline const struct filter_set *filter_of(struct lane *lane)
{
	const struct filter_space *space = READ_ONCE(lane->filter);

	if (unlikely(!space || READ_ONCE(space->session) != lane->session ||
		     (space->mm && space->mm != current->mm)))
		space = filter_look_up(lane);
	return likely(space) ? &space->sets[READ_ONCE(space->now)] :
			       &filter_nothing;
}

/* Return true if the session has no filter, or @ip passes it. */
static __always_inline bool filter_passes(struct lane *lane, u64 ip)
{
	return likely(!READ_ONCE(lane->session->filtered)) ||
	       filter_has(filter_of(lane), ip);
}

/*
 * Return true if an event cannot pass. This is what most events cost in a
 * session of one function.
 */
static __always_inline bool filter_drops(struct lane *lane,
					 const struct stream_event *event)
{
	const struct filter_range *hull = &filter_of(lane)->hull;

	return !filter_in_range(hull, event->from) &&
	       (!filter_in_range(hull, event->to) ||
		stream_is_access(event->kind)) &&
	       event->kind != STREAM_GAP;
}

/* Verdicts on an event of the stream. */
enum filter_verdict {
	FILTER_PASSES,
	FILTER_ARRIVES,			/* the event became an arrival */
	FILTER_FELL,			/* it passes behind filter_fall() */
	/* Engines get it behind a gap, and it counts for nothing. */
	FILTER_CALLS,
	FILTER_DROPS,
};

/**
 * filter_judge() - Decide whether an event passes
 * @lane: the lane, whose session has a filter.
 * @event: a branch, load or store of current; it may become an arrival.
 *
 * Return: what is to be fed.
 */
enum filter_verdict filter_judge(struct lane *lane, struct stream_event *event);

/*
 * Return the arrival in front of @event, which current has reached on a
 * straight line that began outside of the ranges.
 */
struct stream_event filter_fall(struct lane *lane,
				const struct stream_event *event);

/* For perf: check filters that were asked for. Return 0 or an errno. */
int filter_validate(struct list_head *filters);

/*
 * For perf: the ranges of the event, which is current's or a CPU's, may have
 * changed. Interrupts are off, and perf holds the filters' lock.
 */
void filter_sync(struct perf_event *event);

/*
 * Return true if a call into the ranges can be shown to an engine that sees
 * windows: it is no unit. It may enter a loop.
 */
static inline bool filter_shows_calls(const struct session *session)
{
	const struct stream_event call = { .kind = STREAM_CALL };

	return !session->engine->immediate &&
	       !session->engine->unit(&session->params, &call);
}

/* The last thread of current's process exits. */
void filter_exit(struct session *session);

/* The session is freed. */
void filter_free(struct session *session);

/* The module is unloaded; there are no sessions. */
void filters_exit(void);

#endif /* HWPROF_FILTER_H */
