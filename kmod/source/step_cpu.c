// SPDX-License-Identifier: GPL-2.0-only
/* The lanes that a CPU steps for, and the record of the running task. */
#include "step.h"

DEFINE_PER_CPU(struct step_cpu, step_cpu);

/* Return the record of current, or NULL. */
struct step_task *step_current(struct step_cpu *cpu)
{
	if (unlikely(!cpu->record || READ_ONCE(cpu->record->task) != current))
		cpu->record = step_task_find(current);
	return cpu->record;
}

/*
 * Return true if the opener of a lane could not attach to the task: a setuid
 * program may have changed its ids and run another program, which is not secure
 * any more. Then no unprivileged lane sees the task.
 */
bool step_is_foreign(const struct step_cpu *cpu, struct task_struct *task)
{
	const struct lane *lane;
	bool foreign = false;

	rcu_read_lock();
	list_for_each_entry(lane, &cpu->lanes, link)
		foreign |= !lane->session->privileged &&
			   !opener_reaches(&lane->session->key.opener,
					   __task_cred(task));
	rcu_read_unlock();
	return foreign;
}

/*
 * Return true if the session needs what stores write. One profile does, and
 * programs that see stores.
 */
static bool step_wants_stored(const struct lane *lane)
{
	const struct session *session = lane->session;

	return session->params.range_of == HWPROF_RANGE_NARROW_IP ||
	       session->programs.stored;
}

/* Return true if the session writes samples, and no rows. */
static bool step_writes_samples(const struct lane *lane)
{
	return !lane->session->rows && lane->session->key.sampling;
}

/* Let a lane have events from now on, or no longer. */
void step_add_lane(struct step_cpu *cpu, struct lane *lane)
{
	list_move_tail(&lane->link, &cpu->lanes);
	cpu->count++;
	cpu->accesses += lane->session->config.accesses;
	cpu->stored += step_wants_stored(lane);
	cpu->sampling += step_writes_samples(lane);
}

/* Return how many events the lane might have had. */
static u64 step_fed_for(const struct step_cpu *cpu, const struct lane *lane)
{
	return cpu->fed + (lane->session->privileged ? cpu->fed_secure : 0);
}

void step_leave_out(struct step_cpu *cpu, struct lane *lane)
{
	lane->left_out = step_fed_for(cpu, lane) + 1;
	list_add_tail(&lane->link, &cpu->left_out);
}

void step_end_left_out(struct step_cpu *cpu, struct lane *lane)
{
	u64 events = step_fed_for(cpu, lane) + 1 - lane->left_out;

	/* How many events that was is not for such an opener to know. */
	if (!lane->session->privileged &&
	    !opener_reaches(&lane->session->key.opener, current_cred()))
		events = 1;
	lane_count(&lane->lost_events, events);
	lane->left_out = 0;
	list_del_init(&lane->link);
}

void step_let_in(struct step_cpu *cpu)
{
	struct lane *lane, *next;

	list_for_each_entry_safe(lane, next, &cpu->left_out, link) {
		if (!step_has_room(cpu))
			return;
		if (!lane->wide)
			continue;
		step_end_left_out(cpu, lane);
		step_add_lane(cpu, lane);
	}
}

void step_del_lane(struct step_cpu *cpu, struct lane *lane)
{
	list_del_init(&lane->link);
	cpu->count--;
	cpu->accesses -= lane->session->config.accesses;
	cpu->stored -= step_wants_stored(lane);
	cpu->sampling -= step_writes_samples(lane);
}
