// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts: whenever the session's trigger fires, the task is stepped for some
 * branches. This is Hirzel and Chilimbi's bursty tracing, which HPS has as
 * well, with time or a hardware counter in place of counters in the code. A
 * burst is a window: it begins with a gap, and ends early if the task leaves
 * its CPU.
 *
 * A slot is on its CPU's list @waiting until a burst begins, and on @slots
 * while it lasts, so that nothing is stepped in between.
 */
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>

#include "budget.h"
#include "interruption.h"
#include "source.h"
#include "step.h"
#include "trigger.h"

enum {
	BRANCH_STEPS	= 64,		/* most instructions per branch */
	/* A burst has at most so many times the branches asked for. */
	LONGEST		= 4,
	/* Most branches to skip, if that is less than an eighth of a burst. */
	SKIP_MAX	= 64,
	/* ns: the least period of perf's clock. */
	WAIT_LEAST	= 10 * 1000,
};

static u64 burst_next_random(struct burst *burst)
{
	return burst->random = burst->random * 6364136223846793005ULL + 1;
}

/*
 * Choose how many branches to skip at the beginning of a burst. Time passes at
 * some instructions, those that wait, more than at others. If all windows began
 * there, code at their beginning would count too much.
 */
static u32 choose_skip(struct slot *slot)
{
	u32 range = min_t(u32, slot->session->config.burst / 8, SKIP_MAX) + 1;

	return (burst_next_random(&slot->burst) >> 32) * range >> 32;
}

/*
 * Choose the length of a burst. Time chooses code with long straight lines more
 * often. Bursts of a fixed number of branches would count such code too often.
 * So a burst has a fixed number of instructions: those that the branches asked
 * for have on average. Every branch is then equally likely to be in a burst.
 */
static void set_length(struct burst *burst, const struct session *session)
{
	u32 branches = session->config.burst;

	burst->most_branches = branches;
	burst->most_steps = branches * BRANCH_STEPS;
	if (session->params.basis != HWPROF_BASIS_TIME || !burst->all_branches)
		return;
	burst->most_branches = min_t(u32, branches * LONGEST,
				     2 * HWPROF_BURST_MAX);
	burst->most_steps = min_t(u64, burst->most_steps,
				  div64_u64(branches * burst->all_steps,
					    burst->all_branches));
}

/* Begin a burst. If too many are under way, wait for the next trigger. */
static void burst_begin(struct step_cpu *cpu, struct slot *slot)
{
	struct burst *burst = &slot->burst;

	if (!step_has_room(cpu)) {
		burst->due = false;
		return;
	}
	burst->runs = true;
	burst->due = false;
	burst->begun = false;
	burst->branches = 0;
	burst->steps = 0;
	set_length(burst, slot->session);
	burst->skip = choose_skip(slot);
	burst->patience = (burst->skip + 1) * BRANCH_STEPS;
	burst->ip = task_pt_regs(current)->ip;
	burst->begin = local_clock();
	burst->last = burst->begin;
	step_add_slot(cpu, slot);
	cpu->bursts++;
	step_arm(cpu, current);
}

static void burst_end(struct step_cpu *cpu, struct slot *slot)
{
	struct burst *burst = &slot->burst;

	if (slot->cursor)
		slot_window(slot, burst->ip, slot->cursor->space);
	if (burst->begun &&
	    programs_want(&slot->session->programs, PROGRAM_WINDOW_END))
		programs_end_window(slot, burst->ip,
				    slot->cursor ? slot->cursor->space : 0,
				    burst->branches);
	slot_unbind(slot, ~0ULL);
	burst->all_branches += burst->branches;
	burst->all_steps += burst->steps;
	burst->runs = false;
	burst->cost = local_clock() - burst->begin;
	step_del_slot(cpu, slot);
	list_add_tail(&slot->link, &cpu->waiting);
	cpu->bursts--;
}

/* --- what makes them begin ------------------------------------------------ */

/*
 * Begin the bursts that an NMI found due. Current may be another task by now.
 */
static void begin_due(struct irq_work *work)
{
	struct step_cpu *cpu = container_of(work, struct step_cpu, kick);
	struct slot *slot, *next;

	list_for_each_entry_safe(slot, next, &cpu->waiting, link)
		if (slot->burst.due) {
			budget_spend(slot, interruption_clock_cost());
			burst_begin(cpu, slot);
		}
}

/*
 * Return true if the clock fired too early, and let it fire again. It counts
 * the time of the last burst, too, in which the program did not run. Without
 * this, code that takes longer to step would be seen more often than it runs.
 */
static bool is_early(const struct burst *burst, struct perf_event *event)
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

