// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lane's budget: a share of the time of all tasks that its session sees on
 * its CPU. The time of the idle task does not count. Most of this runs in NMI.
 */
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/sched/clock.h>

#include "../session.h"
#include "budget.h"
#include "busy.h"
#include "interruption.h"
#include "trigger.h"
#include "../tuning.h"

/*
 * Guess what a tick costs. The branches of a burst have about eight
 * instructions each, and each instruction is an interrupt; other looks cost
 * like one.
 */
void budget_init(struct lane *lane)
{
	const struct session *session = lane->session;
	u64 burst = session->config.burst;
	u64 interrupts = burst ? burst * 8 : 2;

	lane->budget.random = get_random_u64();
	lane->budget.burst = burst;
	if (session->config.budget_permille)
		burst_control_init(&lane->budget.control,
				   session->config.budget_permille,
				   interrupts * interruption_clock_cost());
}

/*
 * Add the time that has passed. An NMI may do the same in between. Then the
 * difference is negative, which takes back what would be added twice.
 */
static void budget_pass_time(struct budget *budget)
{
	u64 now = busy_clock();

	local64_add(now - local64_xchg(&budget->since, now), &budget->time);
}

void budget_start(struct lane *lane)
{
	local64_set(&lane->budget.since, busy_clock());
	lane_open(lane);
}

void budget_stop(struct lane *lane)
{
	lane_close(lane);
	budget_pass_time(&lane->budget);
}

void budget_spend(struct lane *lane, u64 cost)
{
	local64_add(cost, &lane->budget.cost);
}

static u32 budget_next_random(struct budget *budget)
{
	budget->random = budget->random * 6364136223846793005ULL + 1;
	return budget->random >> 32;
}

/*
 * Account for a tick and the time since the tick before; the first one has
 * none. Rows are owed, as they belong to no tick.
 */
static void budget_account(struct budget *budget, u64 rows, u64 units)
{
	u64 all_cost = local64_read(&budget->cost);
	u64 all_time = local64_read(&budget->time);
	u64 cost = all_cost - budget->told_cost - rows;
	u64 time = all_time - budget->told_time;

	if (budget->told_cost)
		burst_account(&budget->control, cost,
			      time > cost ? time - cost : 0, units);
	burst_owe(&budget->control, rows);
	budget->told_cost = all_cost;
	budget->told_time = all_time;
}

/* Return 50 to 150 % of a distance. */
static u64 budget_jitter(u64 distance, u32 random)
{
	distance = min_t(u64, distance, S64_MAX / 2);
	return distance / 2 + mul_u64_u32_shr(distance, random, 32);
}

/*
 * Return the period until the next tick. A period or frequency that was asked
 * for limits it from below.
 */
static u64 budget_next_period(struct budget *budget, u64 period, bool freq,
			      bool clock)
{
	u32 random = budget_next_random(budget);
	u64 distance = burst_distance(&budget->control, random);
	u64 asked = freq && period ? NSEC_PER_SEC / period : 0;

	distance = max(distance, budget_jitter(asked, random));
	if (clock)	/* a clock counts our own time, too */
		distance += budget->control.cost;
	else
		distance = burst_units(&budget->control, distance);
	return freq ? distance : max(distance, budget_jitter(period, random));
}

/*
 * Account for the tick's interrupt. A tick that finds the CPU idle takes
 * nothing away from what runs, and is free.
 */
static void budget_pay(struct lane *lane, u64 units, struct pt_regs *regs)
{
	u64 rows = atomic64_xchg(&lane->session->flush_cost, 0);

	budget_spend(lane, interruption_cost(lane->session, regs) + rows);
	if (lane->budget.control.permille)
		budget_account(&lane->budget, rows, units);
}

/* Take over what has changed since the lane's tick before. */
static void budget_tune(struct budget *budget, const struct tuning *tuning)
{
	budget->tuned = tuning->changes;
	if (budget->burst != tuning->burst)
		burst_control_stretch(&budget->control, budget->burst,
				      tuning->burst);
	budget->burst = tuning->burst;
	if (budget->control.permille)
		burst_control_spend(&budget->control, tuning->budget_permille);
}

bool budget_tick(struct lane *lane, struct perf_event *trigger,
		 struct pt_regs *regs)
{
	const struct tuning *tuning = tuning_now(lane->session);
	struct budget *budget = &lane->budget;
	bool clock = lane->session->config.clocked;

	budget_pass_time(budget);
	if (!busy_is_idle())
		budget_pay(lane, clock ? 0 : trigger->hw.last_period, regs);
	if (unlikely(budget->tuned != tuning->changes))
		budget_tune(budget, tuning);
	if (!budget->control.permille) {
		if (unlikely(tuning->changes && tuning->distance))
			trigger_tune(trigger, tuning->distance);
		return true;
	}
	trigger->hw.sample_period =
		budget_next_period(budget, tuning->period,
				   lane->session->key.freq, clock);
	return !burst_must_pass(&budget->control);
}

void budget_spend_own(struct lane *lane, u64 *usual, u64 took)
{
	u64 programs = programs_spent(lane);

	took -= min(took, programs);
	budget_spend(lane, burst_own(usual, took) + programs);
}

void budget_done(struct lane *lane, struct pt_regs *regs)
{
	struct budget *budget = &lane->budget;

	budget_spend_own(lane, &budget->handler,
			 busy_clock() - local64_read(&budget->since));
	interruption_done(lane->session, regs);
}
