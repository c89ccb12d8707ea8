/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters: a session may look at ranges of instructions alone. They are perf's
 * address filters (PERF_EVENT_IOC_SET_FILTER). filter_space.c finds out where
 * they are in each process; filter.c says what passes.
 *
 * An event of the stream passes if its instruction is in a range. Branches into
 * the ranges are arrivals, which engines follow, and which count for nothing.
 */
#ifndef HWPROF_FILTER_H
#define HWPROF_FILTER_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "filter_request.h"
#include "mask.h"
#include "session.h"

struct filter_range {
	u64 begin;
	u64 size;			/* in bytes; 0: not mapped */
};

struct filter_set {
	struct filter_range hull;	/* around all ranges */
	struct filter_range ranges[FILTER_RANGES];
	u32 count;
};

/*
 * The ranges of a process's memory, in one session. Readers have interrupts
 * off, or are NMIs, which RCU waits for.
 */
struct filter_space {
	struct session *session;	/* NULL: its ranges are not known */
	/* Held. NULL: what holds without a program. */
	struct mm_struct *mm;
	const struct filter_set *set;	/* the valid one */
	bool everywhere;		/* the ranges hold in all memory */
	/* The rest is private to filter_space.c. */
	bool changed;			/* set was another one before */
	struct filter_set sets[2];
	unsigned long rcu_state;	/* when set changed last */
	unsigned long pages;		/* mm->exec_vm when it was looked at */
	/* By filter_space.c's clock: when this became a record, */
	u64 made;
	u64 wanted;			/* when maps changed last, */
	u64 looked;			/* and when the look for set began */
	u32 closings;			/* the session's, when it was used */
	struct session *owner;		/* NULL: the record ends */
	kuid_t user;			/* whose session it is */
	struct hlist_node node;		/* in a bucket */
	struct list_head link;		/* used or free */
	struct rcu_work release;
};

/* Stands for a record that is missing: it has no ranges. */
extern struct filter_space filter_unknown;

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

/*
 * Return the record of current; filter_unknown: there is none. Then @events of
 * current are lost.
 */
const struct filter_space *filter_look_up(struct lane *lane, u32 events);

static __always_inline bool filter_is_valid(const struct filter_space *space,
					    const struct lane *lane)
{
	return smp_load_acquire(&space->session) == lane->session &&
	       (space->mm == current->mm || space->everywhere);
}

/*
 * Return the ranges of current. If they are not known, @events are lost.
 * Interrupts are off, or this is an NMI.
 */
static __always_inline const struct filter_set *filter_of(struct lane *lane,
							  u32 events)
{
	const struct filter_space *space = READ_ONCE(lane->filter);

	if (unlikely(!filter_is_valid(space, lane)))
		space = filter_look_up(lane, events);
	return READ_ONCE(space->set);
}

/* Return true if the session looks at ranges alone. */
static __always_inline bool filter_is_set(const struct session *session)
{
	return READ_ONCE(session->narrowed) & 1 << NARROWED_TO_RANGES;
}

bool filter_passes_slowly(struct lane *lane, u64 ip, u32 events);

/*
 * Return true if the session's filter and mask let instructions at @ip pass. If
 * the ranges are not known, @events are lost.
 */
static __always_inline bool filter_passes(struct lane *lane, u64 ip, u32 events)
{
	return likely(!READ_ONCE(lane->session->narrowed)) ||
	       filter_passes_slowly(lane, ip, events);
}

/*
 * Return true if an event cannot pass. This is what most events cost in a
 * session of one function.
 */
static __always_inline bool filter_drops(const struct filter_set *set,
					 const struct stream_event *event)
{
	return !filter_in_range(&set->hull, event->from) &&
	       (!filter_in_range(&set->hull, event->to) ||
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
 * @set: its ranges.
 * @event: a branch, load or store of current; it may become an arrival.
 *
 * Return: what is to be fed.
 */
enum filter_verdict filter_judge(struct lane *lane,
				 const struct filter_set *set,
				 struct stream_event *event);

/*
 * Return the arrival in front of @event, which current has reached on a
 * straight line that began outside of the ranges.
 */
struct stream_event filter_fall(struct lane *lane, const struct filter_set *set,
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

void filter_check_maps(struct lane *lane);

/*
 * Current goes on, and the lane gets its events. Find its ranges before it is
 * back in its program, if its maps have changed. Interrupts are off.
 */
static __always_inline void filter_check(struct lane *lane)
{
	if (unlikely(filter_is_set(lane->session)))
		filter_check_maps(lane);
}

void filter_init_lane(struct lane *lane);
void filter_free_lane(struct lane *lane);

/* A session needs the probes. Return 0 or an errno. Process context. */
int filters_get(void);
void filters_put(void);

/* An event of the session was closed, and does not run any more. */
void filter_event_closed(struct session *session);

/* The session is freed. */
void filter_free(struct session *session);

void filters_init(void);
/* The module is unloaded; there are no sessions. */
void filters_exit(void);

#endif /* HWPROF_FILTER_H */
