// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session's event leads the group and has no counter itself: what makes the
 * source look is the trigger, a counter of the module's. So its handler first
 * looks for the event of the same root that is active here, which is the task's
 * or the CPU's, as the trigger is.
 *
 * Perf adds a group as a whole or not at all: where the event is active, so are
 * its counters, but for those that were disabled one by one. Lists of events
 * change on this CPU alone, with interrupts off, so that an NMI finds them whole;
 * perf reads groups for its own samples in the same way.
 *
 * The counts of then are kept in the event, not in the task: where perf swaps
 * the contexts of a parent and its child, or a task goes on with the event of
 * another CPU, counts and trigger's period go the same way, and what was counted
 * goes to the sample that the period does.
 */
#include <linux/perf_event.h>
#include <linux/rculist.h>

#include "../field.h"
#include "../session.h"
#include "metrics.h"
#include "trigger.h"

static struct perf_event *event_of(const struct slot *slot,
				   const struct perf_event *trigger)
{
	const struct perf_event *root = trigger->parent ?: trigger;
	struct perf_event *event;

	list_for_each_entry_rcu(event, &slot->events, hw.tp_list)
		if (trigger_is(event_root(event), root))
			return event;
	return NULL;
}

/*
 * May its PMU be asked here? In an NMI those may whose own events are read there:
 * the trigger's, and software's. Others, such as of memory controllers, may take
 * locks to get at their registers.
 */
static bool may_read(struct perf_event *counter,
		     const struct perf_event *trigger)
{
	return !in_nmi() || counter->pmu == trigger->pmu ||
	       is_software_event(counter);
}

static bool read_counter(struct perf_event *counter,
			 const struct perf_event *trigger, u64 *count)
{
	if (!may_read(counter, trigger) ||
	    READ_ONCE(counter->state) != PERF_EVENT_STATE_ACTIVE ||
	    READ_ONCE(counter->oncpu) != smp_processor_id())
		return false;
	counter->pmu->read(counter);
	*count = local64_read(&counter->count);
	return true;
}

/*
 * Is that what was in this place of the group before? A counter may have been
 * closed, and the others moved up.
 */
static bool is_metric(struct session *session, u32 place,
		      const struct perf_event *counter)
{
	u64 is = hash_product(counter->attr.config ^ session->params.seed,
			      counter->attr.config1 ^ HASH_PRIME) ^
		 hash_product(counter->attr.type ^ session->params.seed,
			      attr_exclude(&counter->attr) ^ HASH_PRIME);
	u64 was = READ_ONCE(session->metrics[place]);

	if (!was)
		was = cmpxchg64(&session->metrics[place], 0, is | 1) ?: is | 1;
	return was == (is | 1);
}

static bool read_counters(struct session *session, struct perf_event *event,
			  const struct perf_event *trigger, u64 *counts)
{
	struct perf_event *counter;
	u32 count = 0;

	if (event->group_leader != event ||
	    event->nr_siblings != session->params.metrics)
		return false;
	for_each_sibling_event(counter, event) {
		if (count == session->params.metrics ||
		    !is_metric(session, count, counter) ||
		    !read_counter(counter, trigger, &counts[count]))
			return false;
		count++;
	}
	return count == session->params.metrics;
}

/*
 * Of perf's fields of an event, those that a PMU is free to use, and that are
 * 0 in a new one; an event with rows has no use for them, see slot.c.
 */
static void exchange_counts(struct hw_perf_event *hwc, u64 *counts)
{
	swap_values(hwc->config_base, counts[0]);
	swap_values(hwc->event_base, counts[1]);
	swap_values(hwc->extra_reg.config, counts[2]);
	swap_values(hwc->branch_reg.config, counts[3]);
}

bool metrics_read(struct slot *slot, const struct perf_event *trigger,
		  u64 *increase)
{
	struct perf_event *event = event_of(slot, trigger);
	u64 counts[HWPROF_METRICS_MAX] = { 0 }, before[HWPROF_METRICS_MAX];
	u32 i;

	if (!event || !read_counters(slot->session, event, trigger, counts)) {
		slot->unmeasured++;
		return false;
	}
	memcpy(before, counts, sizeof(before));
	exchange_counts(&event->hw, before);
	for (i = 0; i < slot->session->params.metrics; i++) {
		/* A counter that was reset has begun at 0. */
		increase[i] = counts[i] - (counts[i] < before[i] ? 0 : before[i]);
		slot->metrics[i] += increase[i];
	}
	return true;
}
