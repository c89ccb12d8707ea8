/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface between the files of the step source. */
#ifndef HWPROF_STEP_H
#define HWPROF_STEP_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

#include "../session.h"
#include "step_task.h"
#include "x86/access_decode.h"
#include "x86/branch_decode.h"

/*
 * Most lanes that a step feeds, because it does so with interrupts off. Further
 * sessions of a program learn nothing of it, and count its branches as lost.
 */
enum { STEP_LANES_MAX = 10 };

struct step_cpu {
	struct list_head lanes;		/* those that want events of this CPU */
	unsigned int count;		/* of lanes; at most STEP_LANES_MAX */
	struct list_head left_out;	/* those that found no room */
	u64 fed;			/* branches that the lanes got so far */
	u64 fed_secure;			/* and only privileged ones */
	unsigned int bursts;		/* how many of @lanes are in a burst */
	unsigned int sampling;		/* how many of them write samples */
	/* How many of @lanes want loads and stores. */
	unsigned int accesses;
	/* How many of these want what stores write. */
	unsigned int stored;
	/* Lanes that wait for their next burst. */
	struct list_head waiting;
	struct irq_work kick;		/* begins a burst for an NMI */
	/* Average cost of an instruction in a burst, in ns. */
	u64 step_cost;
	struct step_task *record;	/* of the running task, if known */
	/* The running task, or the one about to run. */
	struct task_struct *next;
	/*
	 * It was disarmed in the switch to it. Events of its cgroup may be
	 * scheduled in later in that switch.
	 */
	bool next_was_armed;
};

DECLARE_PER_CPU(struct step_cpu, step_cpu);

static inline bool step_wanted(const struct step_cpu *cpu)
{
	return !list_empty(&cpu->lanes);
}

static inline bool step_has_room(const struct step_cpu *cpu)
{
	return cpu->count < STEP_LANES_MAX;
}

/*
 * Return true if the lane's session may see the running task. The right to
 * attach ends with an exec that gives the program other rights, and with ids or
 * capabilities that the opener does not reach, even if perf keeps its events.
 */
static inline bool step_may_see(const struct lane *lane,
				const struct step_task *record)
{
	return likely(!record || !step_task_is_hidden(record)) ||
	       lane->session->privileged;
}

/*
 * Return true if a lane of the CPU wants events of the record's task and may
 * have them.
 */
static inline bool step_wanted_of(const struct step_cpu *cpu,
				  const struct step_task *record)
{
	const struct lane *lane;

	if (likely(!step_task_is_hidden(record)))
		return step_wanted(cpu);
	list_for_each_entry(lane, &cpu->lanes, link)
		if (lane->session->privileged)
			return true;
	return false;
}

/* step_cpu.c. Interrupts are off. */
struct step_task *step_current(struct step_cpu *cpu);
bool step_is_foreign(const struct step_cpu *cpu, struct task_struct *task);
void step_add_lane(struct step_cpu *cpu, struct lane *lane);
void step_del_lane(struct step_cpu *cpu, struct lane *lane);
/* There is no room for the lane. It counts what it loses. */
void step_leave_out(struct step_cpu *cpu, struct lane *lane);
void step_end_left_out(struct step_cpu *cpu, struct lane *lane);
/*
 * Give room that there is now to lanes of the whole CPU that were left out.
 * A lane of a task finds room when the task is scheduled in again.
 */
void step_let_in(struct step_cpu *cpu);

/* step_arm.c: which tasks are stepped. Interrupts are off. */
void step_arm(struct step_cpu *cpu, struct task_struct *task);
void step_disarm(struct step_task *record, struct task_struct *task);
void step_hold(struct step_task *record);
void step_forget(struct step_task *record);
void step_drain_begin(void);
void step_drain_end(void);
void step_undrain(void);
bool step_draining(void);

/* step_feed.c: feed lanes. Interrupts are off. */
void step_bind(struct step_cpu *cpu, const struct step_task *record);
/* A system call may have changed current's maps. */
void step_check_maps(struct step_cpu *cpu);
void step_unbind(struct step_cpu *cpu, const struct step_task *record);
void step_feed(struct step_cpu *cpu, unsigned int kind, u64 from, u64 to,
	       struct pt_regs *regs);
void step_gap(struct step_cpu *cpu, u64 to, struct pt_regs *regs);
void step_feed_access(struct step_cpu *cpu, struct stream_event *event,
		      struct pt_regs *regs);
void step_miss_access(struct step_cpu *cpu, u64 ip,
		      const struct access_insn *insn);

/* How much of an instruction's accesses is wanted. */
enum step_wish {
	STEP_WANTS_NONE,
	/* See step_wants_insn(). */
	STEP_WANTS_SOME,
	STEP_WANTS_ALL,
};

enum step_wish step_wants_accesses(const struct step_cpu *cpu, u64 ip);
/* Return true if some access of @insn, at @ip, may pass. */
bool step_wants_insn(const struct step_cpu *cpu, u64 ip,
		     const struct access_insn *insn);
/* Return true if a mask asks for what stores write. */
bool step_masks_stored(const struct step_cpu *cpu);
void step_moved(struct step_cpu *cpu, struct step_task *record);

/*
 * step_access.c: loads and stores. Interrupts are off, except in init and exit.
 */
int step_accesses_init(void);
void step_accesses_exit(void);
void step_access_expect(const struct step_task *record,
			const struct pt_regs *regs);
void step_access_drop(const struct step_task *record);
void step_access_feed(struct step_cpu *cpu, const struct step_task *record,
		      struct insn branch, struct pt_regs *regs);

/* step_burst.c: stepping for a while. Interrupts are off. */
u64 burst_next_random(struct burst *burst);
bool burst_begin(struct step_cpu *cpu, struct lane *lane);
void burst_await(struct step_cpu *cpu, struct lane *lane);
void burst_forgo(struct step_cpu *cpu, struct lane *lane);
void burst_feed(struct lane *lane, struct stream_event *event,
		struct pt_regs *regs);
void bursts_step(struct step_cpu *cpu);
void bursts_end(struct step_cpu *cpu);

/* step_trigger.c: the triggers of bursts. In process context. */
int burst_open(struct root *root);
void bursts_init(struct step_cpu *cpu);

/* step_call.c: system calls in bursts. Interrupts are off. */
extern bool step_calls_probed;
bool step_is_sigreturn(long nr, bool is64);
bool step_call_copies_flags(u32 nr);
/*
 * Look at the instruction that current, which is armed, runs next, at regs->ip.
 * This may end its bursts.
 */
void step_call_expect(struct step_cpu *cpu, struct step_task *record,
		      const struct pt_regs *regs);
/*
 * Take a #DB behind the system call @call. Return the instruction behind the
 * call, which has run as well.
 */
struct insn step_call_pass(struct step_cpu *cpu, struct step_task *record,
			   struct insn call, struct pt_regs *regs);
void step_call_hide(const struct step_task *record, struct task_struct *task);

/* step_decode.c */
struct insn step_decode(u64 ip, bool is64);

/* step_trap.c: #DB and int3. */
int step_traps_register(void);
void step_traps_unregister(void);

/*
 * step_trial.c: run an instruction with the trap flag set. Return NULL, or why
 * its trap did not come.
 */
const char *step_trial(void);

/* step_probe.c: tracepoints where #DB cannot follow a task. */
const char *step_probes_find(void);
int step_probes_register(void);
void step_probes_unregister(void);
int step_calls_get(void);
void step_calls_put(void);

#endif /* HWPROF_STEP_H */
