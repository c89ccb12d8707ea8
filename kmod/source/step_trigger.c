// SPDX-License-Identifier: GPL-2.0-only
/*
 * The triggers of bursts. In an NMI, a trigger only says that a burst
 * is due, and an irq_work begins it.
 */
#include <linux/irq_work.h>
#include <linux/sched/clock.h>

#include "budget.h"
#include "interruption.h"
#include "step.h"
#include "trigger.h"

/* ns: the least period of perf's clock. */
enum { WAIT_LEAST = 10 * 1000 };

static void burst_start(struct step_cpu *cpu, struct lane *lane)
{
	if (burst_begin(cpu, lane))
		step_arm(cpu, current);
}

/*
 * Begin the bursts that an NMI found due. Current may be another task by now.
 */
static void burst_begin_due(struct irq_work *work)
{
	struct step_cpu *cpu = container_of(work, struct step_cpu, kick);
	struct lane *lane, *next;

	list_for_each_entry_safe(lane, next, &cpu->waiting, link)
		if (lane->burst.due) {
			budget_spend(lane, interruption_clock_cost());
			burst_start(cpu, lane);
		}
}

/*
 * Return true if the clock fired too early, and let it fire again. It counts
 * the time of the last burst, too, in which the program did not run. Without
 * this, code that takes longer to step would be seen more often than it runs.
 */
static bool burst_is_early(const struct burst *burst, struct perf_event *event)
{
	u64 since;

	if (burst->clock != event)
		return false;
	since = trigger_clock_time(event) - burst->clock_time - burst->cost;
	if (since + WAIT_LEAST >= burst->distance)
		return false;
	event->hw.sample_period = burst->distance - since;
	return true;
}

static void burst_note_clock(struct burst *burst,
			     const struct perf_event *event)
{
	burst->clock = event;
	burst->clock_time = trigger_clock_time(event);
	burst->distance = event->hw.sample_period;
}

/* Programs may want the next burst sooner or later. */
static void burst_pace(struct lane *lane, struct perf_event *event)
{
	if (likely(!lane->program.pace))
		return;
	programs_pace(lane, event, false);
	lane->burst.distance = event->hw.sample_period;
}

/* Return true if it is time for a burst. If not, the trigger fires again. */
static bool burst_is_time(struct lane *lane, struct perf_event *event,
			  struct pt_regs *regs)
{
	struct burst *burst = &lane->burst;
	bool affordable = budget_tick(lane, event, regs);

	if (lane->session->config.budget_permille) {
		burst_pace(lane, event);
		return affordable && !burst->runs &&
		       (in_nmi() || user_mode(regs));
	}
	if (!in_nmi()) {
		if (burst->runs || burst_is_early(burst, event))
			return false;
		burst_note_clock(burst, event);
	}
	trigger_jitter(event, burst_next_random(burst));
	burst_pace(lane, event);
	return true;
}

static void burst_on_trigger(struct perf_event *event,
			     struct perf_sample_data *data,
			     struct pt_regs *regs)
{
	struct session *session = event->overflow_handler_context;
	struct lane *lane = this_cpu_ptr(session->lanes);
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);

	lane_wait(lane, trigger_period(session, event, data));
	if (!READ_ONCE(lane->open) || !burst_is_time(lane, event, regs))
		return;
	local64_add(trigger_is_throttled(event), &lane->throttled);
	if (in_nmi()) {
		WRITE_ONCE(lane->burst.due, true);
		irq_work_queue(&cpu->kick);
	} else {
		burst_start(cpu, lane);
	}
}

int burst_open(struct root *root)
{
	return trigger_open(root, burst_on_trigger, 0);
}

void bursts_init(struct step_cpu *cpu)
{
	INIT_LIST_HEAD(&cpu->waiting);
	cpu->kick = IRQ_WORK_INIT_HARD(burst_begin_due);
}
