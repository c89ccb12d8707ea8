/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the step source among themselves. */
#ifndef HWPROF_STEP_H
#define HWPROF_STEP_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

#include "../session.h"
#include "step_task.h"
#include "x86/branch_decode.h"

/*
 * A step feeds all of them with interrupts off. The sessions of a program beyond
 * these learn nothing of it, and count its branches as lost.
 */
enum { STEP_SLOTS_MAX = 32 };

struct step_cpu {
	struct list_head slots;		/* that want events of this CPU, ... */
	unsigned int count;		/* so many, STEP_SLOTS_MAX at the most, */
	u64 fed;			/* branches that they got so far */
	unsigned int bursts;		/* ... of which so many for a while, */
	unsigned int accesses;		/* and so many loads and stores, too, */
	unsigned int stored;		/* some of these with what is stored */
	struct list_head waiting;	/* for their next burst */
	struct irq_work kick;		/* an NMI begins one */
	u64 step_cost;			/* of an instruction in one, ns on average */
	struct step_task *record;	/* of the task that runs, if known */
	struct task_struct *next;	/* the one that runs, or will in a moment */
};

DECLARE_PER_CPU(struct step_cpu, step_cpu);

static inline bool step_wanted(const struct step_cpu *cpu)
{
	return !list_empty(&cpu->slots);
}

static inline bool step_has_room(const struct step_cpu *cpu)
{
	return cpu->count < STEP_SLOTS_MAX;
}

/*
 * May the slot's session see the task that runs? A right to attach ends with an
 * exec that gives the program other rights, also where perf keeps its events.
 */
static inline bool step_may_see(const struct slot *slot,
				const struct step_task *record)
{
	return likely(!record || !record->secure) || slot->session->privileged;
}

/* Does a slot of the CPU want events of the record's task, and may have them? */
static inline bool step_wanted_of(const struct step_cpu *cpu,
				  const struct step_task *record)
{
	const struct slot *slot;

	if (likely(!record->secure))
		return step_wanted(cpu);
	list_for_each_entry(slot, &cpu->slots, link)
		if (slot->session->privileged)
			return true;
	return false;
}

/* step_arm.c: who is stepped. Interrupts are off. */
struct step_task *step_current(struct step_cpu *cpu);
void step_arm(struct step_cpu *cpu, struct task_struct *task);
void step_disarm(struct step_task *record, struct task_struct *task);
void step_hold(struct step_task *record);
void step_drain(void);
void step_undrain(void);
bool step_draining(void);

/* step_feed.c: what slots get to know. Interrupts are off. */
void step_bind(struct step_cpu *cpu, const struct step_task *record);
void step_unbind(struct step_cpu *cpu, const struct step_task *record);
void step_feed(struct step_cpu *cpu, unsigned int kind, u64 from, u64 to,
	       struct pt_regs *regs);
void step_feed_access(struct step_cpu *cpu, struct stream_event *event,
		      struct pt_regs *regs);
void step_miss_access(struct step_cpu *cpu);
void step_moved(struct step_cpu *cpu, struct step_task *record);
void step_add_slot(struct step_cpu *cpu, struct slot *slot);
void step_del_slot(struct step_cpu *cpu, struct slot *slot);

/* step_access.c: loads and stores. Interrupts are off but in init and exit. */
int step_accesses_init(void);
void step_accesses_exit(void);
void step_access_expect(const struct step_task *record,
			const struct pt_regs *regs);
void step_access_drop(const struct step_task *record);
void step_access_feed(struct step_cpu *cpu, const struct step_task *record,
		      struct insn branch, struct pt_regs *regs);

/* step_burst.c: stepping for a while. Interrupts are off but in open and init. */
int burst_open(struct root *root);
void bursts_init(struct step_cpu *cpu);
void burst_await(struct step_cpu *cpu, struct slot *slot);
void burst_forgo(struct step_cpu *cpu, struct slot *slot);
void burst_feed(struct slot *slot, struct stream_event *event,
		struct pt_regs *regs);
void bursts_step(struct step_cpu *cpu);
void bursts_end(struct step_cpu *cpu);

/* step_call.c: system calls in bursts. Interrupts are off. */
bool step_is_sigreturn(long nr, bool is64);
bool step_call_copies_flags(u32 nr);
/* Current, which is armed, goes on at regs->ip. May end the bursts. */
void step_call_expect(struct step_cpu *cpu, struct step_task *record,
		      const struct pt_regs *regs);
/* @call is done, and the instruction behind it, which is returned. */
struct insn step_call_pass(struct step_cpu *cpu, struct step_task *record,
			   struct insn call, struct pt_regs *regs);
void step_call_hide(const struct step_task *record, struct task_struct *task);

/* step_trap.c: #DB and int3 */
struct insn step_decode(u64 ip, bool is64);
int step_traps_register(void);
void step_traps_unregister(void);

/* step_probe.c: where #DB cannot follow a task */
void step_probes_find(void);
int step_probes_register(void);
void step_probes_unregister(void);
int step_calls_get(void);
void step_calls_put(void);
bool step_calls_probed(void);

#endif /* HWPROF_STEP_H */
