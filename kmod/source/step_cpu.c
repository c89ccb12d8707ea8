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
 * Return true if the session needs what stores write. One profile does, and
 * programs that see stores.
 */
static bool step_wants_stored(const struct lane *lane)
{
	const struct session *session = lane->session;

	return session->params.range_of == HWPROF_RANGE_NARROW_IP ||
	       session->programs.stored;
}

/* Let a lane have events from now on, or no longer. */
void step_add_lane(struct step_cpu *cpu, struct lane *lane)
{
	list_move_tail(&lane->link, &cpu->lanes);
	cpu->count++;
	cpu->accesses += lane->session->config.accesses;
	cpu->stored += step_wants_stored(lane);
}

void step_del_lane(struct step_cpu *cpu, struct lane *lane)
{
	list_del_init(&lane->link);
	cpu->count--;
	cpu->accesses -= lane->session->config.accesses;
	cpu->stored -= step_wants_stored(lane);
}
