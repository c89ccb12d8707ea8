// SPDX-License-Identifier: GPL-2.0-only
/* From steps to the slots of a CPU: all that want events get the same. */
#include <linux/sched/task_stack.h>

#include "step.h"

void step_bind(struct step_cpu *cpu, const struct step_task *record)
{
	struct slot *slot;

	list_for_each_entry(slot, &cpu->slots, link)
		slot_bind(slot, record->steps, record->ip);
}

void step_unbind(struct step_cpu *cpu, const struct step_task *record)
{
	struct slot *slot;

	list_for_each_entry(slot, &cpu->slots, link)
		slot_unbind(slot, record ? record->steps : ~0ULL);
}

void step_feed(struct step_cpu *cpu, unsigned int kind, u64 from, u64 to,
	       struct pt_regs *regs)
{
	struct stream_event event = { .kind = kind, .from = from, .to = to };
	struct slot *slot;

	list_for_each_entry(slot, &cpu->slots, link)
		if (unlikely(slot->burst.runs))
			burst_feed(slot, &event, regs);
		else
			slot_feed(slot, &event, regs);
}

/* Current goes on elsewhere than where it was seen last. */
void step_moved(struct step_cpu *cpu, struct step_task *record)
{
	struct pt_regs *regs = task_pt_regs(current);

	if (record->ip == regs->ip)
		return;
	step_bind(cpu, record);
	if (regs->ip - record->ip - 1 >= INSN_MAX)
		step_feed(cpu, STREAM_GAP, 0, regs->ip, regs);
	record->ip = regs->ip;
}
