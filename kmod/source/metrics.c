// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session's event leads the group, but has no counter of its own. The
 * trigger, a counter of the module, makes the source look. Its handler
 * therefore first looks for the root's event that is active here. That event is
 * the task's or the CPU's, as the trigger is.
 *
 * Perf adds a group as a whole or not at all. If the event is active, so are
 * its counters, except those that were disabled one by one. Only this CPU
 * changes the lists of events, with interrupts off, so that an NMI finds them
 * complete. Perf reads groups in the same way for its own samples.
 *
 * The counts at the last sample are kept in the event, not in the task. When
 * perf swaps the contexts of a parent and its child, or a task continues with
 * another CPU's event, the counts move with the trigger's period. What was
 * counted then belongs to the sample that the period belongs to.
 */
#include <linux/perf_event.h>
#include <linux/rculist.h>

#include "../config/attr.h"
#include "../session.h"
#include "metrics.h"
#include "trigger.h"

static struct perf_event *metrics_event_of(const struct lane *lane,
					   const struct perf_event *trigger)
{
	const struct perf_event *root = trigger->parent ?: trigger;
	struct perf_event *event;

	list_for_each_entry_rcu(event, &lane->events, hw.tp_list)
		if (trigger_is(event_root(event), root))
			return event;
	return NULL;
}

/*
 * Return true if the counter's PMU can be read here. An NMI can read PMUs whose
 * own events interrupt there: the trigger's PMU and software events. Others,
 * such as those of memory controllers, may take locks to reach their registers.
 */
static bool metrics_may_read(struct perf_event *counter,
			     const struct perf_event *trigger)
{
	return !in_nmi() || counter->pmu == trigger->pmu ||
	       is_software_event(counter);
}

static bool metrics_read_counter(struct perf_event *counter,
				 const struct perf_event *trigger, u64 *count)
{
	if (!metrics_may_read(counter, trigger) ||
	    READ_ONCE(counter->state) != PERF_EVENT_STATE_ACTIVE ||
	    READ_ONCE(counter->oncpu) != smp_processor_id())
		return false;
	counter->pmu->read(counter);
	*count = local64_read(&counter->count);
	return true;
}

/*
 * Return true if this is the counter that was at this place of the group
 * before. A counter may have been closed, and those behind it moved up.
 */
static bool metrics_is_of(struct session *session, u32 place,
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

static bool metrics_read_counters(struct session *session,
				  struct perf_event *event,
				  const struct perf_event *trigger, u64 *counts)
{
	struct perf_event *counter;
	u32 count = 0;

	if (event->group_leader != event ||
	    event->nr_siblings != session->params.metrics)
		return false;
	for_each_sibling_event(counter, event) {
		if (count == session->params.metrics ||
		    !metrics_is_of(session, count, counter) ||
		    !metrics_read_counter(counter, trigger, &counts[count]))
			return false;
		count++;
	}
	return count == session->params.metrics;
}

/*
 * Swap @counts with fields of a perf event that PMUs are free to use. They are
 * 0 in a new event, and an event with rows has no other use for them; see
 * lane_sample.c.
 */
static void metrics_exchange_counts(struct hw_perf_event *hwc, u64 *counts)
{
	swap_values(hwc->config_base, counts[0]);
	swap_values(hwc->event_base, counts[1]);
	swap_values(hwc->extra_reg.config, counts[2]);
	swap_values(hwc->branch_reg.config, counts[3]);
}

bool metrics_read(struct lane *lane, const struct perf_event *trigger,
		  u64 *increase)
{
	struct perf_event *event = metrics_event_of(lane, trigger);
	u64 counts[HWPROF_METRICS_MAX] = { 0 }, before[HWPROF_METRICS_MAX];
	u32 i;

	if (!event ||
	    !metrics_read_counters(lane->session, event, trigger, counts)) {
		lane_count(&lane->unmeasured, 1);
		return false;
	}
	memcpy(before, counts, sizeof(before));
	metrics_exchange_counts(&event->hw, before);
	for (i = 0; i < lane->session->params.metrics; i++) {
		/* A counter that was reset began at 0. */
		increase[i] = counts[i] - (counts[i] < before[i] ? 0 :
					   before[i]);
		lane_count(&lane->metrics[i], increase[i]);
	}
	return true;
}
