// SPDX-License-Identifier: GPL-2.0-only
/* Ranges of instructions that sessions look at. See filter.h. */
#include <linux/perf_event.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "filter.h"
#include "source/source.h"

/* Records of all sessions, for one process each, and most of one user. */
enum {
	SPACES		= 512,
	USER_SPACES	= 128,
};

static struct filter_space *spaces;	/* made when a filter is asked for */
static int spaces_used;		/* records from here on were never used */
/* Protects writes to records, with interrupts off. */
static DEFINE_RAW_SPINLOCK(spaces_lock);

const struct filter_set filter_nothing;

/* --- which events pass ---------------------------------------------------- */

static const struct filter_range *range_of(const struct filter_set *set,
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
	return range_of(set, address);
}

static bool is_of(const struct filter_space *space,
		  const struct session *session, const struct mm_struct *mm)
{
	return smp_load_acquire(&space->session) == session &&
	       (!space->mm || space->mm == mm);
}

static struct filter_space *find_space(const struct session *session,
				       const struct mm_struct *mm)
{
	int i, used = smp_load_acquire(&spaces_used);

	for (i = 0; i < used; i++)
		if (is_of(&spaces[i], session, mm))
			return &spaces[i];
	return NULL;
}

/* Return the record of current; NULL: none, so nothing passes. */
const struct filter_space *filter_look_up(struct lane *lane)
{
	struct filter_space *space = find_space(lane->session, current->mm);

	WRITE_ONCE(lane->filter, space);
	return space;
}

/*
 * A gap behind which nothing is known. Engines that see windows, or write
 * branches in order, take arrivals for such.
 */
static void become_gap(struct stream_event *event, u64 to)
{
	event->kind = STREAM_GAP;
	event->from = 0;
	event->to = to;
	event->flags = 0;
}

static bool knows_arrivals(const struct session *session)
{
	return session->params.basis == HWPROF_BASIS_EXACT &&
	       !session->engine->immediate;
}

static void become_arrival(const struct session *session,
			   struct stream_event *event)
{
	if (!knows_arrivals(session) || event->kind == STREAM_SYSCALL) {
		become_gap(event, event->to);
		return;
	}
	event->width = event->kind;
	event->kind = STREAM_ARRIVAL;
}

static enum filter_verdict judge_branch(struct lane *lane,
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
	if (event->kind == STREAM_CALL && !knows_arrivals(lane->session) &&
	    filter_shows_calls(lane->session))
		return FILTER_CALLS;
	become_arrival(lane->session, event);
	return FILTER_ARRIVES;
}

enum filter_verdict filter_judge(struct lane *lane, struct stream_event *event)
{
	const struct filter_set *set = filter_of(lane);
	bool inside = filter_has(set, event->from), leads_inside;

	if (stream_is_access(event->kind))
		return inside ? FILTER_PASSES : FILTER_DROPS;
	leads_inside = filter_has(set, event->to);
	if (likely(!inside && !leads_inside && event->kind != STREAM_GAP))
		return FILTER_DROPS;
	if (event->kind != STREAM_GAP)
		return judge_branch(lane, event, inside, leads_inside);
	if (!leads_inside)
		event->to = 0;
	if (lane->cursor)
		lane->cursor->outside = false;
	return FILTER_PASSES;
}

struct stream_event filter_fall(struct lane *lane,
				const struct stream_event *event)
{
	const struct filter_range *range = range_of(filter_of(lane),
						    event->from);
	struct stream_event arrival = {
		.kind = STREAM_JUMP,
		.to = range ? range->begin : event->from,
	};

	become_arrival(lane->session, &arrival);
	if (arrival.kind == STREAM_GAP)
		arrival.to = 0;
	return arrival;
}

/* --- where ranges are ----------------------------------------------------- */

int filter_validate(struct list_head *filters)
{
	const struct perf_addr_filter *filter;
	struct filter_space *all;
	int count = 0;

	list_for_each_entry(filter, filters, entry)
		if (++count > FILTER_RANGES ||
		    filter->action != PERF_ADDR_FILTER_ACTION_FILTER)
			return -EOPNOTSUPP;
	if (!count || READ_ONCE(spaces))
		return 0;
	all = vzalloc(array_size(SPACES, sizeof(*all)));
	if (!all)
		return -ENOMEM;
	if (cmpxchg(&spaces, NULL, all))
		vfree(all);	/* somebody else was faster */
	return 0;
}

static void set_hull(struct filter_set *set)
{
	u64 begin = ~0ULL, end = 0;
	u32 i;

	for (i = 0; i < set->count; i++) {
		const struct filter_range *range = &set->ranges[i];

		if (!range->size)
			continue;
		begin = min(begin, range->begin);
		end = max(end, range->begin + range->size);
	}
	set->hull = (struct filter_range) {
		.begin = begin, .size = end > begin ? end - begin : 0,
	};
}

/* Get the ranges that the event has. Perf holds their lock. */
static void get_ranges(struct filter_set *set, struct perf_event *event)
{
	const struct perf_addr_filters_head *head =
		perf_event_addr_filters(event);
	const struct perf_addr_filter *filter;
	u32 i = 0;

	memset(set, 0, sizeof(*set));
	list_for_each_entry(filter, &head->list, entry) {
		if (i == FILTER_RANGES)
			break;
		set->ranges[i].begin = event->addr_filter_ranges[i].start;
		set->ranges[i].size = event->addr_filter_ranges[i].size;
		set->name = hash_product(set->name + filter->offset,
					 filter->size ^ HASH_PRIME);
		i++;
	}
	set->count = i;
}