static void note_clock(struct burst *burst, const struct perf_event *event)
{
	burst->clock = event;
	burst->clock_time = trigger_clock_time(event);
	burst->distance = event->hw.sample_period;
}

/* Programs may want the next burst sooner or later. */
static void burst_pace(struct slot *slot, struct perf_event *event)
{
	if (likely(!slot->program.pace))
		return;
	programs_pace(slot, event, false);
	slot->burst.distance = event->hw.sample_period;
}

/* Return true if it is time for a burst. If not, the trigger fires again. */
static bool is_time(struct slot *slot, struct perf_event *event,
		    struct pt_regs *regs)
{
	struct burst *burst = &slot->burst;
	bool affordable = budget_tick(slot, event, regs);

	if (slot->session->config.budget_permille) {
		burst_pace(slot, event);
		return affordable && !burst->runs &&
		       (in_nmi() || user_mode(regs));
	}
	if (!in_nmi()) {
		if (burst->runs || is_early(burst, event))
			return false;
		note_clock(burst, event);
	}
	trigger_jitter(event, burst_next_random(burst));
	burst_pace(slot, event);
	return true;
}

static void on_trigger(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct session *session = event->overflow_handler_context;
	struct slot *slot = this_cpu_ptr(session->slots);
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);

	slot_wait(slot, trigger_period(session, event, data));
	if (!READ_ONCE(slot->open) || !is_time(slot, event, regs))
		return;
	local64_add(trigger_is_throttled(event), &slot->throttled);
	if (in_nmi()) {
		WRITE_ONCE(slot->burst.due, true);
		irq_work_queue(&cpu->kick);
	} else {
		burst_begin(cpu, slot);
	}
}

/* --- the source's part ---------------------------------------------------- */

int burst_open(struct root *root)
{
	return trigger_open(root, on_trigger, 0);
}

void bursts_init(struct step_cpu *cpu)
{
	INIT_LIST_HEAD(&cpu->waiting);
	cpu->kick = IRQ_WORK_INIT_HARD(begin_due);
}

void burst_await(struct step_cpu *cpu, struct slot *slot)
{
	slot->burst.due = false;
	if (!slot->burst.random)
		slot->burst.random = slot->session->params.seed ^ local_clock();
	list_add_tail(&slot->link, &cpu->waiting);
	slot_open(slot);
}

void burst_forgo(struct step_cpu *cpu, struct slot *slot)
{
	slot_close(slot);
	if (slot->burst.runs)
		burst_end(cpu, slot);
	list_del_init(&slot->link);
}

/* End all bursts of this CPU: the task leaves it, or its program. */
void bursts_end(struct step_cpu *cpu)
{
	struct slot *slot, *next;

	list_for_each_entry_safe(slot, next, &cpu->slots, link)
		if (slot->burst.runs)
			burst_end(cpu, slot);
}

static void begin_window(struct slot *slot, u64 at)
{
	slot->burst.begun = true;
	slot_gap(slot, at);
	if (unlikely(slot->session->programs.mask))
		programs_begin_window(slot, at,
				      slot->cursor ? slot->cursor->space : 0,
				      0, slot->session->config.clocked ?
					 slot->burst.cost : 0);
}

/*
 * Feed a branch to a slot in a burst. The first branch only says where the
 * first line begins, as code before it ran unseen: see docs/definitions.md.
 */
void burst_feed(struct slot *slot, struct stream_event *event,
		struct pt_regs *regs)
{
	struct burst *burst = &slot->burst;

	if (burst->skip) {
		burst->skip--;
		return;
	}
	if (burst->begun)
		slot_feed(slot, event, regs);
	else
		begin_window(slot, event->to);
	burst->branches++;
}

static bool burst_is_over(struct burst *burst)
{
	if (!burst->begun)
		return !--burst->patience;
	return ++burst->steps >= burst->most_steps ||
	       burst->branches >= burst->most_branches;
}

/* Account for a step: the #DB, its handler, and one instruction. */
static void spend_step(struct step_cpu *cpu, struct slot *slot, u64 now)
{
	u64 took = now - slot->burst.last;

	slot->burst.last = now;
	budget_spend_own(slot, &cpu->step_cost, took);
}

/* Account for an instruction in all bursts, and end those that are over. */
void bursts_step(struct step_cpu *cpu)
{
	struct slot *slot, *next;
	u64 now = local_clock();

	list_for_each_entry_safe(slot, next, &cpu->slots, link) {
		if (!slot->burst.runs)
			continue;
		spend_step(cpu, slot, now);
		if (burst_is_over(&slot->burst))
			burst_end(cpu, slot);
	}
}
