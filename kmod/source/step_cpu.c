// SPDX-License-Identifier: GPL-2.0-only
/* The slots that a CPU steps for, and the record of the running task. */
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
static bool wants_stored(const struct slot *slot)
{
	const struct session *session = slot->session;

	return session->params.range_of == HWPROF_RANGE_NARROW_IP ||
	       session->programs.stored;
}

/* Let a slot have events from now on, or no longer. */
void step_add_slot(struct step_cpu *cpu, struct slot *slot)
{
	list_move_tail(&slot->link, &cpu->slots);
	cpu->count++;
	cpu->accesses += slot->session->config.accesses;
	cpu->stored += wants_stored(slot);
}

void step_del_slot(struct step_cpu *cpu, struct slot *slot)
{
	list_del_init(&slot->link);
	cpu->count--;
	cpu->accesses -= slot->session->config.accesses;
	cpu->stored -= wants_stored(slot);
}