static void drop_space(struct filter_space *space)
{
	smp_store_release(&space->session, NULL);
}

/* Drop a session's records of process @tgid, but not that of @mm; 0: all. */
static void drop_spaces(const struct session *session, pid_t tgid,
			const struct mm_struct *mm)
{
	int i;

	for (i = 0; i < spaces_used; i++)
		if (spaces[i].session == session &&
		    (!tgid || (spaces[i].tgid == tgid && spaces[i].mm != mm)))
			drop_space(&spaces[i]);
}

/*
 * Return a free record for a process; NULL: none is free, or the sessions of
 * this one's user have their share.
 */
static struct filter_space *make_space(const struct session *session,
				       const struct mm_struct *mm, pid_t tgid)
{
	struct filter_space *space = NULL;
	int i, own = 0;

	for (i = 0; i < SPACES; i++) {
		const struct session *other = spaces[i].session;

		own += other && other->user == session->user;
		if (!space && !other)
			space = &spaces[i];
	}
	if (!space || own >= USER_SPACES)
		return NULL;
	smp_store_release(&spaces_used,
			  max(spaces_used, (int)(space - spaces) + 1));
	space->mm = mm;
	space->tgid = tgid;
	memset(space->sets, 0, sizeof(space->sets));
	return space;
}

static const struct filter_set *valid_set(const struct filter_space *space)
{
	return &space->sets[space->now];
}

static void filter_publish(struct filter_space *space, struct session *session,
			   const struct filter_set *set)
{
	u32 next = !space->now;

	space->sets[next] = *set;
	set_hull(&space->sets[next]);
	smp_store_release(&space->now, next);
	smp_store_release(&space->session, session);
}

/* Return the record of the process that has forked current; or NULL. */
static struct filter_space *parents_space(const struct session *session)
{
	const struct mm_struct *mm;

	rcu_read_lock();
	mm = READ_ONCE(rcu_dereference(current->real_parent)->mm);
	rcu_read_unlock();
	return mm ? find_space(session, mm) : NULL;
}

/*
 * The event is new: a fork has made it. Perf gave it the ranges of the root's
 * process. Those of current's parent are the right ones. A thread has its
 * process's.
 */
static void inherit_ranges(struct filter_set *set, struct filter_space *space,
			   const struct session *session)
{
	const struct filter_space *parents = parents_space(session);

	if (space->session && (space->tgid == current->tgid ||
			       space == parents))
		*set = *valid_set(space);
	else if (parents)
		*set = *valid_set(parents);
}

static bool is_unmapped(const struct filter_set *set)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->ranges[i].size)
			return false;
	return true;
}

/*
 * The event was that of process @owner, and perf has swapped it. Take only what
 * has changed since: a map of current's.
 */
static void take_changes(struct filter_set *set, struct filter_space *space,
			 const struct session *session, pid_t owner)
{
	const struct filter_set *own = valid_set(space), *others = NULL;
	int i;

	for (i = 0; i < spaces_used; i++)
		if (spaces[i].session == session && spaces[i].tgid == owner)
			others = valid_set(&spaces[i]);
	if (!others || !space->session || own->name != set->name)
		return;
	for (i = 0; i < set->count; i++)
		if (!memcmp(&set->ranges[i], &others->ranges[i],
			    sizeof(set->ranges[i])))
			set->ranges[i] = own->ranges[i];
}

/* The process whose ranges an event has: the PMU may use this field. */
static pid_t filter_owner(const struct perf_event *event)
{
	return (long)event->hw.addr_filters;
}

static void filter_set_owner(struct perf_event *event, pid_t owner)
{
	event->hw.addr_filters = (void *)(long)owner;
}

/* An exec has replaced the memory of process @tgid by @mm, if it had other. */
static void note_ranges(struct perf_event *event, struct filter_set *set,
			const struct mm_struct *mm, pid_t tgid)
{
	struct session *session = event_session(event);
	struct filter_space *space = find_space(session, mm);
	pid_t owner = filter_owner(event);

	space = space ?: make_space(session, mm, tgid);
	if (!space)
		return;		/* nothing of the process passes */
	if (!owner && event->parent)
		inherit_ranges(set, space, session);
	else if (owner && owner != tgid && !is_unmapped(set))
		take_changes(set, space, session, owner);
	if (!owner || is_unmapped(set))
		filter_set_owner(event, tgid);
	/* After vfork(), the memory stays the parent's. */
	if (!mm || parents_space(session) != space)
		space->tgid = tgid;
	filter_publish(space, session, set);
	drop_spaces(session, tgid, mm);
}

void filter_sync(struct perf_event *event)
{
	struct session *session = event_session(event);
	bool wide = !event->hw.target && !(event->attach_state &
					   PERF_ATTACH_TASK);
	struct filter_set set;
	unsigned long flags;

	get_ranges(&set, event);
	if ((!set.count && !filter_owner(event)) || (!wide && !current->mm))
		return;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	if (set.count) {
		note_ranges(event, &set, wide ? NULL : current->mm,
			    wide ? -1 : current->tgid);
	} else {
		drop_spaces(session, 0, NULL);
		filter_set_owner(event, 0);
	}
	WRITE_ONCE(session->filtered, set.count);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

static void drop_locked(struct session *session, pid_t tgid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&spaces_lock, flags);
	drop_spaces(session, tgid, ERR_PTR(-1));
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

void filter_exit(struct session *session)
{
	if (READ_ONCE(session->filtered))
		drop_locked(session, current->tgid);
}

void filter_free(struct session *session)
{
	if (session->filtered)
		drop_locked(session, 0);
}

void filters_exit(void)
{
	vfree(spaces);
}
